// The table of routes, and how failures look.
#include "daemon/api/router.h"

#include <gtest/gtest.h>

#include <set>

#include "daemon/api/failure_reply.h"
#include "daemon/api/orders.h"
#include "ipc/protocol/fields.h"

using namespace hearth;
using namespace hearth::api;

namespace {

const Reply* refused(const std::variant<Match, Reply>& found) { return std::get_if<Reply>(&found); }

TEST(Router, FindsEveryRouteOfItsTable) {
    for (const Route& route : Router::routes()) {
        std::string path(route.pattern);
        if (const auto at = path.find("{id}"); at != std::string::npos)
            path.replace(at, 4, "a%2Db");
        SCOPED_TRACE(path);
        const auto found = Router::find({std::string(route.method), path + "?x=1", "", ""});
        const Match* match = std::get_if<Match>(&found);
        ASSERT_NE(match, nullptr);
        EXPECT_EQ(match->route->pattern, route.pattern);
        const bool named = route.pattern.find('{') != std::string::npos;
        EXPECT_EQ(match->arguments, std::vector<std::string>(named ? 1 : 0, "a-b"));
        EXPECT_EQ(route.method == "POST", route.body_limit > 0);
    }
}

TEST(Router, UnknownPathsAre404) {
    for (const char* path : {"/", "", "*", "/v1", "/v1/models/", "/v1/models/a/b", "//health",
                             "/health/", "/HEALTH", "http://localhost/health"}) {
        SCOPED_TRACE(path);
        const auto found = Router::find({"GET", path, "", ""});
        ASSERT_NE(refused(found), nullptr);
        EXPECT_EQ(refused(found)->status, 404);
    }
}

TEST(Router, OtherMethodsAre405AndSayWhichWork) {
    for (const char* method : {"GET", "HEAD", "PUT", "TRACE", "OPTIONS"}) {
        SCOPED_TRACE(method);
        const auto found = Router::find({method, "/hearth/v1/models/import", "", ""});
        // GET shows the model that is named "import".
        if (method == std::string("GET")) {
            EXPECT_EQ(refused(found), nullptr);
            continue;
        }
        ASSERT_NE(refused(found), nullptr);
        EXPECT_EQ(refused(found)->status, 405);
        ASSERT_EQ(refused(found)->headers.size(), 1U);
        EXPECT_EQ(refused(found)->headers[0].first, "Allow");
        EXPECT_NE(refused(found)->headers[0].second.find("POST"), std::string::npos);
    }
}

TEST(Router, BodiesThatAreNotPlainJsonAre415) {
    const auto status_for = [](const std::string& type, const std::string& encoding) {
        const auto found = Router::find({"POST", "/v1/completions", type, encoding});
        return refused(found) != nullptr ? refused(found)->status : 200;
    };
    for (const char* type : {"text/plain", "application/x-www-form-urlencoded",
                             "multipart/form-data; boundary=x", "application/jsonx", "json"})
        EXPECT_EQ(status_for(type, ""), 415) << type;
    for (const char* type :
         {"", "application/json", "Application/JSON", "application/json; charset=utf-8"})
        EXPECT_EQ(status_for(type, ""), 200) << type;
    EXPECT_EQ(status_for("application/json", "gzip"), 415);
    EXPECT_EQ(status_for("application/json", "identity"), 200);
}

TEST(Router, OwnersRoutesAreRefusedOverTcpWhateverTheBodyIs) {
    std::set<std::string> owners;
    for (const Route& route : Router::routes()) {
        SCOPED_TRACE(route.pattern);
        const auto found = Router::find({.method = std::string(route.method),
                                         .target = std::string(route.pattern),
                                         .content_type = "",
                                         .content_encoding = "",
                                         .over_tcp = true});
        if (route.permission != access::Permission::owner) {
            EXPECT_EQ(refused(found), nullptr);
            continue;
        }
        owners.emplace(route.pattern);
        ASSERT_NE(refused(found), nullptr);
        EXPECT_EQ(refused(found)->status, 403);
        EXPECT_NE(refused(found)->body.find("Unix socket"), std::string::npos);
    }
    EXPECT_EQ(owners.count("/hearth/v1/models/import"), 1U);
    EXPECT_EQ(owners.count("/hearth/v1/shutdown"), 1U);
}

TEST(Router, OnlyHealthIsOpenToAnybody) {
    for (const Route& route : Router::routes())
        EXPECT_EQ(route.permission == access::Permission::open, route.pattern == "/health")
            << route.pattern;
}

TEST(FailureReply, EveryCodeHasAStatusAndAType) {
    const struct {
        ErrorCode code;
        int status;
        const char* type;
    } cases[] = {
        {ErrorCode::bad_input, 400, "invalid_request_error"},
        {ErrorCode::context_exceeded, 400, "invalid_request_error"},
        {ErrorCode::forbidden, 403, "permission_error"},
        {ErrorCode::not_found, 404, "not_found_error"},
        {ErrorCode::too_large, 413, "invalid_request_error"},
        {ErrorCode::model_corrupt, 422, "invalid_request_error"},
        {ErrorCode::busy, 429, "rate_limit_error"},
        {ErrorCode::internal, 500, "server_error"},
        {ErrorCode::worker_died, 503, "server_error"},
        {ErrorCode::shutting_down, 503, "server_error"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(to_string(c.code));
        const Reply reply = failure_reply(protocol::Failure{{c.code, "why"}, "field"});
        EXPECT_EQ(reply.status, c.status);
        const auto body = protocol::parse_json(reply.body);
        ASSERT_TRUE(body);
        EXPECT_EQ(body->at("error").at("code").as_string(), to_string(c.code));
        EXPECT_EQ(body->at("error").at("type").as_string(), c.type);
        EXPECT_EQ(body->at("error").at("message").as_string(), "why");
        EXPECT_EQ(body->at("error").at("param").as_string(), "field");
    }
}

TEST(Orders, CarryEveryField) {
    protocol::ChatRequest request;
    request.options.temperature = 0.5;
    request.options.top_k = 3;
    request.options.max_tokens = 9;
    request.options.stop = {"x"};
    request.options.logprobs = 2;
    request.options.ignore_end = true;
    request.options.priority = "interactive";
    request.options.client = "me";
    request.options.logit_bias = {{4, -1.5}};
    request.messages = {{{"role", "user"}}};
    request.template_variables = {{"enable_thinking", true}};
    const wire::Generate order = order_for(request, 77);
    EXPECT_EQ(order.sampling.temperature, 0.5F);
    EXPECT_EQ(order.sampling.top_k, 3);
    EXPECT_EQ(order.sampling.seed, 77U);
    EXPECT_EQ(order.sampling.logit_bias.at(0).second, -1.5F);
    EXPECT_EQ(order.max_tokens, 9);
    EXPECT_EQ(order.stop.at(0), "x");
    EXPECT_EQ(order.logprobs, 2);
    EXPECT_TRUE(order.ignore_end);
    EXPECT_EQ(order.priority, wire::Priority::interactive);
    EXPECT_EQ(order.client, "me");
    const auto& variables = std::get<wire::ChatPrompt>(order.prompt).variables;
    EXPECT_EQ(variables.at("messages").as_array().size(), 1U);
    EXPECT_EQ(variables.at("add_generation_prompt"), boost::json::value(true));
    EXPECT_EQ(variables.at("enable_thinking"), boost::json::value(true));
    EXPECT_FALSE(variables.contains("tools"));
}

}  // namespace
