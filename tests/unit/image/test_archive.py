# SPDX-License-Identifier: Apache-2.0
"""Packages from Debian's mirror, with a made-up apt-get. The answer is noted once, and used from then on."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.common.errors import SetupError
from flashbed.image import debian
from flashbed.image.debian import Archive
from flashbed.image.lockfile import Pins
from tests.unit.image import made_up_apt

RESOLVE = """
import logging, sys
from pathlib import Path
from flashbed.image import apt
from flashbed.image.debian import Archive
apt.KEYRING = Path(sys.executable)
logging.basicConfig(format="%(message)s")
archive = Archive(Path(sys.argv[1]), "arm64")
for name in sys.argv[2:]:
    archive.fetch([name], archive.resolve([name]))
"""


@pytest.fixture
def apt_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the log of requests to apt-get."""
    return made_up_apt.install(tmp_path, monkeypatch)


@pytest.fixture
def archive(apt_log: Path, tmp_path: Path) -> Archive:
    return Archive(tmp_path / "debian", "arm64", Pins(None))


def test_two_with_a_cold_cache(apt_log: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(debian.__file__).parents[2])}
    begun = []
    for names in (("a", "b", "c"), ("c", "d", "e"), ("e", "f", "a")):
        command = [sys.executable, "-c", RESOLVE, str(tmp_path / "debian"), *names]
        begun.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True))
    messages = [process.communicate(timeout=60)[1] for process in begun]
    assert [process.returncode for process in begun] == [0, 0, 0], messages
    assert "another run is fetching packages from Debian; waiting for it" in "".join(messages)
    assert sorted(json.loads((tmp_path / "debian/packages.json").read_text())) == [*"abcdef"]
    assert apt_log.read_text().count("update") == 1


def test_a_package_alone_is_another_request_and_is_only_downloaded(archive: Archive, apt_log: Path) -> None:
    alone = archive.resolve(["a"], alone=True)
    archive.resolve(["a"])
    (path,) = archive.fetch(["a"], alone)
    assert path.read_bytes() == b"package a"
    assert sorted(json.loads((archive.root / "packages.json").read_text())) == ["a", "alone a"]
    requests = [line.split()[0] for line in apt_log.read_text().splitlines()]
    assert requests == [
        "indextargets",
        "update",
        "download",
        "indextargets",
        "install",
        "indextargets",
        "indextargets",
        "download-file",
    ]


@pytest.mark.parametrize("damage", [b"{", b"[]", b"\xff\xfe", b'{"a": 3, "b": [["x"]], "c": []}', b""])
def test_damaged_versions_are_noted_again_as_they_were(
    archive: Archive, apt_log: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    before = archive.resolve(["a"])
    noted = archive.root / "packages.json"
    noted.write_bytes(damage)
    assert Archive(archive.root, "arm64").resolve(["a"]) == before
    assert list(json.loads(noted.read_text())) == ["a"]
    assert apt_log.read_text().count("update") == 1  # from the lists that were there: the mirror may have others now
    assert caplog.text.count("damaged; the versions are noted again") == 1


@pytest.mark.parametrize("damage", [b"package", b"package b", b""])
def test_a_damaged_package_is_fetched_again(archive: Archive, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    resolved = archive.resolve(["a"])
    (path,) = archive.fetch(["a"], resolved)
    assert path.read_bytes() == b"package a"
    path.write_bytes(damage)
    with caplog.at_level(logging.WARNING):
        archive.fetch(["a"], resolved)
    assert path.read_bytes() == b"package a"
    assert caplog.text.count("as locked or noted; it stays until that is fetched") == 1


def test_a_package_that_the_mirror_has_changed(archive: Archive) -> None:
    resolved = archive.resolve(["a"])
    other = debian.Packages((replace(resolved.in_archive[0], sha256=hashlib.sha256(b"old").hexdigest()),))
    with pytest.raises(SetupError, match=r"^a: no mirror here has a_1_arm64\.deb .*debian pool/a_1\.deb"):
        archive.fetch(["a"], other)


def test_a_file_stays_where_another_is_not_to_be_had(archive: Archive, caplog: pytest.LogCaptureFixture) -> None:
    """A lock with a wrong digest must not remove the good package."""
    resolved = archive.resolve(["a"])
    (path,) = archive.fetch(["a"], resolved)
    other = debian.Packages((replace(resolved.in_archive[0], sha256=hashlib.sha256(b"old").hexdigest()),))
    with pytest.raises(SetupError) as error:
        archive.fetch(["a"], other)
    assert error.value.message.endswith(f" goes into {path.parent}.")
    was = hashlib.sha256(b"package a").hexdigest()[:16]
    assert f"{path}: its SHA-256 is {was}..., and not {other.in_archive[0].sha256[:16]}... as locked" in caplog.text
    assert path.read_bytes() == b"package a"
    assert [file.name for file in path.parent.iterdir() if file.is_file()] == [path.name]
    path.write_bytes(b"old")
    assert archive.fetch(["a"], other) == [path]


def test_what_is_not_offered_is_said_after_a_look_at_the_mirror(archive: Archive, apt_log: Path) -> None:
    archive.resolve(["a"])
    with pytest.raises(SetupError, match="Unable to locate package no-such"):
        archive.resolve(["no-such"])
    assert apt_log.read_text().count("update") == 2


def test_an_update_that_was_killed(archive: Archive) -> None:
    """apt's directories and the versions of an earlier run exist, but no lists."""
    archive.resolve(["a"])
    for path in (archive.root / "state/lists").glob("*_Packages*"):
        path.unlink()
    assert archive.resolve(["b"]).files[0][0] == "b_1_arm64.deb"
