// `tokenize`: text to ids. Needs a vocabulary only, so a file without tensors will do.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string>

#include "daemon/worker/tool_parts.h"
#include "daemon/worker/tools.h"
#include "engine/base/utf8.h"
#include "engine/gguf/reader.h"
#include "engine/text/tokenizer.h"

namespace hearth::worker {
namespace {

struct Tokenize {
    std::string model;
    std::string file;
    bool parse_special = false;
    bool add_bos = false;
    bool as_json = false;
};

Result<std::string> tokenize(const Tokenize& options) {
    HEARTH_TRY(const std::string text, read_text(options.file));
    HEARTH_TRY(const MappedFile mapped, open_confined(options.model));
    HEARTH_TRY(const gguf::File file, gguf::File::read(mapped.bytes()));
    HEARTH_TRY(const text::Tokenizer tokenizer, text::Tokenizer::load(file.metadata()));
    HEARTH_TRY(const auto ids,
               tokenizer.encode(text, text::EncodeOptions{.add_bos = options.add_bos,
                                                          .parse_special = options.parse_special}));
    if (options.as_json) {
        boost::json::array list(ids.begin(), ids.end());
        return boost::json::serialize(boost::json::object{{"ids", std::move(list)}}) + "\n";
    }
    std::string lines;
    for (const text::TokenId id : ids) {
        lines += std::to_string(id) + "\t" +
                 boost::json::serialize(boost::json::string(repair_utf8(tokenizer.piece(id)))) +
                 "\n";
    }
    return lines;
}

}  // namespace

void add_tokenize(CLI::App& tools, int& exit_code) {
    auto* tool = tools.add_subcommand("tokenize", "Text to token ids");
    // shared_ptr: owned by the callback that CLI11 keeps.
    auto options = std::make_shared<Tokenize>();
    tool->add_option("MODEL", options->model, "a GGUF file; its vocabulary is enough")->required();
    tool->add_option("--file", options->file, "the text; without it, the standard input");
    tool->add_flag("--special", options->parse_special, "recognise control tokens in the text");
    tool->add_flag("--bos", options->add_bos, "put the begin token first, where there is one");
    tool->add_flag("--json", options->as_json, "print {\"ids\": [...]}");
    tool->callback([options, &exit_code] {
        const auto output = tokenize(*options);
        exit_code = !output ? fail(output.error()) : print(*output) ? 0 : 1;
    });
}

}  // namespace hearth::worker
