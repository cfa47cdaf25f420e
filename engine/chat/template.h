// Chat templates: Jinja2 as the `transformers` library sets it up (sandboxed, trim_blocks,
// lstrip_blocks, loop controls, `generation`, tojson without ASCII escapes, raise_exception,
// strftime_now), with budgets for everything. A template reaches its variables and nothing else: no
// files, clock, environment or code.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/base/marked_text.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/chat/value.h"

namespace hearth::chat {

struct Limits {
    std::size_t source_bytes = kMiB;
    // Nesting of the source, of the lists and maps it builds, and of macro calls and recursive
    // loops.
    int depth = 128;
    // Stack that parsing or rendering may use: they run on a thread with 256 KiB.
    std::size_t stack_bytes = 160 * kKiB;
    std::size_t output_bytes = 16 * kMiB;
    // What the template builds while it renders, its own text included; the variables given to it
    // do not count.
    std::size_t memory_bytes = 32 * kMiB;
    std::int64_t steps = 5'000'000;
    std::chrono::milliseconds wall{250};
};

// What strftime_now sees. The host takes it from its clock, in local time.
struct LocalTime {
    int year = 1970;
    int month = 1;  // 1 to 12
    int day = 1;    // 1 to 31
    int hour = 0;
    int minute = 0;
    int second = 0;

    // Reads "2026-01-15T12:00:00" (or a date alone). Fails with bad_input.
    static Result<LocalTime> parse(std::string_view iso);
};

struct RenderOptions {
    LocalTime now;
    Limits limits;
};

// The parsed form; tree.h.
struct Tree;

// Immutable after parse; one template may render on several threads at once.
class Template {
public:
    // `source` is UTF-8; a leading byte order mark is dropped, CRLF and CR count as newlines, one
    // newline at the end is dropped (as Jinja2 does). Errors: too_large, invalid_utf8,
    // template_too_deep, template_failed (with the line). include, import, from, extends, block,
    // autoescape, do and unknown tags, filters and tests do not parse.
    static Result<Template> parse(std::string_view source, const Limits& limits = {});

    Template(Template&&) noexcept;
    Template& operator=(Template&&) noexcept;
    ~Template();

    // `variables` is an object. Literal text and string constants of the template are trusted, and
    // so are strings that the host marked as such (bos_token, eos_token); what came from elsewhere
    // stays foreign through every operation. Errors: template_failed ("chat template, line 3: …",
    // at most 200 characters of the template's own message), template_too_deep, budget_exceeded
    // (steps, memory, output or time).
    Result<MarkedText> render(const Value& variables, const RenderOptions& options) const;

    // Whether the template reads `name` as a variable anywhere ("tools", "enable_thinking", …).
    bool uses(std::string_view name) const;

private:
    explicit Template(std::unique_ptr<const Tree> tree);

    std::unique_ptr<const Tree> tree_;
};

}  // namespace hearth::chat
