// What tests/data/make_quant_goldens.py wrote: blocks and floats as the Python package `gguf` sees
// them.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/tensor/dtype.h"

namespace hearth::quant {

struct UnpackGolden {
    DType type;
    std::vector<std::byte> blocks;
    std::vector<float> floats;
};

struct PackGolden {
    DType type;
    std::vector<std::byte> blocks;
};

struct PackGoldens {
    std::vector<float> input;
    std::vector<PackGolden> outputs;
};

std::vector<UnpackGolden> read_unpack_goldens();
PackGoldens read_pack_goldens();

// Names the format in a failure.
std::string name_of(DType type);

}  // namespace hearth::quant
