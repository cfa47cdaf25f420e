// Which package a request means.
#include "models/library/library.h"

#include <gtest/gtest.h>

using namespace hearth;
using namespace hearth::library;

namespace {

Package package(const std::string& id, const std::string& kind = "model") {
    Package made;
    made.id = id;
    made.kind = kind;
    made.files.push_back({"/" + id, {}, "hash of " + id, false});
    return made;
}

std::string resolved(const Library& library, std::string_view wanted) {
    const auto found = library.resolve(wanted);
    return found ? (*found)->id : "(" + std::string(to_string(found.error().code)) + ")";
}

TEST(Library, WithoutModelsSaysHowToGetOne) {
    const Library library;
    const auto found = library.resolve("");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::not_found);
    EXPECT_NE(found.error().message.find("hearth import"), std::string::npos);
}

TEST(Library, TheOnlyModelIsTheDefault) {
    Library library;
    library.add(package("a"));
    library.add(package("v", "vocabulary"));
    EXPECT_EQ(resolved(library, ""), "a");
    EXPECT_EQ(resolved(library, "default"), "a");
}

TEST(Library, AmongSeveralTheDefaultMustBeChosen) {
    Library library;
    library.assign({package("b"), package("a")});
    EXPECT_EQ(library.packages().front().id, "a");
    const auto found = library.resolve("");
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().message.find("a, b"), std::string::npos);
    library.set_fallback("b");
    EXPECT_EQ(resolved(library, ""), "b");
    library.remove("b");
    EXPECT_EQ(resolved(library, "default"), "a");
}

TEST(Library, AnIdMayBeShortenedWhileItIsUnique) {
    Library library;
    library.assign({package("llama"), package("llama-2"), package("smollm2-135m")});
    EXPECT_EQ(resolved(library, "llama"), "llama");
    EXPECT_EQ(resolved(library, "smol"), "smollm2-135m");
    EXPECT_EQ(resolved(library, "lla"), "(not_found)");
    EXPECT_EQ(resolved(library, "gpt"), "(not_found)");
    EXPECT_NE(library.resolve("gpt").error().message.find("llama-2"), std::string::npos);
}

TEST(Library, ContentIsFoundByItsHash) {
    Library library;
    library.add(package("a"));
    ASSERT_NE(library.find_content("hash of a"), nullptr);
    EXPECT_EQ(library.find_content("hash of b"), nullptr);
}

}  // namespace
