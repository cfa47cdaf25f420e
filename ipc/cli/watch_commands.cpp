// logs and `status --watch`: what goes on, as it goes on.
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "ipc/cli/commands.h"
#include "ipc/cli/interrupt.h"
#include "ipc/cli/log_reader.h"
#include "ipc/cli/output.h"
#include "ipc/cli/watch_view.h"
#include "ipc/protocol/paths.h"

namespace hearth::cli {
namespace {

using Clock = std::chrono::steady_clock;

// The terminal as a page that is drawn again and again; what was there before comes back.
class Screen {
public:
    Screen() { std::cout << "\x1b[?1049h\x1b[?25l" << std::flush; }
    ~Screen() { std::cout << "\x1b[?25h\x1b[?1049l" << std::flush; }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    void draw(const WatchView& view) {
        constexpr std::chrono::milliseconds kPause{100};  // more often nobody can read
        if (Clock::now() - drawn_ < kPause) return;
        drawn_ = Clock::now();
        winsize size{};
        const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
        const std::size_t columns = known ? size.ws_col : 80;
        const std::size_t rows = known ? size.ws_row : 24;
        std::string page = "\x1b[H";
        for (const std::string& line : view.screen(columns, rows - 1)) page += line + "\x1b[K\r\n";
        std::cout << page + "\x1b[J" << std::flush;
    }

private:
    Clock::time_point drawn_;
};

boost::json::object as_json(const client::ServerEvent& event, const boost::json::value& data) {
    boost::json::object out = {{"event", event.name}};
    if (!event.id.empty()) out["id"] = std::strtoull(event.id.c_str(), nullptr, 10);
    out["data"] = data;
    return out;
}

struct LogOptions {
    std::size_t lines = 50;
    bool follow = false;
    std::string level = "debug";
};

void print_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) std::cout << printable(line) << '\n';
    std::cout << std::flush;
}

void logs(Context& context, const LogOptions& options) {
    const std::string folder = protocol::user_paths().state + "/logs";
    LogReader reader(folder, options.level);
    if (!reader.has_files() && !options.follow)
        return fail(context, {ErrorCode::not_found, "there is no log at " + folder +
                                                        " yet; it begins when hearthd starts"});
    const Interrupt interrupt;
    print_lines(reader.last(options.lines));
    while (options.follow && std::cout) {
        constexpr int kPause = 500;
        pollfd wait{interrupt.descriptor(), POLLIN, 0};
        ::poll(&wait, 1, kPause);
        if (interrupt.raised()) return;
        print_lines(reader.more());
    }
}

}  // namespace

void watch_status(Context& context) {
    const Interrupt interrupt;
    client::Client client = context.client;
    client.set_abort_descriptor(interrupt.descriptor());
    WatchView view;
    bool has_begun = false;
    auto screen =
        !context.json && is_terminal(STDOUT_FILENO) ? std::make_unique<Screen>() : nullptr;
    const std::string target =
        screen || context.json ? "/hearth/v1/events?metrics=1" : "/hearth/v1/events";
    const auto ended = client.events(
        target, [&](const client::ServerEvent& event, const boost::json::value& data) {
            has_begun = true;
            view.apply(event, data);
            if (context.json)
                print_json(as_json(event, data));
            else if (screen)
                screen->draw(view);
            else if (!view.line().empty())
                std::cout << view.line() << '\n';
            return static_cast<bool>(std::cout.flush());
        });
    screen.reset();
    if (interrupt.raised() || ended) return;
    if (!has_begun && ended.error().code == ErrorCode::io_failed)
        return fail(context,
                    {ErrorCode::io_failed, "hearthd is not running; start it with: hearth start"});
    fail(context, ended.error());
}

void add_watch_commands(CLI::App& app, Context& context) {
    const auto options = std::make_shared<LogOptions>();  // shared by options and callback
    auto* command = app.add_subcommand("logs", "What the daemon has logged");
    command->add_option("-n,--lines", options->lines, "So many of the last lines (50)");
    command->add_flag("-f,--follow", options->follow, "Go on with what comes, until Ctrl-C");
    command->add_option("--level", options->level, "As important as this or more")
        ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
    command->callback([&context, options] { logs(context, *options); });
}

}  // namespace hearth::cli
