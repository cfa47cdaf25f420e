#include <array>
#include <cstddef>
#include <string_view>

#include <unistd.h>

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

std::string own_folder() {
    std::array<char, 4096> buffer{};
    const ssize_t length = readlink("/proc/self/exe", buffer.data(), buffer.size());
    if (length <= 0) return ".";
    const std::string_view path(buffer.data(), static_cast<std::size_t>(length));
    return std::string(path.substr(0, path.rfind('/')));
}

}  // namespace hearth::cli
