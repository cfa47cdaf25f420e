// What each op demands of its arguments, in one place for all backends. A breach is a bug and ends
// the process.
#pragma once

#include "engine/ops/args.h"
#include "engine/ops/rope_table.h"

namespace hearth::shape_checks {

void step(const StepInput& step);
void segments(std::span<const RowSegment> segments, int cols);
void embed(const StepInput& step, const Weight& table, View out);
void rms_norm(View x, View norm, View out);
void matmul(const Weight& w, View x, View out);
void add(View x, View out);
void rope(const RopeTable& table, int heads, int head_dim, View x);
void store_kv(const StepInput& step, const KvShape& shape, int layer, View k, View v);
void attend(const StepInput& step, const KvShape& shape, const AttentionConfig& config, View q,
            View out);
void silu_mul(View gate_up, View out);
void gather_rows(const StepInput& step, View x, View out);

}  // namespace hearth::shape_checks
