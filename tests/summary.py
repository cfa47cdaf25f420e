#!/usr/bin/env python3
"""Adds up the results of all test programs and prints one line. Fails on a failure, on a program that wrote no
result, and on a skip that tests/expected_skips.txt does not expect on this machine.

usage: summary.py RESULTS_FOLDER EXPECTED_SKIPS
"""
import ctypes
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent


def cpu_has(*flags):
    words = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    return all(flag in words for flag in flags)


def has_landlock():
    landlock_create_ruleset, version_flag = 444, 1
    return ctypes.CDLL(None).syscall(landlock_create_ruleset, None, 0, version_flag) > 0


def can_mount_overlay():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("upper", "work", "merged"):
            (pathlib.Path(folder) / name).mkdir()
        mount = f"mount -t overlay overlay -o lowerdir=/,upperdir={folder}/upper,workdir={folder}/work {folder}/merged"
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        return subprocess.run(["unshare", *as_root, "--mount", "sh", "-c", mount], capture_output=True).returncode == 0


CONDITIONS = {
    "no-shared-data": lambda build: not (ROOT.parent / "shared" / "data").is_dir(),
    "no-avx512": lambda build: not cpu_has("avx512f", "avx512bw", "avx512vl", "avx512_vnni"),
    "no-avx2": lambda build: not cpu_has("avx2", "fma", "f16c"),
    "no-landlock": lambda build: not has_landlock(),
    "sanitizer": lambda build: build != "release",
    "no-overlay": lambda build: not can_mount_overlay(),
    "root": lambda build: os.geteuid() == 0,
    "not-root": lambda build: os.geteuid() != 0,
}


def read_expected(path):
    rules = []
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            rules.append((words[0], words[1]))
    return rules


def main():
    folder, expected = pathlib.Path(sys.argv[1]), read_expected(sys.argv[2])
    passed = failed = skipped = 0
    problems = []
    for path in sorted(folder.glob("*/*.xml")):
        build = path.parent.name
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            skip = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                problems.append(f"failed: {name} ({build})")
            elif skip is not None or case.get("result") == "skipped":
                skipped += 1
                if not any(fnmatch.fnmatch(name, pattern) and CONDITIONS[condition](build)
                           for pattern, condition in expected):
                    failed += 1
                    reason = (skip.get("message") if skip is not None else "") or ""
                    problems.append(f"unexpected skip: {name} ({build}): {reason.strip()[:200]}")
            elif case.get("status", "run") == "run":  # pytest writes no status
                passed += 1
    for path in sorted(folder.glob("*.failed")):
        problems.append(f"failed: {path.stem} (see build/test-results/{path.stem}.log)")
        failed += 1 if not any(f"({path.stem})" in problem for problem in problems) else 0
    for path in sorted(folder.glob("*.checks")):
        for line in path.read_text().splitlines():
            ok, _, what = line.partition(" ")
            passed += ok == "ok"
            failed += ok != "ok"
            if ok != "ok":
                problems.append(f"failed: {what}")
    for problem in problems:
        print(problem)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


sys.exit(main())
