# Checks of ./test --all beside the tests themselves. Each writes lines "ok WHAT" or "failed WHAT" to results/*.checks.
# Sourced by ./test, which sets root and results.
# shellcheck shell=bash

# Programs in which threads meet: those of the engine's loop and kernels, of the daemon, and what both build on.
thread_tests=(base_test state_test test_engine_cpu serve_test generate_test store_test net_test generations_test
    supervise_test worker_test api_test)

record() { # FILE STATUS WHAT
    if [ "$2" -eq 0 ]; then echo "ok $3"; else echo "failed $3"; fi >>"$results/$1.checks"
}

our_sources() { (cd "$root" && git ls-files '*.cpp' '*.h'); }

check_format() {
    local status=0
    (cd "$root" && our_sources | xargs clang-format-19 --dry-run -Werror) >"$results/format.log" 2>&1 || status=1
    [ $status -eq 0 ] || head -n 40 "$results/format.log" >&2
    record format $status "clang-format (build/test-results/format.log)"
}

# clang-tidy over our translation units, as the release build compiles them.
check_tidy() {
    local status=0
    say "Static checks"
    (cd "$root" && git ls-files 'daemon/*.cpp' 'engine/*.cpp' 'ipc/*.cpp' 'models/*.cpp' |
        xargs -P "$(nproc)" -n 4 clang-tidy-19 --quiet -p build/asan) >"$results/tidy.log" 2>&1 || status=1
    [ $status -eq 0 ] || grep -E 'warning:|error:' "$results/tidy.log" | sort -u | head -n 40 >&2
    record tidy $status "clang-tidy (build/test-results/tidy.log)"
}

# Replays each corpus, then searches for a few seconds. Longer runs: build/fuzz/fuzz/fuzz_NAME CORPUS_FOLDER.
run_fuzzers() {
    local target name status
    for target in "$root"/build/fuzz/fuzz/fuzz_*; do
        name=${target##*/fuzz_}
        status=0
        mkdir -p "$results/fuzz-$name"
        (cd "$results/fuzz-$name" && mkdir -p new && "$target" -max_total_time=20 -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 \
            new "$root/tests/fuzz/corpus/$name") >"$results/fuzz-$name.log" 2>&1 || status=1
        [ $status -eq 0 ] || tail -n 40 "$results/fuzz-$name.log" >&2
        record fuzz $status "fuzz $name (build/test-results/fuzz-$name.log)"
    done
}
