"""A hearthd of its own for scripts that measure or strain it: temporary folders, the Unix socket, and what /proc says.
Python's standard library only.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TINY = ROOT / "tests/data/models/tiny-llama.gguf"


def real_model():
    """SmolLM2-135M-Instruct where ./run or ./test left it, else None."""
    name = "SmolLM2-135M-Instruct.Q4_1.gguf"
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    for path in (os.environ.get("HEARTH_TEST_MODEL"), cache / "hearth-tests" / name, cache / "hearth/downloads" / name):
        if path and pathlib.Path(path).is_file():
            return pathlib.Path(path)
    return None


def request_bytes(method, target, body=None):
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return head.encode() + b"\r\n" + content


def reply_length(text):
    """Bytes of the first reply in `text`, or None while its head is not complete."""
    end = text.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = text[:end].lower()
    at = head.find(b"content-length:")
    return end + 4 + int(head[at + 15:].split(b"\r\n", 1)[0])


def status_of(reply):
    return int(reply[9:12])


def body_of(reply):
    return reply[reply.find(b"\r\n\r\n") + 4:]


class Daemon:
    """Starts hearthd and waits until it answers; use as a context manager."""

    def __init__(self, binaries, arguments=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hearth-service-"))
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "HEARTH_"))}
        environment["HOME"] = str(self.folder)
        environment["XDG_RUNTIME_DIR"] = str(self.folder / "run")
        self.socket_path = str(self.folder / "run/hearth/hearth.sock")
        self.errors = open(self.folder / "stderr", "wb")
        self.process = subprocess.Popen([str(binaries / "hearthd"), "--tcp", "off", *arguments], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors)
        for _ in range(2000):
            try:
                if status_of(self.call("GET", "/health")) == 200:
                    return
            except OSError:
                time.sleep(0.01)
        raise SystemExit("hearthd did not start: " + (self.folder / "stderr").read_text())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self):
        return self.process.pid

    def connect(self):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(self.socket_path)
        return connection

    def call(self, method, target, body=None):
        """One request on a connection of its own; the whole reply."""
        with self.connect() as connection:
            connection.sendall(request_bytes(method, target, body))
            return read_reply(connection)

    def call_json(self, method, target, body=None):
        reply = self.call(method, target, body)
        value = json.loads(body_of(reply))
        if status_of(reply) >= 400:
            raise SystemExit(f"{method} {target}: {value}")
        return value

    def load_model(self, path, name):
        self.call_json("POST", "/hearth/v1/models/import", {"path": str(pathlib.Path(path).resolve()), "name": name})
        return self.call_json("POST", f"/hearth/v1/models/{name}/load", {})

    # What /proc says of the daemon itself.

    def resident_bytes(self):
        pages = int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def wake_ups(self):
        """Voluntary context switches of all threads: each is a wait that ended."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            for line in (task / "status").read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches:"):
                    total += int(line.split()[1])
        return total


def read_reply(connection):
    text = b""
    while True:
        length = reply_length(text)
        if length is not None and len(text) >= length:
            return text[:length]
        piece = connection.recv(65536)
        if not piece:
            raise OSError("the connection closed in mid-reply")
        text += piece
