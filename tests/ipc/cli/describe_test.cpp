// Completions and the manual page, judged by the programs that read them: bash completes, zsh and
// fish parse, groff formats.
#include "ipc/cli/describe.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/support/paths.h"

namespace hearth::cli {
namespace {

class Describe : public ::testing::Test {
protected:
    void SetUp() override {
        auto* run = app_.add_subcommand("run", "Ask once");
        run->add_option("-m,--model", text_, "Model id");
        run->add_flag("--json", flag_, "Print JSON: it's data");
        auto* load = app_.add_subcommand("load", "Load a model");
        load->add_option("MODEL", text_, "Its id")->required();
        auto* logs = app_.add_subcommand("logs", "What was logged");
        logs->add_option("--level", text_, "As important")->check(CLI::IsMember({"debug", "info"}));
        auto* token = app_.add_subcommand("token", "The token");
        token->add_subcommand("rotate", "Make another");
        auto* secret = app_.add_subcommand("secret", "Hidden");
        secret->group("");
        auto* bench = app_.add_subcommand("bench", "Measure");
        bench->set_help_flag();
        bench->footer("MODEL|FILE.gguf [-p 512]");
        app_.name("hearth");
    }

    // Exit code and output of a shell command that reads `text` from the file $F.
    std::pair<int, std::string> shell(const std::string& command, const std::string& text) {
        const std::string file = (folder_.path() / "script").string();
        std::ofstream(file) << text;
        std::FILE* pipe =
            popen(("export F='" + file + "' LC_ALL=C; " + command + " 2>&1").c_str(), "r");
        std::string out;
        std::array<char, 4096> buffer{};
        while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
            out.append(buffer.data(), count);
        const int status = pclose(pipe);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out};
    }

    // What bash offers for the last of `words`, sorted by bash, in one line.
    std::string offered(const std::string& words, int cursor) {
        return shell("bash -c 'hearth() { echo tiny-1; echo other; }; source \"$F\"; COMP_WORDS=(" +
                         words + "); COMP_CWORD=" + std::to_string(cursor) +
                         "; _hearth; echo \"${COMPREPLY[*]}\"'",
                     bash_completion(describe(app_)))
            .second;
    }

    CLI::App app_{"Language models"};
    std::string text_;
    bool flag_ = false;
    testing::TempDir folder_;
};

TEST_F(Describe, BashCompletesCommandsThatAreShown) {
    EXPECT_EQ(offered("hearth lo", 1), "load logs\n");
    EXPECT_EQ(offered("hearth sec", 1), "\n");
    EXPECT_EQ(offered("hearth token ro", 2), "rotate\n");
}

TEST_F(Describe, BashCompletesOptionsAndTheirValues) {
    EXPECT_EQ(offered("hearth run --j", 2), "--json\n");
    EXPECT_EQ(offered("hearth logs --level \"\"", 3), "debug info\n");
    EXPECT_EQ(offered("hearth run --model t", 3), "tiny-1\n");
}

TEST_F(Describe, BashCompletesModelsWhereOneIsWanted) {
    EXPECT_EQ(offered("hearth load o", 2), "other\n");
    EXPECT_EQ(offered("hearth bench t", 2), "tiny-1\n");
}

TEST_F(Describe, ZshAndFishCanReadTheirs) {
    const CommandFacts facts = describe(app_);
    EXPECT_EQ(shell("zsh -n \"$F\"", zsh_completion(facts)), std::pair(0, std::string()));
    EXPECT_EQ(shell("fish --no-execute \"$F\"", fish_completion(facts)),
              std::pair(0, std::string()));
}

TEST_F(Describe, FishOffersWhatTheDefinitionHas) {
    const auto [code, out] = shell("fish -c 'source $F; complete -C \"hearth token \"'",
                                   fish_completion(describe(app_)));
    EXPECT_EQ(code, 0);
    EXPECT_NE(out.find("rotate"), std::string::npos) << out;
    EXPECT_EQ(out.find("secret"), std::string::npos) << out;
}

TEST_F(Describe, TheManualPageFormatsWithoutAWarning) {
    const auto [code, out] =
        shell("groff -man -ww -Tascii \"$F\" >/dev/null", manual_page(describe(app_), "1.0"));
    EXPECT_EQ(code, 0);
    EXPECT_EQ(out, "");
    const std::string page =
        shell("groff -man -P-cbou -Tascii \"$F\"", manual_page(describe(app_), "1.0")).second;
    EXPECT_NE(page.find("hearth bench MODEL|FILE.gguf [-p 512]"), std::string::npos) << page;
    EXPECT_NE(page.find("one of debug, info"), std::string::npos) << page;
    EXPECT_EQ(page.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace hearth::cli
