// T053. Any bytes as a template, rendered with a fixed conversation and with strings cut from the
// input. The budgets must hold: no input may run long, and every byte of the output must have its
// origin.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/chat/template.h"

namespace {

using hearth::chat::Member;
using hearth::chat::Origin;
using hearth::chat::Value;

Value message(std::string_view role, std::string_view content) {
    return Value::object({{"role", Value::string(role)}, {"content", Value::string(content)}});
}

Value variables(std::string_view input) {
    const std::string_view head = input.substr(0, 40);
    const std::string_view tail =
        input.substr(input.size() - std::min<std::size_t>(input.size(), 40));
    return Value::object({
        {"messages", Value::list({message("system", "Be brief."), message("user", head),
                                  message("assistant", tail)})},
        {"tools", Value::list({Value::object({{"name", Value::string("f")},
                                              {"n", Value::integer(3)},
                                              {"x", Value::real(2.5)},
                                              {"none", Value::none()}})})},
        {"bos_token", Value::string("<s>", Origin::trusted)},
        {"add_generation_prompt", Value::boolean(true)},
        {"s", Value::string(tail)},
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // reinterpret_cast: the fuzzer's bytes as text.
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto parsed = hearth::chat::Template::parse(input);
    if (!parsed) return 0;
    hearth::chat::RenderOptions options;
    // Smaller than the defaults, so that more inputs are tried in a second.
    options.limits.steps = 100'000;
    options.limits.memory_bytes = 4 * hearth::kMiB;
    options.limits.output_bytes = hearth::kMiB;
    // Sanitizers make frames larger; the fuzzer has the usual stack of 8 MiB.
    options.limits.stack_bytes = hearth::kMiB;
    const auto rendered = parsed->render(variables(input), options);
    if (rendered && rendered->text.size() != rendered->trusted.size()) std::abort();
    return 0;
}
