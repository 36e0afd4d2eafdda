# SPDX-License-Identifier: Apache-2.0
"""Faults of processes: a run is killed, terminated or stopped for a while; its guest or another child is killed; one of
two runs that share the cache is killed.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time

from faults import processes
from faults.bed import Bed
from faults.fault import Fault, Note, disturbed, wait_for_moment
from faults.runs import Begun

ENDS_WITHIN_S = 30.0
"""The time within which a terminated run must end. It takes about a second if the host is not busy."""

UNHANDLED = {signal.SIGTERM: -signal.SIGTERM, signal.SIGINT: -signal.SIGINT}
"""The status of a run that is terminated before Python has read its first line: the signal, as for any program."""


def _prepared(bed: Bed, chance: random.Random, note: Note, parts: bool = True) -> tuple[Begun, int, int]:
    missing, jobs = disturbed(bed, chance, parts), chance.randint(1, 2)
    note.detail = f"{missing} results missing, {jobs} at a time"
    return bed.begin_run(jobs), missing, jobs


def _signal(process: int, number: signal.Signals) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)
        return True
    return False


def kill(bed: Bed, chance: random.Random, note: Note) -> None:
    """Kill a run by SIGKILL."""
    run, missing, jobs = _prepared(bed, chance, note)
    wait_for_moment(bed, run, chance, missing, jobs, note)
    run.process.kill()
    note.end(run, (0, -signal.SIGKILL))


def ask(number: signal.Signals) -> Fault:
    """Return the fault that sends SIGTERM to a run, or SIGINT to its process group, as a terminal does at Ctrl-C."""

    def act(bed: Bed, chance: random.Random, note: Note) -> None:
        run, missing, jobs = _prepared(bed, chance, note)
        wait_for_moment(bed, run, chance, missing, jobs, note)
        if number == signal.SIGINT and not run.is_over:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.process.pid, number)
        else:
            run.process.send_signal(number)
        early = (UNHANDLED[number],) if not run.output() else ()
        note.end(run, (0, 130, *early), ENDS_WITHIN_S)

    names = {signal.SIGTERM: "SIGTERM", signal.SIGINT: "Ctrl-C"}
    return Fault(f"{names[number]} to a run", 10 if number == signal.SIGTERM else 4, act, "processes")


def stop(bed: Bed, chance: random.Random, note: Note) -> None:
    """Stop a run, and continue it after a while. It must end as usual."""
    run, missing, jobs = _prepared(bed, chance, note)
    wait_for_moment(bed, run, chance, missing, jobs, note)
    _signal(run.process.pid, signal.SIGSTOP)
    time.sleep(chance.uniform(0.1, 3))
    _signal(run.process.pid, signal.SIGCONT)
    note.end(run, (0,))


def stop_and_kill(bed: Bed, chance: random.Random, note: Note) -> None:
    """Stop a run, and kill it after a while."""
    run, missing, jobs = _prepared(bed, chance, note)
    wait_for_moment(bed, run, chance, missing, jobs, note)
    _signal(run.process.pid, signal.SIGSTOP)
    time.sleep(chance.uniform(0.1, 2))
    run.process.kill()
    note.end(run, (0, -signal.SIGKILL))


def _guest(bed: Bed, run: Begun, not_these: frozenset[int] = frozenset()) -> int | None:
    """Wait for a guest that is not in `not_these`, and return its process ID; None if the run ends first."""
    while not run.is_over:
        for process in processes.of(bed.cache):
            if process.is_guest and process.number not in not_these:
                return process.number
        time.sleep(0.05)
    return None


def guest(times: int, number: signal.Signals, name: str, weight: float) -> Fault:
    """Return the fault that kills QEMU alone, as Linux does if memory is short, or stops it for a while."""

    def act(bed: Bed, chance: random.Random, note: Note) -> None:
        run, _, _ = _prepared(bed, chance, note, parts=False)
        seen: set[int] = set()
        for _ in range(times):
            guest_process = _guest(bed, run, frozenset(seen))
            if guest_process is None:
                break
            seen.add(guest_process)
            time.sleep(chance.uniform(0, 1.5))
            note.moment = "in a guest" if _signal(guest_process, number) else "a guest had just ended"
            if number == signal.SIGSTOP:
                time.sleep(chance.uniform(0.1, 2))
                _signal(guest_process, signal.SIGCONT)
        note.at_s = round(time.monotonic() - run.at, 3)
        note.end(run, (0,) if times == 1 else (0, 1))

    return Fault(name, weight, act, "processes")


def child(bed: Bed, chance: random.Random, note: Note) -> None:
    """Kill any process that a run has started: a compiler, apt, a checker, a shell, QEMU."""
    run, missing, jobs = _prepared(bed, chance, note)
    wait_for_moment(bed, run, chance, missing, jobs, note)
    children: list[processes.Process] = []
    while not run.is_over and not children:
        children = [process for process in processes.of(bed.cache) if process.number != run.process.pid]
    if children:
        victim = chance.choice(children)
        _signal(victim.number, signal.SIGKILL)
        note.detail += f"; killed {victim.name}"
    note.end(run, (0, 1, 3, 4))


def _second(bed: Bed, chance: random.Random, note: Note) -> tuple[Begun, Begun, int]:
    missing = disturbed(bed, chance)
    first = bed.begin_run(chance.randint(1, 2))
    time.sleep(chance.uniform(0, 1.5))
    second = bed.begin_run(chance.randint(1, 2))
    note.detail = f"{missing} results missing, the second {second.at - first.at:.1f} s later"
    return first, second, missing


def two(bed: Bed, chance: random.Random, note: Note) -> None:
    """Run a study twice at the same time."""
    first, second, _ = _second(bed, chance, note)
    note.moment = "at a time"
    note.end(first, (0,))
    note.end(second, (0,))


def two_and_kill(bed: Bed, chance: random.Random, note: Note) -> None:
    """Run a study twice at the same time, and kill, terminate or stop one of the runs."""
    runs = _second(bed, chance, note)
    victim, other = chance.sample(runs[:2], 2)
    wait_for_moment(bed, victim, chance, runs[2], 1, note)
    number = chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
    note.detail += f"; {number.name}"
    early = (UNHANDLED[number],) if number == signal.SIGTERM and not victim.output() else ()
    _signal(victim.process.pid, number)
    if number == signal.SIGSTOP:
        time.sleep(chance.uniform(0.1, 3))
        _signal(victim.process.pid, signal.SIGCONT)
    note.end(other, (0,))
    expected = {signal.SIGKILL: (0, -9), signal.SIGTERM: (0, 130, *early), signal.SIGSTOP: (0,)}
    note.end(victim, expected[number])


FAULTS = (
    Fault("kill -9 of a run", 16, kill, "processes"),
    ask(signal.SIGTERM),
    ask(signal.SIGINT),
    Fault("SIGSTOP, then SIGCONT", 6, stop, "processes"),
    Fault("SIGSTOP, then kill -9", 4, stop_and_kill, "processes"),
    guest(1, signal.SIGKILL, "kill -9 of QEMU", 8),
    guest(2, signal.SIGKILL, "kill -9 of QEMU, twice", 4),
    guest(1, signal.SIGSTOP, "QEMU stopped for a while", 3),
    Fault("kill -9 of any child", 8, child, "processes"),
    Fault("two runs at once", 8, two, "company"),
    Fault("two runs at once, one killed", 10, two_and_kill, "company"),
)
