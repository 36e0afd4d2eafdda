# SPDX-License-Identifier: Apache-2.0
"""The same repetition gives the same bytes, whatever else the host is doing."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from flashbed.execution import cell_medium, memory, repetition, run
from flashbed.execution.repetition import Repetition
from flashbed.image.guest_image import GuestImage
from flashbed.profiles.profile import interface
from flashbed.profiles.stored_medium import StoredMedium
from flashbed.study.loading import load_study
from flashbed.study.plan import Cell
from tests.machine.same_bytes import bytes_of, differing
from tests.support.busy_host import BURSTS, busy
from tests.support.fixture_types import Measure, NewChip, StudyWriter
from tests.support.guest_rig import NO_MOUNT, boot
from tests.support.small_disk import small_disk

CELLS = """
    [axes]
    filesystem = ["fat16:cluster=32k", "ext2:block=4k", "f2fs"]
    [workload]
    tool = "fio"
    pattern = "randwrite"
    request = "4k"
    file = "2M"
    flush = "fsync"
"""


LONGEST_S = 1800
"""Of this host's time, for a guest: 120 CPUs beside busy processes take minutes to start."""


def repeats(
    measure: Measure, planned: Repetition, folder: Path, *, idle: int, loaded: int, among: Collection[str] = ()
) -> None:
    """Check that all runs of a repetition give the same bytes, on an idle and on a busy host. `among` names files that
    must exist.
    """
    first = bytes_of(measure(planned, folder / "first"))
    assert all(first.get(name) for name in among)
    for number in range(1, idle):
        assert differing(first, bytes_of(measure(planned, folder / f"idle-{number}"))) == []
    with busy(2, BURSTS):
        for number in range(loaded):
            assert differing(first, bytes_of(measure(planned, folder / f"loaded-{number}"))) == []


@pytest.mark.parametrize("index", range(3), ids=["fat16", "ext2", "f2fs"])
def test_same_bytes_beside_busy_processes(
    index: int, study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    planned = run.prepare(load_study(study_file(CELLS)))[index]
    repeats(measure, planned, tmp_path, idle=1, loaded=1)


class Joined(NamedTuple):
    """A medium behind an interface."""

    medium: str
    interface: str
    filesystem: str = "ext4"
    board: str = "arm64-1000"
    written_kib: int = 1024


JOINED = {
    "nvme": Joined("nvme-960pro-class:used_bytes=1G", "nvme"),
    "usb": Joined("usb-stick-2g", "usb"),
    "sata": Joined("hdd-25-5400-ide-4g", "sata"),
    "sata-queued": Joined("slc-64m-ftl-page:interface=sata,queue_depth=32,used_bytes=32M", "sata"),
    "sd": Joined("sd-good:used_bytes=512M", "sd"),
    "emmc": Joined("emmc-64g:used_bytes=1G", "emmc"),
    "plain": Joined("null-2g", "plain"),
    "pio": Joined("cf-2g", "plain", board="arm64-250-pio"),
    "chip": Joined("slc-nand-64m:used_bytes=8M", "", "jffs2", written_kib=256),
    "chip-pio": Joined("slc-nand-64m:used_bytes=8M", "", "jffs2", "arm64-250-pio", written_kib=256),
}
"""By the interface and what differs behind it; a raw chip has none."""

SEVERAL_AT_A_TIME = """
    [workload]
    tool = "fio"
    pattern = "randwrite"
    request = "16k"
    file = "{file_kib}k"
    processes = {processes}
    flush = "fsync"
"""


SELDOM = {"sata-queued", "pio", "chip-pio"}
"""Run with the long tests alone, as are many CPUs."""

EACH_BY_CPUS = [
    pytest.param(name, cpus, marks=[pytest.mark.long] if cpus > 2 or name in SELDOM else [])
    for name in JOINED
    for cpus in (1, 2, 8, 32, 120)
]


@pytest.mark.parametrize(("name", "cpus"), EACH_BY_CPUS)
def test_same_bytes_behind_each_interface(
    name: str, cpus: int, study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    joined = JOINED[name]
    processes = min(max(cpus, 2), 8)
    cell = SEVERAL_AT_A_TIME.format(processes=processes, file_kib=joined.written_kib // processes)
    top = {"filesystem": joined.filesystem, "medium": joined.medium, "board": f"{joined.board}:cpus={cpus},ram=512M"}
    (planned,) = run.prepare(load_study(study_file(cell, **top)))
    if joined.interface:
        assert interface(planned.cell.board, planned.cell.medium) == joined.interface
    repeats(partial(measure, limit_s=LONGEST_S), planned, tmp_path, idle=1, loaded=1)


def test_where_the_files_of_a_guest_lie_changes_nothing(
    study_file: StudyWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned, *_ = run.prepare(load_study(study_file(CELLS)))
    places: list[Path] = []
    make = cell_medium.make_medium

    def noted(cell: Cell, image: GuestImage, to: StoredMedium) -> None:
        places.append(to.folder)
        make(cell, image, to)

    monkeypatch.setattr(cell_medium, "make_medium", noted)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 40)
    for name in ("disk", "beside"):
        (tmp_path / name).mkdir()
    with small_disk(tmp_path / "shm", "8G"):  # takes what is written to it, no more
        monkeypatch.setenv(memory.CHOICE, str(tmp_path / "shm"))
        on_disk = repetition.execute(planned, tmp_path / "disk", LONGEST_S, threading.Event())
        with memory.scratch(1) as host:
            in_memory = repetition.execute(planned, tmp_path / "beside", LONGEST_S, threading.Event(), host)
    assert places[0] == tmp_path / "disk"
    assert tmp_path / "shm" in places[1].parents
    assert on_disk.result.is_measured
    assert on_disk == in_memory


PROCESSES = """
    filesystem = "f2fs"
    [workload]
    tool = "fxmark"
    tests = "read-shared-block,create-shared,random"
    file = "1M"
    processes = {processes}
    run_us = 2000
"""

MANY = [
    ("arm64-8x2000", 8),
    ("arm64-8x2000:cpus=32", 32),
    ("xeon-e7-v2-120", 120),
    ("xeon-e7-v2-120:line_transfer_ns=40,line_transfer_other_ns=120", 120),
]


@pytest.mark.parametrize(
    ("board", "processes"),
    [
        ("arm64-2x1000", 8),
        ("arm64-8x2000:line_transfer_ns=40", 8),
        *(pytest.param(*many, marks=pytest.mark.long) for many in MANY),
    ],
)
def test_same_bytes_of_processes_on_several_cpus(
    board: str, processes: int, study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    medium = "nvme-960pro-class:used_bytes=2G"
    cell = PROCESSES.format(processes=processes)
    (planned,) = run.prepare(load_study(study_file(cell, board=board, medium=medium)))
    among = {"out/fxmark.txt", "out/profile.txt"}
    repeats(partial(measure, limit_s=LONGEST_S), planned, tmp_path, idle=1, loaded=1, among=among)


@contextmanager
def halted(name: str) -> Iterator[None]:
    """Stop the processes called `name` in this session again and again, for intervals of several lengths."""
    over = threading.Event()

    def running() -> list[int]:
        mine = subprocess.run(["pgrep", "-s", str(os.getsid(0)), "-x", name], capture_output=True, text=True)
        return [int(pid) for pid in mine.stdout.split()]

    def harass() -> None:
        lines: list[int] = []
        for number in range(1 << 30):
            lines = lines if number % 50 else running()
            for pid in lines:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    time.sleep(number % 7 / 1000)
                    os.kill(pid, signal.SIGCONT)
            if over.wait(number % 11 / 1000):
                break

    thread = threading.Thread(target=harass)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


WAITS = """
for time in 1 2 3 4 5 6 7 8; do
    dd if=/dev/mtd0 of=/dev/null bs=16k count=128
    grep -E "^now at|sleeptime" /proc/timer_list
done >/out/times
"""
"""A guest that waits some microseconds at a time, 32,000 times: for each page of a raw chip."""


def test_same_bytes_however_qemus_threads_come_by(new_chip: NewChip, tmp_path: Path) -> None:
    def times(name: str) -> dict[str, bytes]:
        return dict(boot(new_chip("slc-nand-64m", tmp_path / name), format=WAITS, mount=NO_MOUNT).files)

    first = times("first")
    assert b"now at" in first["times"]
    with busy(4, BURSTS):
        assert differing(first, times("loaded")) == []
    with halted("qemu-system-aar"):
        assert differing(first, times("halted")) == []


@pytest.mark.long
@pytest.mark.parametrize("index", range(3), ids=["fat16", "ext2", "f2fs"])
def test_same_bytes_ten_times(index: int, study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    planned = run.prepare(load_study(study_file(CELLS)))[index]
    repeats(measure, planned, tmp_path, idle=5, loaded=5)


def test_another_seed_gives_another_run(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    first, second = run.prepare(
        load_study(study_file(CELLS.replace('"fat16:cluster=32k", ', "").replace(', "f2fs"', ""), seeds=2))
    )
    assert first.key != second.key
    assert differing(*(bytes_of(measure(planned, tmp_path / planned.key)) for planned in (first, second)))
