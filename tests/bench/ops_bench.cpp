// Speed of single ops and of a whole pass of made-up ops, in the shapes of a real model (SmolLM2
// 135M unless told otherwise), with random weights. Prints, never passes or fails.
//
//   ops_bench [--backend cpu] [--threads 0] [--type Q4_1] [--reps 20] [--only bandwidth|products|
//             attention|pass] [--cpu-time]
//
// --cpu-time counts the CPU time of the calling thread instead of the wall clock: with one thread
// on a busy machine that is the steadier number.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/base/thread_pool.h"
#include "engine/device/make_ops.h"
#include "engine/quant/traits.h"

namespace hearth::bench {
namespace {

struct Settings {
    DeviceOptions device;
    std::string type = "Q4_1";
    std::string only;
    int reps = 20;
    bool cpu_time = false;
};

struct Shape {
    int layers = 30;
    int width = 576;
    int ffn = 1536;
    int heads = 9;
    int kv_heads = 3;
    int head_dim = 64;
    int vocab = 49152;
};
// The nearest shape that blocks of 256 fit.
constexpr Shape kWideBlocks = {.width = 768, .heads = 12, .kv_heads = 4};

double seconds(bool cpu_time) {
    timespec t = {};
    clock_gettime(cpu_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <typename T>
T need(Result<T> result) {
    if (!result) {
        std::cerr << result.error().message << '\n';
        std::exit(1);
    }
    return *std::move(result);
}

// The fastest of several runs: what the machine can do when nobody else is on it.
double fastest(const Settings& settings, const std::function<void()>& body) {
    double best = 1e9;
    body();
    for (int i = 0; i < settings.reps; ++i) {
        const double start = seconds(settings.cpu_time);
        body();
        best = std::min(best, seconds(settings.cpu_time) - start);
    }
    return best;
}

Weight random_weight(Ops& ops, DType type, int rows, int cols) {
    // One packed row of random floats, repeated with a turn: packing k-quants is slow.
    static std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0F, 0.02F);
    std::vector<float> values(static_cast<std::size_t>(cols) * 16);
    for (float& x : values) x = normal(random);
    const std::size_t row = need(
        Result<std::size_t>(row_bytes(type, static_cast<std::uint64_t>(cols)).value().value_or(0)));
    std::vector<std::byte> some(row * 16);
    quant::traits(type).pack(values.data(), values.size(), some.data());
    std::vector<std::byte> blocks(row * static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = some[i % some.size()];
    const RowSegment segment = {type, rows, blocks};
    return need(ops.upload(std::span(&segment, 1), cols));
}

Buffer random_rows(Ops& ops, int rows, int cols) {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    Buffer buffer = need(ops.allocate(rows, cols));
    std::vector<float> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
    for (float& x : values) x = normal(random);
    ops.write(values, buffer.view);
    return buffer;
}

void bandwidth(const Settings& settings) {
    constexpr std::size_t kWords = 32U << 20;  // 256 MiB
    std::vector<std::uint64_t> memory(kWords, 1);
    for (int threads = 1; threads <= 2 * usable_cores(); threads *= 2) {
        ThreadPool pool(threads);
        std::vector<std::uint64_t> sums(static_cast<std::size_t>(threads) * 8);
        const double time = fastest(settings, [&] {
            pool.run([&](int thread) {
                const auto range = pool.share(1 << 20, thread);
                const std::uint64_t* p = memory.data() + 32L * range.first;
                const std::uint64_t* end = memory.data() + 32L * range.last;
                std::uint64_t a[16] = {};
                for (; p < end; p += 16)
                    for (int i = 0; i < 16; ++i) a[i] += p[i];
                for (const std::uint64_t x : a) sums[static_cast<std::size_t>(thread) * 8] += x;
            });
        });
        std::cout << "read bandwidth, " << threads
                  << " threads: " << 8e-9 * static_cast<double>(kWords) / time << " GB/s\n";
    }
}

void products(const Settings& settings, Ops& ops, DType type, const Shape& shape) {
    struct Product {
        int rows;
        int cols;
    };
    for (const Product p : {Product{960, shape.width}, Product{2 * shape.ffn, shape.width},
                            Product{shape.width, shape.ffn}}) {
        const Weight weight = random_weight(ops, type, p.rows, p.cols);
        for (const int tokens : {1, 2, 4, 8, 16, 64, 512}) {
            const Buffer x = random_rows(ops, tokens, p.cols);
            const Buffer out = need(ops.allocate(tokens, p.rows));
            const int inner = std::max(1, 64 / tokens);
            const double time = fastest(settings, [&] {
                for (int i = 0; i < inner; ++i) ops.matmul(weight, x.view, out.view);
            });
            const double macs = 1.0 * p.rows * p.cols * tokens * inner;
            std::cout << to_string(type) << " [" << p.rows << ", " << p.cols << "] x "
                      << std::setw(3) << tokens << ": " << std::setw(8) << time / inner * 1e6
                      << " us, " << std::setw(7) << macs / time * 1e-9 << " GMAC/s, "
                      << std::setw(7) << static_cast<double>(weight.bytes) * inner / time * 1e-9
                      << " GB/s\n";
        }
    }
}

// One sequence whose pages lie in order.
class Step {
public:
    Step(int context, int rows)
        : tokens_(static_cast<std::size_t>(rows)),
          pages_(static_cast<std::size_t>((context + rows + kPagePositions - 1) / kPagePositions)),
          sampled_{rows - 1},
          sequence_{0, rows, context, pages_} {
        for (std::size_t i = 0; i < pages_.size(); ++i) pages_[i] = static_cast<std::int32_t>(i);
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            tokens_[i] = static_cast<std::int32_t>(i * 7 % 1000);
    }
    StepInput input() const {
        return {.tokens = tokens_, .sequences = std::span(&sequence_, 1), .sampled_rows = sampled_};
    }

private:
    std::vector<std::int32_t> tokens_;
    std::vector<std::int32_t> pages_;
    std::vector<std::int32_t> sampled_;
    SequenceRows sequence_;
};

constexpr int kPages = 4096 / kPagePositions + 64;

void attention(const Settings& settings, Ops& ops, const Shape& shape) {
    const AttentionConfig config = {shape.heads, shape.kv_heads, shape.head_dim, 0.125F};
    KvMemory kv =
        need(ops.allocate_kv({1, shape.kv_heads, shape.head_dim, DType::f16, DType::f16, kPages}));
    RopeConfig rope;
    rope.dims = shape.head_dim;
    const RopeTable table = need(RopeTable::make(rope, 8192));
    struct Case {
        int context;
        int rows;
    };
    for (const Case c : {Case{0, 4096}, Case{0, 512}, Case{512, 512}, Case{3584, 512}, Case{128, 1},
                         Case{512, 1}, Case{4095, 1}, Case{1024, 8}}) {
        const Step step(c.context, c.rows);
        const int cols = (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
        const Buffer qkv = random_rows(ops, c.rows, cols);
        const Buffer out = need(ops.allocate(c.rows, shape.heads * shape.head_dim));
        ops.begin_step(step.input());
        const double store =
            fastest(settings, [&] { ops.rope_store(table, config, kv, 0, qkv.view); });
        const View q = qkv.view.columns(0, out.view.cols);
        const double time = fastest(settings, [&] { ops.attend(kv, 0, config, q, out.view); });
        const double pairs = c.rows * (c.context + 0.5 * (c.rows + 1));
        const double macs = pairs * 2 * shape.heads * shape.head_dim;
        const double bytes = 4.0 * (c.context + c.rows) * shape.kv_heads * shape.head_dim;
        std::cout << "attend " << c.rows << " at " << c.context << ": " << time * 1e6 << " us, "
                  << macs / time * 1e-9 << " GMAC/s, " << bytes / time * 1e-9
                  << " GB/s once; rope_store " << store * 1e6 << " us\n";
    }
}

struct Model {
    struct Layer {
        Weight qkv, out, gate_up, down;
    };
    std::vector<Layer> layers;
    Weight head;
    std::size_t bytes = 0;
};

Model random_model(Ops& ops, DType type, const Shape& shape) {
    Model model;
    const int qkv = (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
    for (int i = 0; i < shape.layers; ++i) {
        model.layers.push_back({random_weight(ops, type, qkv, shape.width),
                                random_weight(ops, type, shape.width, shape.width),
                                random_weight(ops, type, 2 * shape.ffn, shape.width),
                                random_weight(ops, type, shape.width, shape.ffn)});
        const Model::Layer& l = model.layers.back();
        model.bytes += l.qkv.bytes + l.out.bytes + l.gate_up.bytes + l.down.bytes;
    }
    model.head = random_weight(ops, DType::q8_0, shape.vocab, shape.width);
    model.bytes += model.head.bytes;
    return model;
}

// Time by kind of op: of one run, and the least of all runs.
class Laps {
public:
    explicit Laps(bool cpu_time) : cpu_time_(cpu_time) {}
    void begin() {
        now_.clear();
        mark_ = seconds(cpu_time_);
    }
    void lap(const std::string& name) {
        const double t = seconds(cpu_time_);
        now_[name] += t - mark_;
        mark_ = t;
    }
    void end() {
        for (const auto& [name, time] : now_)
            if (!best_.contains(name) || time < best_[name]) best_[name] = time;
    }
    const std::map<std::string, double>& best() const { return best_; }

private:
    bool cpu_time_;
    double mark_ = 0.0;
    std::map<std::string, double> now_;
    std::map<std::string, double> best_;
};

// The state of a pass of `rows` tokens after `context` others.
struct Pass {
    Pass(Ops& on, const Shape& shape, int context, int rows)
        : ops(on),
          config{shape.heads, shape.kv_heads, shape.head_dim, 0.125F},
          step(context, rows),
          norm(random_rows(on, 1, shape.width)),
          x(random_rows(on, rows, shape.width)),
          qkv(need(on.allocate(rows, (shape.heads + 2 * shape.kv_heads) * shape.head_dim))),
          mixed(need(on.allocate(rows, shape.heads * shape.head_dim))),
          gated(need(on.allocate(rows, shape.ffn))),
          last(need(on.allocate(1, shape.width))),
          logits(need(on.allocate(1, shape.vocab))) {
        RopeConfig rope;
        rope.dims = shape.head_dim;
        table = need(RopeTable::make(rope, 8192));
    }

    // As a llama model does it.
    void run(const Model& model, KvMemory& kv, Laps& laps) {
        laps.begin();
        ops.begin_step(step.input());
        ops.embed(model.head, x.view);
        laps.lap("embed");
        for (int i = 0; i < static_cast<int>(model.layers.size()); ++i) {
            const Model::Layer& l = model.layers[static_cast<std::size_t>(i)];
            ops.norm_matmul(x.view, norm.view, 1e-5F, l.qkv, qkv.view);
            laps.lap("qkv");
            ops.rope_store(table, config, kv, i, qkv.view);
            laps.lap("rope_store");
            ops.attend(kv, i, config, qkv.view.columns(0, mixed.view.cols), mixed.view);
            laps.lap("attend");
            ops.matmul_add(l.out, mixed.view, x.view);
            laps.lap("out");
            ops.gated(x.view, norm.view, 1e-5F, l.gate_up, gated.view);
            laps.lap("gated");
            ops.matmul_add(l.down, gated.view, x.view);
            laps.lap("down");
        }
        ops.gather_rows(x.view, last.view);
        ops.norm_matmul(last.view, norm.view, 1e-5F, model.head, logits.view);
        laps.lap("head");
        laps.end();
    }

    Ops& ops;
    AttentionConfig config;
    Step step;
    RopeTable table;
    Buffer norm, x, qkv, mixed, gated, last, logits;
};

void passes(const Settings& settings, Ops& ops, DType type, const Shape& shape) {
    const Model model = random_model(ops, type, shape);
    KvMemory kv = need(ops.allocate_kv(
        {shape.layers, shape.kv_heads, shape.head_dim, DType::f16, DType::f16, kPages}));
    struct Case {
        int context;
        int rows;
    };
    for (const Case c : {Case{0, 512}, Case{0, 128}, Case{16, 8}, Case{16, 1}, Case{4095, 1}}) {
        Pass pass(ops, shape, c.context, c.rows);
        Laps laps(settings.cpu_time);
        const double total = fastest(settings, [&] { pass.run(model, kv, laps); });
        std::cout << to_string(type) << ", " << c.rows << " at " << c.context << ": " << total * 1e3
                  << " ms, " << c.rows / total << " tokens/s, "
                  << static_cast<double>(model.bytes) / total * 1e-9 << " GB/s; ms:";
        for (const auto& [name, time] : laps.best()) std::cout << ' ' << name << ' ' << time * 1e3;
        std::cout << '\n';
    }
}

Settings parse(int argc, char** argv) {
    Settings settings;
    settings.device.backend = "cpu";
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--cpu-time") {
            settings.cpu_time = true;
            continue;
        }
        if (++i == argc) break;
        if (name == "--backend") settings.device.backend = argv[i];
        if (name == "--threads") settings.device.threads = std::atoi(argv[i]);
        if (name == "--type") settings.type = argv[i];
        if (name == "--reps") settings.reps = std::atoi(argv[i]);
        if (name == "--only") settings.only = argv[i];
    }
    return settings;
}

}  // namespace

int run(int argc, char** argv) {
    const Settings settings = parse(argc, argv);
    const auto ops = need(make_ops(settings.device));
    const auto type = dtype_from_name(settings.type);
    if (!type) return 1;
    std::cout << ops->description() << std::fixed << std::setprecision(2) << '\n';
    const auto wanted = [&](const char* part) {
        return settings.only.empty() || settings.only == part;
    };
    if (wanted("bandwidth")) bandwidth(settings);
    const Shape shape = dtype_info(*type).block_elements > 32 ? kWideBlocks : Shape{};
    if (wanted("products")) products(settings, *ops, *type, shape);
    if (wanted("attention")) attention(settings, *ops, shape);
    if (wanted("pass")) passes(settings, *ops, *type, shape);
    return 0;
}

}  // namespace hearth::bench

int main(int argc, char** argv) { return hearth::bench::run(argc, argv); }
