// Ids of packages are made of safe characters only, whatever the name.
#include "models/library/ids.h"

#include <gtest/gtest.h>

#include <set>

using namespace hearth::library;

namespace {

TEST(Ids, ComeFromNames) {
    const struct {
        const char* name;
        const char* id;
    } cases[] = {
        {"SmolLM2 135M Instruct", "smollm2-135m-instruct"},
        {"Q4_1", "q4-1"},
        {"Llama-3.1-8B", "llama-3.1-8b"},
        {"../../etc/passwd", "etc-passwd"},
        {"  --  ", "model"},
        {"", "model"},
        {"\xC3\xA9t\xC3\xA9", "t"},
        {"a..b", "a.-b"},
        {".hidden", "hidden"},
        {"end.", "end"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        EXPECT_EQ(id_from_name(c.name), c.id);
        EXPECT_TRUE(is_valid_id(id_from_name(c.name)));
    }
}

TEST(Ids, OfAnyNameAreValid) {
    for (int first = 0; first < 256; ++first)
        for (const std::size_t length : {1U, 2U, 99U, 5000U}) {
            const std::string name(length, static_cast<char>(first));
            EXPECT_TRUE(is_valid_id(id_from_name(name))) << first << " " << length;
        }
}

TEST(Ids, ThatCouldBePathsOrOptionsAreNotValid) {
    for (const std::string id : {"", "-a", ".", "..", ".a", "a/b", "A", "a b", "a\\b", "_a"})
        EXPECT_FALSE(is_valid_id(id)) << id;
    EXPECT_FALSE(is_valid_id(std::string("a\0b", 3)));
    EXPECT_FALSE(is_valid_id(std::string(kMaxIdBytes + 1, 'a')));
    EXPECT_TRUE(is_valid_id("a-b_c.9"));
}

TEST(Ids, ThatAreTakenGetANumber) {
    const std::set<std::string> taken = {"m", "m-2"};
    const auto is_taken = [&](const std::string& id) { return taken.contains(id); };
    EXPECT_EQ(free_id("n", is_taken), "n");
    EXPECT_EQ(free_id("m", is_taken), "m-3");
}

}  // namespace
