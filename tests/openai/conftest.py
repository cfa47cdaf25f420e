"""A real hearthd with the tiny model, for tests in Python: OpenAI's own client, schemathesis, the lines of the README.

HEARTH_BIN names the folder of the programs (default: build/release/bin).
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import openai
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ.get("HEARTH_BIN", ROOT / "build/release/bin"))
TINY = ROOT / "tests/data/models/tiny-llama.gguf"


class Daemon:
    """All its folders lie in a temporary one; `stop` removes them."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hearth-test-"))
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HEARTH_", "OPENAI_"))
        }
        self.environment["HOME"] = str(self.folder)
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder / "run")
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            self.environment[f"XDG_{name}_HOME"] = str(self.folder / name.lower())
        (self.folder / "run").mkdir(mode=0o700)
        self.socket = self.folder / "run/hearth/hearth.sock"
        self.process = subprocess.Popen([BIN / "hearthd", "--port", "0"], env=self.environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=(self.folder / "stderr").open("w"))
        try:
            self._wait_until_it_answers()
            self.hearth("import", str(TINY), "--name", "tiny")
            tcp = json.loads(self.hearth("status", "--json"))["tcp"]
            assert tcp["on"], tcp
            self.url = tcp["base_url"].removesuffix("/v1")
            self.token = (self.folder / "config/hearth/token").read_text().strip()
        except BaseException:
            self.stop()
            raise

    def _wait_until_it_answers(self):
        end = time.monotonic() + 20
        while subprocess.run([BIN / "hearth", "status"], env=self.environment, capture_output=True).returncode:
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("hearthd did not start: " + (self.folder / "stderr").read_text())
            time.sleep(0.02)

    def hearth(self, *arguments):
        """Runs the command line; what it printed."""
        done = subprocess.run([BIN / "hearth", *arguments], env=self.environment, capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 0, f"hearth {arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def running(self):
        return json.loads(self.hearth("status", "--json"))["running"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=10)
        finally:
            self.process.kill()
            self.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def daemon():
    running = Daemon()
    yield running
    assert running.stop() == 0


@pytest.fixture
def fresh_daemon():
    """For tests that change what others rely on."""
    running = Daemon()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def client(daemon):
    with openai.OpenAI(base_url=daemon.url + "/v1", api_key=daemon.token) as made:
        yield made


def becomes_true(question):
    end = time.monotonic() + 20
    while not question():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def fetch(daemon, path, token):
    """Status, content type and body of a GET."""
    request = urllib.request.Request(daemon.url + path, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, reply.headers["Content-Type"], reply.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers["Content-Type"], refused.read()
