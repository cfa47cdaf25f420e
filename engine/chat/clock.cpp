// Reading and writing of local times; see clock.h and LocalTime in template.h.
#include "engine/chat/clock.h"

#include <array>
#include <charconv>
#include <chrono>
#include <string>

#include "engine/chat/machine.h"

namespace hearth::chat {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

bool is_valid(const LocalTime& time) {
    const std::chrono::year_month_day date{std::chrono::year(time.year),
                                           std::chrono::month(static_cast<unsigned>(time.month)),
                                           std::chrono::day(static_cast<unsigned>(time.day))};
    return time.month > 0 && time.day > 0 && date.ok() && time.year > 0 && time.year <= 9999 &&
           time.hour >= 0 && time.hour < 24 && time.minute >= 0 && time.minute < 60 &&
           time.second >= 0 && time.second <= 60;
}

struct Calendar {
    std::size_t weekday;  // 0 is Sunday
    int day_of_year;      // 1 is January 1
};

Calendar calendar(const LocalTime& time) {
    namespace date = std::chrono;
    const date::year year(time.year);
    const date::sys_days today(year / date::month(static_cast<unsigned>(time.month)) /
                               date::day(static_cast<unsigned>(time.day)));
    const date::sys_days first(year / date::January / 1);
    return {date::weekday(today).c_encoding(), static_cast<int>((today - first).count()) + 1};
}

// `number` with at least `width` characters; `fill` 0 is no filling.
std::string padded(int number, std::size_t width, char fill) {
    std::string text = std::to_string(number);
    if (fill != '\0' && text.size() < width) text.insert(0, width - text.size(), fill);
    return text;
}

class TimePrinter {
public:
    explicit TimePrinter(const LocalTime& time) : time_(time), calendar_(calendar(time)) {}

    // What a directive stands for. `pad` is '-' (no filling), '_', '0', or 0 for its own.
    std::string text(char directive, char pad) const {
        const auto number = [pad](int value, std::size_t width, char own = '0') {
            const char fill = pad == '-' ? '\0' : pad == '_' ? ' ' : pad == '0' ? '0' : own;
            return padded(value, width, fill);
        };
        const int hour12 = time_.hour % 12 == 0 ? 12 : time_.hour % 12;
        const auto weekday = static_cast<int>(calendar_.weekday);
        switch (directive) {
            case 'Y':
                return std::to_string(time_.year);
            case 'C':
                return number(time_.year / 100, 2);
            case 'y':
                return number(time_.year % 100, 2);
            case 'm':
                return number(time_.month, 2);
            case 'd':
                return number(time_.day, 2);
            case 'e':
                return number(time_.day, 2, ' ');
            case 'j':
                return number(calendar_.day_of_year, 3);
            case 'H':
                return number(time_.hour, 2);
            case 'k':
                return number(time_.hour, 2, ' ');
            case 'I':
                return number(hour12, 2);
            case 'l':
                return number(hour12, 2, ' ');
            case 'M':
                return number(time_.minute, 2);
            case 'S':
                return number(time_.second, 2);
            case 'f':
                return "000000";
            case 'w':
                return std::to_string(weekday);
            case 'u':
                return std::to_string(weekday == 0 ? 7 : weekday);
            case 'U':
                return number((calendar_.day_of_year + 6 - weekday) / 7, 2);
            case 'W':
                return number((calendar_.day_of_year + 6 - (weekday + 6) % 7) / 7, 2);
            case 'z':
            case 'Z':
                return "";  // a local time without a zone, as Python's naive datetime
            default:
                return words(directive);
        }
    }

private:
    std::string words(char directive) const {
        const std::string_view day = kDays[calendar_.weekday];
        const std::string_view month = kMonths[static_cast<std::size_t>(time_.month - 1)];
        switch (directive) {
            case 'A':
                return std::string(day);
            case 'a':
                return std::string(day.substr(0, 3));
            case 'B':
                return std::string(month);
            case 'b':
            case 'h':
                return std::string(month.substr(0, 3));
            case 'p':
                return time_.hour < 12 ? "AM" : "PM";
            case 'P':
                return time_.hour < 12 ? "am" : "pm";
            case 'n':
                return "\n";
            case 't':
                return "\t";
            case '%':
                return "%";
            case 'D':
            case 'x':
                return join("m/d/y");
            case 'F':
                return join("Y-m-d");
            case 'T':
            case 'X':
                return join("H:M:S");
            case 'R':
                return join("H:M");
            case 'r':
                return join("I:M:S p");
            case 'c':
                return join("a b e H:M:S Y");
            default:
                break;
        }
        fail(std::string("strftime_now() does not know the directive %") + directive);
    }

    // Letters are directives.
    std::string join(std::string_view pattern) const {
        std::string out;
        for (const char c : pattern) {
            const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            out += is_letter ? text(c, '\0') : std::string(1, c);
        }
        return out;
    }

    const LocalTime& time_;
    const Calendar calendar_;
};

}  // namespace

Value format_time(Machine& machine, const Value& format, const LocalTime& time) {
    if (!is_valid(time)) fail("the host gave no valid time to strftime_now()");
    const TimePrinter printer(time);
    const MarkedString& text = ValueAccess::text(format);
    const std::string_view view = text.view();
    Builder out(machine.budget());
    std::size_t start = 0;
    for (std::size_t at = view.find('%'); at != std::string_view::npos;
         at = view.find('%', start)) {
        out.append(text, start, at);
        std::size_t next = at + 1;
        char pad = '\0';
        if (next < view.size() &&
            std::string_view("-_0").find(view[next]) != std::string_view::npos)
            pad = view[next++];
        if (next >= view.size()) {
            out.append(text, at, view.size());
            return machine.string(out.take());
        }
        // A date is the host's, which is as good as the template's.
        out.append(printer.text(view[next], pad), text.trusted_at(at));
        start = next + 1;
    }
    out.append(text, start, view.size());
    return machine.string(out.take());
}

Result<LocalTime> LocalTime::parse(std::string_view iso) {
    constexpr std::string_view kPattern = "0000-00-00T00:00:00";
    const auto bad = [&iso] {
        return Error{ErrorCode::bad_input, "'" + std::string(iso.substr(0, 40)) +
                                               "' is no time; write it as 2026-01-15T12:00:00"};
    };
    if (iso.size() != 10 && iso.size() != kPattern.size()) return bad();
    for (std::size_t i = 0; i < iso.size(); ++i) {
        const bool is_digit = iso[i] >= '0' && iso[i] <= '9';
        const bool is_space = kPattern[i] == 'T' && iso[i] == ' ';
        if (kPattern[i] == '0' ? !is_digit : iso[i] != kPattern[i] && !is_space) return bad();
    }
    const auto number = [&iso](std::size_t at, std::size_t length) {
        int value = 0;
        if (at < iso.size()) std::from_chars(iso.data() + at, iso.data() + at + length, value);
        return value;
    };
    const LocalTime time{number(0, 4),  number(5, 2),  number(8, 2),
                         number(11, 2), number(14, 2), number(17, 2)};
    if (!is_valid(time)) return bad();
    return time;
}

}  // namespace hearth::chat
