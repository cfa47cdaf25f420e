"""Every curl line of ipc/protocol/README.md is run, in its order, and must succeed."""
import pathlib
import re
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README = ROOT / "ipc/protocol/README.md"
ENDLESS = "/hearth/v1/events"  # a stream that goes on: read for a second
# Lines after which nothing else of the page could run; each gets a daemon of its own.
FINAL = ("/hearth/v1/shutdown", "-X DELETE")


def examples():
    found = []
    for block in re.findall(r"^```[a-z]*\n(.*?)^```", README.read_text(), re.S | re.M):
        for line in block.replace("\\\n", " ").splitlines():
            if line.lstrip().startswith("curl "):
                found.append(" ".join(line.split()))
    return found


def script(daemon, line):
    """The line as a reader would run it after adapting what stands for his own files and models."""
    line = line.replace("/home/me/model.gguf", str(ROOT / "tests/data/models/tiny-llama3.gguf"))
    line = re.sub(r"(/v1/models)/(?!import)[a-z0-9.-]+", r"\1/tiny", line)
    line = re.sub(r'"ids": \[[0-9, ]+\]', '"ids": [5, 6, 7]', line)
    line = line.replace("http://127.0.0.1:7411", daemon.url)
    limit = "-m 1" if ENDLESS in line else "-m 60"
    line = line.replace("curl ", f"curl -sS --fail-with-body {limit} ", 1)
    return f"S={shlex.quote(str(daemon.socket))}; TOKEN={shlex.quote(daemon.token)}; {line}"


def run(daemon, line):
    done = subprocess.run(["bash", "-c", script(daemon, line)], env=daemon.environment, capture_output=True, text=True)
    timed_out = 28  # curl: what came until then is what was wanted
    assert done.returncode == 0 or (ENDLESS in line and done.returncode == timed_out), done.stderr + done.stdout
    assert done.stdout, "an empty answer"
    return done.stdout


@pytest.fixture(scope="module")
def readers_daemon():
    from conftest import Daemon
    running = Daemon()
    yield running
    running.stop()


@pytest.mark.parametrize("line", examples())
def test_the_line_works(request, line):
    own = any(mark in line for mark in FINAL) or "rotate" in line
    daemon = request.getfixturevalue("fresh_daemon" if own else "readers_daemon")
    if line.endswith("/unload"):
        daemon.hearth("load", "tiny")
    run(daemon, line)


def test_every_route_has_a_line():
    """By method and path, as resources/openapi.json lists them."""
    import json
    lines = examples()
    missing = []
    for path, item in json.loads((ROOT / "resources/openapi.json").read_text())["paths"].items():
        pattern = re.escape(path).replace(r"\{id\}", r"(?!import\b)[a-z0-9.-]+") + r"(['?\s]|$)"
        for method in item:
            if method == "parameters":
                continue
            def is_it(line):
                named = re.search(r"-X (\w+)", line)
                used = named.group(1) if named else "POST" if " -d " in line else "GET"
                return used == method.upper() and re.search(pattern, line)
            if not any(map(is_it, lines)):
                missing.append(f"{method.upper()} {path}")
    assert not missing
