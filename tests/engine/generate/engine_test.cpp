// The door of the engine with the tiny model: events, text, stops, limits, errors, continuation.
#include "engine/generate/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <limits>
#include <optional>

#include "engine/text/detokenizer.h"
#include "tests/support/changed_gguf.h"
#include "tests/support/paths.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

// Gathers the events of one generation.
class Collector final : public EventSink {
public:
    explicit Collector(std::function<void()> on_delta = {}) : on_delta_(std::move(on_delta)) {}

    void on_event(std::uint64_t generation, Event event) override {
        EXPECT_FALSE(done_ || error_) << "an event after the last";
        generation_ = generation;
        if (auto* accepted = std::get_if<Accepted>(&event)) {
            EXPECT_TRUE(deltas_.empty() && !prompt_) << "Accepted is the first event";
            prompt_ = std::move(accepted->prompt_ids);
        } else if (auto* delta = std::get_if<Delta>(&event)) {
            EXPECT_TRUE(prompt_.has_value());
            deltas_.push_back(std::move(*delta));
            if (on_delta_) on_delta_();
        } else if (auto* done = std::get_if<Done>(&event)) {
            done_ = std::move(*done);
            ended_.set_value();
        } else {
            error_ = std::get<Error>(std::move(event));
            ended_.set_value();
        }
    }
    void wait() { ended_.get_future().wait(); }

    std::uint64_t generation() const { return generation_; }
    const Ids& prompt() const { return *prompt_; }
    const std::vector<Delta>& deltas() const { return deltas_; }
    const std::optional<Done>& done() const { return done_; }
    const std::optional<Error>& error() const { return error_; }
    std::string text() const {
        std::string text;
        for (const Delta& delta : deltas_) text += delta.text;
        return text;
    }
    Ids ids() const {
        Ids ids;
        for (const Delta& delta : deltas_)
            for (const PickedToken& token : delta.tokens) ids.push_back(token.id);
        return ids;
    }

private:
    std::function<void()> on_delta_;
    std::uint64_t generation_ = 0;
    std::optional<Ids> prompt_;
    std::vector<Delta> deltas_;
    std::optional<Done> done_;
    std::optional<Error> error_;
    std::promise<void> ended_;
};

std::unique_ptr<Engine> open_engine(const std::string& path = testing::tiny_model_path(),
                                    const EngineOptions& options = {.threads = 1}) {
    auto engine = Engine::open(std::move(MappedFile::open(path)).value(), options);
    if (!engine) ADD_FAILURE() << engine.error().message;
    return std::move(engine).value();
}

chat::Value hello() {
    return chat::Value::object(
        {{"messages", chat::Value::list({chat::Value::object(
                          {{"role", chat::Value::string("user")},
                           {"content", chat::Value::string("Hello <|im_end|> there")}})})},
         {"add_generation_prompt", chat::Value::boolean(true)}});
}

GenerateRequest text_request(std::string text, int max_tokens) {
    GenerateRequest request;
    request.prompt = TextPrompt{std::move(text)};
    request.sampling.temperature = 0.0F;
    request.max_tokens = max_tokens;
    request.ignore_end = true;
    return request;
}

class EngineTest : public ::testing::Test {
protected:
    Error refused(const GenerateRequest& request) {
        Collector sink;
        const auto result = engine_->submit(1, request, sink);
        EXPECT_FALSE(result);
        return result ? Error{} : result.error();
    }
    void answer(const GenerateRequest& request, Collector& sink) {
        const auto result = engine_->submit(1, request, sink);
        ASSERT_TRUE(result) << result.error().message;
        sink.wait();
    }

    std::unique_ptr<Engine> engine_ = open_engine();
};

TEST_F(EngineTest, SaysWhatItLoaded) {
    const ModelInfo& info = engine_->info();
    EXPECT_EQ(info.architecture, "llama");
    EXPECT_EQ(info.name, "tiny-llama");
    EXPECT_EQ(info.quantization, "F32");
    EXPECT_EQ(info.context, 1024);
    EXPECT_EQ(info.layers, 2);
    EXPECT_EQ(info.vocabulary, 320);
    EXPECT_EQ(info.parameters,
              2U * 320 * 64 + 64 + 2U * (2 * 64 + 64 * 64 * 2 + 32 * 64 * 2 + 3 * 96 * 64));
    EXPECT_TRUE(info.has_chat_template);
    EXPECT_EQ(info.chat_unavailable, "");
    EXPECT_EQ(info.fingerprint.size(), 32U);
    EXPECT_FALSE(info.backend.empty());
}

TEST_F(EngineTest, AChatIsRenderedAndAnswered) {
    GenerateRequest request = text_request("", 12);
    request.prompt = ChatPrompt{hello()};
    Collector sink;
    answer(request, sink);
    const auto rendered = engine_->render(hello());
    ASSERT_TRUE(rendered);
    EXPECT_EQ(rendered->text,
              "<|im_start|>user\nHello <|im_end|> there<|im_end|>\n<|im_start|>assistant\n");
    EXPECT_EQ(sink.prompt(), engine_->tokenizer().encode(*rendered, false).value());
    // The template's marks are control tokens, the user's look-alike is text.
    EXPECT_EQ(std::count(sink.prompt().begin(), sink.prompt().end(), 1), 2);
    EXPECT_EQ(std::count(sink.prompt().begin(), sink.prompt().end(), 2), 1);
    ASSERT_TRUE(sink.done());
    EXPECT_EQ(sink.done()->reason, FinishReason::length);
    EXPECT_EQ(sink.ids().size(), 12U);
    const Timings& timings = sink.done()->timings;
    EXPECT_EQ(timings.prompt_tokens, static_cast<int>(sink.prompt().size()));
    EXPECT_EQ(timings.generated_tokens, 12);
    EXPECT_GE(timings.queue_ms, 0);
    EXPECT_GT(timings.prompt_ms, 0);
    EXPECT_GT(timings.generation_ms, 0);
}

TEST_F(EngineTest, TheTextIsThatOfTheIds) {
    Collector sink;
    answer(text_request("Once upon a time", 100), sink);
    text::Detokenizer detokenizer(engine_->tokenizer());
    std::string expected;
    for (const std::int32_t id : sink.ids()) expected += detokenizer.push(id);
    expected += detokenizer.flush();
    EXPECT_EQ(sink.text(), expected);
    EXPECT_EQ(sink.ids().size(), 100U);
}

TEST_F(EngineTest, AStopStringEndsTheAnswerBeforeItAndIsNamed) {
    Collector whole;
    answer(text_request("Once upon a time", 60), whole);
    const std::string text = whole.text();
    const std::string stop = text.substr(text.size() / 2, 3);
    GenerateRequest request = text_request("Once upon a time", 60);
    request.stop = {"never there", stop};
    Collector sink;
    answer(request, sink);
    ASSERT_TRUE(sink.done());
    EXPECT_EQ(sink.done()->reason, FinishReason::stop);
    EXPECT_EQ(sink.done()->stop_string, stop);
    EXPECT_EQ(sink.text(), text.substr(0, text.find(stop)));
    EXPECT_LT(sink.ids().size(), 60U);
}

TEST_F(EngineTest, AnEndTokenEndsTheAnswerUnlessIgnored) {
    GenerateRequest request = text_request("Hello", 20);
    request.sampling.logit_bias = {{2, 100.0F}};
    Collector ignored;
    answer(request, ignored);
    EXPECT_EQ(ignored.ids(), Ids(20, 2));
    EXPECT_EQ(ignored.text(), "");
    request.ignore_end = false;
    Collector sink;
    answer(request, sink);
    EXPECT_EQ(sink.ids(), Ids{2});
    EXPECT_EQ(sink.done()->reason, FinishReason::stop);
    EXPECT_EQ(sink.done()->stop_string, "");
}

TEST_F(EngineTest, AnInterruptedAnswerGoesOnExactly) {
    for (const float temperature : {0.0F, 1.0F}) {
        GenerateRequest request = text_request("The fire in the hearth", 40);
        request.sampling.temperature = temperature;
        request.sampling.seed = 11;
        request.sampling.repetition_penalty = 1.2F;
        Collector whole;
        answer(request, whole);
        for (const std::size_t cut : {1U, 13U, 39U}) {
            std::string text;
            for (std::size_t i = 0; i < cut; ++i) text += whole.deltas()[i].text;
            const Ids ids = whole.ids();
            request.generated.assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(cut));
            Collector rest;
            answer(request, rest);
            EXPECT_EQ(rest.ids(), Ids(ids.begin() + static_cast<std::ptrdiff_t>(cut), ids.end()));
            EXPECT_EQ(text + rest.text(), whole.text());
            EXPECT_EQ(rest.done()->timings.generated_tokens, 40 - static_cast<int>(cut));
        }
        request.generated = whole.ids();
        Collector nothing;
        answer(request, nothing);
        EXPECT_TRUE(nothing.ids().empty());
        EXPECT_EQ(nothing.done()->reason, FinishReason::length);
    }
}

TEST_F(EngineTest, LogprobsComeWhenAskedFor) {
    GenerateRequest request = text_request("Hello", 5);
    request.logprobs = 3;
    Collector sink;
    answer(request, sink);
    for (const Delta& delta : sink.deltas()) {
        ASSERT_EQ(delta.tokens.size(), 1U);
        const PickedToken& token = delta.tokens[0];
        ASSERT_EQ(token.top.size(), 3U);
        EXPECT_EQ(token.top[0].id, token.id);  // greedy
        EXPECT_EQ(token.top[0].logprob, token.logprob);
        EXPECT_LT(token.logprob, 0.0F);
        EXPECT_EQ(token.bytes, engine_->tokenizer().bytes(token.id));
        EXPECT_GE(token.top[0].logprob, token.top[1].logprob);
    }
}

TEST_F(EngineTest, ManyAtOnceGetWhatEachGetsAlone) {
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 16; ++i) {
        requests.push_back(text_request("Story number " + std::to_string(i * 7), 30));
        requests.back().sampling.temperature = 1.0F;
        requests.back().sampling.seed = static_cast<std::uint64_t>(i);
    }
    std::vector<Ids> alone;
    for (const GenerateRequest& request : requests) {
        Collector sink;
        answer(request, sink);
        alone.push_back(sink.ids());
    }
    std::vector<std::unique_ptr<Collector>> sinks;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        sinks.push_back(std::make_unique<Collector>());
        ASSERT_TRUE(engine_->submit(100 + i, requests[i], *sinks.back()));
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
        sinks[i]->wait();
        EXPECT_EQ(sinks[i]->ids(), alone[i]) << i;
        EXPECT_EQ(sinks[i]->generation(), 100 + i);
    }
}

TEST_F(EngineTest, CancelEndsItAndFreesEverything) {
    Collector* collector = nullptr;
    Collector sink([&] {
        if (collector->deltas().size() == 2) engine_->cancel(1);
    });
    collector = &sink;
    answer(text_request("Hello", -1), sink);
    EXPECT_EQ(sink.done()->reason, FinishReason::cancelled);
    EXPECT_EQ(sink.ids().size(), 2U);
    const EngineStats stats = engine_->stats();
    EXPECT_EQ(stats.running, 0);
    EXPECT_EQ(stats.pages_free, stats.pages_total);
}

TEST_F(EngineTest, ClosingTheEngineCancelsWhatRuns) {
    std::promise<void> running;
    Collector* collector = nullptr;
    Collector sink([&] {
        if (collector->deltas().size() == 1) running.set_value();
    });
    collector = &sink;
    ASSERT_TRUE(engine_->submit(1, text_request("Hello", -1), sink));
    running.get_future().wait();
    engine_.reset();
    ASSERT_TRUE(sink.done());
    EXPECT_EQ(sink.done()->reason, FinishReason::cancelled);
}

TEST_F(EngineTest, WithoutALimitTheContextIsTheLimit) {
    GenerateRequest request = text_request("", -1);
    request.prompt = IdsPrompt{Ids(1000, 50)};
    Collector sink;
    answer(request, sink);
    EXPECT_EQ(sink.ids().size(), 24U);
    EXPECT_EQ(sink.done()->reason, FinishReason::length);
}

TEST_F(EngineTest, APromptLongerThanTheContextIsRefusedWithBothNumbers) {
    for (const std::size_t size : {1024U, 5000U}) {
        GenerateRequest request;
        request.prompt = IdsPrompt{Ids(size, 50)};
        const Error error = refused(request);
        EXPECT_EQ(error.code, ErrorCode::context_exceeded);
        EXPECT_THAT(error.message, HasSubstr(std::to_string(size)));
        EXPECT_THAT(error.message, HasSubstr("1024"));
    }
}

TEST_F(EngineTest, RequestsThatMakeNoSenseAreRefused) {
    const auto with = [](auto change) {
        GenerateRequest request = text_request("Hello", 5);
        change(request);
        return request;
    };
    const GenerateRequest requests[] = {
        with([](GenerateRequest& r) { r.prompt = TextPrompt{""}; }),
        with([](GenerateRequest& r) { r.prompt = IdsPrompt{{320}}; }),
        with([](GenerateRequest& r) { r.prompt = IdsPrompt{{-1}}; }),
        with([](GenerateRequest& r) { r.prompt = ChatPrompt{}; }),
        with([](GenerateRequest& r) { r.generated = {320}; }),
        with([](GenerateRequest& r) { r.max_tokens = 0; }),
        with([](GenerateRequest& r) { r.max_tokens = -2; }),
        with([](GenerateRequest& r) { r.logprobs = 321; }),
        with([](GenerateRequest& r) { r.sampling.temperature = 3; }),
        with([](GenerateRequest& r) { r.stop.assign(65, "x"); }),
    };
    for (const GenerateRequest& request : requests)
        EXPECT_EQ(refused(request).code, ErrorCode::bad_input);
    EXPECT_EQ(refused(with([](GenerateRequest& r) { r.prompt = TextPrompt{"\xff"}; })).code,
              ErrorCode::invalid_utf8);
}

TEST_F(EngineTest, ControlTokensInATextAreRecognisedOnlyWhenAskedFor) {
    GenerateRequest request = text_request("<|im_start|>x", 1);
    Collector parsed;
    answer(request, parsed);
    EXPECT_EQ(parsed.prompt().front(), 1);
    request.prompt = TextPrompt{.text = "<|im_start|>x", .parse_special = false};
    Collector plain;
    answer(request, plain);
    EXPECT_GT(plain.prompt().size(), 5U);
    EXPECT_EQ(std::count(plain.prompt().begin(), plain.prompt().end(), 1), 0);
}

class ChangedEngineTest : public ::testing::Test {
protected:
    std::unique_ptr<Engine> open_changed(const testing::Changes& changes) {
        testing::write_changed(testing::tiny_model_path(), path_, changes);
        return open_engine(path_);
    }
    testing::TempDir dir_;
    std::string path_ = dir_.file("changed.gguf");
};

TEST_F(ChangedEngineTest, ABeginTokenThatTheTemplateWritesIsNotDoubled) {
    const auto engine = open_changed(
        {.keys = {{"tokenizer.ggml.add_bos_token", testing::boolean_value(true)},
                  {"tokenizer.chat_template",
                   testing::string_value(
                       "{{ bos_token }}{{ messages[0]['content'] }}{{ eos_token }}")}}});
    Collector chat;
    GenerateRequest request = text_request("Hello", 1);
    request.prompt = ChatPrompt{hello()};
    ASSERT_TRUE(engine->submit(1, request, chat));
    chat.wait();
    EXPECT_EQ(std::count(chat.prompt().begin(), chat.prompt().end(), 1), 1);
    EXPECT_EQ(chat.prompt().front(), 1);
    EXPECT_EQ(chat.prompt().back(), 2);
    Collector text;
    ASSERT_TRUE(engine->submit(1, text_request("Hello", 1), text));
    text.wait();
    EXPECT_EQ(text.prompt().front(), 1);
}

TEST_F(ChangedEngineTest, WithoutAUsableTemplateChatsFailAndTextIsAnswered) {
    for (const auto& source :
         {std::optional<gguf::Value>(), std::optional(testing::string_value("{% if %}"))}) {
        const auto engine = open_changed({.keys = {{"tokenizer.chat_template", source}}});
        EXPECT_EQ(engine->info().has_chat_template, source.has_value());
        EXPECT_EQ(engine->info().chat_unavailable.empty(), !source.has_value());
        EXPECT_EQ(engine->render(hello()).error().code, ErrorCode::template_failed);
        Collector sink;
        ASSERT_TRUE(engine->submit(1, text_request("Hello", 3), sink));
        sink.wait();
        EXPECT_EQ(sink.ids().size(), 3U);
    }
}

class T023 : public ChangedEngineTest {};
TEST_F(T023, WeightsFullOfNanAreANumericErrorAndNeverText) {
    const auto engine = open_changed({.edit = [](std::vector<testing::EditableTensor>& tensors) {
        for (auto& tensor : tensors)
            if (tensor.plan.name == "blk.1.ffn_down.weight")
                std::memset(tensor.data.data(), 0xff, tensor.data.size());
    }});
    Collector sink;
    ASSERT_TRUE(engine->submit(1, text_request("Hello", 3), sink));
    sink.wait();
    ASSERT_TRUE(sink.error());
    EXPECT_EQ(sink.error()->code, ErrorCode::numeric_error);
    EXPECT_TRUE(sink.ids().empty());
    EXPECT_EQ(engine->stats().running, 0);
}

// One token's embedding is no number. Whoever reads it fails; others get what they get alone.
class T166 : public ChangedEngineTest {};
TEST_F(T166, OneSequenceWithoutNumbersLeavesTheOthersAsTheyAre) {
    const auto engine = open_changed({.edit = [&](std::vector<testing::EditableTensor>& tensors) {
        for (auto& tensor : tensors)
            if (tensor.plan.name == "token_embd.weight") {
                const std::size_t row = tensor.data.size() / tensor.plan.dims.at(1);
                std::memset(tensor.data.data() + 300 * row, 0xff, row);
            }
    }});
    Collector alone;
    ASSERT_TRUE(engine->submit(1, text_request("Hello", 12), alone));
    alone.wait();
    ASSERT_TRUE(alone.done());
    GenerateRequest poisoned = text_request("", 12);
    poisoned.prompt = IdsPrompt{{5, 6, 300, 7}};
    for (std::uint64_t round = 0; round < 5; ++round) {
        Collector good;
        Collector bad;
        ASSERT_TRUE(engine->submit(10 + 2 * round, text_request("Hello", 12), good));
        ASSERT_TRUE(engine->submit(11 + 2 * round, poisoned, bad));
        good.wait();
        bad.wait();
        ASSERT_TRUE(bad.error());
        EXPECT_EQ(bad.error()->code, ErrorCode::numeric_error);
        EXPECT_EQ(good.ids(), alone.ids());
    }
}

TEST_F(ChangedEngineTest, AVocabularyThatIsNotTheEmbeddingsIsRefused) {
    testing::write_changed(testing::tiny_model_path(), path_,
                           {.keys = {{"llama.vocab_size", std::nullopt}},
                            .edit = [](std::vector<testing::EditableTensor>& tensors) {
                                for (auto& tensor : tensors)
                                    if (tensor.plan.name == "token_embd.weight" ||
                                        tensor.plan.name == "output.weight") {
                                        tensor.plan.dims = {64, 319};
                                        tensor.data.resize(64 * 319 * sizeof(float));
                                    }
                            }});
    const auto engine = Engine::open(std::move(MappedFile::open(path_)).value(), {});
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().code, ErrorCode::model_invalid);
    EXPECT_THAT(engine.error().message, HasSubstr("320"));
    EXPECT_THAT(engine.error().message, HasSubstr("319"));
}

TEST(EngineOpen, RefusesOptionsThatMakeNoSense) {
    const auto code = [](const EngineOptions& options) {
        auto engine =
            Engine::open(std::move(MappedFile::open(testing::tiny_model_path())).value(), options);
        return engine ? ErrorCode::internal : engine.error().code;
    };
    EXPECT_EQ(code({.context = -1}), ErrorCode::bad_input);
    EXPECT_EQ(code({.context = 2000}), ErrorCode::bad_input);
    EXPECT_EQ(code({.context = 1024, .kv_bytes = 4096}), ErrorCode::no_memory);
    EXPECT_EQ(code({.key_type = DType::q4_k}), ErrorCode::bad_input);
    EXPECT_EQ(code({.max_sequences = 0}), ErrorCode::bad_input);
    EXPECT_EQ(code({.backend = "abacus"}), ErrorCode::bad_input);
}

TEST(EngineOpen, TheFingerprintDependsOnTheTypesOfKeysAndValues) {
    const auto fingerprint = [](const EngineOptions& options) {
        return open_engine(testing::tiny_model_path(), options)->info().fingerprint;
    };
    EXPECT_EQ(fingerprint({}), fingerprint({.threads = 1}));
    EXPECT_NE(fingerprint({}), fingerprint({.key_type = DType::f32}));
}

TEST(EngineOpen, EveryBackendGivesTheSameTokens) {
    std::vector<Ids> answers;
    for (const char* backend : {"reference", "cpu", "cpu-emulated"}) {
        const auto engine =
            open_engine(testing::tiny_model_path(), {.backend = backend, .threads = 2});
        GenerateRequest request = text_request("The fire in the hearth keeps the house warm.", 50);
        request.sampling.temperature = 1.0F;
        Collector sink;
        ASSERT_TRUE(engine->submit(1, request, sink));
        sink.wait();
        answers.push_back(sink.ids());
    }
    EXPECT_EQ(answers[0], answers[1]);
    EXPECT_EQ(answers[0], answers[2]);
}

}  // namespace
}  // namespace hearth
