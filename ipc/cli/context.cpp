#include "ipc/cli/commands.h"
#include "ipc/cli/output.h"
#include "ipc/client/daemon_process.h"

namespace hearth::cli {

bool ensure_daemon(Context& context) {
    auto client = client::connect_or_start(context.client);
    if (!client) {
        fail(context, client.error());
        return false;
    }
    context.client = *std::move(client);
    return true;
}

void fail(Context& context, const Error& error) {
    print_error(error);
    context.exit_code = kExitFailed;
}

}  // namespace hearth::cli
