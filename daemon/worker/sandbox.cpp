// Two layers: a filter of system calls (seccomp), and rules for files (Landlock) where the kernel
// has them. The filter names what is forbidden and not what is allowed: the engine's own needs
// (threads, memory, later a GPU driver) are wide and change with the C library.
#include "daemon/worker/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>

namespace hearth::worker {
namespace {

// By name, so that a call that this architecture lacks is passed over.
constexpr const char* kForbidden[] = {
    // the network and other processes' sockets
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
    // programs and processes; threads go through clone
    "execve", "execveat", "fork", "vfork", "kill", "pidfd_open", "pidfd_send_signal", "pidfd_getfd",
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp",
    // privileges, namespaces, mounts
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset",
    "unshare", "setns", "chroot", "pivot_root", "mount", "umount2", "open_tree", "move_mount",
    "fsopen", "fsmount", "fspick", "mount_setattr", "open_by_handle_at", "name_to_handle_at",
    // parts of the kernel with a long record of holes
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "keyctl", "add_key", "request_key", "init_module", "finit_module",
    "delete_module", "kexec_load", "kexec_file_load", "iopl", "ioperm", "modify_ldt", "personality",
    "reboot", "swapon", "swapoff", "acct", "quotactl", "syslog", "settimeofday", "clock_settime",
    "adjtimex", "clock_adjtime", "sethostname", "setdomainname"};

// Changes of the file system; left to Landlock where a folder is writable.
constexpr const char* kWriting[] = {
    "creat",     "unlink",   "unlinkat",  "rename",      "renameat",    "renameat2", "mkdir",
    "mkdirat",   "rmdir",    "symlink",   "symlinkat",   "link",        "linkat",    "mknod",
    "mknodat",   "truncate", "chmod",     "fchmodat",    "chown",       "lchown",    "fchownat",
    "utimensat", "setxattr", "lsetxattr", "removexattr", "lremovexattr"};

struct FilterRelease {
    void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, FilterRelease>;

Error failed(const char* what, int number) {
    return Error{ErrorCode::io_failed,
                 std::string("sandbox: ") + what + ": " + std::strerror(number)};
}

template <std::size_t kCount>
int forbid(void* filter, const char* const (&names)[kCount]) {
    for (const char* name : names) {
        const int number = seccomp_syscall_resolve_name(name);
        if (number == __NR_SCMP_ERROR) continue;
        const int result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
        if (result != 0) return result;
    }
    return 0;
}

// Forbids a call when `argument` under `mask` has the value. Made by hand: the library's macros are
// C.
struct Masked {
    unsigned argument;
    std::uint64_t mask;
    std::uint64_t value;
};
int forbid_when(void* filter, int call, Masked masked) {
    const scmp_arg_cmp compare{.arg = masked.argument,
                               .op = SCMP_CMP_MASKED_EQ,
                               .datum_a = masked.mask,
                               .datum_b = masked.value};
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &compare);
}

// Opening for writing or making, by the flags in an argument.
int forbid_writing(void* filter, int call, unsigned flags) {
    int result = forbid_when(filter, call, {flags, O_ACCMODE, O_WRONLY});
    if (result == 0) result = forbid_when(filter, call, {flags, O_ACCMODE, O_RDWR});
    if (result == 0) result = forbid_when(filter, call, {flags, O_CREAT, O_CREAT});
    return result;
}

int add_rules(void* filter, bool can_write) {
    int result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (result == 0) result = forbid(filter, kForbidden);
    // A clone without CLONE_THREAD is a process. The flags of clone3 lie in memory, where a filter
    // cannot look: the C library falls back to clone when there is none.
    if (result == 0) result = forbid_when(filter, SCMP_SYS(clone), {0, CLONE_THREAD, 0});
    for (const int call : {SCMP_SYS(clone3), SCMP_SYS(openat2)}) {
        if (result == 0) result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0);
    }
    // Typing into the terminal that a tool was started from.
    if (result == 0) result = forbid_when(filter, SCMP_SYS(ioctl), {1, 0xFFFFFFFFU, TIOCSTI});
    if (can_write) return result;
    if (result == 0) result = forbid(filter, kWriting);
    if (result == 0) result = forbid_writing(filter, SCMP_SYS(open), 1);
    if (result == 0) result = forbid_writing(filter, SCMP_SYS(openat), 2);
    return result;
}

Result<void> filter_calls(bool can_write) {
    const Filter filter(seccomp_init(SCMP_ACT_ALLOW));
    if (!filter) return failed("no memory for the system call filter", ENOMEM);
    int result = add_rules(filter.get(), can_write);
    if (result == 0) result = seccomp_load(filter.get());
    if (result != 0) return failed("cannot filter system calls", -result);
    return {};
}

// ---- Landlock: the structures as of version 6; older kernels take them as long as the rest is
// zero ----

struct RulesetAttributes {
    std::uint64_t files = 0;
    std::uint64_t network = 0;
    std::uint64_t scopes = 0;
};
constexpr std::uint64_t kTruncate = 1U << 14U;     // from version 3
constexpr std::uint64_t kDeviceIoctl = 1U << 15U;  // from version 5
constexpr std::uint64_t kBindAndConnectTcp = 3;    // from version 4
constexpr std::uint64_t kSocketsAndSignals = 3;    // from version 6
constexpr std::uint64_t kAllOfVersion1 = (1U << 13U) - 1;

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kMake = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | kTruncate;

RulesetAttributes all_of(int version) {
    RulesetAttributes all;
    all.files = kAllOfVersion1;
    if (version >= 2) all.files |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) all.files |= kTruncate;
    if (version >= 4) all.network = kBindAndConnectTcp;
    if (version >= 5) all.files |= kDeviceIoctl;
    if (version >= 6) all.scopes = kSocketsAndSignals;
    return all;
}

// What the engine and the C library look at to count cores and memory, and to know the local time.
constexpr const char* kSystemFiles[] = {"/sys/devices/system/cpu", "/sys/devices/system/node",
                                        "/sys/fs/cgroup/cpu.max",  "/proc/meminfo",
                                        "/proc/cpuinfo",           "/etc/localtime",
                                        "/usr/share/zoneinfo"};

// A path that is not there needs no rule.
void allow(int ruleset, const std::string& path, std::uint64_t access) {
    const int file = open(path.c_str(), O_PATH | O_CLOEXEC);
    if (file < 0) return;
    landlock_path_beneath_attr rule{};
    rule.parent_fd = file;
    rule.allowed_access = access;
    // A file takes no rights of folders.
    if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
        rule.allowed_access = access & LANDLOCK_ACCESS_FS_READ_FILE;
        syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    }
    close(file);
}

// The version in force, 0 when there is none.
int restrict_files(const SandboxOptions& options, std::string& missing) {
    const long version =
        syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) {
        missing = "this kernel has no Landlock, so file access is limited by the call filter only";
        return 0;
    }
    const RulesetAttributes attributes = all_of(static_cast<int>(version));
    const int ruleset =
        static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
    if (ruleset < 0) {
        missing = std::string("Landlock refused the rules: ") + std::strerror(errno);
        return 0;
    }
    for (const char* path : kSystemFiles) allow(ruleset, path, kRead);
    for (const std::string& path : options.readable) allow(ruleset, path, kRead);
    if (!options.writable_folder.empty()) {
        allow(ruleset, options.writable_folder, kMake & attributes.files);
    }
    const long result = syscall(SYS_landlock_restrict_self, ruleset, 0);
    if (result != 0) missing = std::string("Landlock refused: ") + std::strerror(errno);
    close(ruleset);
    return result == 0 ? static_cast<int>(version) : 0;
}

}  // namespace

Result<wire::Sandbox> enter_sandbox(const SandboxOptions& options) {
    tzset();  // reads the time zone while it still may
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // no debugger of the same user reads prompts
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("no_new_privs", errno);
    wire::Sandbox sandbox;
    sandbox.landlock = restrict_files(options, sandbox.missing);
    HEARTH_TRY_VOID(filter_calls(!options.writable_folder.empty()));
    sandbox.no_new_privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
    sandbox.seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
    return sandbox;
}

}  // namespace hearth::worker
