#include "tests/support/disk_image.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/base/check.h"

namespace hearth::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSector = 512;

void overwrite(std::string& bytes, std::uint64_t offset, const std::string& with) {
    if (bytes.size() < offset + with.size()) bytes.resize(offset + with.size(), '\0');
    bytes.replace(offset, with.size(), with);
}

std::string sector_of(const std::string& bytes, std::size_t at) {
    std::string sector = at < bytes.size() ? bytes.substr(at, kSector) : std::string();
    sector.resize(kSector, '\0');
    return sector;
}

template <typename T>
const T& any_of(const std::vector<T>& states, std::mt19937& random) {
    return states[std::uniform_int_distribution<std::size_t>(0, states.size() - 1)(random)];
}

void write_file(const std::string& path, const std::string& bytes, std::int64_t mtime_ns) {
    std::ofstream(path, std::ios::binary) << bytes;
    ::chmod(path.c_str(), 0600);
    const timespec time = {mtime_ns / 1'000'000'000, mtime_ns % 1'000'000'000};
    const timespec both[2] = {time, time};
    HEARTH_CHECK(::utimensat(AT_FDCWD, path.c_str(), both, 0) == 0);
}

}  // namespace

void DiskImage::apply(const DiskStep& step) {
    const auto change = [&](auto edit) {
        auto& states = files_[step.inode].states;
        states.push_back(states.back());
        edit(states.back().bytes);
        states.back().mtime_ns = step.mtime_ns;
    };
    switch (step.what) {
        case DiskStep::What::write:
            return change([&](std::string& bytes) { overwrite(bytes, step.offset, step.text); });
        case DiskStep::What::resize:
            return change([&](std::string& bytes) { bytes.resize(step.offset, '\0'); });
        case DiskStep::What::sync: {
            auto& states = files_[step.inode].states;
            states.erase(states.begin(), states.end() - 1);
            return;
        }
        case DiskStep::What::sync_folder:
            for (auto& [path, name] : names_)
                if (path.substr(0, path.rfind('/')) == step.text)
                    name.states.erase(name.states.begin(), name.states.end() - 1);
            return;
        case DiskStep::What::name:
            return names_[step.text].states.push_back(step.inode);
        case DiskStep::What::unname:
            return names_[step.text].states.push_back(std::nullopt);
        case DiskStep::What::promise:
            return promises_.push_back(step.text);
    }
}

DiskImage::State DiskImage::survivor(const File& file, std::uint32_t choice, std::mt19937& random) {
    if (choice == 0 || choice == 3) return file.states.back();
    if (choice == 1 || choice == 2) return file.states.front();
    // Disks often keep all or nothing; the rest of the time each sector has its own fate.
    const auto luck = std::uniform_int_distribution<int>(0, 3)(random);
    if (luck == 0) return file.states.back();
    if (luck == 1) return file.states.front();
    State mixed{{}, file.states.back().mtime_ns};
    const std::size_t size = any_of(file.states, random).bytes.size();
    for (std::size_t at = 0; at < size; at += kSector)
        mixed.bytes += sector_of(any_of(file.states, random).bytes, at);
    mixed.bytes.resize(size);
    return mixed;
}

void DiskImage::write_after_power_cut(const std::string& folder, std::uint32_t choice) const {
    std::vector<fs::path> old;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (!entry.is_directory()) old.push_back(entry.path());
    for (const fs::path& path : old) fs::remove(path);
    std::mt19937 random(choice);
    std::map<std::uint64_t, std::string> first_name;
    for (const auto& [path, name] : names_) {
        const bool by_luck = choice >= 4;
        const auto inode = by_luck                      ? any_of(name.states, random)
                           : choice == 0 || choice == 2 ? name.states.back()
                                                        : name.states.front();
        if (!inode) continue;
        if (const auto known = first_name.find(*inode); known != first_name.end()) {
            fs::create_hard_link(known->second, path);
            continue;
        }
        const auto file = files_.find(*inode);  // none: nothing was ever written to it
        const State state = file == files_.end() ? State{} : survivor(file->second, choice, random);
        write_file(path, state.bytes, state.mtime_ns);
        first_name[*inode] = path;
    }
}

}  // namespace hearth::testing
