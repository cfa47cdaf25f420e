// What tests of the daemon's side share: a folder of model files with behaviours, and a loop that
// runs until something happens (never a sleep).
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "daemon/supervise/supervisor.h"

namespace hearth::supervise {

class Models {
public:
    Models() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / ("hearth-" + std::string(6, 'X'))).string();
        EXPECT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    Models(const Models&) = delete;
    Models& operator=(const Models&) = delete;
    ~Models() { std::filesystem::remove_all(folder_); }

    ModelFile make(const std::string& id, const std::string& behaviour) const {
        const std::string path = folder_ / id;
        std::ofstream(path) << behaviour;
        return {.id = id, .path = path, .options = {}};
    }

private:
    std::filesystem::path folder_;
};

// Runs handlers until `is_done`, at most 20 seconds.
inline bool run_until(boost::asio::io_context& io, const std::function<bool()>& is_done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    io.restart();
    while (!is_done()) {
        if (io.run_one_until(end) == 0) return is_done();
    }
    return true;
}

}  // namespace hearth::supervise
