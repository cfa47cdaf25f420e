// The table of architectures.
#include "engine/model/families.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace hearth::model {

namespace {

struct Family {
    std::string_view architecture;
    Result<std::unique_ptr<Model>> (*load)(Ops& ops, const gguf::File& file, int context);
};

// "llama" is also how Mistral and SmolLM2 are named in files.
constexpr Family kFamilies[] = {
    {"llama", load_llama},
};

std::string supported() {
    std::string names;
    for (const Family& family : kFamilies) {
        if (!names.empty()) names += ", ";
        names += family.architecture;
    }
    return names;
}

}  // namespace

bool is_supported(std::string_view architecture) {
    return std::ranges::any_of(
        kFamilies, [&](const Family& family) { return family.architecture == architecture; });
}

Result<std::unique_ptr<Model>> load(Ops& ops, const gguf::File& file, int context) {
    HEARTH_TRY(const std::string_view architecture, file.metadata().string("general.architecture"));
    for (const Family& family : kFamilies)
        if (family.architecture == architecture) return family.load(ops, file, context);
    return Error{ErrorCode::unsupported_model,
                 "models of the architecture \"" + std::string(architecture.substr(0, 40)) +
                     "\" are not supported; supported are: " + supported()};
}

}  // namespace hearth::model
