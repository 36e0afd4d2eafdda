# SPDX-License-Identifier: Apache-2.0
"""The emulator's notes of system calls say what Debian's strace says of the same run, in the same guest."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from flashbed.guest_output import processes, system_calls
from flashbed.guest_output.processes import SystemCall
from flashbed.guest_output.system_calls import CALL_NOTES, Number
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Needs
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

SCRIPT = """\
cat >/tmp/script <<'END'
cd /mnt
echo hello >a
cat a | wc -c
cp a b
mkdir d; mv b d/c
(exec 5<>d/c; echo more >&5; cat <&5)
chroot / /bin/busybox cat /mnt/d/../a /none
sleep 0.1 & wait
rm a
exec fio --name=t --thread --numjobs=2 --directory=/mnt --size=32k --rw=randrw --bs=4k --fsync=4 --output=/out/fio.txt
END
strace -ff -n -y -X raw -s 0 -o /out/strace /bin/busybox sh /tmp/script
"""
LINE = re.compile(r"\[ *(\d+)\] \w+\((?:(-?\d+)<([^>]*)>)?.* = (\?|-?[0-9a-fx]+)(?:<[^>]*>)?(?: (?:(E\w+) )?\(.*)?$")

NO_CALL = re.compile(r"\[ *-?\d+\] (---|\+\+\+)")
"""A signal or an exit."""


class Said(NamedTuple):
    """A call, and the path of the descriptor that is its first argument; "" without one."""

    number: int
    result: int | None
    path: str


def of_strace(text: str) -> Iterator[Said]:
    for line in text.splitlines():
        if NO_CALL.match(line):
            continue
        match = LINE.match(line)
        assert match is not None, line
        number, _, path, result, error = match.groups()
        if error == "ERESTARTSYS":  # it begins again
            continue
        error = error.replace("ERESTARTNOHAND", "EINTR") if error else ""
        value = -getattr(errno, error) if error else None if result == "?" else int(result, 0)
        yield Said(int(number), value, _known(int(number), path or ""))


def of_notes(calls: list[SystemCall]) -> Iterator[Said]:
    for call in calls:
        number = call.note.number
        if call.result is None and number not in (Number.EXIT, Number.EXIT_GROUP):
            continue
        yield Said(number, call.result, _known(number, call.files[0].path if call.files else ""))


def _known(number: int, path: str) -> str:
    """Return the path if both say it: strace also says the directory of a call by path, and follows links in /sys."""
    return path if number in BY_DESCRIPTOR and path.startswith(("/mnt/", "/tmp/", "/out/")) else ""


BY_DESCRIPTOR = (
    Number.READ,
    Number.WRITE,
    Number.PREAD64,
    Number.PWRITE64,
    Number.FSYNC,
    Number.CLOSE,
    Number.FTRUNCATE,
)


def test_strace_says_the_same(study_file: StudyWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = Needs(packages=("strace",), programs=("/usr/bin/strace",), calls=True)
    monkeypatch.setattr(type(WORKLOADS["fio"]), "needs", lambda *_: needs)
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g")
    outcome = guest_rig.boot(guest_rig.new(study, tmp_path), measure=SCRIPT, calls=True)
    notes = system_calls.notes(outcome.files[CALL_NOTES])
    calls = processes.follow(notes, system_calls.window(notes).begin_ns).calls
    traced = {name: text for name, text in outcome.files.items() if name.startswith("strace.")}
    assert len(traced) > 10  # fio's threads among them
    compared, files = 0, set[str]()
    for name, text in traced.items():
        strace = list(of_strace(text.decode()))
        tid = int(name.removeprefix("strace."))
        noted = list(of_notes([call for call in calls if call.thread.tid == tid and call.note.number != Number.FAULT]))
        for place, (said, found) in enumerate(zip(strace, noted[-len(strace) :], strict=True)):
            assert found == said, (name, place)
        compared += len(strace)
        files |= {said.path for said in strace if said.path}
    assert compared > 500
    assert files >= {"/mnt/a", "/mnt/b", "/mnt/d/c", "/mnt/t.0.0", "/mnt/t.1.0", "/out/measure.txt", "/tmp/script"}
