# SPDX-License-Identifier: Apache-2.0
"""A guest that misbehaves is an outcome with its cause and the console's last lines, never an exception and never a
figure.
"""

from __future__ import annotations

import base64
import gzip
import io
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from flashbed.execution import repetition, run
from flashbed.execution.repetition import Finished
from flashbed.study.loading import load_study
from tests.support.facts import Facts
from tests.support.fixture_types import StudyWriter

RunWith = Callable[..., Finished]

STUDY = """
    [workload]
    tool = "fio"
    pattern = "write"
    request = "64k"
    file = "256k"
"""

PROFILE = """
title = "A file system whose making goes wrong"
needs = "block"
mkfs = ['{command}']
[mount]
type = "ext2"
"""


@pytest.fixture
def run_with(study_file: StudyWriter, tmp_path: Path) -> RunWith:
    """Return a function that runs a cell for at most `limit_s`. The given shell command is the cell's mkfs."""

    def execute(command: str, limit_s: float = 60, board: str = "arm64-1000") -> Finished:
        folder = tmp_path / "profiles/filesystems"
        folder.mkdir(parents=True)
        (folder / "odd.toml").write_text(PROFILE.format(command=command))
        (planned,) = run.prepare(load_study(study_file(STUDY, filesystem="odd", board=board)))
        work = tmp_path / "work"
        work.mkdir()
        return repetition.execute(planned, work, limit_s, threading.Event())

    return execute


def test_a_panic(run_with: RunWith) -> None:
    finished = run_with("echo c >/proc/sysrq-trigger")
    assert finished.result.outcome == "failed"
    assert "panicked" in finished.result.reason
    assert b"Kernel panic" in finished.files["console.log"]
    assert finished.result.measurement.metrics == {}


def test_out_of_memory(run_with: RunWith) -> None:
    finished = run_with("tail /dev/zero")
    assert finished.result.outcome == "failed"
    assert "ran out of memory" in finished.result.reason


def test_a_hang(run_with: RunWith) -> None:
    finished = run_with("while true; do true; done", limit_s=5)
    assert finished.result.outcome == "timed out"
    assert "5 s" in finished.result.reason
    assert b"flashbed: format" in finished.files["console.log"]


def test_a_kernel_that_spins(run_with: RunWith) -> None:
    """The CPU moves 32 KiB by itself, a minute for all of it, and does nothing else meanwhile. 10 s, not Linux's 21: a
    loop on the fastest board is then told within a minute of the host's time. Linux notices only while somebody waits
    for a grace period of RCU, as for each process that ended: one CPU has nobody else to look.
    """
    board = "arm64-250-pio:mips=62,pio_sector_ns=1000000000"
    work = "(while true; do sleep 0; done) & dd if=/dev/zero of=/dev/medium bs=32k count=1 conv=fsync"
    finished = run_with(work, limit_s=120, board=board)
    assert finished.result.outcome == "failed"
    assert finished.result.reason.startswith("the guest stalled: its kernel kept the CPU for 10 s")
    assert "RCU Stall" in finished.result.reason
    assert b"rcu: INFO: " in finished.files["console.log"]


def test_a_step_that_fails(run_with: RunWith) -> None:
    finished = run_with("echo no such luck; false")
    assert finished.result.outcome == "failed"
    assert "format" in finished.result.reason
    assert b"no such luck" in finished.files["out/format.txt"]
    assert b"no such luck" in finished.files["console.log"]


def test_a_guest_that_just_ends(run_with: RunWith) -> None:
    finished = run_with("poweroff -f")
    assert finished.result.outcome == "failed"
    assert "without results" in finished.result.reason


def test_jobs_that_fio_refuses_or_that_have_no_room(study_file: StudyWriter, tmp_path: Path) -> None:
    """The reason is what fio said of it, or the limit by its name."""
    jobs = {
        "value.fio": ("rw=writ", "step measure: exit status 1: fio: failed parsing rw=writ"),
        "option.fio": ("rwx=write", "step measure: exit status 1: Bad option <rwx=write>"),
        "trim.fio": ("rw=trim", "Inappropriate ioctl for device"),
        "full.fio": ("rw=write\nbs=64k\nsize=100M", "No space left on device"),
        "log.fio": ("rw=write\nsize=64k\nexec_postrun=dd if=/dev/zero of=/out/big bs=1M count=20", "is more than 16M"),
    }
    for name, (text, _) in jobs.items():
        (tmp_path / name).write_text(f"[a]\nsize=64k\n{text}\n")
    body = f"[axes]\njob = {list(jobs)}\n[workload]\ntool = 'fio'\n"
    study = load_study(study_file(body, filesystem="ext2", medium="usb-stick-2g:used_bytes=32M"))
    for planned in run.prepare(study):
        name = planned.cell.coordinates["job"]
        (tmp_path / f"{name}.work").mkdir()
        finished = repetition.execute(planned, tmp_path / f"{name}.work", 120, threading.Event())
        assert finished.result.outcome == "failed"
        assert jobs[name][1] in finished.result.reason


def test_a_guest_that_fills_its_outbox_itself(run_with: RunWith) -> None:
    """A job is root: it hands out an archive of its own, whose names lead out of any folder, and ends the guest."""
    sent = io.BytesIO()
    with tarfile.open(fileobj=sent, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("failed"))
        archive.addfile(tarfile.TarInfo("../../../x"))
    packed = base64.b64encode(gzip.compress(sent.getvalue(), mtime=0)).decode()
    box = "/sys/bus/pci/devices/0000:00:04.0"
    finished = run_with(
        f"echo 1 >{box}/enable; echo {packed} | base64 -d | gunzip -c | outbox {box}/resource2; poweroff -f"
    )
    assert finished.result.outcome == "failed"
    assert finished.result.reason == Facts("leads out of its folder", '"../../../x"')
    assert list(finished.files) == ["console.log"]
