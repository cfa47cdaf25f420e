#include "tests/engine/ops/backends.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/device/make_ops.h"
#include "engine/reference/reference_ops.h"

namespace hearth::test {
namespace {

MadeOps made(const char* backend, int threads) {
    auto ops = make_ops({.backend = backend, .threads = threads});
    if (!ops) return {nullptr, ops.error().message};
    return {*std::move(ops), {}};
}

constexpr std::array kBackends = {
    Backend{"reference", [](int) { return MadeOps{make_reference_ops(), {}}; }},
    Backend{"cpu-avx512", [](int threads) { return made("cpu-avx512", threads); }},
    Backend{"cpu-avx2", [](int threads) { return made("cpu-avx2", threads); }},
    Backend{"cpu-emulated", [](int threads) { return made("cpu-emulated", threads); }},
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
