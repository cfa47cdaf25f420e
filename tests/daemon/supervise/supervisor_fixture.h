// A supervisor with the scripted worker, and what its tests ask of it.
#pragma once

#include "tests/daemon/supervise/harness.h"

namespace hearth::supervise {

struct Recorder : ReplySink {
    void on_accepted(wire::Accepted accepted) override { prompt_ids = accepted.prompt_ids; }
    void on_delta(wire::Delta delta) override {
        text += delta.text;
        ++deltas;
    }
    void on_done(wire::Done got) override { done = got; }
    void on_failed(Error got) override { error = got; }
    bool is_over() const { return done || error; }

    std::vector<std::int32_t> prompt_ids;
    std::string text;
    int deltas = 0;
    std::optional<wire::Done> done;
    std::optional<Error> error;
};

class SupervisorTest : public ::testing::Test {
protected:
    Config config() {
        Config config;
        config.worker_path = FAKE_WORKER;
        config.on_worker_line = [this](std::string_view model, std::string_view line) {
            lines_ += std::string(model) + ": " + std::string(line) + "\n";
        };
        config.on_change = [this] { ++changes_; };
        return config;
    }
    void make(Config config) { supervisor_.emplace(io_, std::move(config)); }
    void SetUp() override { make(config()); }

    Result<wire::ModelInfo> load(const ModelFile& file) {
        std::optional<Result<wire::ModelInfo>> result;
        supervisor_->ensure_loaded(file, [&](auto got) { result = std::move(got); });
        EXPECT_FALSE(result) << "the callback came from inside the call";
        EXPECT_TRUE(run_until(io_, [&] { return result.has_value(); }));
        return *std::move(result);
    }
    std::vector<LoadedModel> list() {
        std::optional<std::vector<LoadedModel>> models;
        supervisor_->list([&](auto got) { models = std::move(got); });
        EXPECT_TRUE(run_until(io_, [&] { return models.has_value(); }));
        return *models;
    }
    void submit(const std::string& id, std::uint64_t number, const std::string& prompt,
                Recorder& sink, std::uint32_t credit = 64) {
        wire::Generate request;
        request.prompt = wire::TextPrompt{.text = prompt};
        request.credit = credit;
        const auto result = supervisor_->submit(id, number, request, sink);
        ASSERT_TRUE(result) << result.error().message;
    }
    bool unload(const std::string& id) {
        std::optional<Result<void>> result;
        supervisor_->unload(id, [&](auto got) { result = std::move(got); });
        EXPECT_TRUE(run_until(io_, [&] { return result.has_value(); }));
        return result->has_value();
    }
    bool wait_for(const Recorder& sink) {
        return run_until(io_, [&] { return sink.is_over(); });
    }

    Models models_;
    boost::asio::io_context io_;
    std::optional<Supervisor> supervisor_;
    std::string lines_;
    int changes_ = 0;
};

}  // namespace hearth::supervise
