// The vocabulary in which every architecture is written once. A backend implements it; results
// follow the numerics contract (engine/ops/README.md): bits depend on weights, tokens and settings
// alone.
//
// Ops only enqueue; finish() alone waits. Views passed to an op must stay valid until finish().
// Shapes are our own affair: a wrong one is a bug (HEARTH_CHECK), never an Error. Non-finite inputs
// make outputs of their own rows non-finite (README.md says which) and touch no other row.
//
// Thread: one at a time; a backend may use threads of its own inside.
#pragma once

#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/ops/args.h"
#include "engine/ops/rope_table.h"

namespace hearth {

class Ops {
public:
    virtual ~Ops() = default;

    // What runs, for people: "cpu, AVX-512 VNNI, 2 threads".
    virtual std::string description() const = 0;

    // ---- memory: no_memory when it does not fit
    virtual Result<Buffer> allocate(int rows, int cols) = 0;
    // Copies and repacks; the segments' bytes are not needed afterwards. All segments have `cols`
    // columns.
    virtual Result<Weight> upload(std::span<const RowSegment> segments, int cols) = 0;
    virtual Result<KvMemory> allocate_kv(const KvShape& shape) = 0;
    virtual void write(std::span<const float> from, View to) = 0;  // [rows * cols], waits
    virtual void read(View from, std::span<float> to) = 0;         // [rows * cols], waits

    // ---- a step
    virtual void begin_step(const StepInput& step) = 0;
    virtual Result<void> finish() = 0;  // the first failure since begin_step

    // ---- simple ops; outputs last
    // Row i of out is row tokens[i] of the table, unpacked to f32.
    virtual void embed(const Weight& table, View out) = 0;
    // out = x * fl(1 / sqrt(mean(x^2) + eps)) * norm, row by row; norm is [1, cols]. out may be x.
    virtual void rms_norm(View x, View norm, float eps, View out) = 0;
    // out [rows, w.rows] = x [rows, w.cols] times the transpose of w. out must not overlap x.
    virtual void matmul(const Weight& w, View x, View out) = 0;
    // out = out + x
    virtual void add(View x, View out) = 0;
    // Rotates `heads` heads of head_dim columns in place, by each row's position.
    virtual void rope(const RopeTable& table, int heads, int head_dim, View x) = 0;
    // Appends k and v [rows, kv_heads * head_dim] of each row at its position to layer `layer` of
    // the step's pages.
    virtual void store_kv(KvMemory& kv, int layer, View k, View v) = 0;
    // Each row of q [rows, heads * head_dim] attends to the positions of its sequence up to its
    // own.
    virtual void attend(const KvMemory& kv, int layer, const AttentionConfig& config, View q,
                        View out) = 0;
    // out [rows, n] = silu(gate_up[:, 0..n)) * gate_up[:, n..2n)
    virtual void silu_mul(View gate_up, View out) = 0;
    // Row i of out is row sampled_rows[i] of x.
    virtual void gather_rows(View x, View out) = 0;

    // ---- fused: a backend may override; the default body is the meaning, and is what tests
    // compare with
    virtual void matmul_add(const Weight& w, View x, View out);  // out += x * w^T
    virtual void norm_matmul(View x, View norm, float eps, const Weight& w, View out);
    virtual void rope_store(const RopeTable& table, const AttentionConfig& config, KvMemory& kv,
                            int layer,
                            View qkv);  // rotates q and k in place, appends k and v
    // out = silu_mul(norm_matmul(x)), gate_up is [2 * n, width], gate rows first.
    virtual void gated(View x, View norm, float eps, const Weight& gate_up, View out);

protected:
    // Device memory for the default bodies, valid until the next call of scratch with the same
    // slot.
    virtual View scratch(int slot, int rows, int cols) = 0;
};

}  // namespace hearth
