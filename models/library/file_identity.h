// Opening foreign files without blocking, and telling whether one is still what it was.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "models/library/package.h"

namespace hearth::library {

class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();
    int get() const { return number_; }

private:
    int number_;
};

// For reading. not_found, forbidden, io_failed; bad_input for anything but a regular file (a FIFO
// or a device is refused without waiting for it).
Result<Descriptor> open_regular(const std::string& path);
Result<FileIdentity> identity_of(int descriptor, const std::string& path);

enum class FileState : std::uint8_t { ok, missing, changed };
std::string_view to_string(FileState state);
FileState state_of(const PackageFile& file);
// Empty when the file is as it was imported; else a sentence that says what to do.
std::string complaint_about(const Package& package);

}  // namespace hearth::library
