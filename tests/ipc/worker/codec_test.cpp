// Messages: every field survives the way through JSON, and nothing malformed gets in.
#include "ipc/worker/codec.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>

using namespace hearth;
using namespace hearth::wire;

namespace {

Frame frame_of(const std::string& bytes) {
    FrameReader reader;
    reader.feed(bytes);
    auto next = reader.next();
    EXPECT_TRUE(next && *next);
    return **std::move(next);
}

// Encodes, decodes and encodes again: equal bytes mean that no field was lost.
template <typename Message>
Message round_trip(const Message& message, Result<Message> (*decode)(const Frame&)) {
    const auto bytes = encode(7, message);
    EXPECT_TRUE(bytes);
    const Frame frame = frame_of(*bytes);
    EXPECT_EQ(frame.request, 7U);
    auto decoded = decode(frame);
    EXPECT_TRUE(decoded) << decoded.error().message;
    const auto again = encode(7, *decoded);
    EXPECT_EQ(*again, *bytes);
    return *std::move(decoded);
}

Generate full_request() {
    Generate request;
    request.prompt = ChatPrompt{
        boost::json::parse(R"({"z":[{"role":"user","content":"h\u00e9"}],"a":1.5,"m":null})")
            .as_object()};
    request.generated = {1, 2, 3};
    request.sampling = {.temperature = 0.1F,
                        .top_k = 40,
                        .top_p = 0.9F,
                        .min_p = 0.05F,
                        .repetition_penalty = 1.1F,
                        .presence_penalty = -0.5F,
                        .frequency_penalty = 0.25F,
                        .logit_bias = {{5, -100.0F}, {9, 3.3F}},
                        .seed = std::numeric_limits<std::uint64_t>::max(),
                        .choice = 2};
    request.max_tokens = 77;
    request.stop = {"\n\n", "END"};
    request.logprobs = 5;
    request.ignore_end = true;
    request.priority = Priority::background;
    request.client = "cli";
    request.cache_salt = "salt";
    request.credit = 3;
    return request;
}

TEST(Codec, ARequestKeepsEveryFieldAndTheOrderOfItsVariables) {
    const ToWorker decoded = round_trip<ToWorker>(full_request(), decode_to_worker);
    const auto& request = std::get<Generate>(decoded);
    EXPECT_EQ(boost::json::serialize(std::get<ChatPrompt>(request.prompt).variables),
              "{\"z\":[{\"role\":\"user\",\"content\":\"h\xC3\xA9\"}],\"a\":1.5E0,\"m\":null}");
    EXPECT_EQ(request.sampling.temperature, 0.1F);
    EXPECT_EQ(request.sampling.logit_bias[1], (std::pair<std::int32_t, float>(9, 3.3F)));
    EXPECT_EQ(request.sampling.seed, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(request.priority, Priority::background);
    EXPECT_EQ(request.stop, (std::vector<std::string>{"\n\n", "END"}));
    EXPECT_TRUE(request.ignore_end);
}

TEST(Codec, EveryKindOfPromptArrives) {
    Generate request;
    request.prompt = TextPrompt{.text = "once", .parse_special = false};
    ToWorker decoded = round_trip<ToWorker>(request, decode_to_worker);
    EXPECT_EQ(std::get<TextPrompt>(std::get<Generate>(decoded).prompt).text, "once");
    EXPECT_FALSE(std::get<TextPrompt>(std::get<Generate>(decoded).prompt).parse_special);
    EXPECT_FALSE(std::get<Generate>(decoded).sampling.seed.has_value());
    request.prompt = IdsPrompt{{4, 5}};
    decoded = round_trip<ToWorker>(request, decode_to_worker);
    EXPECT_EQ(std::get<IdsPrompt>(std::get<Generate>(decoded).prompt).ids,
              (std::vector<std::int32_t>{4, 5}));
}

TEST(Codec, EveryOtherMessageKeepsItsFields) {
    const Load load{.name = "m",
                    .backend = "cpu",
                    .threads = 2,
                    .context = 4096,
                    .kv_bytes = 1ULL << 40U,
                    .key_type = "f32",
                    .value_type = "q8_0",
                    .max_sequences = 4};
    EXPECT_EQ(std::get<Load>(round_trip<ToWorker>(load, decode_to_worker)).kv_bytes, 1ULL << 40U);
    round_trip<ToWorker>(Cancel{}, decode_to_worker);
    round_trip<ToWorker>(Credit{5}, decode_to_worker);
    round_trip<ToWorker>(Shutdown{}, decode_to_worker);
    round_trip<ToWorker>(StatsRequest{}, decode_to_worker);
    const Tokenize question{.prompt = TextPrompt{.text = "x", .parse_special = false},
                            .add_bos = false,
                            .with_text = true,
                            .with_pieces = true};
    const ToWorker asked = round_trip<ToWorker>(question, decode_to_worker);
    EXPECT_EQ(std::get<Tokenize>(asked).add_bos, false);
    EXPECT_TRUE(std::get<Tokenize>(asked).with_pieces);
    round_trip<ToWorker>(Detokenize{{1, 2}}, decode_to_worker);

    Ready ready;
    ready.model.architecture = "llama";
    ready.model.parameters = 1ULL << 37U;
    ready.sandbox = {.no_new_privileges = true, .seccomp = true, .landlock = 7, .missing = "x"};
    ready.load_ms = 12.5;
    const FromWorker decoded = round_trip<FromWorker>(ready, decode_from_worker);
    EXPECT_EQ(std::get<Ready>(decoded).model.parameters, 1ULL << 37U);
    EXPECT_EQ(std::get<Ready>(decoded).sandbox.landlock, 7);
    round_trip<FromWorker>(Accepted{2, {8, 9}}, decode_from_worker);
    const FromWorker tokens =
        round_trip<FromWorker>(Tokens{"t", {1}, {{"a", "\xff"}}}, decode_from_worker);
    EXPECT_EQ(std::get<Tokens>(tokens).pieces.at(0).bytes, "\xff");
    round_trip<FromWorker>(Done{FinishReason::length, "END", {.queue_ms = 0.125}},
                           decode_from_worker);
    round_trip<FromWorker>(Stats{.running = 1, .steps = 1ULL << 60U}, decode_from_worker);
    const FromWorker failure = round_trip<FromWorker>(
        Failure{{ErrorCode::context_exceeded, "too long"}}, decode_from_worker);
    EXPECT_EQ(std::get<Failure>(failure).error.code, ErrorCode::context_exceeded);
    round_trip<FromWorker>(Failed{{ErrorCode::model_corrupt, "bad"}}, decode_from_worker);
}

TEST(Codec, ADeltaCarriesAnyBytesAndInfiniteLogprobs) {
    Delta delta{.number = 3, .text = "caf\xC3\xA9", .ids = {1}, .logprobs = {}};
    delta.logprobs.push_back({-0.5F,
                              std::string("\0\xff\x80", 3),
                              {{7, -std::numeric_limits<float>::infinity(), "\xE2"}}});
    const FromWorker decoded = round_trip<FromWorker>(delta, decode_from_worker);
    const auto& got = std::get<Delta>(decoded);
    EXPECT_EQ(got.logprobs[0].bytes, std::string("\0\xff\x80", 3));
    EXPECT_EQ(got.logprobs[0].top[0].bytes, "\xE2");
    EXPECT_EQ(got.logprobs[0].top[0].logprob, std::numeric_limits<float>::lowest());
}

TEST(Codec, BytesThatAreNotTextAreRepairedOnTheWay) {
    const auto bytes = encode(0, FromWorker(Failed{{ErrorCode::model_corrupt, "key \xff!"}}));
    const auto decoded = decode_from_worker(frame_of(*bytes));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(std::get<Failed>(*decoded).error.message, "key \xEF\xBF\xBD!");
}

struct Bad {
    const char* name;
    Kind kind;
    const char* payload;
    const char* names;  // what the message must mention
};
constexpr Bad kBad[] = {
    {"no JSON", Kind::credit, "{", "JSON"},
    {"no object", Kind::credit, "[1]", "object"},
    {"missing field", Kind::credit, "{}", "deltas"},
    {"unknown field", Kind::credit, R"({"deltas":1,"more":2})", "unknown"},
    {"wrong type", Kind::credit, R"({"deltas":"1"})", "deltas"},
    {"negative", Kind::credit, R"({"deltas":-1})", "deltas"},
    {"too large", Kind::credit, R"({"deltas":4294967296})", "deltas"},
    {"fraction", Kind::credit, R"({"deltas":1.5})", "deltas"},
    {"unknown kind", static_cast<Kind>(99), "{}", "99"},
    {"a reply's kind", Kind::stats, "{}", "106"},
    {"bad text", Kind::credit, "{\"deltas\":\"\xff\"}", "JSON"},
};
TEST(Codec, MalformedMessagesAreErrorsThatNameTheField) {
    for (const Bad& bad : kBad) {
        SCOPED_TRACE(bad.name);
        const auto decoded = decode_to_worker(frame_of(encode_frame(bad.kind, 1, bad.payload)));
        ASSERT_FALSE(decoded);
        EXPECT_EQ(decoded.error().code, ErrorCode::bad_input);
        EXPECT_NE(decoded.error().message.find(bad.names), std::string::npos)
            << decoded.error().message;
    }
}

TEST(Codec, NestingHasALimit) {
    std::string deep =
        R"({"deltas":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
    EXPECT_FALSE(decode_to_worker(frame_of(encode_frame(Kind::credit, 1, deep))));
}

TEST(Codec, AFloatPastItsRangeIsRefused) {
    const auto bytes = encode(1, ToWorker(full_request()));
    for (const auto& [number, fits] : {std::pair("0.5", true), std::pair("1e300", false)}) {
        std::string payload = bytes->substr(kHeaderBytes);
        const std::size_t from = payload.find("\"min_p\":") + 8;
        payload.replace(from, payload.find(',', from) - from, number);
        const Frame frame = frame_of(encode_frame(Kind::generate, 1, payload));
        EXPECT_EQ(decode_to_worker(frame).has_value(), fits) << payload;
    }
}

}  // namespace
