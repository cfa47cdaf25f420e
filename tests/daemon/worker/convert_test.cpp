#include "daemon/worker/convert.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

using namespace hearth;
using namespace hearth::worker;

namespace {

TEST(Convert, JsonBecomesAChatValueInOrder) {
    const auto json =
        boost::json::parse(R"({"z":[1,-2,1.5,true,null,"t"],"a":{},"big":18446744073709551615})");
    const chat::Value value = to_chat_value(json);
    ASSERT_EQ(value.kind(), chat::Kind::object);
    EXPECT_EQ(value.size(), 3U);
    const auto list = value.find("z")->as_list();
    EXPECT_EQ(list[0].as_integer(), 1);
    EXPECT_EQ(list[1].as_integer(), -2);
    EXPECT_EQ(list[2].as_real(), 1.5);
    EXPECT_TRUE(list[3].as_boolean());
    EXPECT_TRUE(list[4].is_none());
    EXPECT_EQ(list[5].as_string(), "t");
    EXPECT_EQ(value.find("big")->as_real(), 18446744073709551615.0);
}

TEST(Convert, OptionsKeepTheEnginesDefaultsAndRefuseUnknownTypes) {
    const auto options = to_options({.name = "m", .threads = 3, .key_type = "f32"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->threads, 3);
    EXPECT_EQ(options->key_type, DType::f32);
    EXPECT_EQ(options->value_type, DType::f16);
    EXPECT_EQ(options->max_sequences, EngineOptions{}.max_sequences);
    EXPECT_EQ(to_options({.name = "m", .key_type = "q9"}).error().code, ErrorCode::bad_input);
}

TEST(Convert, ARequestNeedsASeed) {
    wire::Generate message;
    message.prompt = wire::IdsPrompt{{1, 2}};
    EXPECT_EQ(to_request(message).error().code, ErrorCode::bad_input);
    message.sampling.seed = 9;
    message.sampling.top_k = 7;
    message.stop = {"x"};
    message.priority = wire::Priority::interactive;
    const auto request = to_request(message);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->sampling.seed, 9U);
    EXPECT_EQ(request->sampling.top_k, 7);
    EXPECT_EQ(request->priority, Priority::interactive);
    EXPECT_EQ(std::get<IdsPrompt>(request->prompt).ids, (std::vector<std::int32_t>{1, 2}));
}

TEST(Convert, DeltasJoinAndKeepLogprobsOnlyWhenAskedFor) {
    Delta event;
    event.text = "ab";
    event.tokens.push_back({.id = 4, .logprob = -1.0F, .bytes = "a", .top = {{4, -1.0F, "a"}}});
    wire::Delta plain;
    append(plain, event, -1);
    append(plain, event, -1);
    EXPECT_EQ(plain.text, "abab");
    EXPECT_EQ(plain.ids, (std::vector<std::int32_t>{4, 4}));
    EXPECT_TRUE(plain.logprobs.empty());
    wire::Delta rich;
    append(rich, event, 1);
    ASSERT_EQ(rich.logprobs.size(), 1U);
    EXPECT_EQ(rich.logprobs[0].top[0].id, 4);
}

}  // namespace
