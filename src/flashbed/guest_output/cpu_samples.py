# SPDX-License-Identifier: Apache-2.0
"""Compute where the CPUs spent a test's time, from the emulator's samples (emulator/lab-profile.h): at fixed intervals
of the guest's time, the function of each CPU that was not idle.

The file has a section for each time that the guest requested samples: a line with the period, the CPUs, begin and end
(ns), then a line for each function with its samples. Must not know who requested them.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

RAW_SAMPLES, NAMED_SAMPLES, MODULE_SYMBOLS = "profile.raw", "profile.txt", "module_symbols.txt"
"""The emulator's file with addresses; the same file with names; the addresses and names of the guest's modules."""

USER = "[user]"
UNKNOWN = "[unknown]"

OSQ = frozenset({"osq_lock"})
"""The queue of CPUs that spin for a mutex or an rwsem. The samples do not say for which of the two."""

RWSEM = frozenset(
    {
        "rwsem_down_read_slowpath",
        "rwsem_down_write_slowpath",
        "rwsem_optimistic_spin",
        "rwsem_spin_on_owner",
    }
)
SPINNING = (
    OSQ
    | RWSEM
    | {
        "__mutex_lock",
        "mutex_spin_on_owner",
        "native_queued_spin_lock_slowpath",
        "queued_read_lock_slowpath",
        "queued_spin_lock_slowpath",
        "queued_write_lock_slowpath",
    }
)
"""Kernel functions in which a CPU only waits for a lock (kernel/locking)."""

_USER_BELOW = 1 << 63


@dataclass(frozen=True)
class SampleSection:
    """One section: samples by function. Times are in ns."""

    period_ns: int
    cpus: int
    began_ns: int
    ended_ns: int
    samples: Mapping[str, int]

    def percent(self, functions: Iterable[str]) -> float | None:
        """Return the share of busy CPU time spent in `functions`, in percent; None if no CPU was busy at any sample."""
        busy = sum(self.samples.values())
        return 100.0 * sum(self.samples.get(name, 0) for name in functions) / busy if busy else None

    def busy_cpus(self) -> float:
        """Return the mean number of busy CPUs."""
        return sum(self.samples.values()) * self.period_ns / (self.ended_ns - self.began_ns)


def metrics(section: SampleSection) -> dict[str, float]:
    """Return the shares of busy CPU time in osq_lock, in rwsems' own waiting and in all waiting for locks, and the
    number of busy CPUs.
    """
    shares = {
        "osq_lock_percent": section.percent(OSQ),
        "rwsem_percent": section.percent(RWSEM),
        "spinning_percent": section.percent(SPINNING),
    }
    sampled = {name: percent for name, percent in shares.items() if percent is not None}
    return {**sampled, "busy_cpus": section.busy_cpus()}


def sections(out: Mapping[str, bytes]) -> list[SampleSection]:
    """Return the sections in a guest's files; [] without samples. Raises ValueError."""
    result: list[SampleSection] = []
    samples: dict[str, int] = {}
    for line in out.get(NAMED_SAMPLES, b"").decode().splitlines():
        fields = line.split()
        if len(fields) == 4:
            samples = {}
            period_ns, cpus, began_ns, ended_ns = map(int, fields)
            result.append(SampleSection(period_ns, cpus, began_ns, ended_ns, samples))
        else:
            samples[fields[1]] = int(fields[0])
    return result


class Functions:
    """Function names by address. `symbols` are lines of System.map or /proc/kallsyms. Raises ValueError."""

    def __init__(self, symbols: Iterable[str]) -> None:
        self._table = _functions(symbols)
        self._addresses = [address for address, _ in self._table]

    def at(self, address: int) -> str:
        """Return the function at an address; USER for a program's, UNKNOWN if there is none."""
        if address < _USER_BELOW:
            return USER
        place = bisect.bisect_right(self._addresses, address) - 1
        return self._table[place][1] if place >= 0 else UNKNOWN


def named(raw: str, symbols: Iterable[str]) -> str:
    """Return the emulator's file with functions in place of addresses, most samples first. `symbols` are lines of
    System.map or /proc/kallsyms.
    """
    functions = Functions(symbols)
    text: list[str] = []
    counts: dict[str, int] = {}

    def finish() -> None:
        text.extend(f"{many} {name}\n" for name, many in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
        counts.clear()

    for line in raw.splitlines():
        fields = line.split()
        if len(fields) == 4:
            finish()
            text.append(f"{line}\n")
            continue
        name = functions.at(int(fields[0], 16))
        counts[name] = counts.get(name, 0) + int(fields[1])
    finish()
    return "".join(text)


def _functions(symbols: Iterable[str]) -> list[tuple[int, str]]:
    """Return the addresses of functions with their names, ascending. Suffixes that a compiler added to a name are
    removed.
    """
    by_address: dict[int, str] = {}
    for line in symbols:
        address, kind, name, *_ = line.split()
        if kind in "tTwW" and not name.startswith("$"):
            by_address.setdefault(int(address, 16), name.partition(".")[0])
    return sorted(by_address.items())
