// Where tests find their data, and a folder of their own that is gone afterwards.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace hearth::testing {

inline std::string test_data(std::string_view name) {
    return std::string(HEARTH_SOURCE_DIR "/tests/data/") + std::string(name);
}

// A model of tests/data/make_tiny_models.py: tiny-llama, tiny-llama3, tiny-linear, tiny-yarn.
inline std::string tiny_model_path(std::string_view name = "tiny-llama") {
    return test_data("models/" + std::string(name) + ".gguf");
}

// SmolLM2-135M-Instruct.Q4_1.gguf, which is too large for the repository: the file that
// HEARTH_TEST_MODEL names, else the one in the test cache. Empty when it is not there; the test is
// then skipped with kNoRealModel.
constexpr const char* kNoRealModel =
    "SmolLM2-135M-Instruct.Q4_1.gguf is not there: ./test fetches it, or set HEARTH_TEST_MODEL";
inline std::string real_model_path() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    std::filesystem::path path = variable("HEARTH_TEST_MODEL");
    if (path.empty()) {
        std::filesystem::path cache = variable("XDG_CACHE_HOME");
        if (cache.empty()) cache = std::filesystem::path(variable("HOME")) / ".cache";
        path = cache / "hearth-tests" / "SmolLM2-135M-Instruct.Q4_1.gguf";
    }
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) ? path.string() : std::string();
}

// An empty folder under the system's place for temporary files, removed with all its content.
class TempDir {
public:
    TempDir() {
        const std::string name = "hearth-test-" + std::string(6, 'X');  // mkdtemp replaces these
        std::string pattern = (std::filesystem::temp_directory_path() / name).string();
        if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    ~TempDir() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string file(std::string_view name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

}  // namespace hearth::testing
