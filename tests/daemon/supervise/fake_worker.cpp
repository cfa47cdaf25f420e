// A worker without an engine, for tests of the daemon's side. What it does is written in the model
// file (descriptor 4) and in the prompt, each the name of a behaviour and maybe a number.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/worker/blocking.h"
#include "ipc/worker/codec.h"

using namespace hearth;
using namespace hearth::wire;

namespace {

constexpr int kSocket = 3;
constexpr int kModel = 4;

void say(std::uint64_t request, const FromWorker& message) {
    const auto bytes = encode(request, message);
    if (!bytes || !write_frame(kSocket, *bytes)) _exit(3);
}

struct Running {
    std::string behaviour;
    std::uint64_t left = 0;    // deltas to send
    std::uint64_t before = 0;  // that another process sent
    std::uint64_t sent = 0;
    std::uint64_t credit = 0;
    std::uint64_t seed = 0;
};
std::map<std::uint64_t, Running> running;

std::string read_model() {
    char text[200];
    const ssize_t count = pread(kModel, text, sizeof text, 0);
    std::string model(text, count > 0 ? static_cast<std::size_t>(count) : 0);
    // A model that was imported is what its inspection prints: then its name is the behaviour.
    constexpr std::string_view kName = "\"name\":\"";
    const std::size_t name = model.find(kName);
    if (name == std::string::npos) return model;
    model.erase(0, name + kName.size());
    return model.substr(0, model.find('"'));
}

std::string open_descriptors() {
    std::string list;
    for (int number = 0; number < 1024; ++number) {
        if (fcntl(number, F_GETFD) >= 0) list += std::to_string(number) + " ";
    }
    return list;
}

std::string environment() {
    std::string list;
    for (char** entry = environ; *entry != nullptr; ++entry) list += std::string(*entry) + ";";
    return list;
}

void load(const Load& message) {
    const std::string model = read_model();
    if (model == "fail") {
        say(0, Failed{{ErrorCode::model_corrupt, "this model is broken"}});
        _exit(1);
    }
    if (model == "die") std::raise(SIGKILL);
    if (model == "hang") pause();
    if (model == "stopped") std::raise(SIGSTOP);
    if (model == "garbage") {
        if (!write_frame(kSocket, "this is not a frame, but longer than a header")) _exit(3);
        pause();
    }
    if (model == "broken json") {
        if (!write_frame(kSocket, encode_frame(Kind::ready, 0, "{\"model\":1}"))) _exit(3);
        pause();
    }
    Ready ready;
    ready.model.architecture = "fake";
    ready.model.name = message.name;
    ready.model.context = message.context;
    say(0, ready);
    std::cerr << "loaded\x01 " << model << '\n';
}

// "say TEXT": the text, a character in each delta.
void repeat(std::uint64_t request, const Generate& message) {
    const std::string text = std::get<TextPrompt>(message.prompt).text.substr(4);
    Delta delta;
    for (std::size_t i = 0; i < text.size(); ++i) {
        delta.text += text[i];
        const bool is_last = i + 1 == text.size();
        if (!is_last && (static_cast<unsigned char>(text[i + 1]) & 0xC0U) == 0x80U) continue;
        delta.ids = {1};
        say(request, delta);
        delta = Delta{.number = delta.number + 1};
    }
    Done done{};
    done.timings.generated_tokens = static_cast<std::int32_t>(delta.number);
    say(request, done);
}

// The ids of a prompt are its bytes with these two before them, so that a generation which goes on
// in another process is understood there.
std::vector<std::int32_t> ids_of(const std::string& text) {
    std::vector<std::int32_t> ids = {7, 8};
    if (text.starts_with("die") || text.starts_with("silent"))
        ids.insert(ids.end(), text.begin(), text.end());
    return ids;
}

std::string text_of(const Generate& message) {
    if (const auto* text = std::get_if<TextPrompt>(&message.prompt)) return text->text;
    std::string text;
    const std::vector<std::int32_t>& ids = std::get<IdsPrompt>(message.prompt).ids;
    for (std::size_t i = 2; i < ids.size(); ++i) text += static_cast<char>(ids[i]);
    return text;
}

void generate(std::uint64_t request, const Generate& message) {
    const std::string text = text_of(message);
    std::istringstream words(text);
    Running entry;
    words >> entry.behaviour >> entry.left;
    entry.before = message.generated.size();
    entry.left -= std::min(entry.left, entry.before);
    entry.credit = message.credit;
    entry.seed = message.sampling.seed.value_or(0);
    if (entry.behaviour == "refuse") {
        return say(request, Failure{{ErrorCode::context_exceeded, "9 tokens, 8 fit"}});
    }
    if (entry.behaviour == "early") return say(request, Delta{});
    if (entry.behaviour == "stray") return say(request + 1, Accepted{1, {7}});
    const std::vector<std::int32_t> ids = ids_of(text);
    say(request, Accepted{static_cast<std::int32_t>(ids.size()), ids});
    if (entry.behaviour == "twice") return say(request, Accepted{2, {7, 8}});
    if (entry.behaviour == "jump") return say(request, Delta{.number = 5, .text = "x"});
    if (entry.behaviour == "flood") entry.credit = 1000;
    if (entry.behaviour == "fds") {
        say(request, Delta{.number = 0, .text = open_descriptors() + "|" + environment()});
        return say(request, Done{});
    }
    if (entry.behaviour == "say") return repeat(request, message);
    running[request] = entry;
}

// One delta of each generation that has credit. True when there was one.
bool step() {
    bool worked = false;
    for (auto it = running.begin(); it != running.end();) {
        Running& entry = it->second;
        if (entry.behaviour == "die" && entry.sent == 1) std::raise(SIGKILL);
        if (entry.behaviour == "die-once" && entry.before == 0 && entry.sent == 3)
            std::raise(SIGKILL);
        if (entry.behaviour == "die-silent") raise(SIGSTOP);
        if (entry.behaviour != "silent" && entry.left > 0 && entry.credit > 0) {
            say(it->first, Delta{.number = entry.sent,
                                 .text = std::to_string(entry.before + entry.sent) + " ",
                                 .ids = {1}});
            ++entry.sent;
            --entry.left;
            --entry.credit;
            worked = true;
        }
        if (entry.left == 0 && entry.behaviour != "silent") {
            Done done{.reason = FinishReason::length,
                      .stop_string = std::to_string(entry.seed),
                      .timings = {}};
            done.timings.generated_tokens = static_cast<std::int32_t>(entry.sent);
            say(it->first, done);
            it = running.erase(it);
        } else {
            ++it;
        }
    }
    return worked;
}

void take(std::uint64_t request, const ToWorker& message) {
    if (const auto* order = std::get_if<Load>(&message)) load(*order);
    if (const auto* order = std::get_if<Generate>(&message)) generate(request, *order);
    if (const auto* order = std::get_if<Credit>(&message); order && running.contains(request)) {
        running[request].credit += order->deltas;
    }
    if (std::holds_alternative<Cancel>(message)) {
        if (running.erase(request) > 0) say(request, Done{.reason = FinishReason::cancelled});
    }
    if (const auto* question = std::get_if<Detokenize>(&message)) {
        if (question->ids.empty()) std::raise(SIGKILL);
        say(request, Tokens{.text = std::to_string(question->ids.size()), .ids = {}, .pieces = {}});
    }
    if (std::holds_alternative<StatsRequest>(message)) {
        say(0, Stats{.running = static_cast<int>(running.size()), .steps = 42});
    }
    if (std::holds_alternative<Shutdown>(message)) {
        if (read_model() == "stubborn") pause();
        _exit(0);
    }
}

int serve() {
    FrameReader reader;
    bool worked = true;
    while (true) {
        pollfd wait{.fd = kSocket, .events = POLLIN, .revents = 0};
        if (poll(&wait, 1, worked ? 0 : -1) > 0) {
            char bytes[4096];
            const ssize_t count = recv(kSocket, bytes, sizeof bytes, 0);
            if (count <= 0) return 0;
            reader.feed({bytes, static_cast<std::size_t>(count)});
        }
        while (true) {
            const auto frame = reader.next();
            if (!frame) return 4;
            if (!*frame) break;
            const auto message = decode_to_worker(**frame);
            if (!message) return 4;
            take((*frame)->request, *message);
        }
        worked = step();
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "serve") return serve();
    if (command != "tool" || argc < 5) return 2;
    // Inspection: the file says what to print.
    char text[4000];
    const ssize_t count = pread(std::atoi(argv[4]), text, sizeof text, 0);
    const std::string model(text, static_cast<std::size_t>(count));
    if (model == "die") std::raise(SIGKILL);
    if (model == "hang") pause();
    while (model == "flood") std::cout << "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    std::cout << model;
    return 0;
}
