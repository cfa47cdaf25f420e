// One hearthd per data folder, whatever socket each would use. The lock file says who holds it.
#pragma once

#include <string>

#include "engine/base/file_system.h"
#include "engine/base/result.h"

namespace hearth::store {

class DataLock {
public:
    // busy, naming the process and its socket, when another hearthd has the folder. The file stays
    // when the lock goes.
    static Result<DataLock> take(FileSystem& files, const std::string& folder,
                                 const std::string& socket);

    DataLock(DataLock&& other) noexcept;
    DataLock& operator=(DataLock&&) noexcept = delete;
    ~DataLock();

private:
    explicit DataLock(int file) : file_(file) {}
    int file_;
};

}  // namespace hearth::store
