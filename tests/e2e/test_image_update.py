# SPDX-License-Identifier: Apache-2.0
"""flashbed image build --update, against Debian's archives made up on 127.0.0.1: apt, its check of signatures and all
else are real. Debian's keys and the folder of the lock are others in a name space of the command's own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.image import apt, lockfile
from flashbed.image.debian import REQUEST_NOTES
from flashbed.image.lockfile import ArchiveFile, Lockfile
from tests.support import made_up_archive, name_space, web_folder
from tests.support.facts import Facts
from tests.support.fixture_types import FLASHBED
from tests.support.small_disk import small_disk

HOST_RESOURCE, SETUP = 4, 3

IN_PLACE = 'mount --bind "$1" "$2" && mount --bind "$3" "$4" && shift 4 && exec "$@"'

NOTED = "{}\n"
"""What was taken before, in the archive's own notes."""

TODAY = ("6.1.0-9999", "6.1.9999-1")
"""Debian's own kernel is newer than the lock's: what its packages are called, and their version. Nothing that a build
makes is made of it, so nothing is built.
"""


def lock_of_today(lock: Lockfile, folder: Path) -> Lockfile:
    """Return the updated lock. The empty package is in it because it names Debian's kernel."""
    requests = lock.requests["arm64"]
    ((kernel, before),) = ((name, files) for name, files in requests.items() if name.startswith("alone linux-image-6"))
    called = kernel.split()[1].removeprefix("linux-image-").removesuffix("-arm64")

    def newer(words: str) -> str:
        return words.replace(called, TODAY[0]).replace(before[0].version, TODAY[1])

    def moved(file: ArchiveFile) -> ArchiveFile:
        return replace(file, name=newer(file.name), origin=newer(file.origin))

    empty = "alone linux-image-arm64"
    now = {name: tuple(files) for name, files in requests.items() if name != kernel}
    now[newer(kernel)] = tuple(map(moved, before))
    now[empty] = tuple(
        made_up_archive.package(
            folder, newer(file.origin), file.name.split("_")[0].replace("arm64", f"{TODAY[0]}-arm64")
        )
        for file in requests[empty]
    )
    return replace(lock, requests={**lock.requests, "arm64": now})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@dataclass(frozen=True)
class Place:
    """A mirror in a folder, and where the command runs."""

    mirror: Path
    address: str
    cache: Path
    studies: Path
    today: Lockfile

    def update(self, address: str = "") -> subprocess.CompletedProcess[str]:
        keys = (self.mirror / made_up_archive.KEYS, apt.KEYRING)
        command: list[str | Path] = [
            *name_space.NO_ROOT,
            "sh",
            "-c",
            IN_PLACE,
            "sh",
            *keys,
            self.studies,
            paths.studies(),
        ]
        of = address or self.address
        environment = {"FLASHBED_CACHE": str(self.cache), "FLASHBED_DEBIAN": f"{of}/debian {of}/debian-security"}
        return subprocess.run(
            [*command, FLASHBED, "image", "build", "--update"],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            timeout=300,
        )

    def check_nothing_moved(self) -> None:
        """Check that the lock, the files beside it and the notes on requests are unchanged."""
        ours, theirs = (
            {path.name: path.read_bytes() for path in folder.iterdir()} for folder in (self.studies, paths.studies())
        )
        assert ours == theirs
        assert (self.cache / "debian-arm64" / REQUEST_NOTES).read_text() == NOTED


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    name_space.wanted()
    lock = lockfile.shipped()
    assert lock is not None
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    today = lock_of_today(lock, mirror)
    made_up_archive.write(mirror, today)
    with web_folder.served(mirror) as address:
        studies = shutil.copytree(paths.studies(), tmp_path / "studies")
        yield Place(mirror, address, cache_in(tmp_path / "cache"), studies, today)


def cache_in(folder: Path) -> Path:
    """Return a cache with the guest that is built. Of Debian's archive it has only the notes."""
    (folder / "debian-arm64").mkdir(parents=True)
    (folder / "image").symlink_to(paths.cache_root() / "image")
    (folder / "debian-arm64" / REQUEST_NOTES).write_text(NOTED)
    return folder


def test_the_lock_is_moved_to_what_the_archive_has_today(place: Place) -> None:
    done = place.update()
    assert done.returncode == 0, done.stderr
    assert (place.studies / lockfile.shipped_path().name).read_text() == lockfile.text(place.today)
    first, *rest = done.stdout.splitlines()
    files = {
        file.name
        for requests in place.today.requests.values()
        for files_of_request in requests.values()
        for file in files_of_request
    }
    counts = f"{len(files)} files of Debian bookworm, {len(place.today.profiles)} profiles"
    assert first == f"{lockfile.shipped_path()}: {counts}, the lab's sources"
    assert [line.split(":")[0] for line in rest][:3] == ["emulator", "kernel", "base"]
    noted = json.loads((place.cache / "debian-arm64" / REQUEST_NOTES).read_text())
    assert set(place.today.requests["arm64"]) == set(noted)


def of_a_stranger(place: Place) -> None:
    made_up_archive.write(place.mirror, place.today, signer="a stranger")


def with_a_changed_list(place: Place) -> None:
    with (place.mirror / "debian/dists/bookworm/main/binary-arm64/Packages").open("a") as file:
        file.write("\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (of_a_stranger, "/debian bookworm InRelease: The following signatures couldn't be verified"),
        (with_a_changed_list, "/debian/dists/bookworm/main/binary-arm64/Packages: File has unexpected size"),
    ],
)
def test_what_debian_has_not_signed_moves_nothing(place: Place, change: Callable[[Place], None], message: str) -> None:
    change(place)
    done = place.update()
    assert (done.returncode, done.stdout) == (SETUP, "")
    assert done.stderr.startswith(f"flashbed: the lists of Debian bookworm cannot be had: {place.address}{message}")
    assert done.stderr.count("\n") == 1
    place.check_nothing_moved()


def test_without_a_mirror_nothing_is_moved(place: Place) -> None:
    done = place.update("http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (SETUP, "")
    message = (
        "flashbed: the lists of Debian bookworm cannot be had: http://127.0.0.1:9/debian/dists/bookworm/InRelease: "
    )
    assert done.stderr.startswith(message)
    assert Facts("`flashbed doctor`", "FLASHBED_DEBIAN").within(done.stderr)
    assert done.stderr.count("\n") == 1
    place.check_nothing_moved()


def fill(folder: Path) -> None:
    """Fill the disk of the folder until no space is left."""
    with (folder / "filling").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    assert not shutil.disk_usage(folder).free


@pytest.mark.parametrize("full", ["of the lock", "of the cache"])
def test_on_a_full_disk_nothing_is_moved(place: Place, tmp_path: Path, full: str) -> None:
    with ExitStack() as disks:
        disks.enter_context(small_disk(tmp_path / "small", "4M"))
        if full == "of the lock":
            place = replace(place, studies=shutil.copytree(paths.studies(), tmp_path / "small/studies"))
        else:
            place = replace(place, cache=cache_in(tmp_path / "small/cache"))
        fill(tmp_path / "small")
        done = place.update()
        assert (done.returncode, done.stdout) == (HOST_RESOURCE, "")
        assert "no room left on this disk" in done.stderr
        assert done.stderr.count("\n") == 1
        place.check_nothing_moved()
