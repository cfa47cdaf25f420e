// The backends that the conformance suite runs over. To add one: an entry in backends.cpp, and its
// library in USES of this folder's CMakeLists.txt.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string>

#include "engine/ops/ops.h"

namespace hearth::test {

struct MadeOps {
    std::unique_ptr<Ops> ops;  // null where it cannot run
    std::string skip_reason;   // then: why ("this CPU has no AVX-512 VNNI")
};

struct Backend {
    const char* name;  // letters, digits and '-'
    MadeOps (*make)(int threads);
};

// All but the reference, which make_reference_ops() gives.
std::span<const Backend> fast_backends();
// With the reference, first.
std::span<const Backend> all_backends();

// Names the instances of parameterised tests: '-' becomes '_'.
std::string test_name(const Backend& backend);
inline void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

}  // namespace hearth::test
