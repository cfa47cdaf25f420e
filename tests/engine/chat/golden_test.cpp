// Small templates of our own against what Jinja2 made of them
// (tests/data/make_template_goldens.py).
#include <gtest/gtest.h>

#include "engine/chat/template.h"
#include "tests/engine/chat/json_value.h"

using namespace hearth;
using namespace hearth::chat;

namespace {

TEST(T052, GoldenRenderingsEqualJinja2) {
    const std::string text = read_file(HEARTH_SOURCE_DIR "/tests/data/template_goldens.json");
    ASSERT_FALSE(text.empty());
    const boost::json::value goldens = parse_json(text);
    const Value variables = to_value(goldens.at("variables"));
    RenderOptions options;
    options.now = LocalTime::parse(goldens.at("now").as_string()).value();
    options.limits.wall = std::chrono::seconds(20);
    int seen = 0;
    for (const auto& item : goldens.at("records").as_array()) {
        const auto& record = item.as_object();
        const std::string source(record.at("template").as_string());
        ++seen;
        const auto parsed = Template::parse(source);
        const auto rendered =
            parsed ? parsed->render(variables, options) : Result<MarkedText>(parsed.error());
        if (record.if_contains("error") != nullptr) {
            EXPECT_FALSE(rendered) << source << "\n  gave «" << rendered->text
                                   << "», but Jinja2: " << record.at("error").as_string();
            continue;
        }
        if (!rendered) {
            ADD_FAILURE() << source << "\n  " << rendered.error().message;
            continue;
        }
        EXPECT_EQ(rendered->text, std::string(record.at("text").as_string())) << source;
        EXPECT_EQ(rendered->text.size(), rendered->trusted.size());
    }
    EXPECT_GE(seen, 400);
}

}  // namespace
