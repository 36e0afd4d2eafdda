# SPDX-License-Identifier: Apache-2.0
"""A guest one of whose CPUs hangs is told with its cause within a minute or so of the host's time, not after the limit.

It is CPU time: how much of a core a guest gets on a busy host is nothing that the lab decides.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flashbed.common import paths, programs
from flashbed.execution import repetition
from flashbed.image.guest_parts import ProgramSet
from flashbed.machine import outcomes
from flashbed.study.plan import Cell
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter
from tests.support.repository import REPOSITORY

TOLD_WITHIN_S = 90
"""A slow host takes 65 s for 120 CPUs that take no interrupts, 15 of it until they are up."""

HANG = REPOSITORY / "tests/guest/hang"

OF_A_HANG = int(re.findall(r"MOST_INSTRUCTIONS +(\d+)", (REPOSITORY / "emulator/lab-watch.c").read_text())[0])
"""The number of instructions after which the emulator ends a guest that hangs."""

ROUND = "one of its CPUs went round without an end"
LOCK = "queued_spin_lock_slowpath"
HANGS = {
    "spin": rf"{ROUND} \(CPU {{last}} lets no other task run for \d+ ms",
    "masked": rf"{ROUND} \(CPU {{last}} takes no interrupts",
    "deadlock": rf"{ROUND} \(CPU ({{last_but_one}}|{{last}}) lets no other task run for \d+ ms, in {{lock}}\)",
    "everywhere": rf"{ROUND} \(CPU \d+ lets no other task run",
    "deaf": rf"{ROUND} \(CPU \d+ takes no interrupts",
    "sleep": "a task was blocked for 600 s of its time",
    "panic": r"the guest's kernel panicked \(as the test wants it\)",
    "late": r"the guest's kernel panicked \(as the test wants it\)",
    "oops": r"the guest's kernel panicked \(Oops: Fatal exception\)",
}
"""How CPUs hang, in the words of tests/guest/hang/hang.c, and how that is told of the CPU that hangs: in a deadlock of
the last two, either is one. A module's functions have no names there."""

LONG = [("deaf", 4), *((how, 8) for how in ("spin", "deadlock")), *((how, 120) for how in HANGS)]
CASES = [("deaf", 1), *((how, 4) for how in HANGS if how != "deaf")]
"""How CPUs hang, and on how many CPUs. That all of several hang, and that one of several takes no interrupts, each is
checked in every run; all of several without interrupts repeats both.
"""


@pytest.fixture
def with_hang(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Add the module that makes CPUs hang to each guest. Its source lies beside the modules of kernel/ while the test
    runs.
    """
    of_cell = repetition.program_set
    folders = tmp_path / "kernel"
    folders.mkdir()
    for folder in (*paths.kernel().iterdir(), HANG):
        (folders / folder.name).symlink_to(folder)
    monkeypatch.setattr(paths, "kernel", lambda: folders)

    def program_set(cell: Cell) -> ProgramSet:
        programs = of_cell(cell)
        return programs._replace(modules=(*programs.modules, "hang"))

    monkeypatch.setattr(repetition, "program_set", program_set)


@pytest.mark.parametrize(("how", "cpus"), [*CASES, *(pytest.param(*case, marks=pytest.mark.long) for case in LONG)])
def test_a_cpu_that_hangs_is_told(
    how: str, cpus: int, with_hang: None, study_file: StudyWriter, tmp_path: Path
) -> None:
    """The CPUs that do not hang wait for a process that sleeps for an hour."""
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g", board=f"arm64-1000:cpus={cpus}")
    rig = guest_rig.new(study, tmp_path / "work")
    before = programs.cpu_s()
    outcome = guest_rig.outcome_of(rig, measure=f"insmod /lib/flashbed/hang.ko how={how}\nsleep 3600\n")
    spent = programs.cpu_s() - before
    outcome = outcomes.with_functions(outcome, rig.planned.image.kernel.symbols)
    assert outcome.status == "failed", outcome.reason
    assert spent < TOLD_WITHIN_S
    assert re.search(HANGS[how].format(last=cpus - 1, last_but_one=cpus - 2, lock=LOCK), outcome.reason), outcome.reason


def test_a_cpu_may_keep_to_one_task_while_the_others_are_idle(
    with_hang: None, study_file: StudyWriter, tmp_path: Path
) -> None:
    """The limit is of all CPUs together: one may work longer than its share. A write of 100 MiB in one bio does."""
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g", board="arm64-1000:cpus=16")
    rig = guest_rig.new(study, tmp_path / "work")
    outcome = guest_rig.outcome_of(rig, measure="insmod /lib/flashbed/hang.ko how=long\nsleep 1\n")
    assert outcome.status == "measured", outcome.reason


def test_cpus_that_work_hard_do_not_hang(study_file: StudyWriter, tmp_path: Path) -> None:
    """Four processes that never sleep on each of two CPUs beside one that writes, for more instructions than a CPU that
    hangs may take. Some stay in the kernel, some in a program, and two start programs all the time.
    """
    work = """
        now() {
            cut -d " " -f 1 /proc/uptime | tr -d .
        }
        end=$(($(now) + 170))
        for process in 1 2 3; do
            dd if=/dev/zero of=/dev/null bs=1M &
            busy="$busy $!"
            while :; do :; done &
            busy="$busy $!"
        done
        for process in 7 8; do
            while [ $(now) -lt $end ]; do :; done &
            starts="$starts $!"
        done
        dd if=/dev/zero of=/mnt/file bs=1M count=32 conv=fsync
        wait $starts
        kill $busy
        echo $(($(now) - end + 170)) >/out/hundredths
    """
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g", board="arm64-1000:cpus=2,ram=512M")
    rig = guest_rig.new(study, tmp_path / "work")
    outcome = guest_rig.outcome_of(rig, measure=work)
    assert outcome.status == "measured"
    instructions = int(outcome.files["hundredths"]) * 10_000 * 1000 * 2
    assert instructions > OF_A_HANG
