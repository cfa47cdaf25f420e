// Counts the bytes that operator new hands out in this test program.
#pragma once

#include <cstddef>

namespace hearth::gguf {

class PeakMemory {
public:
    PeakMemory();               // starts counting from here
    std::size_t extra() const;  // the most bytes held at once since then, over what was held then

private:
    std::size_t base_;
};

}  // namespace hearth::gguf
