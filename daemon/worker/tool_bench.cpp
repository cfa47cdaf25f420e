// `bench`: speed of reading a prompt and of generating, with the flags and fields of llama-bench
// where they mean the same.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <iomanip>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "daemon/worker/bandwidth.h"
#include "daemon/worker/sandbox.h"
#include "daemon/worker/tool_parts.h"
#include "daemon/worker/tools.h"
#include "engine/base/thread_pool.h"
#include "engine/generate/bench.h"
#include "engine/generate/load.h"

namespace hearth::worker {
namespace {

namespace json = boost::json;

struct Bench {
    std::string model;
    std::vector<int> prompts = {512};
    std::vector<int> generations = {128};
    std::vector<int> depths = {0};
    std::vector<int> threads = {0};
    int repetitions = 5;
    std::string cache = "f16";
    std::string backend = "auto";
    std::string format = "md";
};

struct Row {
    int prompt = 0;      // tokens read per repetition
    int generation = 0;  // or tokens generated
    int depth = 0;
    int threads = 0;
    std::vector<double> tokens_per_second;
    double median = 0;
    double bytes_per_second = 0;  // that the median repetition has to read
    double share = 0;             // of what the memory gives
};

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    if (values.size() % 2 == 1) return values[middle];
    return (values[middle - 1] + values[middle]) / 2;
}

// `passes`: how often the weights are read for one repetition.
Row make_row(Row row, const std::vector<double>& seconds, double passes, double bytes_per_pass) {
    const double tokens = row.prompt + row.generation;
    for (const double time : seconds) row.tokens_per_second.push_back(tokens / time);
    row.median = median(row.tokens_per_second);
    row.bytes_per_second = row.median / tokens * passes * bytes_per_pass;
    return row;
}

Result<void> measure(const generate::LoadedModel& model, const generate::BenchOptions& options,
                     int threads, std::vector<Row>& rows) {
    HEARTH_TRY(const generate::BenchReport report, generate::bench(model, options));
    const auto bytes = static_cast<double>(report.bytes_per_token);
    if (!report.prompt_seconds.empty()) {
        const double passes = std::ceil(static_cast<double>(options.prompt) / options.step_tokens);
        rows.push_back(make_row({.prompt = options.prompt,
                                 .depth = options.depth,
                                 .threads = threads,
                                 .tokens_per_second = {}},
                                report.prompt_seconds, passes, bytes));
    }
    if (!report.generation_seconds.empty()) {
        rows.push_back(make_row({.generation = options.generation,
                                 .depth = options.depth,
                                 .threads = threads,
                                 .tokens_per_second = {}},
                                report.generation_seconds, options.generation, bytes));
    }
    return {};
}

struct Report {
    ModelInfo model;
    std::uint64_t file_bytes = 0;
    std::vector<Row> rows;
};

Result<void> measure_threads(const Bench& options, int threads, DType cache, Report& report) {
    // The descriptor is read again for every number of threads: weights are packed for the device
    // that they are on.
    HEARTH_TRY(MappedFile file, MappedFile::open(options.model));
    report.file_bytes = file.bytes().size();
    const EngineOptions engine_options{
        .backend = options.backend, .threads = threads, .key_type = cache, .value_type = cache};
    HEARTH_TRY(const generate::LoadedModel model,
               generate::load_model(std::move(file), engine_options));
    report.model = model.info;
    const std::size_t begin = report.rows.size();
    for (const int depth : options.depths) {
        const generate::BenchOptions base{.prompt = 0,
                                          .generation = 0,
                                          .depth = depth,
                                          .repetitions = options.repetitions,
                                          .key_type = cache,
                                          .value_type = cache};
        for (const int prompt : options.prompts) {
            if (prompt == 0) continue;
            auto one = base;
            one.prompt = prompt;
            HEARTH_TRY_VOID(measure(model, one, threads, report.rows));
        }
        for (const int generation : options.generations) {
            if (generation == 0) continue;
            auto one = base;
            one.generation = generation;
            HEARTH_TRY_VOID(measure(model, one, threads, report.rows));
        }
    }
    HEARTH_TRY(const double bandwidth, read_bandwidth(threads));
    for (std::size_t i = begin; i < report.rows.size(); ++i) {
        report.rows[i].share = report.rows[i].bytes_per_second / bandwidth;
    }
    return {};
}

Result<Report> bench(const Bench& options) {
    const auto cache = dtype_from_name(options.cache);
    if (!cache) return Error{ErrorCode::bad_input, "\"" + options.cache + "\" is not a type"};
    HEARTH_TRY_VOID(enter_sandbox({.readable = {options.model}, .writable_folder = ""}));
    Report report;
    for (const int threads : options.threads) {
        HEARTH_TRY_VOID(
            measure_threads(options, threads == 0 ? usable_cores() : threads, *cache, report));
    }
    return report;
}

std::string fixed(double value, int digits) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

std::string to_json(const Report& report) {
    json::array rows;
    for (const Row& row : report.rows) {
        rows.push_back(json::object{
            {"model", report.model.name},
            {"quantization", report.model.quantization},
            {"backend", report.model.backend},
            {"model_size", report.file_bytes},
            {"n_prompt", row.prompt},
            {"n_gen", row.generation},
            {"n_depth", row.depth},
            {"n_threads", row.threads},
            {"median_ts", row.median},
            {"samples_ts", json::array(row.tokens_per_second.begin(), row.tokens_per_second.end())},
            {"gb_per_s", row.bytes_per_second / 1e9},
            {"bandwidth_share", row.share}});
    }
    return json::serialize(rows) + "\n";
}

std::string to_markdown(const Report& report) {
    std::string text = report.model.name + ", " + report.model.quantization + ", " +
                       fixed(static_cast<double>(report.file_bytes) / kMiB, 1) + " MiB, " +
                       report.model.backend + "\n\n";
    text += "| test | threads | tokens/s (median) | spread | GB/s | of read bandwidth |\n";
    text += "|---|--:|--:|--:|--:|--:|\n";
    for (const Row& row : report.rows) {
        std::string name = row.prompt > 0 ? "pp" + std::to_string(row.prompt)
                                          : "tg" + std::to_string(row.generation);
        if (row.depth > 0) name += " @ d" + std::to_string(row.depth);
        const auto [low, high] = std::ranges::minmax(row.tokens_per_second);
        text += "| " + name + " | " + std::to_string(row.threads) + " | " + fixed(row.median, 2) +
                " | " + fixed(low, 2) + " to " + fixed(high, 2) + " | " +
                fixed(row.bytes_per_second / 1e9, 2) + " | " + fixed(100 * row.share, 1) + " % |\n";
    }
    return text;
}

}  // namespace

void add_bench(CLI::App& tools, int& exit_code) {
    auto* tool = tools.add_subcommand("bench", "Measure prompt and generation speed");
    // shared_ptr: owned by the callback that CLI11 keeps.
    auto options = std::make_shared<Bench>();
    tool->add_option("FILE", options->model, "a GGUF file")->required();
    const auto add_list = [&](const char* name, std::vector<int>& values, const char* help) {
        tool->add_option(name, values, help)
            ->delimiter(',')
            ->check(CLI::Range(0, 1 << 24))
            ->capture_default_str();
    };
    add_list("-p,--n-prompt", options->prompts, "tokens of the prompt; 0: no such test");
    add_list("-n,--n-gen", options->generations, "tokens to generate; 0: no such test");
    add_list("-d,--n-depth", options->depths, "positions that are there before");
    add_list("-t,--threads", options->threads, "0: one per core");
    tool->add_option("-r,--repetitions", options->repetitions, "after one that is not counted")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    tool->add_option("--kv", options->cache, "type of keys and values")
        ->check(CLI::IsMember({"f32", "f16"}));
    tool->add_option("--backend", options->backend, "auto, cpu, cpu-avx2, reference, …");
    tool->add_option("-o,--output", options->format, "md or json")
        ->check(CLI::IsMember({"md", "json"}))
        ->capture_default_str();
    tool->callback([options, &exit_code] {
        const auto report = bench(*options);
        if (!report) {
            exit_code = fail(report.error());
            return;
        }
        exit_code =
            print(options->format == "json" ? to_json(*report) : to_markdown(*report)) ? 0 : 1;
    });
}

}  // namespace hearth::worker
