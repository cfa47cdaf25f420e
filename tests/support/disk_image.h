// What a disk may hold after a power cut, given the steps that led there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace hearth::testing {

struct DiskStep {
    enum class What : std::uint8_t { write, resize, sync, sync_folder, name, unname, promise };
    What what;
    std::uint64_t inode = 0;
    std::uint64_t offset = 0;   // of a write; the size of a resize
    std::string text;           // bytes of a write; path of a name or folder; the promise
    std::int64_t mtime_ns = 0;  // of the file after it
};

class DiskImage {
public:
    void apply(const DiskStep& step);

    // `choice` 0: all that was written is there; 1: nothing that was not synced; 2: names but no
    // data; 3: data but no names; from 4 on the seed for a choice of its own for each sector of 512
    // bytes and each name. Empties the folder of files and writes these.
    void write_after_power_cut(const std::string& folder, std::uint32_t choice) const;

    const std::vector<std::string>& promises() const { return promises_; }

private:
    struct State {
        std::string bytes;
        std::int64_t mtime_ns = 0;
    };
    struct File {
        std::vector<State> states = {
            State{}};  // the first is durable, the last is what readers see
    };
    struct Name {
        std::vector<std::optional<std::uint64_t>> states = {std::nullopt};  // likewise
    };
    static State survivor(const File& file, std::uint32_t choice, std::mt19937& random);

    std::map<std::uint64_t, File> files_;
    std::map<std::string, Name> names_;
    std::vector<std::string> promises_;
};

}  // namespace hearth::testing
