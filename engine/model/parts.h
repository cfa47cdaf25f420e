// Every product of activations with weights goes through these four forms of one function, so that
// an adapter has one place to add its own product.
#pragma once

#include "engine/ops/ops.h"

namespace hearth::model {

// The rms norm in front of a product.
struct Norm {
    View weight;  // [1, width]
    float eps;
};

// out = x * w^T
inline void project(Ops& ops, const Weight& w, View x, View out) { ops.matmul(w, x, out); }
// out += x * w^T
inline void project_add(Ops& ops, const Weight& w, View x, View out) { ops.matmul_add(w, x, out); }
// out = norm(x) * w^T
inline void project_normed(Ops& ops, const Norm& norm, const Weight& w, View x, View out) {
    ops.norm_matmul(x, norm.weight, norm.eps, w, out);
}
// out = silu(norm(x) * gate^T) * (norm(x) * up^T)
inline void project_gated(Ops& ops, const Norm& norm, const Weight& gate_up, View x, View out) {
    ops.gated(x, norm.weight, norm.eps, gate_up, out);
}

}  // namespace hearth::model
