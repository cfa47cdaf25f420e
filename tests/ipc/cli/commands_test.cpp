// The real `hearth` with a daemon of its own in temporary folders, used as a person or a script
// would.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/support/paths.h"

namespace hearth {
namespace {

struct Outcome {
    int exit_code = -1;
    std::string out;
    std::string err;
};

class CommandLine : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = new testing::TempDir;
        ASSERT_EQ(run("import --name tiny '" + testing::tiny_model_path() + "'").exit_code, 0);
    }
    static void TearDownTestSuite() {
        EXPECT_EQ(run("stop").exit_code, 0);
        delete folder;
        folder = nullptr;
    }

    static Outcome run(const std::string& arguments, const std::string& input = "") {
        const std::string root = folder->path().string();
        std::ofstream(root + "/stdin") << input;
        std::string command = "cd '" + root + "' && unset XDG_RUNTIME_DIR HEARTH_SOCKET;";
        for (const char* name : {"DATA", "STATE", "CONFIG", "CACHE"})
            command += std::string(" export XDG_") + name + "_HOME='" + root + "/" + name + "';";
        command += " export HEARTH_PORT=0;";  // a developer's own daemon may hold the usual one
        command += " '" HEARTH_BIN_DIR "/hearth' " + arguments + " <stdin 2>stderr";
        std::FILE* pipe = popen(command.c_str(), "r");
        Outcome outcome;
        std::array<char, 4096> buffer{};
        while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
            outcome.out.append(buffer.data(), count);
        const int status = pclose(pipe);
        outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        std::ifstream error_file(root + "/stderr");
        outcome.err.assign(std::istreambuf_iterator<char>(error_file), {});
        return outcome;
    }

    static boost::json::value run_json(const std::string& arguments) {
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.exit_code, 0) << arguments << ": " << outcome.err;
        boost::system::error_code failure;
        auto value = boost::json::parse(outcome.out, failure);
        EXPECT_FALSE(failure) << outcome.out;
        return value;
    }

    static std::string write(const std::string& name, const std::string& text) {
        const std::string path = folder->file(name);
        std::ofstream(path) << text;
        return path;
    }

    static testing::TempDir* folder;
};

testing::TempDir* CommandLine::folder = nullptr;

TEST_F(CommandLine, ShowsWhatIsInstalled) {
    const auto models = run_json("list --json").at("models").as_array();
    ASSERT_EQ(models.size(), 1U);
    const auto model = run_json("show tiny --json");
    for (const char* field : {"id", "path", "size", "architecture", "context"})
        EXPECT_TRUE(model.as_object().contains(field)) << field;
    EXPECT_EQ(model.at("id"), "tiny");
    EXPECT_EQ(model.at("architecture"), "llama");
    EXPECT_NE(run("list").out.find("tiny"), std::string::npos);
}

TEST_F(CommandLine, AnswersTheSameWithTheSameSeed) {
    const std::string ask = "run --json --seed 7 --max-tokens 12 hello there";
    const auto first = run_json(ask);
    EXPECT_GT(first.at("generated_tokens").to_number<int>(), 0);
    EXPECT_LE(first.at("generated_tokens").to_number<int>(), 12);
    EXPECT_EQ(first.at("seed").to_number<int>(), 7);
    EXPECT_EQ(first.at("text"), run_json(ask).at("text"));
}

TEST_F(CommandLine, ReadsThePromptFromAPipe) {
    const Outcome piped = run("run --temperature 0 --max-tokens 5", "hello");
    const Outcome given = run("run --temperature 0 --max-tokens 5 hello");
    EXPECT_EQ(piped.exit_code, 0) << piped.err;
    EXPECT_EQ(piped.out, given.out);
    EXPECT_NE(given.err.find("tokens/s"), std::string::npos) << given.err;
    EXPECT_EQ(run("run").exit_code, 1) << "nothing to ask";
}

TEST_F(CommandLine, ChatsFromAPipeLineByLine) {
    const Outcome chat =
        run("chat --temperature 0 --max-tokens 4", "hello\n/nonsense\n/new\nhello\n/exit\n");
    EXPECT_EQ(chat.exit_code, 0) << chat.err;
    const std::string answer = run("run --temperature 0 --max-tokens 4 hello").out;
    const std::size_t first = chat.out.find(answer);
    ASSERT_NE(first, std::string::npos) << chat.out;
    EXPECT_NE(chat.out.find(answer, first + 1), std::string::npos)
        << "after /new the same answer again";
    EXPECT_NE(chat.out.find("No such command: /nonsense"), std::string::npos);
}

TEST_F(CommandLine, LoadsAndUnloadsByHand) {
    EXPECT_EQ(run("load tiny").exit_code, 0);
    EXPECT_EQ(run_json("ps --json").as_array().size(), 1U);
    EXPECT_EQ(run("unload tiny").exit_code, 0);
    EXPECT_EQ(run_json("ps --json").as_array().size(), 0U);
    EXPECT_EQ(run("status").exit_code, 0);
    EXPECT_EQ(run_json("status --json").at("installed").to_number<int>(), 1);
}

TEST_F(CommandLine, ShowsRotatesAndRevokesTheToken) {
    const Outcome shown = run("token");
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_TRUE(shown.out.starts_with("hearth-")) << shown.out;
    EXPECT_EQ(shown.out.find('\n'), shown.out.size() - 1);  // $(hearth token) is the token
    EXPECT_NE(shown.err.find("base URL: http://127.0.0.1:"), std::string::npos) << shown.err;
    const auto info = run_json("token --json");
    EXPECT_EQ(std::string(info.at("token").as_string()) + "\n", shown.out);
    EXPECT_TRUE(info.at("base_url").as_string().ends_with("/v1"));
    EXPECT_NE(run("token rotate").out, shown.out);
    EXPECT_NE(run("status").out.find("with the token"), std::string::npos);
    EXPECT_EQ(run("token revoke").exit_code, 0);
    const Outcome none = run("token");
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_EQ(none.out, "");
    EXPECT_NE(none.err.find("hearth token rotate"), std::string::npos) << none.err;
    EXPECT_TRUE(run_json("token rotate --json").at("token").is_string());
}

TEST_F(CommandLine, TokenizesByNameAndByFile) {
    const std::string text = write("text", "hello world");
    const auto by_name = run_json("tokenize tiny --file '" + text + "' --json");
    const auto by_file =
        run_json("tokenize '" + testing::tiny_model_path() + "' --file '" + text + "' --json");
    EXPECT_FALSE(by_name.at("ids").as_array().empty());
    EXPECT_EQ(by_name, by_file);
}

TEST_F(CommandLine, RendersATemplateAndNamesTheLineOfAFailure) {
    const std::string good =
        write("good.jinja", "{% for m in messages %}<{{ m.content }}>{% endfor %}");
    const std::string bad = write("bad.jinja", "line one\n{{ raise_exception('no') }}");
    const std::string input =
        write("input.json", R"({"messages": [{"role": "user", "content": "hi"}]})");
    EXPECT_EQ(run("render '" + good + "' '" + input + "'").out, "<hi>");
    const Outcome failed = run("render '" + bad + "' '" + input + "'");
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_NE(failed.err.find("line 2"), std::string::npos) << failed.err;
}

TEST_F(CommandLine, MeasuresSpeedAndPerplexity) {
    const auto rows = run_json("bench tiny -p 16 -n 4 -r 2 -t 1 -o json").as_array();
    ASSERT_EQ(rows.size(), 2U);
    for (const auto& row : rows) {
        for (const char* field :
             {"n_prompt", "n_gen", "n_depth", "n_threads", "median_ts", "samples_ts", "gb_per_s"})
            EXPECT_TRUE(row.as_object().contains(field)) << field;
        EXPECT_EQ(row.at("samples_ts").as_array().size(), 2U);
    }
    const std::string text = write("text", "hello world, hello world");
    const auto report = run_json("perplexity tiny --file '" + text + "' --top 3 --json");
    const std::size_t count = report.at("ids").as_array().size();
    EXPECT_EQ(report.at("next_logprob").as_array().size(), count - 1);
    EXPECT_EQ(report.at("top_ids").as_array().at(0).as_array().size(), 3U);
    EXPECT_GT(report.at("perplexity").to_number<double>(), 1.0);
}

TEST_F(CommandLine, RequantizesImportsAndRemoves) {
    const std::string copy = folder->file("copy.gguf");
    const Outcome made = run("requantize tiny '" + copy + "' --type Q8_0");
    ASSERT_EQ(made.exit_code, 0) << made.err;
    ASSERT_EQ(run("import --name copy '" + copy + "'").exit_code, 0);
    EXPECT_EQ(run_json("run --json -m copy --max-tokens 3 hi").at("model"), "copy");
    EXPECT_EQ(run("rm copy").exit_code, 0);
    const Outcome gone = run("show copy");
    EXPECT_EQ(gone.exit_code, 1);
    EXPECT_NE(gone.err.find("copy"), std::string::npos);
}

TEST_F(CommandLine, SaysWhatIsWrongAndHowToUseIt) {
    EXPECT_EQ(run("").exit_code, 2);
    EXPECT_EQ(run("nonsense").exit_code, 2);
    EXPECT_EQ(run("import").exit_code, 2);
    const Outcome missing = run("import /nowhere/at-all.gguf");
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_NE(missing.err.find("/nowhere/at-all.gguf"), std::string::npos);
    EXPECT_NE(run("--help").out.find("run"), std::string::npos);
}

}  // namespace
}  // namespace hearth
