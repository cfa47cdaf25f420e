// Which tensor becomes which type when a model is written with other weights.
//
// One type for all: every weight matrix, embedding and output head included, gets the wanted type.
// Mixtures that give some tensors more bits are a different wish and are not made here. What stays
// as it is: tensors of one dimension (norms, biases), tensors whose name does not end in "weight",
// and the routers of expert models, whose few numbers decide which experts run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/gguf/reader.h"
#include "engine/gguf/writer.h"
#include "engine/tensor/dtype.h"

namespace hearth::quantize {

// A tensor whose rows are no whole number of blocks of the wanted type.
struct Fallback {
    std::string tensor;
    DType wanted;
    DType used;
};

struct Plan {
    std::vector<gguf::TensorPlan> tensors;  // as many as in the file, in its order
    std::vector<Fallback> fallbacks;
};

// True for the tensors that change type.
bool is_converted(const gguf::TensorInfo& tensor);

// The type for rows of `cols` elements: the wanted one where its blocks divide the row, else Q4_K →
// Q5_0, Q5_K → Q5_1, Q6_K → Q8_0 (the next type upwards with blocks of 32), else F16.
DType fitting_type(DType wanted, std::uint64_t cols);

Plan make_plan(std::span<const gguf::TensorInfo> tensors, DType wanted);

}  // namespace hearth::quantize
