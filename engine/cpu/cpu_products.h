// Matrix products on the CPU: rounds activations once per row, then splits the groups of rows of a
// weight over the threads. A chain of additions never crosses threads.
#pragma once

#include "engine/base/thread_pool.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/kernel_table.h"
#include "engine/cpu/packed_weight.h"
#include "engine/ops/args.h"

namespace hearth::cpu {

// What a product reads: x, through rms_norm when there is a norm.
struct ProductInput {
    View x;
    const float* norm = nullptr;  // [x.cols]
    float eps = 0.0F;
};

class Products {
public:
    Products(const KernelTable& kernels, ThreadPool& pool) : kernels_(kernels), pool_(pool) {}

    enum class Into { replace, add };
    // no_memory when scratch does not fit; out is untouched then.
    Result<void> multiply(const PackedWeight& weight, const ProductInput& input, View out,
                          Into into);

    // out [rows, n] = silu(gate) * up, gate and up being rows 0..n-1 and n..2n-1 of the weight.
    // Only for weights where can_gate() holds.
    Result<void> gated(const PackedWeight& weight, const ProductInput& input, View out);
    // Rows of gate and up, and all segments, begin at a group of 16.
    static bool can_gate(const PackedWeight& weight, int n);

private:
    // Activations of all tokens in the forms that a weight wants; of this thread alone when `own`.
    struct Prepared {
        const std::uint8_t* rounded;
        const float* plain;
    };
    struct Plan {
        Panels panels;
        bool own;  // few tokens: every thread prepares all of them, which saves a barrier
        std::size_t rounded_bytes;
        std::size_t bytes;  // of one copy
    };
    // The segment that holds a row, and the group of it.
    struct Place {
        const PackedRows* rows;
        int group;
    };
    static Place locate(const PackedWeight& weight, int row);

    struct GatedCall {
        Panels panels;
        Prepared prepared;
        float* products;  // of this thread
        View out;
    };
    struct GateSlab {
        int unit;  // sixteen columns of out
        int groups;
        Place gate;
        Place up;
    };
    void gate_panel(const GatedCall& call, GateSlab slab, int panel);

    Plan plan_for(const PackedWeight& weight, const ProductInput& input) const;
    Result<void> reserve(const Plan& plan);
    Prepared prepare(const PackedWeight& weight, const ProductInput& input, const Plan& plan,
                     int thread);

    const KernelTable& kernels_;
    ThreadPool& pool_;
    Arena activations_;
    Arena gates_;
};

}  // namespace hearth::cpu
