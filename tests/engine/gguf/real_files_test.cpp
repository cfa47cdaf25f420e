// Vocabulary files that another program wrote.
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/base/mapped_file.h"
#include "engine/gguf/reader.h"

namespace hearth::gguf {
namespace {

TEST(GgufRealFiles, VocabulariesOfOtherProgramsAreRead) {
    const std::filesystem::path folder = HEARTH_SOURCE_DIR "/../shared/data/tokenizers";
    if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << folder << " is not there";
    int files = 0;
    for (const auto& item : std::filesystem::directory_iterator(folder)) {
        if (item.path().extension() != ".gguf") continue;
        SCOPED_TRACE(item.path().filename());
        const auto mapped = MappedFile::open(item.path().string());
        ASSERT_TRUE(mapped.has_value()) << mapped.error().message;
        const auto file = File::read(mapped->bytes());
        ASSERT_TRUE(file.has_value()) << file.error().message;
        EXPECT_EQ(file->tensors().size(), 0U);
        const auto tokens = file->metadata().strings("tokenizer.ggml.tokens");
        ASSERT_TRUE(tokens.has_value()) << tokens.error().message;
        EXPECT_GT(tokens->size(), 10000U);
        ++files;
    }
    EXPECT_GE(files, 8);
}

}  // namespace
}  // namespace hearth::gguf
