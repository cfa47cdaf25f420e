#include "daemon/app/config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "daemon/access/guard.h"
#include "daemon/app/config_file.h"

namespace hearth::app {
namespace {

using Set = bool (*)(Config&, std::string_view);

template <typename Number>
bool read_number(std::string_view text, Number low, Number high, Number& into) {
    Number number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size()) return false;
    if (!(number >= low && number <= high)) return false;
    into = number;
    return true;
}

// "512M", "2GiB", "1000000".
bool read_bytes(std::string_view text, std::uint64_t& into) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    const std::string_view unit =
        digits == std::string_view::npos ? std::string_view() : text.substr(digits);
    int shift = 0;
    for (const auto& [name, bits] : {std::pair("K", 10), {"M", 20}, {"G", 30}})
        if (unit == name || unit == std::string(name) + "iB") shift = bits;
    if (!unit.empty() && shift == 0) return false;
    constexpr std::uint64_t kMost = 1ULL << 60U;
    std::uint64_t number = 0;
    if (!read_number<std::uint64_t>(text.substr(0, digits), 0, kMost >> shift, number))
        return false;
    into = number << shift;
    return true;
}

bool read_seconds(std::string_view text, std::chrono::milliseconds& into) {
    double seconds = 0.0;
    constexpr double kYear = 366.0 * 86400.0;
    if (!read_number(text, 0.0, kYear, seconds)) return false;
    into = std::chrono::milliseconds(std::llround(seconds * 1000.0));
    return true;
}

bool read_path(std::string_view text, std::string& into) {
    into = text;
    return text.starts_with('/');
}

bool read_switch(std::string_view text, bool& into) {
    into = text == "on" || text == "true";
    return into || text == "off" || text == "false";
}

// Separated by commas or spaces.
bool read_origins(std::string_view text, std::vector<std::string>& into) {
    into.clear();
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(", "), text.size());
        const std::string_view origin = text.substr(0, end);
        if (!origin.empty() && !access::is_origin(origin)) return false;
        if (!origin.empty()) into.emplace_back(origin);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
}

bool read_word(std::string_view text, std::span<const std::string_view> words, std::string& into) {
    for (const std::string_view word : words)
        if (text == word) {
            into = text;
            return true;
        }
    return false;
}

constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 2> kStateTypes = {"f16", "f32"};
constexpr int kMaxInt = std::numeric_limits<int>::max();

struct Setting {
    std::string_view name;
    std::string_view wants;
    std::string_view meaning;
    Set set;
};

constexpr std::array kSettings = std::to_array<Setting>({
    {"socket", "an absolute path", "where to listen",
     [](Config& config, std::string_view text) { return read_path(text, config.socket); }},
    {"tcp", "on or off", "whether to listen on 127.0.0.1 as well, with a token",
     [](Config& config, std::string_view text) { return read_switch(text, config.tcp); }},
    {"port", "a number from 0 to 65535", "the TCP port on 127.0.0.1; 0: a free one",
     [](Config& config, std::string_view text) {
         return read_number(text, 0, 65535, config.port);
     }},
    {"allow_origin", "origins such as http://localhost:3000", "web pages that may come in",
     [](Config& config, std::string_view text) { return read_origins(text, config.allow_origin); }},
    {"worker", "an absolute path", "the program hearth-worker; else the one beside hearthd",
     [](Config& config, std::string_view text) { return read_path(text, config.worker); }},
    {"idle_unload", "seconds", "unload a model that nobody used for so long; 0: never",
     [](Config& config, std::string_view text) { return read_seconds(text, config.idle_unload); }},
    {"request_time", "seconds", "longest time of a generation, waiting included; 0: no limit",
     [](Config& config, std::string_view text) { return read_seconds(text, config.request_time); }},
    {"hang_time", "seconds, at least 1", "kill a worker that is silent for so long while asked",
     [](Config& config, std::string_view text) {
         return read_seconds(text, config.hang_time) && config.hang_time.count() >= 1000;
     }},
    {"max_waiting", "a number from 0 to 4096", "generations that may wait for a model; then busy",
     [](Config& config, std::string_view text) {
         return read_number(text, 0, 4096, config.max_waiting);
     }},
    {"max_loaded", "a number from 1 to 64", "models in memory at a time",
     [](Config& config, std::string_view text) {
         return read_number(text, 1, 64, config.max_loaded);
     }},
    {"log_level", "debug, info, warning or error", "what goes into the log",
     [](Config& config, std::string_view text) {
         return read_word(text, kLogLevels, config.log_level);
     }},
    {"log_prompts", "on or off", "whether what programs ask goes into the log as well",
     [](Config& config, std::string_view text) { return read_switch(text, config.log_prompts); }},
    {"backend", "a name", "what runs the model: auto, cpu, reference",
     [](Config& config, std::string_view text) {
         config.backend = text;
         return !text.empty();
     }},
    {"threads", "a number from 0 to 1024", "threads per model; 0: one per physical core",
     [](Config& config, std::string_view text) {
         return read_number(text, 0, 1024, config.threads);
     }},
    {"context", "tokens, at least 0", "tokens per sequence; 0: the model's own",
     [](Config& config, std::string_view text) {
         return read_number(text, 0, kMaxInt, config.context);
     }},
    {"kv_bytes", "bytes, such as 512M or 2G", "memory for keys and values; 0: by itself",
     [](Config& config, std::string_view text) { return read_bytes(text, config.kv_bytes); }},
    {"max_sequences", "a number from 0 to 4096", "generations at once in one model; 0: by itself",
     [](Config& config, std::string_view text) {
         return read_number(text, 0, 4096, config.max_sequences);
     }},
    {"key_type", "f16 or f32", "how keys are stored",
     [](Config& config,
        std::string_view text) { return read_word(text, kStateTypes, config.key_type); }},
    {"value_type", "f16 or f32", "how values are stored",
     [](Config& config, std::string_view text) {
         return read_word(text, kStateTypes, config.value_type);
     }},
});

const Setting* find(std::string_view name) {
    for (const Setting& setting : kSettings)
        if (setting.name == name) return &setting;
    return nullptr;
}

Result<void> apply(const Setting& setting, std::string_view text, const std::string& where,
                   Config& config) {
    if (setting.set(config, text)) return {};
    return Error{ErrorCode::bad_input, where + ": '" + std::string(setting.name) + "' must be " +
                                           std::string(setting.wants) + ", not '" +
                                           std::string(text) + "'"};
}

Result<void> apply_file(const std::string& path, Config& config) {
    HEARTH_TRY(const auto entries, read_config_file(path));
    for (const ConfigEntry& entry : entries) {
        const std::string where = path + ":" + std::to_string(entry.line);
        const Setting* setting = find(entry.key);
        if (setting == nullptr)
            return Error{ErrorCode::bad_input, where + ": there is no setting '" + entry.key + "'"};
        HEARTH_TRY_VOID(apply(*setting, entry.value, where, config));
    }
    return {};
}

Result<void> apply_environment(Config& config) {
    for (const Setting& setting : kSettings) {
        std::string variable = "HEARTH_";
        for (const char c : setting.name)
            variable += c == '_' ? '_' : static_cast<char>(c - 'a' + 'A');
        if (const char* text = std::getenv(variable.c_str()); text != nullptr && *text != '\0')
            HEARTH_TRY_VOID(apply(setting, text, variable, config));
    }
    return {};
}

Result<void> apply_argument(std::string_view word, std::string_view value, Config& config) {
    std::string name(word.substr(2));
    for (char& c : name)
        if (c == '-') c = '_';
    const Setting* setting = find(name);
    if (setting == nullptr)
        return Error{ErrorCode::bad_input,
                     "there is no option " + std::string(word) + "; see hearthd --help"};
    return apply(*setting, value, std::string(word), config);
}

Result<Command> apply_arguments(std::span<const char* const> arguments, Config& config) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word == "--help" || word == "-h") return Command::help;
        if (word == "--version") return Command::version;
        if (!word.starts_with("--"))
            return Error{ErrorCode::bad_input,
                         "'" + std::string(word) + "' is not an option; see hearthd --help"};
        const std::size_t equals = word.find('=');
        if (equals != std::string_view::npos) {
            HEARTH_TRY_VOID(
                apply_argument(word.substr(0, equals), word.substr(equals + 1), config));
            continue;
        }
        if (i + 1 == arguments.size())
            return Error{ErrorCode::bad_input, std::string(word) + " needs a value"};
        HEARTH_TRY_VOID(apply_argument(word, arguments[++i], config));
    }
    return Command::serve;
}

}  // namespace

Result<Startup> read_config(const protocol::Paths& paths, std::span<const char* const> arguments) {
    Startup startup;
    // Arguments are looked at first: --help must work whatever the file says.
    Config from_arguments;
    HEARTH_TRY(startup.command, apply_arguments(arguments, from_arguments));
    if (startup.command != Command::serve) return startup;
    HEARTH_TRY_VOID(apply_file(paths.config + "/config.toml", startup.config));
    HEARTH_TRY_VOID(apply_environment(startup.config));
    HEARTH_TRY(startup.command, apply_arguments(arguments, startup.config));
    if (startup.config.socket.empty()) startup.config.socket = paths.socket;
    return startup;
}

std::string describe_settings() {
    std::string text;
    for (const Setting& setting : kSettings) {
        std::string option = "  --" + std::string(setting.name);
        for (char& c : option)
            if (c == '_') c = '-';
        option.resize(std::max<std::size_t>(option.size() + 2, 20), ' ');
        text += option + std::string(setting.meaning) + " (" + std::string(setting.wants) + ")\n";
    }
    return text;
}

}  // namespace hearth::app
