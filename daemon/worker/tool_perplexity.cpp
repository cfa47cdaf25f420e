// `perplexity`: how likely a model finds a text. Natural logarithms.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/worker/sandbox.h"
#include "daemon/worker/tool_parts.h"
#include "daemon/worker/tools.h"
#include "engine/generate/load.h"
#include "engine/generate/score.h"

namespace hearth::worker {
namespace {

namespace json = boost::json;
using Ids = std::vector<std::int32_t>;

struct Perplexity {
    std::string model;
    std::string text;
    std::string ids;
    int top = 0;
    std::string cache = "f16";
    std::string backend = "auto";
    int threads = 0;
    bool as_json = false;
};

Result<Ids> parse_ids(const std::string& text, const std::string& path) {
    HEARTH_TRY(const json::value value, parse_json(text, path));
    const Error refused{ErrorCode::bad_input, path + " is not a JSON list of token ids"};
    if (!value.is_array()) return refused;
    Ids ids;
    for (const json::value& item : value.get_array()) {
        if (!item.is_int64() || !std::in_range<std::int32_t>(item.get_int64())) return refused;
        ids.push_back(static_cast<std::int32_t>(item.get_int64()));
    }
    return ids;
}

json::object to_json(const Ids& ids, const generate::ScoreReport& report) {
    json::object out{
        {"ids", json::array(ids.begin(), ids.end())},
        {"next_logprob", json::array(report.next_logprob.begin(), report.next_logprob.end())},
        {"perplexity", report.perplexity}};
    json::array top_ids;
    for (const auto& list : report.top_ids)
        top_ids.push_back(json::array(list.begin(), list.end()));
    json::array top_logprobs;
    for (const auto& list : report.top_logprobs) {
        top_logprobs.push_back(json::array(list.begin(), list.end()));
    }
    out["top_ids"] = std::move(top_ids);
    out["top_logprobs"] = std::move(top_logprobs);
    return out;
}

Result<std::string> perplexity(const Perplexity& options) {
    const auto cache = dtype_from_name(options.cache);
    if (!cache) return Error{ErrorCode::bad_input, "\"" + options.cache + "\" is not a type"};
    HEARTH_TRY(const std::string text, read_text(options.ids.empty() ? options.text : options.ids));
    HEARTH_TRY(MappedFile file, open_confined(options.model));

    std::optional<Ids> ids;
    if (!options.ids.empty()) {
        HEARTH_TRY(ids, parse_ids(text, options.ids));
    }
    const EngineOptions engine_options{.backend = options.backend,
                                       .threads = options.threads,
                                       .key_type = *cache,
                                       .value_type = *cache};
    HEARTH_TRY(const generate::LoadedModel model,
               generate::load_model(std::move(file), engine_options));
    if (!ids) {
        HEARTH_TRY(ids, model.tokenizer.encode(
                            text, text::EncodeOptions{.add_bos = model.tokenizer.adds_bos(),
                                                      .parse_special = false}));
    }
    HEARTH_TRY(const generate::ScoreReport report,
               generate::score(model, *ids,
                               {.top = options.top, .key_type = *cache, .value_type = *cache}));
    if (options.as_json) return json::serialize(to_json(*ids, report)) + "\n";
    return "perplexity " + std::to_string(report.perplexity) + " over " +
           std::to_string(report.next_logprob.size()) + " predicted tokens\n";
}

}  // namespace

void add_perplexity(CLI::App& tools, int& exit_code) {
    auto* tool = tools.add_subcommand("perplexity", "How well a model predicts a text");
    // shared_ptr: owned by the callback that CLI11 keeps.
    auto options = std::make_shared<Perplexity>();
    tool->add_option("FILE", options->model, "a GGUF file")->required();
    tool->add_option("--file", options->text, "the text; without it, the standard input");
    tool->add_option("--ids", options->ids, "a JSON list of token ids, in place of the text");
    tool->add_option("--top", options->top, "also print so many likeliest tokens per position")
        ->check(CLI::Range(0, 1000));
    tool->add_option("--kv", options->cache, "type of keys and values")
        ->check(CLI::IsMember({"f32", "f16"}));
    tool->add_option("-t,--threads", options->threads, "0: one per core")
        ->check(CLI::Range(0, 1024));
    tool->add_option("--backend", options->backend, "auto, cpu, cpu-avx2, reference, …");
    tool->add_flag("--json", options->as_json,
                   "print ids, next_logprob, perplexity, top_ids, top_logprobs");
    tool->callback([options, &exit_code] {
        const auto output = perplexity(*options);
        exit_code = !output ? fail(output.error()) : print(*output) ? 0 : 1;
    });
}

}  // namespace hearth::worker
