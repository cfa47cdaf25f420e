#!/usr/bin/env bash
# Builds llama.cpp's llama-bench for this machine from the sources that the Python package llama-cpp-python carries,
# into a cache folder, and prints its path. Nothing of it becomes part of Hearth.
set -euo pipefail
version=0.3.36
cache="${XDG_CACHE_HOME:-$HOME/.cache}/hearth/peers/llama-cpp-python-$version"
program="$cache/build/bin/llama-bench"
if [ ! -x "$program" ]; then
    mkdir -p "$cache"
    python3 -m venv "$cache/venv" >&2
    "$cache/venv/bin/pip" install -q scikit-build-core cmake ninja >&2
    "$cache/venv/bin/pip" download -q --no-deps --no-binary :all: -d "$cache" "llama-cpp-python==$version" >&2
    tar -xzf "$cache/llama_cpp_python-$version.tar.gz" -C "$cache"
    cmake -S "$cache/llama_cpp_python-$version/vendor/llama.cpp" -B "$cache/build" -G Ninja \
        -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DBUILD_SHARED_LIBS=OFF -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF \
        -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=ON >&2
    cmake --build "$cache/build" --target llama-bench >&2
fi
echo "$program"
