// The database's layout, as numbered steps. Step n brings version n - 1 to n; a step that was
// released never changes.
#pragma once

#include "daemon/store/database.h"

namespace hearth::store {

int latest_version();
// unsupported_version when the file comes from a newer hearthd.
Result<void> migrate(Database& database);

}  // namespace hearth::store
