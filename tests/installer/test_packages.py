"""The packages: built by cpack, then installed, upgraded under a running daemon and removed in a throw-away copy of this
machine's root file system (an overlay, in mount and process namespaces of its own). The unit as systemd judges it (T158).
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("HEARTH_BIN", ROOT / "build/release/bin")).parent
HERE = pathlib.Path(__file__).resolve().parent
TINY = ROOT / "tests/data/models/tiny-llama.gguf"


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", folder / "work")
    return folder / "work"


@pytest.fixture(scope="module")
def next_packages(packages, tmp_path_factory):
    """The same packages under a later version."""
    folder = tmp_path_factory.mktemp("next")
    for package in packages.glob("*.deb"):
        tree = folder / "tree"
        run("dpkg-deb", "-R", package, tree)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"^Version: .*$", "Version: 99.0", control.read_text(), flags=re.M))
        run("dpkg-deb", "--root-owner-group", "-b", tree, folder / package.name)
        shutil.rmtree(tree)
    return folder


def in_copy_of_root(script, folder):
    """Runs a shell script on an overlay of /; what it writes is gone afterwards."""
    for name in ("upper", "work", "merged"):
        (folder / name).mkdir()
    lines = f"""
        set -e
        mount -t overlay overlay -o lowerdir=/,upperdir={folder}/upper,workdir={folder}/work {folder}/merged || exit 77
        mount --rbind /dev {folder}/merged/dev
        mount -t proc proc {folder}/merged/proc
        mount -t tmpfs tmpfs {folder}/merged/run
        exec chroot {folder}/merged /bin/bash -c {script!r}
    """
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return subprocess.run(["unshare", *as_root, "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", lines],
                          capture_output=True, text=True, timeout=300)


def test_the_life_of_a_package(packages, next_packages, tmp_path):
    names = sorted(package.name for package in packages.glob("*.deb"))
    assert names and names[-1].startswith("hearth_"), names
    done = in_copy_of_root(f"{HERE}/life_of_a_package.sh {packages} {next_packages} {TINY}", tmp_path)
    if done.returncode == 77:
        pytest.skip("no overlay can be mounted here: " + done.stderr.strip())
    assert done.returncode == 0 and done.stdout.endswith("ok\n"), done.stdout[-4000:] + done.stderr[-4000:]


def test_packages_hold_what_they_should(packages):
    for package in packages.glob("*.deb"):
        listing = run("dpkg-deb", "-c", package)
        assert "root/root" in listing and not re.search(r"^-..s|^-.....s|^.......[w]", listing, re.M), listing
        assert "build/" not in listing
    depends = run("dpkg-deb", "-f", next(packages.glob("hearth_*.deb")), "Depends")
    assert "libc6" in depends and "libsqlite3-0" in depends


def test_t158_systemd_accepts_the_unit_and_its_exposure(tmp_path):
    # The programs are not installed here, and without /usr/bin/man pages nothing documents them: both are beside the point.
    for unit in ("hearthd.service", "hearthd.socket"):
        text = (ROOT / "installer/systemd" / unit).read_text()
        text = text.replace("/usr/lib/hearth/hearthd", "/bin/true")
        (tmp_path / unit).write_text(re.sub(r"^Documentation=.*\n", "", text, flags=re.M))
    environment = dict(os.environ, XDG_RUNTIME_DIR=str(tmp_path))
    units = [str(tmp_path / "hearthd.service"), str(tmp_path / "hearthd.socket")]
    done = subprocess.run(["systemd-analyze", "--user", "verify", *units], capture_output=True, text=True,
                          env=environment)
    assert done.returncode == 0 and not done.stderr.strip(), done.stdout + done.stderr
    # 6.5 of 10: the tool counts a service as root's and wants it to drop capabilities and see less of the file system,
    # which a user's manager cannot arrange without privileges; all else that it can enforce is on.
    run("systemd-analyze", "--user", "security", "--offline=true", "--threshold=65", units[0], env=environment)
