#include "engine/cpu/cpu_products.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/units.h"

namespace hearth::cpu {
namespace {

// Up to so many tokens, preparing them (about 0.2 microseconds each) costs less than a barrier.
constexpr int kOwnTokens = 2;

// Activations of about this many bytes pass over all groups of a thread before the next ones:
// with a slab of weights they fill half of a second-level cache of 1 MiB.
constexpr std::size_t kBlockBytes = 400 * kKiB;

// Groups of a gated product that one thread carries from products to gates at a time: at many
// tokens their products stay in the first-level cache.
constexpr int kGateSlab = 2;

std::size_t count(int n) { return static_cast<std::size_t>(n); }

// Panels whose activations pass over the weights together.
int panels_at_once(const Panels& panels, int cols) {
    const std::size_t panel_bytes =
        count(panels.size(0)) * count(cols) / kBlockCols * kTokenBytes + 1;
    return std::max(1, static_cast<int>(kBlockBytes / panel_bytes));
}

// What takes the offsets of a weight's formats off its integer sums.
unsigned starts_of(const PackedWeight& weight) {
    unsigned starts = 0;
    for (const PackedRows& rows : weight.segments()) {
        if (rows.type == DType::q4_0) starts |= 1U << kStart8;
        if (rows.type == DType::q5_0) starts |= 1U << kStart16;
        if (rows.type == DType::q8_0) starts |= 1U << kStart128;
        if (rows.type == DType::q6_k) starts |= (1U << kStart32Low) | (1U << kStart32High);
    }
    return starts;
}

}  // namespace

Products::Place Products::locate(const PackedWeight& weight, int row) {
    for (const PackedRows& rows : weight.segments()) {
        if (row < rows.rows) return {&rows, row / kGroupRows};
        row -= rows.rows;
    }
    HEARTH_CHECK(false);
    return {};
}

Products::Plan Products::plan_for(const PackedWeight& weight, const ProductInput& input) const {
    Plan plan = {Panels::cut(input.x.rows, kernels_.tile_tokens), input.x.rows <= kOwnTokens, 0, 0};
    const std::size_t elements = count(input.x.rows) * count(input.x.cols);
    if (weight.has_quants()) plan.rounded_bytes = align_up(elements / kBlockCols * kTokenBytes, 64);
    plan.bytes = plan.rounded_bytes;
    if (weight.has_floats()) plan.bytes += align_up(elements * sizeof(float), 64);
    plan.bytes += 64;  // threads of their own lines
    return plan;
}

Result<void> Products::reserve(const Plan& plan) {
    return activations_.reserve(plan.bytes * count(plan.own ? pool_.threads() : 1));
}

Products::Prepared Products::prepare(const PackedWeight& weight, const ProductInput& input,
                                     const Plan& plan, int thread) {
    std::uint8_t* memory = activations_.bytes() + (plan.own ? plan.bytes * count(thread) : 0);
    void* after = memory + plan.rounded_bytes;
    const ThreadPool::Range panels =
        plan.own ? ThreadPool::Range{0, plan.panels.count} : pool_.share(plan.panels.count, thread);
    const PrepareArgs args = {.x = input.x.data,
                              .stride = input.x.stride,
                              .cols = input.x.cols,
                              .norm = input.norm,
                              .eps = input.eps,
                              .panels = plan.panels,
                              .first_panel = panels.first,
                              .last_panel = panels.last,
                              .starts = starts_of(weight),
                              .rounded = weight.has_quants() ? memory : nullptr,
                              .plain = weight.has_floats() ? static_cast<float*>(after) : nullptr};
    kernels_.prepare(args);
    if (!plan.own) pool_.barrier(thread);
    return {args.rounded, args.plain};
}

Result<void> Products::multiply(const PackedWeight& weight, const ProductInput& input, View out,
                                Into into) {
    if (input.x.rows == 0) return {};
    const Plan plan = plan_for(weight, input);
    HEARTH_TRY_VOID(reserve(plan));
    int groups = 0;
    for (const PackedRows& rows : weight.segments()) groups += rows.groups();
    pool_.run([&](int thread) {
        const Prepared prepared = prepare(weight, input, plan, thread);
        const ThreadPool::Range mine = pool_.share(groups, thread);
        const int step = panels_at_once(plan.panels, input.x.cols);
        for (int panel = 0; panel < plan.panels.count; panel += step) {
            int group = 0;  // first of the segment
            std::int64_t column = 0;
            for (const PackedRows& rows : weight.segments()) {
                const ProductArgs args = {.weight = &rows,
                                          .first_group = std::max(mine.first - group, 0),
                                          .last_group = std::min(mine.last - group, rows.groups()),
                                          .panels = plan.panels,
                                          .first_panel = panel,
                                          .last_panel = std::min(panel + step, plan.panels.count),
                                          .rounded = prepared.rounded,
                                          .plain = prepared.plain,
                                          .out = out.row(plan.panels.first(panel)),
                                          .stride = out.stride,
                                          .column = column,
                                          .add = into == Into::add};
                if (args.first_group < args.last_group)
                    kernels_.product[static_cast<int>(rows.type)](args);
                group += rows.groups();
                column += rows.rows;
            }
        }
    });
    return {};
}

bool Products::can_gate(const PackedWeight& weight, int n) {
    bool aligned = n % kGroupRows == 0;
    for (const PackedRows& rows : weight.segments())
        aligned = aligned && rows.rows % kGroupRows == 0;
    return aligned;
}

// One slab of gate and up rows for one panel: products, then gates while they are in the cache.
void Products::gate_panel(const GatedCall& call, GateSlab slab, int panel) {
    const int width = slab.groups * kGroupRows;
    const auto multiply = [&](Place at, float* to) {
        kernels_.product[static_cast<int>(at.rows->type)](
            {.weight = at.rows,
             .first_group = at.group,
             .last_group = at.group + slab.groups,
             .panels = call.panels,
             .first_panel = panel,
             .last_panel = panel + 1,
             .rounded = call.prepared.rounded,
             .plain = call.prepared.plain,
             .out = to,
             .stride = 2 * width,
             .column = -static_cast<std::int64_t>(at.group) * kGroupRows,
             .add = false});
    };
    multiply(slab.gate, call.products);
    multiply(slab.up, call.products + width);
    for (int i = 0; i < call.panels.size(panel); ++i) {
        const float* row = call.products + 2 * width * i;
        kernels_.silu_mul(row, row + width, width,
                          call.out.row(call.panels.first(panel) + i) + slab.unit * kGroupRows);
    }
}

Result<void> Products::gated(const PackedWeight& weight, const ProductInput& input, View out) {
    if (input.x.rows == 0) return {};
    const Plan plan = plan_for(weight, input);
    HEARTH_TRY_VOID(reserve(plan));
    const int units = out.cols / kGroupRows;
    const bool one_panel = plan.panels.count == 1;
    const int most = one_panel ? ceil_div(units, pool_.threads()) : kGateSlab;
    const std::size_t floats = 2 * count(most * kGroupRows) * count(kernels_.tile_tokens);
    HEARTH_TRY_VOID(gates_.reserve(floats * sizeof(float) * count(pool_.threads())));
    pool_.run([&](int thread) {
        const GatedCall call = {plan.panels, prepare(weight, input, plan, thread),
                                gates_.floats() + floats * count(thread), out};
        const ThreadPool::Range mine = pool_.share(units, thread);
        const int step = panels_at_once(plan.panels, input.x.cols);
        for (int block = 0; block < plan.panels.count; block += step) {
            const int last = std::min(block + step, plan.panels.count);
            for (int unit = mine.first; unit < mine.last;) {
                GateSlab slab = {unit, 0, locate(weight, unit * kGroupRows),
                                 locate(weight, unit * kGroupRows + out.cols)};
                slab.groups =
                    std::min({most, mine.last - unit, slab.gate.rows->groups() - slab.gate.group,
                              slab.up.rows->groups() - slab.up.group});
                for (int panel = block; panel < last; ++panel) gate_panel(call, slab, panel);
                unit += slab.groups;
            }
        }
    });
    return {};
}

}  // namespace hearth::cpu
