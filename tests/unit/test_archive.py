# SPDX-License-Identifier: Apache-2.0
"""Packages from Debian's mirror, with an apt-get that is made up: what it gave is noted once, and is what is used."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flashbed.common.errors import SetupError
from flashbed.image import debian
from flashbed.image.debian import Archive

# Like apt-get it refuses to work beside another one; it knows every package whose name does not begin with "no-".
APT = """#!/usr/bin/env python3
import fcntl, hashlib, os, re, sys, time
from pathlib import Path
words = sys.argv[1:]
with open(os.environ["APT_LOG"], "a") as log:
    log.write(" ".join(words) + "\\n")
if words[0] == "indextargets":
    print("http://deb.example bookworm main|Debian")
    sys.exit()
root = Path(re.search('Dir::State "(.*)/state"', Path(os.environ["APT_CONFIG"]).read_text())[1])
lock = open(root / "apts-own-lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit("E: Could not get lock. It is held by another process")
time.sleep(0.2)
lists = root / "state/lists/mirror_Packages.lz4"
if words[0] == "update":
    lists.write_text("")
    sys.exit()
names = [word for word in words[1:] if not word.startswith("-") and "::" not in word and word != "source"]
for name in names:
    if name.startswith("no-") or not lists.exists():
        sys.exit(f"E: Unable to locate package {name}")
    data = f"package {name}".encode()
    if "--print-uris" in words:
        told = f"{len(data)} MD5Sum:{hashlib.md5(data).hexdigest()}"
        print(f"'http://deb.example/{name}_1.deb' {name}_1_arm64.deb {told}")
    else:
        (root / "cache/archives" / f"{name}_1_arm64.deb").write_bytes(data)
"""
RESOLVE = """
import logging, sys
from pathlib import Path
from flashbed.image.debian import Archive
logging.basicConfig(format="%(message)s")
archive = Archive(Path(sys.argv[1]), "arm64")
for name in sys.argv[2:]:
    archive.fetch([name], archive.resolve([name]))
"""


@pytest.fixture
def apt_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What apt-get was asked."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "apt-get").write_text(APT.replace("/usr/bin/env python3", sys.executable))
    (tools / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("APT_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


@pytest.fixture
def archive(apt_log: Path, tmp_path: Path) -> Archive:
    return Archive(tmp_path / "debian", "arm64")


def test_two_with_a_cold_cache(apt_log: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(debian.__file__).parents[2])}
    begun = []
    for names in (("a", "b", "c"), ("c", "d", "e"), ("e", "f", "a")):
        command = [sys.executable, "-c", RESOLVE, str(tmp_path / "debian"), *names]
        begun.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True))
    said = [process.communicate(timeout=60)[1] for process in begun]
    assert [process.returncode for process in begun] == [0, 0, 0], said
    assert "another run is fetching packages from Debian; waiting for it" in "".join(said)
    assert sorted(json.loads((tmp_path / "debian/versions.json").read_text())) == [*"abcdef"]
    assert apt_log.read_text().count("update") == 1


def test_a_package_alone_is_another_request_and_is_only_downloaded(archive: Archive, apt_log: Path) -> None:
    alone = archive.resolve(["a"], alone=True)
    archive.resolve(["a"])
    (path,) = archive.fetch(["a"], alone, alone=True)
    assert path.read_bytes() == b"package a"
    assert sorted(json.loads((archive.root / "versions.json").read_text())) == ["a", "alone a"]
    asked = [line.split()[0] for line in apt_log.read_text().splitlines()]
    assert asked == ["indextargets", "update", "download", "install", "download"]


@pytest.mark.parametrize("damage", [b"{", b"[]", b"\xff\xfe", b'{"a": 3, "b": [["x"]], "c": []}', b""])
def test_damaged_versions_are_noted_again_as_they_were(
    archive: Archive, apt_log: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    before = archive.resolve(["a"])
    noted = archive.root / "versions.json"
    noted.write_bytes(damage)
    assert Archive(archive.root, "arm64").resolve(["a"]) == before
    assert list(json.loads(noted.read_text())) == ["a"]
    assert apt_log.read_text().count("update") == 1  # from the lists that were there: the mirror may have others now
    assert caplog.text.count("damaged; the versions are noted again") == (b'"a"' not in damage)


@pytest.mark.parametrize("damage", [b"package", b"package b", b""])
def test_a_damaged_package_is_fetched_again(archive: Archive, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    resolved = archive.resolve(["a"])
    (path,) = archive.fetch(["a"], resolved)
    assert path.read_bytes() == b"package a"
    path.write_bytes(damage)
    with caplog.at_level(logging.WARNING):
        archive.fetch(["a"], resolved)
    assert path.read_bytes() == b"package a"
    assert "damaged; it is fetched again" in caplog.text


def test_a_package_that_the_mirror_has_changed(archive: Archive) -> None:
    resolved = archive.resolve(["a"])
    other = debian.Packages(((resolved.files[0][0], f"MD5Sum:{hashlib.md5(b'old').hexdigest()}"),))
    with pytest.raises(SetupError, match=r"a_1_arm64\.deb is no longer on the mirror"):
        archive.fetch(["a"], other)


def test_what_is_not_offered_is_said_after_a_look_at_the_mirror(archive: Archive, apt_log: Path) -> None:
    archive.resolve(["a"])
    with pytest.raises(SetupError, match="Unable to locate package no-such"):
        archive.resolve(["no-such"])
    assert apt_log.read_text().count("update") == 2


def test_an_update_that_was_killed(archive: Archive) -> None:
    """apt's folders are there, and the versions of a run before; there are no lists."""
    archive.resolve(["a"])
    for path in (archive.root / "state/lists").glob("*_Packages*"):
        path.unlink()
    assert archive.resolve(["b"]).files[0][0] == "b_1_arm64.deb"
