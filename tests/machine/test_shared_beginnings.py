# SPDX-License-Identifier: Apache-2.0
"""Cells that share their beginning give the bytes of cells that run from power-on; whatever becomes of one of them, of
the beginning or of the lab, the others have their results, and no process stays.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from flashbed.common.errors import InterruptedByUser
from flashbed.execution import attempt, repetition, run
from flashbed.execution.attempt import Limits
from flashbed.execution.repetition import Finished, Repetition
from flashbed.machine import process, qemu
from flashbed.machine.beginning import Beginning
from flashbed.machine.guest_job import Job
from flashbed.machine.outcomes import Outcome
from flashbed.study.loading import load_study
from tests.machine.same_bytes import bytes_of, differing
from tests.support.fixture_types import Measure, StudyWriter

LIMITS = Limits(900, 0)

FIO = 'tool = "fio"\nrequest = "4k"\nfile = "2M"\nio_size = "128k"\nflush = "fsync-each"\n'
PATTERNS = 'pattern = ["randread", "randwrite"]'

OWN_JOB = """\
[prepare-file]
rw=write
bs=64k
size=2m
filename=file
[load]
rw=randread
bs=4k
size=2m
filename=file
number_ios=${reads}
"""

LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("board", "medium", "filesystem", "axis", "workload"),
    [
        pytest.param("arm64-1000", "usb-stick-2g:condition=full", "f2fs", PATTERNS, FIO, id="usb"),
        pytest.param("arm64-8x2000", "nvme-p3600-class", "ext4", PATTERNS, f"{FIO}processes = 6\n", id="nvme-8-cpus"),
        pytest.param(
            "arm64-1000", "slc-nand-64m", "yaffs2", "remount = [true, false]", 'tool = "iozone"\nfile = "1M"', id="chip"
        ),
        pytest.param("arm64-1000", "slc-64m-ftl-page", "ext2", PATTERNS, FIO, id="translation"),
        pytest.param("arm64-250-pio", "cf-2g", "fat16", PATTERNS, FIO, id="pio"),
        pytest.param(
            "arm64-2x1000",
            "emmc-32g-tlc",
            "ext4",
            "reads = [20, 200]",
            'tool = "fio"\njob = "own.fio"',
            id="emmc-own-job",
        ),
        pytest.param(
            "arm64-2x1000",
            "null-2g",
            "ext2",
            'tests = ["read-private", "overwrite-private"]',
            'tool = "fxmark"\nfile = "1M"\nprocesses = 2\nwarm_us = 1000\nrun_us = 5000',
            id="fxmark-sampled",
        ),
        pytest.param(
            "arm64-1000",
            "sd-good",
            "exfat",
            'caches = ["flushed", "cold"]',
            'tool = "bonnie"\nfile = "1M"\nprocesses = 2\nseeks = 50',
            marks=LONG,
            id="sd-bonnie",
        ),
        pytest.param(
            "arm64-2x1000",
            "hdd-35-7200-320g",
            "ext2",
            "seeks = [20, 50]",
            'tool = "bonnie++"\nfile = "1M"\nprocesses = 1',
            marks=LONG,
            id="sata-bonnie++",
        ),
        pytest.param("core2-desktop", "hdd-25-5400-ide-4g", "fat32", PATTERNS, FIO, marks=LONG, id="line-prices"),
    ],
)
def test_the_same_bytes_as_from_power_on(
    study_file: StudyWriter,
    measure: Measure,
    tmp_path: Path,
    board: str,
    medium: str,
    filesystem: str,
    axis: str,
    workload: str,
) -> None:
    (tmp_path / "own.fio").write_text(OWN_JOB)
    top: dict[str, Any] = {"board": board, "medium": medium, "filesystem": filesystem}
    if filesystem == "yaffs2":
        top["power_cut"] = True
    traced = '[[trace]]\ntitle = "Requests"\n' if "condition" in medium else ""
    as_from_power_on(study_file(f"[axes]\n{axis}\n[workload]\n{workload}\n{traced}", **top), measure, tmp_path)


@pytest.mark.parametrize(
    "top",
    [
        pytest.param({"kernel": "6.1-debian"}, id="kernel-of-debian"),
        pytest.param({"medium": "slc-nand-64m", "translation": "ftl-page"}, id="raw-translation"),
        pytest.param({"kernel": "6.12"}, marks=LONG, id="kernel-6.12"),
    ],
)
def test_the_same_bytes_on_other_kernels_and_layers(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, top: dict[str, str]
) -> None:
    study = study_file(f"[axes]\n{PATTERNS}\n[workload]\n{FIO}", filesystem="ext2", **top)
    as_from_power_on(study, measure, tmp_path)


def as_from_power_on(study: Path, measure: Measure, folder: Path) -> Finished:
    """Return the study's last repetition. Check that it gives the same bytes alone and from the shared beginning."""
    repetitions = run.prepare(load_study(study))
    shared = all_shared(repetitions)
    assert [finished.result.outcome for finished in shared] == ["measured"] * len(repetitions)
    alone = measure(repetitions[-1], folder / "alone", limit_s=900)
    assert differing(bytes_of(alone), bytes_of(shared[-1])) == []
    return alone


def all_shared(repetitions: Sequence[Repetition]) -> list[Finished]:
    """Run the repetitions from one beginning, and none from power-on."""
    begun = []
    begin = repetition.begin

    def noted(*words: Any) -> Beginning | Outcome:
        begun.append(words)
        return begin(*words)

    with (
        attempt.this_host(1) as site,
        patch.object(repetition, "begin", noted),
        patch.object(qemu, "run", side_effect=AssertionError("from power-on")),
    ):
        results = []
        for member in repetitions:
            site.announce(member, more=member is not repetitions[-1])
            results.append(site.attempt(member, LIMITS, threading.Event()))
    assert len(begun) == 1
    return results


FOREVER = b"while :; do :; done\n"


@pytest.fixture
def two(study_file: StudyWriter) -> Sequence[Repetition]:
    return run.prepare(load_study(study_file(f"[axes]\n{PATTERNS}\n[workload]\n{FIO}", filesystem="ext2")))


@pytest.fixture
def begun(two: Sequence[Repetition], tmp_path: Path) -> Iterator[Beginning]:
    """Yield the beginning of both repetitions. None has continued from it yet. A link leads to its folder."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "beginning").symlink_to(tmp_path / "folder")
    finished = repetition.begin(two[0], tmp_path / "beginning", 900, threading.Event())
    assert isinstance(finished, Beginning)
    yield finished
    finished.close()
    assert machines(tmp_path) == []


def machines(folder: Path) -> list[int]:
    """Return the process IDs of this host's emulators that use files of the folder, forked ones included. They come in
    the order in which they were started: process IDs begin anew after the largest.
    """
    processes = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words, status = (entry / "cmdline").read_bytes(), (entry / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        is_one = words.startswith(b"/") and b"qemu-system" in words.split(b"\0")[0] and str(folder).encode() in words
        if is_one and status[0] != "Z":
            processes.append((int(status[19]), int(entry.name)))  # starttime of proc(5)
    return [process for _, process in sorted(processes)]


def gone_on(begun: Beginning, folder: Path, limit_s: float = 900, stop: threading.Event | None = None) -> Outcome:
    """Continue a guest that never ends, and return its outcome."""
    folder.mkdir()
    endless = Job({}, {"measure": FOREVER}).packed_load()
    return begun.run(endless, folder, limit_s, stop or threading.Event())


def in_background(call: Callable[[], object]) -> Callable[[], object]:
    """Start a call in a thread. Return a function that waits for it, and returns its value or raises its exception."""
    came: list[object] = []

    def carry_out() -> None:
        try:
            came.append(call())
        except BaseException as error:
            came.append(error)

    thread = threading.Thread(target=carry_out)
    thread.start()

    def ended() -> object:
        thread.join(30)
        return came[0]

    return ended


def until(true: Callable[[], bool], limit_s: float = 30) -> None:
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_who_goes_on_for_ever_is_ended_alone(
    two: Sequence[Repetition], begun: Beginning, measure: Measure, tmp_path: Path
) -> None:
    """By its limit, by who stops the run, by a signal: and the one that goes on after them is the same as alone."""
    late = gone_on(begun, tmp_path / "late", limit_s=0.5)
    assert (late.status, late.reason) == ("timed out", "no end after 0 s of this host's time")
    stop = threading.Event()
    stopped = in_background(lambda: gone_on(begun, tmp_path / "stopped", stop=stop))
    killed = in_background(lambda: gone_on(begun, tmp_path / "killed"))
    until(lambda: len(machines(tmp_path)) == 3)
    stop.set()
    assert isinstance(stopped(), InterruptedByUser)
    until(lambda: len(machines(tmp_path)) == 2)
    os.kill(machines(tmp_path)[-1], signal.SIGKILL)
    outcome = killed()
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.reason) == ("killed", "killed (signal 9): out of memory?")
    (tmp_path / "last").mkdir()
    last = repetition.execute(two[1], tmp_path / "last", 900, threading.Event(), begun=begun)
    assert differing(bytes_of(measure(two[1], tmp_path / "alone")), bytes_of(last)) == []


def test_a_beginning_that_is_killed_takes_its_guests_along(begun: Beginning, tmp_path: Path) -> None:
    killed = in_background(lambda: gone_on(begun, tmp_path / "killed"))
    until(lambda: len(machines(tmp_path)) == 2)
    os.kill(machines(tmp_path)[0], signal.SIGKILL)
    outcome = killed()
    assert isinstance(outcome, Outcome)
    assert outcome.status == "killed"
    until(lambda: machines(tmp_path) == [])
    assert begun.is_gone
    assert gone_on(begun, tmp_path / "too-late").status == "killed"


def test_a_guest_whose_files_are_gone_is_ended(begun: Beginning, tmp_path: Path) -> None:
    folder = tmp_path / "emptied"
    gone = in_background(lambda: gone_on(begun, folder))
    until(lambda: len(machines(tmp_path)) == 2)
    (folder / process.CONSOLE).unlink()
    assert isinstance(gone(), FileNotFoundError)
    assert len(machines(tmp_path)) == 1


def test_no_machine_outlives_a_lab_that_is_killed(study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(f"[axes]\n{PATTERNS}\n[workload]\n{FIO}", filesystem="ext2")
    (tmp_path / "lab").mkdir()
    script = f"""
import threading
from pathlib import Path
from flashbed.execution import repetition, run
from flashbed.study.loading import load_study
folder, (one, _) = Path({str(tmp_path / "lab")!r}), run.prepare(load_study(Path({str(study)!r})))
begun = repetition.begin(one, folder, 900, threading.Event())
(folder / "child").mkdir()
begun.run(repetition.Job({{}}, {{"measure": {FOREVER!r}}}).packed_load(), folder / "child", 900, threading.Event())
"""
    lab = subprocess.Popen([sys.executable, "-c", script])
    until(lambda: len(machines(tmp_path)) == 2, limit_s=120)
    lab.kill()
    lab.wait()
    until(lambda: machines(tmp_path) == [])


def test_a_beginning_that_fails_fails_each_as_it_would_alone(two: Sequence[Repetition], tmp_path: Path) -> None:
    job = repetition.job(two[0].cell, two[0].image)
    broken = Job({**job.beginning, "prepare": b"echo no space left; exit 3\n"}, job.load)
    with patch.object(repetition, "job", lambda *_: broken):
        shared = all_shared(two)
        (tmp_path / "alone").mkdir()
        alone = repetition.execute(two[1], tmp_path / "alone", 900, threading.Event())
    assert [finished.result.reason for finished in shared] == ["step prepare: exit status 3: no space left"] * 2
    assert differing(bytes_of(alone), bytes_of(shared[1])) == []


def test_a_beginning_that_takes_too_long_is_as_late_as_its_cells(two: Sequence[Repetition], tmp_path: Path) -> None:
    job = repetition.job(two[0].cell, two[0].image)
    endless = Job({**job.beginning, "prepare": FOREVER}, job.load)
    with patch.object(repetition, "job", lambda *_: endless):
        came = repetition.begin(two[0], tmp_path, 2, threading.Event())
    assert isinstance(came, Outcome)
    assert (came.status, came.reason) == ("timed out", "no end after 2 s of this host's time")
    assert machines(tmp_path) == []
