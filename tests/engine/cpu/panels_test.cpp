// Tokens cut into panels of nearly equal size.
#include <gtest/gtest.h>

#include "engine/cpu/kernel_table.h"

namespace hearth::cpu {
namespace {

TEST(Panels, CoverAllTokensInOrderWithSizesThatDifferByAtMostOne) {
    for (const int tile : {1, 6, 8})
        for (int tokens = 1; tokens < 70; ++tokens) {
            const Panels panels = Panels::cut(tokens, tile);
            int next = 0;
            for (int p = 0; p < panels.count; ++p) {
                EXPECT_EQ(panels.first(p), next);
                EXPECT_LE(panels.size(p), tile);
                EXPECT_GE(panels.size(p), panels.size(0) - 1);
                EXPECT_GE(panels.size(p), 1);
                next += panels.size(p);
            }
            EXPECT_EQ(next, tokens);
            EXPECT_EQ(panels.count, (tokens + tile - 1) / tile);
        }
}

}  // namespace
}  // namespace hearth::cpu
