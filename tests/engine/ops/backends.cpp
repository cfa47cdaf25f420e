#include "tests/engine/ops/backends.h"

#include <algorithm>
#include <array>

#include "engine/reference/reference_ops.h"

namespace hearth::test {
namespace {

constexpr std::array kBackends = {
    Backend{"reference", [](int) { return MadeOps{make_reference_ops(), {}}; }},
};

}  // namespace

std::span<const Backend> all_backends() { return kBackends; }
std::span<const Backend> fast_backends() { return std::span(kBackends).subspan(1); }

std::string test_name(const Backend& backend) {
    std::string name = backend.name;
    std::ranges::replace(name, '-', '_');
    return name;
}

}  // namespace hearth::test
