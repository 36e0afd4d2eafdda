# SPDX-License-Identifier: Apache-2.0
"""Several CPUs in the emulator's time: each as fast as it should be, whatever the others do, and the same each time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support import bare_metal
from tests.support.bare_metal import EXCLUSIVE, LSE, Machine

LONG = pytest.mark.long
MANY = [1, 2, 8, pytest.param(32, marks=LONG), pytest.param(120, marks=LONG)]
SLICE = 100


@pytest.mark.parametrize("busy", ["all", "one", "three", "half"])
@pytest.mark.parametrize("cpus", MANY)
def test_a_million_instructions_take_a_millisecond(cpus: int, busy: str) -> None:
    executing = {"all": cpus, "one": 1, "three": min(3, cpus), "half": cpus // 2 or 1}[busy]
    took = bare_metal.run(Machine(cpus), bare_metal.built("loop"), cpus, executing, 500_000)
    assert len(took) == executing
    assert all(abs(ns - 1_000_000) < 1_000 for [ns] in took)


@pytest.mark.parametrize("cpus", [2, 8, pytest.param(120, marks=LONG)])
def test_a_cpu_keeps_its_pace_while_others_wake_and_sleep(cpus: int) -> None:
    [[took]] = bare_metal.run(Machine(cpus), bare_metal.built("visits"), cpus, 500_000)
    assert abs(took - 1_000_000) < 1_000


@pytest.mark.parametrize("mips", [520, 3000])
def test_other_rates_are_as_exact(mips: int) -> None:
    for [ns] in bare_metal.run(Machine(4, mips=mips), bare_metal.built("loop"), 4, 4, 500_000):
        assert abs(ns - 1e9 / mips) < 1e6 / mips


@pytest.mark.parametrize("lock", ["ticket", "queue"])
@pytest.mark.parametrize("cpus", [2, 4, 8, pytest.param(32, marks=LONG), pytest.param(120, marks=LONG)])
def test_a_lock_is_passed_on_as_fast_as_it_is_held(cpus: int, lock: str) -> None:
    """A little more than what it is held for is the lock's own instructions; alone, a CPU needs them too."""
    held = 10 * SLICE
    alone = bare_metal.ns_per_turn(Machine(1), lock, held, 0, 1_000_000)
    assert held < alone < held + 30
    assert bare_metal.ns_per_turn(Machine(cpus), lock, held, 0, 4_000_000) == pytest.approx(alone, rel=0.03)


@pytest.mark.parametrize("cpus", [2, 8])
@pytest.mark.parametrize("mips", [520, 1000, 3000])
def test_a_cpu_is_busy_for_what_it_says_and_the_others_go_on(cpus: int, mips: int) -> None:
    busy_ns = 123_457
    busy, *others = bare_metal.run(Machine(cpus, mips=mips), bare_metal.built("busy"), cpus, 1, busy_ns)
    slack = 2 * SLICE * 1000 / mips
    assert abs(busy[0] - busy_ns) <= slack
    assert all(abs(ns - 1e9 / mips) <= slack for [ns] in others)


def test_a_cpu_alone_is_busy_to_the_nanosecond() -> None:
    """The program's own instructions around it are those that it needs for none at all."""
    [[around]] = bare_metal.run(Machine(1), bare_metal.built("busy"), 1, 1, 0)
    [[took]] = bare_metal.run(Machine(1), bare_metal.built("busy"), 1, 1, 12_345)
    assert took - around in (12_344, 12_345)  # the instruction itself is a part of it, and none of nothing


@pytest.mark.parametrize("busy_ns", [2**63 - 1, 2**63, 2**64 - 1])
def test_a_cpu_is_busy_for_a_second_at_most(busy_ns: int) -> None:
    """Any program can execute the hint, with anything in X0. From 2^63 on the number is negative: nothing is asked."""
    [[took]] = bare_metal.run(Machine(1), bare_metal.built("busy"), 1, 1, busy_ns)
    assert abs(took - (1_000_000_000 if busy_ns < 2**63 else 0)) <= 1_000


@pytest.mark.parametrize(("cpus", "busy"), [(1, 0), (2, 1), (8, 0), (8, 7), pytest.param(120, 60, marks=LONG)])
def test_a_timer_wakes_its_cpu_in_time(cpus: int, busy: int) -> None:
    late = bare_metal.run(Machine(cpus), bare_metal.built("timers"), cpus, busy)
    assert len(late) == cpus - busy
    assert max(worst for worst, _ in late) <= 2 * SLICE
    assert sum(total for _, total in late) / (20 * len(late)) <= SLICE


@pytest.mark.parametrize("architecture", [EXCLUSIVE, LSE])
@pytest.mark.parametrize("cpus", [*MANY])
def test_the_same_machine_prints_the_same_each_time(cpus: int, architecture: str) -> None:
    machine = Machine(cpus, line_same=60, line_other=200, topology=f",sockets={2 if cpus > 1 else 1}")
    # Each CPU's turns of a lock that no order makes fair: they change with any instruction that comes elsewhere
    numbers = (bare_metal.LOCKS["test-and-set"], cpus, 100, 300, 500_000)
    first, second = (bare_metal.run(machine, bare_metal.built("lock", architecture), *numbers) for _ in range(2))
    company = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        beside = bare_metal.run(machine, bare_metal.built("lock", architecture), *numbers)
    finally:
        for process in company:
            process.kill()
            process.wait()
    assert len(first) == cpus
    assert first == second == beside
