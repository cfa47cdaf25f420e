// hearth-worker's tools as programs: arguments, output, exit codes.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using testing::HasSubstr;
using testing::StartsWith;

namespace {

namespace json = boost::json;
const std::string kTiny = HEARTH_SOURCE_DIR "/tests/data/models/tiny-llama.gguf";

struct Output {
    int code = -1;
    std::string out;
    std::string err;
};

class ToolsTest : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern =
            (std::filesystem::temp_directory_path() / ("hearth-" + std::string(6, 'X'))).string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }
    static std::string contents(const std::string& path) {
        std::ifstream stream(path);
        return std::string((std::istreambuf_iterator<char>(stream)), {});
    }
    // Words of `arguments` are separated by spaces and must not need quoting.
    Output tool(const std::string& arguments) const {
        const std::string command = std::string(HEARTH_WORKER) + " tool " + arguments +
                                    " < /dev/null > " + folder_ + "/out 2> " + folder_ + "/err";
        const int status = std::system(command.c_str());
        return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                .out = contents(folder_ + "/out"),
                .err = contents(folder_ + "/err")};
    }

    std::string folder_;
};

TEST_F(ToolsTest, InspectStatesWhatTheFileIs) {
    const Output output = tool("inspect " + kTiny);
    EXPECT_EQ(output.code, 0) << output.err;
    const auto facts = json::parse(output.out).as_object();
    EXPECT_EQ(facts.at("kind").as_string(), "model");
    EXPECT_EQ(facts.at("architecture").as_string(), "llama");
    EXPECT_EQ(facts.at("unsupported").as_string(), "");
    EXPECT_EQ(facts.at("size").to_number<std::uint64_t>(), std::filesystem::file_size(kTiny));
    EXPECT_GT(facts.at("context").to_number<int>(), 0);
}

TEST_F(ToolsTest, InspectGivesTheErrorAsJsonToo) {
    const Output output = tool("inspect " + file("no.gguf", "hello"));
    EXPECT_EQ(output.code, 1);
    EXPECT_EQ(json::parse(output.out).at("error").at("code").as_string(), "unsupported_format");
    EXPECT_THAT(output.err, StartsWith("hearth: "));
}

TEST_F(ToolsTest, TokenizePrintsIds) {
    const Output output =
        tool("tokenize " + kTiny + " --json --file " + file("text", "hello hello"));
    EXPECT_EQ(output.code, 0) << output.err;
    EXPECT_GT(json::parse(output.out).at("ids").as_array().size(), 0U);
    EXPECT_EQ(tool("tokenize " + kTiny + " --json").out, "{\"ids\":[]}\n");
    EXPECT_EQ(tool("tokenize " + kTiny + " --file /nonexistent").code, 1);
}

TEST_F(ToolsTest, RenderPrintsTheTextOrTheLineOfTheError) {
    const std::string good = file("good.jinja",
                                  "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor "
                                  "%}{{ strftime_now('%Y') }}");
    const std::string input = file("in.json", R"({"messages":[{"role":"user","content":"hi"}]})");
    Output output = tool("render " + good + " " + input + " --now 2026-01-15T12:00:00");
    EXPECT_EQ(output.code, 0) << output.err;
    EXPECT_EQ(output.out, "user: hi\n2026");
    output = tool("render " + file("bad.jinja", "a\nb\n{{ raise_exception('no system role') }}") +
                  " " + input);
    EXPECT_EQ(output.code, 1);
    EXPECT_EQ(output.out, "");
    EXPECT_THAT(output.err, HasSubstr("line 3"));
    EXPECT_THAT(output.err, HasSubstr("no system role"));
    output = tool("render " + good + " " + file("bad.json", "{"));
    EXPECT_EQ(output.code, 1);
    EXPECT_THAT(output.err, HasSubstr("bad.json is not JSON"));
    EXPECT_EQ(tool("render " + good + " " + input + " --now yesterday").code, 1);
}

TEST_F(ToolsTest, RequantizeWritesACopyAndNamesFallbacks) {
    const Output output = tool("requantize " + kTiny + " " + folder_ + "/copy.gguf --type q8_0");
    EXPECT_EQ(output.code, 0) << output.err;
    EXPECT_THAT(output.err, HasSubstr("tensors converted"));
    const Output facts = tool("inspect " + folder_ + "/copy.gguf");
    EXPECT_EQ(facts.code, 0) << facts.err;
    EXPECT_EQ(json::parse(facts.out).at("quantization").as_string(), "Q8_0");
    const Output k_quant = tool("requantize " + kTiny + " " + folder_ + "/k.gguf --type Q6_K");
    EXPECT_EQ(k_quant.code, 0) << k_quant.err;
    EXPECT_THAT(k_quant.err, HasSubstr("instead of Q6_K"));
    EXPECT_EQ(tool("requantize " + kTiny + " " + folder_ + "/x.gguf --type Q9_9").code, 1);
    EXPECT_EQ(tool("requantize " + kTiny + " /nonexistent/x.gguf --type Q8_0").code, 1);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/x.gguf"));
}

TEST_F(ToolsTest, PerplexityHasTheFieldsThatScriptsRead) {
    const std::string ids = file("ids.json", "[3,4,5,6,7,8]");
    const Output output =
        tool("perplexity " + kTiny + " --ids " + ids + " --top 4 --kv f32 -t 1 --json");
    EXPECT_EQ(output.code, 0) << output.err;
    const auto report = json::parse(output.out).as_object();
    EXPECT_EQ(json::value_to<std::vector<int>>(report.at("ids")),
              (std::vector<int>{3, 4, 5, 6, 7, 8}));
    const auto logprobs = json::value_to<std::vector<double>>(report.at("next_logprob"));
    ASSERT_EQ(logprobs.size(), 5U);
    double sum = 0;
    for (const double logprob : logprobs) sum += logprob;
    EXPECT_NEAR(report.at("perplexity").to_number<double>(), std::exp(-sum / 5), 1e-9);
    ASSERT_EQ(report.at("top_ids").as_array().size(), 6U);
    EXPECT_EQ(report.at("top_ids").as_array()[0].as_array().size(), 4U);
    EXPECT_EQ(report.at("top_logprobs").as_array()[5].as_array().size(), 4U);
    EXPECT_EQ(tool("perplexity " + kTiny + " --ids " + file("bad.json", "[1.5]")).code, 1);
    EXPECT_EQ(tool("perplexity " + kTiny + " --ids " + file("bad.json", "[99999999]")).code, 1);
}

TEST_F(ToolsTest, BenchPrintsRowsOfBothKinds) {
    Output output = tool("bench " + kTiny + " -p 8 -n 4 -d 0,16 -t 1 -r 3 -o json");
    EXPECT_EQ(output.code, 0) << output.err;
    const auto rows = json::parse(output.out).as_array();
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].at("n_prompt").as_int64(), 8);
    EXPECT_EQ(rows[1].at("n_gen").as_int64(), 4);
    EXPECT_EQ(rows[3].at("n_depth").as_int64(), 16);
    for (const json::value& row : rows) {
        EXPECT_EQ(row.at("samples_ts").as_array().size(), 3U);
        EXPECT_GT(row.at("median_ts").to_number<double>(), 0);
        EXPECT_GT(row.at("gb_per_s").to_number<double>(), 0);
        EXPECT_EQ(row.at("n_threads").as_int64(), 1);
    }
    output = tool("bench " + kTiny + " -p 8 -n 0 -t 1 -r 1");
    EXPECT_EQ(output.code, 0) << output.err;
    EXPECT_THAT(output.out, HasSubstr("| pp8 | 1 |"));
    EXPECT_THAT(output.out, Not(HasSubstr("tg")));
}

TEST_F(ToolsTest, UsageErrorsAreTwo) {
    for (const char* arguments : {"", "inspect", "bench", "nonsense", "bench x -o yaml",
                                  "bench x -r 0", "perplexity x --kv q4_0", "requantize a b"}) {
        EXPECT_EQ(tool(arguments).code, 2) << arguments;
    }
    EXPECT_EQ(tool("bench --help").code, 0);
}

}  // namespace
