// The database's layout, as numbered steps. Step n brings version n - 1 to n; a step that was
// released never changes.
#pragma once

#include "daemon/store/database.h"

namespace hearth::store {

int latest_version();
Result<int> layout_version(Database& database);  // 0: an empty database

// A database of an older layout is copied first, to its path plus ".layout-N". unsupported_version
// when the file comes from a newer hearthd, which then stays as it is.
Result<void> migrate(Database& database);

}  // namespace hearth::store
