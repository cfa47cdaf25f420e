// `inspect`: what a model file is, as JSON, from its header alone. The fields are those of
// daemon/supervise/inspect.h.
#include <fcntl.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <memory>
#include <string>

#include "daemon/worker/sandbox.h"
#include "daemon/worker/tool_parts.h"
#include "daemon/worker/tools.h"
#include "engine/base/utf8.h"
#include "engine/gguf/reader.h"
#include "engine/model/config.h"
#include "engine/model/families.h"
#include "engine/text/tokenizer.h"

namespace hearth::worker {
namespace {

namespace json = boost::json;

struct Inspect {
    std::string path;
    int descriptor = -1;
};

json::string text_of(std::string_view text) { return json::string(repair_utf8(text)); }

std::string_view string_or_empty(const gguf::Metadata& metadata, std::string_view key) {
    const auto text = metadata.string_or(key, "");
    return text ? *text : std::string_view();
}

std::string kind_of(const gguf::File& file) {
    const std::string_view type = string_or_empty(file.metadata(), "general.type");
    const std::string_view architecture = string_or_empty(file.metadata(), "general.architecture");
    if (type == "mmproj" || architecture == "clip") return "projector";
    if (type == "adapter") return "adapter";
    return file.tensors().empty() ? "vocabulary" : "model";
}

// The type that holds most elements.
std::string main_type(const gguf::File& file) {
    std::map<DType, std::uint64_t> elements;
    for (const gguf::TensorInfo& tensor : file.tensors()) {
        elements[tensor.type] += tensor.cols() * tensor.rows();
    }
    const std::pair<const DType, std::uint64_t>* most = nullptr;
    for (const auto& entry : elements) {
        if (most == nullptr || entry.second > most->second) most = &entry;
    }
    return most == nullptr ? "" : std::string(to_string(most->first));
}

// Why this build cannot run the file; empty when it can. An error when the file is broken.
Result<std::string> check_model(const gguf::File& file) {
    const std::string kind = kind_of(file);
    if (kind != "model") return "it is no model but a " + kind + " file";
    HEARTH_TRY(const std::int64_t parts,
               file.metadata().integer_or("split.count", {.min = 0, .max = 65535}, 1));
    if (parts > 1) return "it is one of " + std::to_string(parts) + " parts of a model";
    HEARTH_TRY(const std::string_view architecture, file.metadata().string("general.architecture"));
    if (!model::is_supported(architecture)) {
        return "models of the architecture \"" + std::string(architecture.substr(0, 40)) +
               "\" are not supported";
    }
    const auto config = model::read_config(file);
    const auto tokenizer = text::Tokenizer::load(file.metadata());
    for (const Error* error :
         {config ? nullptr : &config.error(), tokenizer ? nullptr : &tokenizer.error()}) {
        if (error == nullptr) continue;
        if (error->code != ErrorCode::unsupported_model) return *error;
        return error->message;
    }
    return std::string();
}

Result<json::object> facts_of(const gguf::File& file, std::size_t bytes) {
    HEARTH_TRY(const std::string unsupported, check_model(file));
    const gguf::Metadata& metadata = file.metadata();
    const std::string architecture(string_or_empty(metadata, "general.architecture"));
    const auto context =
        metadata.integer_or(architecture + ".context_length", {.min = 0, .max = 2'147'483'647}, 0);
    std::uint64_t parameters = 0;
    for (const gguf::TensorInfo& tensor : file.tensors()) {
        parameters += tensor.cols() * tensor.rows();
    }
    return json::object{
        {"kind", kind_of(file)},
        {"architecture", text_of(architecture)},
        {"name", text_of(string_or_empty(metadata, "general.name"))},
        {"quantization", main_type(file)},
        {"context", context ? *context : 0},
        {"parameters", parameters},
        {"tensors", file.tensors().size()},
        {"size", bytes},
        {"has_chat_template", !string_or_empty(metadata, "tokenizer.chat_template").empty()},
        {"unsupported", text_of(unsupported)}};
}

Result<json::object> inspect(const Inspect& options) {
    Result<MappedFile> mapped = options.descriptor >= 0
                                    ? MappedFile::from_descriptor(options.descriptor, options.path)
                                    : MappedFile::open(options.path);
    if (!mapped) return std::move(mapped).error();
    HEARTH_TRY_VOID(enter_sandbox());
    HEARTH_TRY(const gguf::File file, gguf::File::read(mapped->bytes()));
    return facts_of(file, mapped->bytes().size());
}

int run(const Inspect& options) {
    const auto facts = inspect(options);
    if (facts) return print(json::serialize(*facts) + "\n") ? 0 : 1;
    const json::object error{{"error", json::object{{"code", to_string(facts.error().code)},
                                                    {"message", text_of(facts.error().message)}}}};
    print(json::serialize(error) + "\n");
    return fail(facts.error());
}

}  // namespace

void add_inspect(CLI::App& tools, int& exit_code) {
    auto* tool = tools.add_subcommand("inspect", "What a model file is, as JSON");
    // shared_ptr: owned by the callback that CLI11 keeps.
    auto options = std::make_shared<Inspect>();
    tool->add_option("FILE", options->path, "a GGUF file")->required();
    tool->add_option("--descriptor", options->descriptor,
                     "read this open descriptor; FILE is only its name");
    tool->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace hearth::worker
