// HEARTH_CHECK is for our own bugs, never for input: it ends the process. HEARTH_DCHECK is its
// debug form.
#pragma once

namespace hearth {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace hearth

#define HEARTH_CHECK(condition) \
    ((condition) ? static_cast<void>(0) : ::hearth::check_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define HEARTH_DCHECK(condition) static_cast<void>(0)
#else
#define HEARTH_DCHECK(condition) HEARTH_CHECK(condition)
#endif
