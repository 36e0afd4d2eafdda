# SPDX-License-Identifier: Apache-2.0
"""Measure several CPUs: the instructions that the emulator executes in a second of this host, how evenly CPUs advance,
and how locks scale with and without a cost for cache lines that move between cores.

    python -m bench.several_cpus [--quick]

The instructions per second are this host's. All other figures are in virtual time, and the same on every host; they are
in docs/time.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from flashbed.common import programs
from tests.support import bare_metal
from tests.support.bare_metal import Machine

CPUS = (1, 2, 4, 8, 32, 120)
SLICE = 100
HELD, OUTSIDE = 200, 2000
SAME, OTHER, OF_SOCKET = 40, 120, 6
CROWDS = (1, 2, 4, 6, 8, 12, 24, 48)


def host_rate(cpus: int, instructions: int) -> float:
    """Return the million instructions per CPU second of this host, of all CPUs of the machine together."""
    before = programs.cpu_s()
    bare_metal.run(Machine(cpus, slice=SLICE), bare_metal.built("loop"), cpus, cpus, instructions // cpus // 2)
    return instructions / 1e6 / (programs.cpu_s() - before)


def farthest_off(cpus: int, busy: int) -> float:
    """Return how much the slowest or fastest CPU differs from one millisecond per million instructions, in percent."""
    took = bare_metal.run(Machine(cpus, slice=SLICE), bare_metal.built("loop"), cpus, busy, 500_000)
    return max(abs(ns - 1e6) for [ns] in took) / 1e4


def print_speed(counts: Sequence[int], instructions: int) -> None:
    print("CPUs   host's M instr/s   off 1 ms, all busy   off, one busy   lock held 10 slices, ns a turn")
    for cpus in counts:
        turn = bare_metal.ns_per_turn(Machine(cpus, slice=SLICE), "queue", 10 * SLICE, 0, 2_000_000)
        rate, all_busy, one_busy = host_rate(cpus, instructions), farthest_off(cpus, cpus), farthest_off(cpus, 1)
        print(f"{cpus:4d} {rate:15.0f} {all_busy:19.3f} % {one_busy:15.3f} % {turn:18.0f}")


def scaling(cpus: int, alone: Mapping[str, float], ns: int) -> dict[str, tuple[float, float]]:
    """Return the turns per second of each kind of lock, as a multiple of those of one CPU: with the cost of cache
    lines, and without it. They are measured over `ns` nanoseconds. `alone` has the nanoseconds of a turn of one CPU. A
    lock that costs nothing itself would stay below (HELD + OUTSIDE) / HELD.
    """
    sockets = CROWDS[-1] // OF_SOCKET
    topology = f",maxcpus={CROWDS[-1]},sockets={sockets},cores={OF_SOCKET},threads=1"
    priced = Machine(cpus, slice=50, line_same=SAME, line_other=OTHER, topology=topology)
    free = Machine(cpus, slice=20, topology=topology)
    return {kind: (one / turn_ns(priced, kind, ns), one / turn_ns(free, kind, ns)) for kind, one in alone.items()}


def turn_ns(machine: Machine, kind: str, ns: int) -> float:
    return bare_metal.ns_per_turn(machine, kind, HELD, OUTSIDE, ns)


def of_one_cpu(ns: int) -> dict[str, float]:
    """Return the nanoseconds of a turn of each kind of lock on one CPU, measured over `ns` nanoseconds."""
    return {kind: turn_ns(Machine(1), kind, ns) for kind in bare_metal.LOCKS}


def print_locks(crowds: Sequence[int], ns: int) -> None:
    print(
        f"\nTurns of a lock a second, of one CPU's; held for {HELD} instructions, {OUTSIDE} between, {OF_SOCKET} cores"
    )
    print(f"a socket, {SAME} ns a line within one and {OTHER} ns between two; 'free': lines cost nothing")
    print("CPUs " + "".join(f"{kind:>25}{'free':>7}" for kind in bare_metal.LOCKS))
    alone = of_one_cpu(ns)
    for cpus in crowds:
        turns = scaling(cpus, alone, ns).values()
        print(f"{cpus:4d} " + "".join(f"{priced:15.2f}{free:8.2f}" for priced, free in turns), flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    arguments.add_argument("--quick", action="store_true", help="only to see that it runs")
    quick = arguments.parse_args().quick
    if quick:
        print_speed(CPUS[::5], 2_000_000)
        print_locks(CROWDS[::7], 100_000)
    else:
        print_speed(CPUS, 200_000_000)
        print_locks(CROWDS, 1_000_000)


if __name__ == "__main__":
    main()
