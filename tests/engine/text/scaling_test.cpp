// Long runs take time in proportion and no stack; a large vocabulary loads quickly.
#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "engine/text/tokenizer.h"
#include "tests/engine/text/vocabulary_maker.h"

namespace hearth::text {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// CPU time of this thread: other programs on the machine do not count.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string repeat(std::string_view unit, std::size_t bytes) {
    std::string text;
    text.reserve(bytes + unit.size());
    while (text.size() < bytes) text += unit;
    return text;
}

struct Job {
    const Tokenizer* tokenizer;
    std::string text;
    double seconds = std::numeric_limits<double>::max();  // the best of all rounds
    std::size_t bytes_back = 0;
};

void* run_job(void* argument) {
    Job& job = *static_cast<Job*>(argument);
    for (int round = 0; round < (kSanitized ? 1 : 2); ++round) {
        const double start = cpu_seconds();
        const auto ids = job.tokenizer->encode(job.text, {});
        job.seconds = std::min(job.seconds, cpu_seconds() - start);
        if (!ids) return nullptr;
        job.bytes_back = 0;
        for (const TokenId id : *ids) job.bytes_back += job.tokenizer->bytes(id).size();
    }
    return nullptr;
}

// On a thread with a stack of 256 KiB.
void run_on_small_stack(Job& job) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, &attributes, run_job, &job), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
}

constexpr std::size_t kBytes = 1024 * 1024;

class T025 : public testing::TestWithParam<const char*> {};

TEST_P(T025, LongRunsTakeTimeInProportionAndLittleStack) {
    const std::string pre = GetParam();
    const auto vocabulary =
        pre.empty() ? test::sentence_piece_vocabulary() : test::byte_level_vocabulary(pre);
    const auto tokenizer = Tokenizer::load(vocabulary.metadata());
    ASSERT_TRUE(tokenizer);
    const std::size_t prefix = pre.empty() ? 1 : 0;
    for (const std::string_view unit :
         {"a", "q", " ", "\n", "7", "!", "'", "\xE7\x81\xAB", "\xCC\x81", "\xE2\x80\x8D", " \n",
          "hello ", "<|im_end|>", "\xC2\xA0"}) {
        SCOPED_TRACE(unit);
        Job part{&*tokenizer, repeat(unit, kBytes / 32)};
        Job whole{&*tokenizer, repeat(unit, kBytes)};
        run_on_small_stack(part);
        run_on_small_stack(whole);
        EXPECT_EQ(part.bytes_back, part.text.size() + prefix);
        EXPECT_EQ(whole.bytes_back, whole.text.size() + prefix);
        // A square would take 1024 times as long; what is left between 32 and 256 is for caches
        // and busy machines.
        EXPECT_LT(whole.seconds, 256 * part.seconds);
    }
}

INSTANTIATE_TEST_SUITE_P(All, T025,
                         testing::Values("gpt-2", "smollm", "llama-bpe", "qwen2", "default",
                                         "falcon", ""),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::erase(name, '-');
                             return name.empty() ? std::string("sentencepiece") : name;
                         });

// 150,000 tokens with as many merges, of two to about eight bytes.
test::VocabularyMaker large_vocabulary() {
    auto made = test::byte_level_vocabulary("smollm");
    std::vector<std::string> pieces;
    for (char c = 'a'; c <= 'z'; ++c) pieces.emplace_back(1, c);
    for (std::size_t i = 0; made.tokens.size() < 150'000; ++i) {
        const std::string left = pieces[i / 26];
        const std::string right(1, static_cast<char>('a' + i % 26));
        made.merge(left, right);
        pieces.push_back(left + right);
    }
    return made;
}

TEST(T019, ALargeVocabularyLoadsWithinTheBudget) {
    const gguf::Metadata metadata = large_vocabulary().metadata();
    double best = std::numeric_limits<double>::max();
    for (int round = 0; round < 3; ++round) {
        const double start = cpu_seconds();
        const auto tokenizer = Tokenizer::load(metadata);
        best = std::min(best, cpu_seconds() - start);
        ASSERT_TRUE(tokenizer);
        EXPECT_EQ(tokenizer->size(), 150'000);
    }
    RecordProperty("milliseconds", static_cast<int>(best * 1000));
    // What a person may wait, and fifteen times what it takes.
    if (!kSanitized) {
        EXPECT_LT(best, 1.5);
    }
}

}  // namespace
}  // namespace hearth::text
