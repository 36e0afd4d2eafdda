# SPDX-License-Identifier: Apache-2.0
"""The emulator's notes of a guest's system calls: exact, and without a trace in the guest."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.guest_output import processes, program_calls, system_calls
from flashbed.guest_output.program_calls import FileCosts, Operation, ProgramCalls, Spent
from flashbed.guest_output.system_calls import CALL_NOTES, Number
from flashbed.machine.outcomes import Outcome
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Needs
from tests.machine import raw_chip
from tests.machine.test_shared_beginnings import FIO, PATTERNS, as_from_power_on
from tests.support import guest_rig
from tests.support.fixture_types import Measure, StudyWriter

SCRIPT = """\
echo hello >/mnt/a
echo again >>/mnt/a
dd if=/dev/zero of=/mnt/new bs=4k count=5 conv=fsync
mv /mnt/new /mnt/kept
cat /mnt/kept | wc -c >/out/bytes
cd /mnt
(echo sub >b; rm b)
sync
mkdir /tmp/root /tmp/root/bin /tmp/root/mnt
mount -o bind /mnt /tmp/root/mnt
cp /bin/busybox /tmp/root/bin
chroot /tmp/root /bin/busybox sh -c 'echo inside >/mnt/c'
sleep 0.1 & wait
exit 0
"""
"""What it does on the medium is known: see the first test."""

TWO_AT_ONCE = """\
fio --name=t --thread --numjobs=3 --directory=/mnt --size=64k --rw=write --bs=4k --fsync=4 --output=/out/fio.txt &
dd if=/dev/zero of=/mnt/beside bs=1k count=100 conv=fsync
wait
"""


def guest(study: Path, folder: Path, script: str, *, calls: bool = True) -> Outcome:
    return guest_rig.boot(guest_rig.new(study, folder), measure=script, calls=calls)


def what(file: FileCosts) -> dict[Operation, tuple[int, int]]:
    return {operation: (calls.calls, calls.moved_bytes) for operation, calls in file.calls.items()}


def on_medium(calls: ProgramCalls) -> dict[str, dict[Operation, tuple[int, int]]]:
    return {file.path: what(file) for file in calls.files if file.is_on_medium and file.calls}


def test_a_scripts_calls_are_noted_and_nothing_else_changes(study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="usb-stick-2g")
    noted, alone = (guest(study, tmp_path / str(calls), SCRIPT, calls=calls) for calls in (True, False))
    files = dict(noted.files)
    del files[CALL_NOTES]
    assert files == alone.files  # the guest's clocks are among them
    assert noted.console == alone.console
    costs = program_calls.program_calls(noted.files)
    assert on_medium(costs) == {
        "/mnt/a": {Operation.OPEN: (2, 0), Operation.WRITE: (2, 12)},
        "/mnt/new": {Operation.OPEN: (1, 0), Operation.WRITE: (5, 20480), Operation.FLUSH: (1, 0)},
        "/mnt/kept": {Operation.RENAME: (1, 0), Operation.OPEN: (1, 0), Operation.READ: (2, 20480)},
        "/mnt/b": {Operation.OPEN: (1, 0), Operation.WRITE: (1, 4), Operation.UNLINK: (1, 0)},
        "/mnt/c": {Operation.OPEN: (1, 0), Operation.WRITE: (1, 7)},
    }
    assert costs.written_bytes == 12 + 20480 + 4 + 7
    assert {operation: calls.calls for operation, calls in costs.operations.items()} == {
        Operation.READ: 2,
        Operation.WRITE: 9,
        Operation.FLUSH: 2,  # and sync
        Operation.OPEN: 6,
        Operation.RENAME: 1,
        Operation.UNLINK: 1,
    }
    assert noted.files["bytes"] == b"20480\n"
    shell, *children = costs.processes
    assert shell.program == "sh"
    assert {child.parent for child in children} == {shell.pid}
    first = shell.pid or 0
    assert {child.pid for child in children} == set(range(first + 1, first + 1 + len(children)))
    sleeper = next(child for child in children if child.program == "sleep")
    assert 100_000_000 < sleeper.spent_ns[Spent.WAITING] < 101_000_000
    assert costs.spent_ns[Spent.FLUSH] > costs.spent_ns[Spent.READ] > 0
    assert min(ns for child in costs.processes for ns in child.spent_ns.values()) >= 0
    inside = program_calls.program_calls(noted.files, ["/tmp/root"])
    assert [(process.program, process.written_bytes) for process in inside.processes] == [("busybox", 7)]


def test_two_programs_on_four_cpus_give_the_same_notes_each_time(study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(guest_rig.STUDY, board="arm64-1000:cpus=4", filesystem="ext2", medium="null-2g")
    first, again = (guest(study, tmp_path / name, TWO_AT_ONCE) for name in ("first", "again"))
    assert first.files == again.files
    costs = program_calls.program_calls(first.files)
    files = on_medium(costs)
    assert files["/mnt/beside"] == {
        Operation.OPEN: (1, 0),
        Operation.WRITE: (100, 102400),
        Operation.FLUSH: (1, 0),
    }
    for number in range(3):
        of_thread = files[f"/mnt/t.{number}.0"]
        assert (of_thread[Operation.WRITE], of_thread[Operation.FLUSH]) == ((16, 65536), (3, 0))
    fio = next(process for process in costs.processes if process.program == "fio")
    assert fio.written_bytes == 3 * 65536
    assert min(ns for process in costs.processes for ns in process.spent_ns.values()) >= 0


def test_calls_that_are_hard_to_follow(study_file: StudyWriter, tmp_path: Path) -> None:
    """Threads by clone3, a child in its parent's memory, a read that a signal restarts, numbers that no call has."""
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g")
    rig, beside = guest_rig.new(study, tmp_path), {"calls": raw_chip.own_program("calls")}
    outcome = guest_rig.boot(rig, measure="chmod +x /job/calls; exec /job/calls", beside=beside, calls=True)
    costs = program_calls.program_calls(outcome.files)
    written = {path: calls[Operation.WRITE] for path, calls in on_medium(costs).items()}
    assert written == {
        "/mnt/first": (1, 4),
        "/mnt/thread.0": (1, 1),
        "/mnt/thread.1": (1, 2),
        "/mnt/thread.2": (1, 3),
        "/mnt/last": (1, 5),
    }
    by_program = {process.program: process for process in costs.processes}
    assert (by_program["calls"].written_bytes, by_program["busybox"].parent) == (15, by_program["calls"].pid)
    assert {process.program for process in costs.processes} == {"calls", "busybox", "sh"}
    followed = processes.follow(
        notes := system_calls.notes(outcome.files[CALL_NOTES]), system_calls.window(notes).begin_ns
    )
    pipe = [call for call in followed.calls if call.files and call.files[0].path == "pipe"]
    assert [(call.note.number, call.result) for call in pipe if call.note.number in (Number.READ, Number.WRITE)] == [
        *((Number.READ, None), (Number.WRITE, 1), (Number.READ, 1))
    ]
    (dying,) = {thread.process.ended_ns for thread in followed.threads if thread.process.program == "calls"}
    assert dying is not None
    assert by_program["calls"].spent_ns[Spent.WAITING] > 5_000_000  # for the signal


def test_notes_are_the_same_with_a_shared_beginning(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(WORKLOADS["fio"]), "needs", lambda *_: Needs(calls=True))
    study = study_file(f"[axes]\n{PATTERNS}\n[workload]\n{FIO}", filesystem="ext2")
    shared = as_from_power_on(study, measure, tmp_path)
    assert program_calls.of_notes(shared.files[f"out/{CALL_NOTES}"]).written_bytes == 128 << 10
