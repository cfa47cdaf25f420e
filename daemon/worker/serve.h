// `hearth-worker serve`: one loaded model behind the protocol of ipc/worker. Descriptor 3 is the
// socket to hearthd, 4 the model file.
#pragma once

namespace hearth::worker {

// The exit code: 0 when asked to end or when the daemon has closed the connection.
int serve();

}  // namespace hearth::worker
