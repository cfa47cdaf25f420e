// SQLite's way to a FaultDisk: the default VFS underneath, every change told to the disk, nothing
// really synced.
#pragma once

#include <memory>

#include "tests/support/fault_disk.h"

namespace hearth::testing {

std::unique_ptr<sqlite3_vfs> make_fault_vfs(FaultDisk& disk);  // registered

}  // namespace hearth::testing
