// Every byte and every setting counts.
#include "engine/generate/fingerprint.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace hearth::generate {
namespace {

TEST(Fingerprint, ChangesWithEveryByteTheLengthAndTheSettings) {
    std::set<std::string> seen;
    int made = 0;
    const auto add = [&](const std::vector<std::byte>& bytes, std::string_view settings) {
        seen.insert(fingerprint(bytes, settings));
        ++made;
    };
    for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 200U}) {
        const std::vector<std::byte> zeros(size);
        add(zeros, "");
        add(zeros, "a");
        for (std::size_t i = 0; i < size; ++i) {
            std::vector<std::byte> changed = zeros;
            changed[i] = std::byte{1};
            add(changed, "");
        }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(made));
    EXPECT_EQ(seen.begin()->size(), 32U);
}

TEST(Fingerprint, IsTheSameEveryTime) {
    const std::vector<std::byte> bytes(1000, std::byte{7});
    EXPECT_EQ(fingerprint(bytes, "x"), fingerprint(bytes, "x"));
}

}  // namespace
}  // namespace hearth::generate
