# SPDX-License-Identifier: Apache-2.0
"""Where a medium's content lies while its guest runs: in memory where that is this user's and has room."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from flashbed.execution import memory

MIB = 1 << 20


@pytest.fixture
def tmpfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the host's tmpfs, in which 100 MiB are free, and 150 MiB of memory are."""
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(memory, "TMPFS", folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100 * MIB))
    monkeypatch.setattr(memory, "available_bytes", lambda: 150 * MIB)
    return folder


@pytest.mark.parametrize(
    ("guests", "content_mib", "ram_mib", "room"),
    [
        (1, 100, 50, True),
        (1, 101, 1, False),
        (1, 100, 51, False),
        (2, 50, 25, True),
        (2, 51, 1, False),
        (2, 50, 26, False),
    ],
)
def test_each_guest_may_fill_its_medium(
    tmpfs: Path, tmp_path: Path, guests: int, content_mib: int, ram_mib: int, room: bool
) -> None:
    work = tmp_path / "work"
    with (
        memory.scratch(guests) as host,
        host.place(content_mib * MIB, ram_mib * MIB, work) as first,
        host.place(content_mib * MIB, ram_mib * MIB, work) as second,
    ):
        assert (first != work, second != work) == (room, room)
        assert not room or (first != second and tmpfs in first.parents)
    assert list(memory.root().iterdir()) == []


def test_a_host_without_a_tmpfs_has_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "TMPFS", tmp_path / "missing")
    with memory.scratch(1) as host, host.place(1, 1, tmp_path) as place:
        assert place == tmp_path
    memory.clean()


def test_a_folder_of_that_name_that_others_could_read_is_left_alone(tmpfs: Path) -> None:
    (tmpfs / memory.root().name).mkdir(mode=0o755)
    kept = memory.root() / "kept"
    kept.mkdir()
    with memory.scratch(1) as host:
        assert host.folder is None
    memory.clean()
    assert kept.is_dir()


def test_a_link_of_that_name_is_not_followed(tmpfs: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    memory.root().symlink_to(elsewhere)
    with memory.scratch(1) as host:
        assert host.folder is None
    assert list(elsewhere.iterdir()) == []


def test_what_a_killed_run_left_is_removed(tmpfs: Path) -> None:
    memory.root().mkdir(mode=0o700)
    (memory.root() / "0123456789ab.lock").touch()
    (memory.root() / "0123456789ab").mkdir()
    (memory.root() / "0123456789ab/data").write_bytes(b"content")
    memory.clean()
    assert list(memory.root().iterdir()) == []


def test_nothing_is_taken_of_a_host_that_is_not_asked(tmp_path: Path) -> None:
    with memory.NONE.place(0, 0, tmp_path) as place:
        assert place == tmp_path


def test_the_hosts_own_estimate_is_read() -> None:
    assert 0 < memory.available_bytes() < 1 << 50
