// Files are opened before the sandbox closes and parsed after it.
#include "daemon/worker/tool_parts.h"

#include <boost/json/parse.hpp>
#include <fstream>
#include <iostream>
#include <iterator>

#include "daemon/worker/sandbox.h"
#include "daemon/worker/tools.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace hearth::worker {
namespace {

constexpr std::size_t kMaxText = 256 * kMiB;

Result<std::string> read_stream(std::istream& stream, const std::string& name) {
    std::string text;
    std::string part(64 * kKiB, '\0');
    while (stream.read(part.data(), static_cast<std::streamsize>(part.size())) ||
           stream.gcount() > 0) {
        text.append(part, 0, static_cast<std::size_t>(stream.gcount()));
        if (text.size() > kMaxText) {
            return Error{ErrorCode::too_large, name + " is larger than 256 MiB"};
        }
    }
    return text;
}

}  // namespace

void add_tools(CLI::App& tools, int& exit_code) {
    add_inspect(tools, exit_code);
    add_tokenize(tools, exit_code);
    add_render(tools, exit_code);
    add_requantize(tools, exit_code);
    add_bench(tools, exit_code);
    add_perplexity(tools, exit_code);
}

int fail(const Error& error) {
    std::cerr << "hearth: " << repair_utf8(error.message) << '\n';
    return 1;
}

Result<MappedFile> open_confined(const std::string& path) {
    HEARTH_TRY(MappedFile file, MappedFile::open(path));
    HEARTH_TRY_VOID(enter_sandbox());
    return file;
}

Result<std::string> read_text(const std::string& path) {
    if (path.empty()) return read_stream(std::cin, "the standard input");
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::not_found, "cannot open " + path};
    return read_stream(file, path);
}

Result<boost::json::value> parse_json(const std::string& text, const std::string& path) {
    boost::system::error_code failed;
    boost::json::value value = boost::json::parse(text, failed, {}, {.max_depth = 160});
    if (failed) return Error{ErrorCode::bad_input, path + " is not JSON: " + failed.message()};
    return value;
}

bool print(const std::string& text) {
    std::cout << text;
    std::cout.flush();
    if (std::cout) return true;
    std::cerr << "hearth: the output could not be written\n";
    return false;
}

}  // namespace hearth::worker
