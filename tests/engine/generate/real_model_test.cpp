// SmolLM2-135M-Instruct (Q4_1) against answers that `transformers` gave in float32
// (tests/data/references): prompt ids, perplexity, divergence, and the likeliest token wherever the
// reference is sure.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "engine/base/mapped_file.h"
#include "engine/generate/prompt.h"
#include "engine/generate/score.h"
#include "engine/serve/runner.h"
#include "tests/support/goldens.h"
#include "tests/support/paths.h"

namespace hearth {
namespace {

using Ids = std::vector<std::int32_t>;
namespace json = boost::json;

json::array reference(const std::string& name) {
    return testing::read_json(testing::test_data("references/smollm2-135m-instruct/" + name))
        .as_array();
}

// Loaded once for all tests; null when the file is not there.
const generate::LoadedModel* real_model() {
    static const auto loaded = []() -> std::unique_ptr<generate::LoadedModel> {
        const std::string path = testing::real_model_path();
        if (path.empty()) return nullptr;
        auto model = generate::load_model(std::move(MappedFile::open(path)).value(), {});
        if (!model) ADD_FAILURE() << model.error().message;
        return std::make_unique<generate::LoadedModel>(std::move(model).value());
    }();
    return loaded.get();
}

class RealModel : public ::testing::Test {
protected:
    void SetUp() override {
        model_ = real_model();
        if (model_ == nullptr) GTEST_SKIP() << testing::kNoRealModel;
    }

    // Calls see(position, logits) for the positions from `first` on.
    template <typename See>
    void for_logits(const Ids& ids, std::size_t first, See&& see) {
        constexpr int kRows = 64;
        auto runner =
            serve::Runner::make(*model_->ops, *model_->model,
                                {.limits = {.rows = kRows, .sampled = kRows},
                                 .pages = state::page_count(static_cast<int>(ids.size()))});
        ASSERT_TRUE(runner);
        state::SequenceState sequence(runner->pages());
        for (std::size_t at = 0; at < ids.size(); at += kRows) {
            const auto some =
                std::span(ids).subspan(at, std::min<std::size_t>(kRows, ids.size() - at));
            const std::size_t skipped = std::min(some.size(), first > at ? first - at : 0);
            const serve::StepPart part{&sequence, some, static_cast<int>(some.size() - skipped)};
            ASSERT_TRUE(runner->step({&part, 1}));
            for (std::size_t i = skipped; i < some.size(); ++i)
                see(at + i, runner->logits(static_cast<int>(i - skipped)));
        }
    }

    const generate::LoadedModel* model_ = nullptr;
};

chat::Value messages_of(const json::value& item) {
    std::vector<chat::Value> messages;
    for (const json::value& message : item.at("messages").as_array()) {
        std::vector<chat::Member> members;
        for (const auto& [key, value] : message.as_object())
            members.push_back(
                {std::string(key), chat::Value::string(std::string(value.as_string()))});
        messages.push_back(chat::Value::object(std::move(members)));
    }
    return chat::Value::object({{"messages", chat::Value::list(std::move(messages))},
                                {"add_generation_prompt", chat::Value::boolean(true)}});
}

TEST_F(RealModel, PromptIdsAreThoseOfTheReference) {
    const json::array items = reference("greedy.json");
    EXPECT_EQ(items.size(), 23U);
    for (const json::value& item : items) {
        SCOPED_TRACE(item.at("name").as_string().c_str());
        Prompt prompt;
        if (item.as_object().contains("messages")) {
            prompt = ChatPrompt{messages_of(item)};
            const auto rendered = generate::render_chat(*model_, messages_of(item));
            ASSERT_TRUE(rendered) << rendered.error().message;
            EXPECT_EQ(rendered->text, std::string(item.at("rendered").as_string()));
        } else {
            prompt = TextPrompt{std::string(item.at("prompt").as_string())};
        }
        const auto ids = generate::prompt_ids(*model_, prompt);
        ASSERT_TRUE(ids) << ids.error().message;
        EXPECT_EQ(*ids, testing::int_list(item.at("prompt_ids")));
    }
}

TEST_F(RealModel, FedTheReferenceAnswerItPrefersTheSameTokenWhereverTheMarginIsLarge) {
    int sure = 0;
    for (const json::value& item : reference("greedy.json")) {
        SCOPED_TRACE(item.at("name").as_string().c_str());
        Ids ids = testing::int_list(item.at("prompt_ids"));
        const Ids answer = testing::int_list(item.at("answer_ids"));
        const std::vector<float> margins = testing::float_list(item.at("margins"));
        const std::size_t first = ids.size() - 1;
        ids.insert(ids.end(), answer.begin(), answer.end() - 1);
        for_logits(ids, first, [&](std::size_t position, std::span<const float> logits) {
            const std::size_t step = position - first;
            if (margins[step] < 0.7F) return;
            ++sure;
            const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
            EXPECT_EQ(best, answer[step]) << "step " << step << ", margin " << margins[step];
        });
    }
    EXPECT_GT(sure, 500);
}

// Divergence of the model's distribution from the reference over the listed tokens and one bucket
// for the rest.
class Divergence {
public:
    Divergence(const json::value& text) {
        for (const json::value& row : text.at("top_ids").as_array())
            ids_.push_back(testing::int_list(row));
        for (const json::value& row : text.at("top_logprobs").as_array())
            logprobs_.push_back(testing::float_list(row));
    }
    double at(std::size_t position, std::span<const float> logits, double log_total) const {
        double divergence = 0;
        double p_rest = 1;
        double q_rest = 1;
        for (std::size_t k = 0; k < ids_[position].size(); ++k) {
            const double p = std::exp(double{logprobs_[position][k]});
            const double log_q =
                double{logits[static_cast<std::size_t>(ids_[position][k])]} - log_total;
            divergence += p * (double{logprobs_[position][k]} - log_q);
            p_rest -= p;
            q_rest -= std::exp(log_q);
        }
        if (p_rest > 1e-9 && q_rest > 1e-12) divergence += p_rest * std::log(p_rest / q_rest);
        return divergence;
    }
    std::size_t positions() const { return ids_.size(); }

private:
    std::vector<Ids> ids_;
    std::vector<std::vector<float>> logprobs_;
};

double log_total(std::span<const float> logits) {
    const double max = *std::max_element(logits.begin(), logits.end());
    double total = 0;
    for (const float logit : logits) total += std::exp(double{logit} - max);
    return max + std::log(total);
}

TEST_F(RealModel, PerplexityAndDivergenceAreThoseOfRoundedActivations) {
    for (const json::value& text : reference("texts.json")) {
        const std::string name(text.at("name").as_string());
        SCOPED_TRACE(name);
        const Ids ids = testing::int_list(text.at("ids"));
        const Divergence reference_rows(text);
        double sum = 0;
        double divergence = 0;
        double largest = 0;
        for_logits(ids, 0, [&](std::size_t position, std::span<const float> logits) {
            const double total = log_total(logits);
            if (position + 1 < ids.size())
                sum += double{logits[static_cast<std::size_t>(ids[position + 1])]} - total;
            if (position >= reference_rows.positions()) return;
            const double here = reference_rows.at(position, logits, total);
            divergence += here;
            largest = std::max(largest, here);
        });
        const double perplexity = std::exp(-sum / static_cast<double>(ids.size() - 1));
        const double ratio = perplexity / text.at("perplexity").to_number<double>();
        const double mean = divergence / static_cast<double>(reference_rows.positions());
        std::cout << name << ": perplexity " << perplexity << ", ratio " << ratio
                  << ", mean divergence " << mean << ", largest " << largest << "\n";
        EXPECT_NEAR(ratio, 1.0, name == "long" ? 0.005 : 0.015);
        EXPECT_LE(mean, 0.004);
    }
}

TEST_F(RealModel, ScoreGivesThePerplexityOfItsOwnLogits) {
    const json::array texts = reference("texts.json");
    const Ids ids = testing::int_list(texts.at(1).at("ids"));
    std::vector<double> expected;
    for_logits(ids, 0, [&](std::size_t position, std::span<const float> logits) {
        if (position + 1 < ids.size())
            expected.push_back(double{logits[static_cast<std::size_t>(ids[position + 1])]} -
                               log_total(logits));
    });
    const auto report = generate::score(*model_, ids, {.top = 3});
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->next_logprob.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(report->next_logprob[i], expected[i], 1e-9);
}

}  // namespace
}  // namespace hearth
