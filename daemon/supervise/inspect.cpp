// Runs `hearth-worker tool inspect FILE`, reads what it prints, checks it.
#include "daemon/supervise/inspect.h"

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/supervise/spawn.h"
#include "engine/base/units.h"

namespace hearth::supervise {
namespace {

namespace json = boost::json;
using boost::system::error_code;
using OnFacts = std::function<void(Result<FileFacts>)>;

constexpr std::size_t kMaxOutput = 256 * kKiB;

template <typename T>
bool get(const json::object& object, std::string_view name, T& out) {
    const json::value* value = object.if_contains(name);
    if (value == nullptr) return false;
    auto converted = json::try_value_to<T>(*value);
    if (!converted) return false;
    out = std::move(*converted);
    return true;
}

Result<FileFacts> parse_facts(const std::string& text) {
    error_code failed;
    const json::value value = json::parse(text, failed);
    const Error broken{ErrorCode::worker_died, "the inspection of a model file gave no answer"};
    if (failed || !value.is_object()) return broken;
    const json::object& object = value.get_object();
    if (const json::value* error = object.if_contains("error")) {
        std::string code;
        std::string message;
        if (!error->is_object() || !get(error->get_object(), "code", code) ||
            !get(error->get_object(), "message", message)) {
            return broken;
        }
        return Error{error_code_from_string(code), message};
    }
    FileFacts facts;
    const bool complete =
        get(object, "kind", facts.kind) && get(object, "architecture", facts.architecture) &&
        get(object, "name", facts.name) && get(object, "quantization", facts.quantization) &&
        get(object, "context", facts.context) && get(object, "parameters", facts.parameters) &&
        get(object, "tensors", facts.tensors) && get(object, "size", facts.size) &&
        get(object, "has_chat_template", facts.has_chat_template) &&
        get(object, "unsupported", facts.unsupported);
    if (!complete || facts.context < 0) return broken;
    return facts;
}

// shared_from_this: owned by the operations that wait in the io_context.
class Inspection : public std::enable_shared_from_this<Inspection> {
public:
    Inspection(boost::asio::io_context& io, OnFacts done)
        : output_(io), exit_(io), timer_(io), done_(std::move(done)) {}
    ~Inspection() {
        if (child_.pid() != 0 && how_.empty()) {
            child_.kill();
            child_.reap(/*wait=*/true);
        }
        exit_.release();  // the child owns this descriptor
    }
    Inspection(const Inspection&) = delete;
    Inspection& operator=(const Inspection&) = delete;

    Result<void> start(const std::string& path, const InspectOptions& options) {
        HEARTH_TRY(const Descriptor model, open_regular(path));
        HEARTH_TRY(Pipe output, make_pipe());
        HEARTH_TRY(const Descriptor null, open_null());
        // The file is descriptor 3, so that the child needs no access to the file system.
        HEARTH_TRY(
            child_,
            spawn({.program = worker_program(options.worker_path),
                   .arguments = {"tool", "inspect", "--descriptor", "3", path},
                   .descriptors = {null.get(), output.write.get(), null.get(), model.get()}}));
        error_code failed;
        output_.assign(output.read.get(), failed);
        if (!failed) {
            output.read.release();
            exit_.assign(child_.descriptor(), failed);
        }
        if (failed) return Error{ErrorCode::io_failed, "cannot watch a child: " + failed.message()};
        timer_.expires_after(options.time_limit);
        timer_.async_wait([weak = weak_from_this()](error_code cancelled) {
            if (cancelled) return;
            if (const auto self = weak.lock()) self->give_up(ErrorCode::timed_out, "took too long");
        });
        read_output();
        wait_for_exit();
        return {};
    }

private:
    void read_output() {
        output_.async_read_some(boost::asio::buffer(input_),
                                [self = shared_from_this()](error_code failed, std::size_t bytes) {
                                    if (failed) {
                                        self->is_closed_ = true;
                                        return self->finish();
                                    }
                                    self->text_.append(self->input_.data(), bytes);
                                    if (self->text_.size() > kMaxOutput) {
                                        self->give_up(ErrorCode::worker_died, "said too much");
                                    }
                                    self->read_output();
                                });
    }
    void wait_for_exit() {
        exit_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [self = shared_from_this()](error_code failed) {
                             if (failed) return;
                             self->how_ = self->child_.reap(/*wait=*/false);
                             if (self->how_.empty()) return self->wait_for_exit();
                             self->finish();
                         });
    }
    void give_up(ErrorCode code, const std::string& why) {
        child_.kill();
        text_.clear();
        if (!problem_) problem_ = Error{code, "the inspection of a model file " + why};
    }
    void finish() {
        if (!is_closed_ || how_.empty()) return;
        timer_.cancel();
        OnFacts done = std::exchange(done_, nullptr);
        if (problem_) return done(*problem_);
        if (text_.empty()) {
            return done(
                Error{ErrorCode::worker_died, "the inspection of a model file ended with " + how_});
        }
        done(parse_facts(text_));
    }

    Child child_;
    boost::asio::posix::stream_descriptor output_;
    boost::asio::posix::stream_descriptor exit_;
    boost::asio::steady_timer timer_;
    OnFacts done_;
    std::array<char, 4096> input_;
    std::string text_;
    std::string how_;  // empty until reaped
    std::optional<Error> problem_;
    bool is_closed_ = false;
};

}  // namespace

void inspect(boost::asio::io_context& io, const std::string& path, const InspectOptions& options,
             std::function<void(Result<FileFacts>)> done) {
    // shared_ptr: see the class.
    const auto inspection = std::make_shared<Inspection>(io, done);
    if (auto started = inspection->start(path, options); !started) {
        boost::asio::post(
            io, [done = std::move(done), error = std::move(started).error()] { done(error); });
    }
}

std::string worker_program(const std::string& configured) {
    if (!configured.empty()) return configured;
    std::error_code failed;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
    return (self.parent_path() / "hearth-worker").string();
}

}  // namespace hearth::supervise
