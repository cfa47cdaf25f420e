// One completion request in flight: one generation per prompt and choice, gathered into one reply
// or passed on as chunks. When the client goes, the destructor cancels what still runs.
//
// Back-pressure: a delta counts as consumed once the reply's queue has room, so a slow reader stops
// its own generation and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api/reply.h"
#include "daemon/api/services.h"
#include "ipc/protocol/chat.h"

namespace hearth::api {

struct GenerationPlan {
    supervise::ModelFile model;
    std::vector<wire::Generate> orders;  // one for each prompt; choices differ in their index only
    std::size_t prompt_bytes = 0;        // of all prompts
    std::chrono::milliseconds time{0};   // 0: no limit
    int choices = 1;                     // of each prompt
    bool is_chat = true;
    bool stream = false;
    bool include_usage = false;
    bool token_ids = false;
};

class GenerationActivity final : public Activity {
public:
    GenerationActivity(generate::Generations& generations, GenerationPlan plan,
                       ReplyStream& stream);
    ~GenerationActivity() override;
    GenerationActivity(const GenerationActivity&) = delete;
    GenerationActivity& operator=(const GenerationActivity&) = delete;

    void on_room() override;

private:
    class ChoiceRun;

    void on_accepted(ChoiceRun& run, generate::Accepted accepted);
    void on_delta(ChoiceRun& run, wire::Delta delta);
    void on_done(ChoiceRun& run, const wire::Done& done);
    void on_error(const Error& error);

    protocol::Reply blank_reply() const;
    protocol::ReplyStyle style() const;
    void send_chunk(protocol::Choice choice, std::optional<protocol::Timings> timings);
    void finish();
    // The prompt of a choice.
    const std::vector<std::int32_t>& ids_for(int choice) const;
    protocol::Usage usage() const;
    protocol::Timings timings() const;
    void cancel_all();

    generate::Generations& generations_;
    GenerationPlan plan_;
    ReplyStream& stream_;
    std::string id_;
    std::int64_t created_;
    std::vector<std::unique_ptr<ChoiceRun>> runs_;
    std::size_t done_ = 0;
    bool begun_ = false;  // the stream's head has been sent
    std::uint64_t seed_ = 0;
    std::vector<std::vector<std::int32_t>> prompt_ids_;  // empty until accepted
};

}  // namespace hearth::api
