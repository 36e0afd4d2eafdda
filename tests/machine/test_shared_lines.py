# SPDX-License-Identifier: Apache-2.0
"""The price of a cache line that moves between cores: who pays, and what it makes of locks."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.support import bare_metal
from tests.support.bare_metal import EXCLUSIVE, LSE, Machine

NS = 500_000


def turn(cpus: int, lock: str, *, outside: int = 1000, architecture: str = LSE, same: int = 60, **rest: Any) -> float:
    machine = Machine(cpus, slice=50, line_same=same, line_other=same, **rest)
    return bare_metal.ns_per_turn(machine, lock, 200, outside, NS, architecture)


def test_a_cpu_alone_pays_nothing() -> None:
    assert turn(1, "ticket") == turn(1, "ticket", same=0)


@pytest.mark.parametrize("architecture", [EXCLUSIVE, LSE])
def test_a_ticket_lock_collapses_and_a_queue_lock_does_not(architecture: str) -> None:
    """Each turn of a ticket lock takes the line from all that wait, and hands it to each again, one after the other."""
    ticket = {cpus: turn(cpus, "ticket", architecture=architecture) for cpus in (4, 8, 16)}
    queue = {cpus: turn(cpus, "queue", architecture=architecture) for cpus in (8, 16)}
    assert ticket[16] > 2.5 * ticket[4]
    assert ticket[16] > 1.7 * ticket[8]
    assert queue[16] == pytest.approx(queue[8], rel=0.03)
    assert queue[16] < 200 + 3 * 60


@pytest.mark.parametrize("lock", ["ticket", "queue"])
def test_exclusive_accesses_cost_what_atomic_instructions_do(lock: str) -> None:
    assert turn(8, lock, architecture=EXCLUSIVE) == pytest.approx(turn(8, lock, architecture=LSE), rel=0.05)


@pytest.mark.parametrize("lock", ["ticket", "queue"])
def test_the_length_of_slices_decides_nothing(lock: str) -> None:
    def with_slices(length: int) -> float:
        return bare_metal.ns_per_turn(Machine(8, slice=length, line_same=60, line_other=60), lock, 200, 1000, NS)

    assert with_slices(25) == pytest.approx(with_slices(100), rel=0.05)


def test_a_queue_that_waits_by_plain_loads_pays_too() -> None:
    """Its node's line is known, as the node is also linked by atomic operations."""
    assert turn(8, "queue of plain accesses") == pytest.approx(turn(8, "queue"), rel=0.15)
    assert turn(8, "queue of plain accesses") > 200 + 60


@pytest.mark.parametrize("cpus", [1, 2, 8])
def test_a_pair_on_two_lines_waits_for_both(cpus: int) -> None:
    """Where others store meanwhile most wait for one line and then for the other; all that ask stand in a queue."""
    times, outside, ns = 200, 400, 60
    machine = Machine(cpus, slice=50, line_same=ns, line_other=ns)
    took = bare_metal.run(machine, bare_metal.built("pairs"), cpus, times, outside // 2, limit_s=60)
    assert len(took) == cpus
    [slowest] = max(took)
    if cpus == 1:
        assert slowest < times * (outside + 10)
    else:
        assert times * (outside + 1.5 * ns) < slowest < times * (outside + 10 + 2.1 * ns * (cpus - 1))


def test_another_socket_costs_its_own_price() -> None:
    def two_cpus(topology: str) -> float:
        machine = Machine(2, slice=50, line_same=50, line_other=400, topology=topology)
        return bare_metal.ns_per_turn(machine, "queue", 200, 0, NS)

    together, apart = two_cpus(",sockets=1,cores=2,threads=1"), two_cpus(",sockets=2,cores=1,threads=1")
    threads = two_cpus(",sockets=1,cores=1,threads=2")
    assert threads < together < apart
    assert threads < 250  # the threads of a core share its copies
    assert apart - together > 350


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("line_same=-1", "line_same and line_other must be 1 to 1000000"),
        ("line_other=100", "line_other needs line_same"),
        ("slice=0", "slice must be 1 to 1000000"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: str, message: str) -> None:
    command = bare_metal.command(Machine(2), bare_metal.built("loop"), 2, 2, 1)
    command[command.index("-icount") + 1] = f"mips=1000,{options}"
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert message in done.stderr
