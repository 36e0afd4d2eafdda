# SPDX-License-Identifier: Apache-2.0
"""A guest's files lie in memory if it has room and belongs to this user alone, else on the disk."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.common.errors import HostResourceError, InterruptedByUser
from flashbed.execution import memory, repetition

MIB = 1 << 20


@pytest.fixture
def tmpfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory in place of the host's tmpfs, with 100 MiB free, on a host with 150 MiB of free memory."""
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setenv(memory.CHOICE, str(folder))
    monkeypatch.setattr(Path, "is_mount", lambda self: self == folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100 * MIB))
    monkeypatch.setattr(memory, "available_bytes", lambda: 150 * MIB)
    return folder


@pytest.fixture
def ours(tmpfs: Path) -> Path:
    return tmpfs / f"flashbed-{os.getuid()}"


@pytest.mark.parametrize(
    ("guests", "content_mib", "ram_mib", "room"),
    [
        (1, 50, 25, True),
        (1, 51, 1, False),
        (1, 50, 26, False),
        (2, 25, 12, True),
        (2, 26, 1, False),
        (2, 25, 13, False),
    ],
)
def test_at_most_half_of_the_free_memory_is_used(
    ours: Path, guests: int, content_mib: int, ram_mib: int, room: bool
) -> None:
    size, ram = content_mib * MIB, ram_mib * MIB
    with memory.scratch(guests) as host, host.place(size, ram) as first, host.place(size, ram) as second:
        assert (first is not None, second is not None) == (room, room)
        if first is not None:
            assert first != second
            assert ours in first.parents
    assert list(ours.iterdir()) == []


@pytest.mark.parametrize("chosen", ["", "missing", "folder"])
def test_a_directory_that_is_no_tmpfs_is_not_used(chosen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv(memory.CHOICE, str(tmp_path / chosen) if chosen else "")
    with memory.scratch(1) as host, host.place(1, 1) as place:
        assert (host.folder, place) == (None, None)
    memory.clean()
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_directory_that_others_can_read_is_left_alone(ours: Path) -> None:
    ours.mkdir()
    ours.chmod(0o755)
    kept = ours / "kept"
    kept.mkdir()
    with memory.scratch(1) as host:
        assert host.folder is None
    memory.clean()
    assert kept.is_dir()


def test_a_link_in_place_of_the_directory_is_not_followed(ours: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    ours.symlink_to(elsewhere)
    with memory.scratch(1) as host:
        assert host.folder is None
    assert list(elsewhere.iterdir()) == []


def test_files_of_a_killed_run_are_removed(ours: Path) -> None:
    ours.mkdir(mode=0o700)
    (ours / "0123456789ab.lock").touch()
    (ours / "0123456789ab").mkdir()
    (ours / "0123456789ab/data").write_bytes(b"content")
    memory.clean()
    assert list(ours.iterdir()) == []


def test_a_removed_directory_is_not_used(ours: Path) -> None:
    """systemd removes a user's files in /dev/shm when the user's last session ends."""
    with memory.scratch(1) as host:
        shutil.rmtree(ours)
        with host.place(1, 1) as place:
            assert place is None


def test_unknown_free_memory_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_text
    assert 0 < memory.available_bytes() < 1 << 50
    monkeypatch.setattr(Path, "read_text", lambda self: "MemTotal: 1 kB\n" if self.name == "meminfo" else read(self))
    assert memory.available_bytes() == 0
    monkeypatch.setattr(Path, "read_text", lambda self: (_ for _ in ()).throw(FileNotFoundError(self)))
    assert memory.available_bytes() == 0


def test_limits_of_control_groups_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "outer/inner"
    inner.mkdir(parents=True)
    for folder, most, now in ((inner, "max", 5), (tmp_path / "outer", "1000", 400)):
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{now}\n")
    assert min(memory._left_by(inner)) == 600


@pytest.mark.parametrize(
    ("in_memory", "place"),
    [
        ("measured", "in memory"),
        ("failed", "in memory"),
        ("killed", "on the disk"),
        (HostResourceError("the disk filled up"), "on the disk"),
        (FileNotFoundError("gone"), "on the disk"),
        (InterruptedByUser("interrupted"), None),
    ],
)
def test_a_cell_that_does_not_fit_in_memory_runs_on_the_disk(
    ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: str | Exception, place: str | None
) -> None:
    def executed(*words: Any) -> SimpleNamespace:
        folder: Path = words[-1]
        if ours not in folder.parents:
            return SimpleNamespace(result=SimpleNamespace(outcome="measured"), where="on the disk")
        if isinstance(in_memory, Exception):
            raise in_memory
        return SimpleNamespace(result=SimpleNamespace(outcome=in_memory), where="in memory")

    monkeypatch.setattr(repetition, "_executed", executed)
    medium = SimpleNamespace(size_bytes=MIB, kind="ftl")
    cell = SimpleNamespace(medium=medium, power_cuts=0, board=SimpleNamespace(ram=MIB))
    of_cell: Any = SimpleNamespace(cell=cell)
    stop = threading.Event()
    with memory.scratch(1) as host:
        if place is None:
            with pytest.raises(InterruptedByUser):
                repetition.execute(of_cell, tmp_path, 1.0, stop, host)
        else:
            finished: Any = repetition.execute(of_cell, tmp_path, 1.0, stop, host)
            assert finished.where == place


def test_the_content_of_a_raw_chip_includes_spare_areas_and_unused_blocks() -> None:
    """A cell may use a part of a chip; the file has the whole chip."""
    for kind, content_mib in (("nand", 128), ("disk", 41)):
        medium = SimpleNamespace(size_bytes=41 * MIB, capacity_bytes=64 * MIB, kind=kind)
        cell: Any = SimpleNamespace(medium=medium)
        assert repetition.content_bytes(cell) == content_mib * MIB
