// `requantize`: a copy of a model with weights of another type. Progress and fallbacks go to the
// error stream.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "daemon/worker/sandbox.h"
#include "daemon/worker/tool_parts.h"
#include "daemon/worker/tools.h"
#include "models/quantize/quantizer.h"

namespace hearth::worker {
namespace {

struct Requantize {
    std::string in;
    std::string out;
    std::string type;
};

// A line per tenth when nobody watches, a line that overwrites itself on a terminal.
class ProgressLine {
public:
    explicit ProgressLine(bool is_terminal) : is_terminal_(is_terminal) {}

    void show(const quantize::RequantizeProgress& progress) {
        if (progress.elements_total == 0) return;
        const auto percent = static_cast<int>(100.0 * static_cast<double>(progress.elements_done) /
                                              static_cast<double>(progress.elements_total));
        if (percent / step() == last_ / step() && last_ >= 0) return;
        last_ = percent;
        std::cerr << (is_terminal_ ? "\r" : "") << percent << " %" << (is_terminal_ ? "" : "\n");
        std::cerr.flush();
    }
    void finish() const {
        if (is_terminal_ && last_ >= 0) std::cerr << '\n';
    }

private:
    int step() const { return is_terminal_ ? 1 : 10; }

    bool is_terminal_;
    int last_ = -1;
};

Result<void> requantize(const Requantize& options) {
    const auto type = dtype_from_name(options.type);
    if (!type) {
        return Error{ErrorCode::bad_input,
                     "\"" + options.type + "\" is not a type we write; try Q8_0"};
    }
    std::string folder = std::filesystem::path(options.out).parent_path().string();
    if (folder.empty()) folder = ".";
    HEARTH_TRY_VOID(enter_sandbox({.readable = {options.in}, .writable_folder = folder}));
    ProgressLine line(isatty(STDERR_FILENO) == 1);
    const auto report = quantize::requantize(
        options.in, options.out, *type,
        [&](const quantize::RequantizeProgress& progress) { line.show(progress); });
    line.finish();
    if (!report) return report.error();
    for (const quantize::Fallback& fallback : report->fallbacks) {
        std::cerr << fallback.tensor << ": " << to_string(fallback.used) << " instead of "
                  << to_string(fallback.wanted) << ", whose blocks do not divide its rows\n";
    }
    std::cerr << report->tensors_converted << " tensors converted, " << report->tensors_copied
              << " copied, " << report->fallbacks.size() << " with another type than asked for; "
              << report->bytes_in << " bytes became " << report->bytes_out << '\n';
    return {};
}

}  // namespace

void add_requantize(CLI::App& tools, int& exit_code) {
    auto* tool = tools.add_subcommand("requantize", "Write a copy with weights of another type");
    // shared_ptr: owned by the callback that CLI11 keeps.
    auto options = std::make_shared<Requantize>();
    tool->add_option("IN", options->in, "a GGUF file")->required();
    tool->add_option("OUT", options->out, "the file to write")->required();
    tool->add_option("--type", options->type, "Q8_0, Q4_0, Q4_K, F16, …")->required();
    tool->callback([options, &exit_code] {
        const auto result = requantize(*options);
        exit_code = result ? 0 : fail(result.error());
    });
}

}  // namespace hearth::worker
