# SPDX-License-Identifier: Apache-2.0
"""Where the CPUs spent a test's time, from the samples that the emulator took (emulator/lab-profile.h): every so many
nanoseconds of the guest's time, the function that each CPU was in that did not wait.

The file has a section for each time that the guest had samples taken: a line with the period, the CPUs, and when it
began and ended, ns; then a line for each function with its samples. Must not know who asked for it.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

RAW, PROFILE, MODULE_SYMBOLS = "profile.raw", "profile.txt", "module_symbols.txt"
"""What the emulator writes, with addresses; the same with names; addresses and names of the guest's modules."""

USER = "[user]"
UNKNOWN = "[unknown]"

OSQ = frozenset({"osq_lock"})
"""The queue of those who spin for a mutex or a rwsem: the profile does not say for which of the two."""

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
"""Functions of the kernel in which a CPU does nothing but wait for a lock (kernel/locking)."""

_USER_BELOW = 1 << 63


@dataclass(frozen=True)
class ProfileSection:
    """A stretch of time: samples by function; times in ns."""

    period_ns: int
    cpus: int
    began_ns: int
    ended_ns: int
    samples: Mapping[str, int]

    def percent(self, functions: Iterable[str]) -> float | None:
        """The share of the busy CPU time that went into `functions`; None if no CPU was busy at any sample."""
        busy = sum(self.samples.values())
        return 100.0 * sum(self.samples.get(name, 0) for name in functions) / busy if busy else None

    def busy_cpus(self) -> float:
        """How many CPUs were busy, in the mean."""
        return sum(self.samples.values()) * self.period_ns / (self.ended_ns - self.began_ns)


def metrics(section: ProfileSection) -> dict[str, float]:
    """The shares of busy CPU time in osq_lock, in rwsems' own waiting and in all waiting for locks, and the CPUs that
    were busy.
    """
    found = {
        "osq_lock_percent": section.percent(OSQ),
        "rwsem_percent": section.percent(RWSEM),
        "spinning_percent": section.percent(SPINNING),
    }
    told = {name: percent for name, percent in found.items() if percent is not None}
    return {**told, "busy_cpus": section.busy_cpus()}


def sections(out: Mapping[str, bytes]) -> list[ProfileSection]:
    """What a guest's files have of it; none where no samples were taken. Raises ValueError."""
    found: list[ProfileSection] = []
    samples: dict[str, int] = {}
    for line in out.get(PROFILE, b"").decode().splitlines():
        words = line.split()
        if len(words) == 4:
            samples = {}
            period_ns, cpus, began_ns, ended_ns = map(int, words)
            found.append(ProfileSection(period_ns, cpus, began_ns, ended_ns, samples))
        else:
            samples[words[1]] = int(words[0])
    return found


class Functions:
    """Names of functions by address. `symbols` are lines of System.map or /proc/kallsyms. Raises ValueError."""

    def __init__(self, symbols: Iterable[str]) -> None:
        self._table = _functions(symbols)
        self._addresses = [address for address, _ in self._table]

    def at(self, address: int) -> str:
        """The function that the address lies in; USER for a program's, UNKNOWN where there is none."""
        if address < _USER_BELOW:
            return USER
        place = bisect.bisect_right(self._addresses, address) - 1
        return self._table[place][1] if place >= 0 else UNKNOWN


def named(raw: str, symbols: Iterable[str]) -> str:
    """The emulator's file with functions in place of addresses, most samples first. `symbols` are lines of System.map
    or /proc/kallsyms.
    """
    functions = Functions(symbols)
    text: list[str] = []
    counts: dict[str, int] = {}

    def finish() -> None:
        text.extend(f"{many} {name}\n" for name, many in sorted(counts.items(), key=lambda one: (-one[1], one[0])))
        counts.clear()

    for line in raw.splitlines():
        words = line.split()
        if len(words) == 4:
            finish()
            text.append(f"{line}\n")
            continue
        name = functions.at(int(words[0], 16))
        counts[name] = counts.get(name, 0) + int(words[1])
    finish()
    return "".join(text)


def _functions(symbols: Iterable[str]) -> list[tuple[int, str]]:
    """Addresses of functions with their names, ascending; what a compiler put behind a name is left out."""
    found: dict[int, str] = {}
    for line in symbols:
        address, kind, name, *_ = line.split()
        if kind in "tTwW" and not name.startswith("$"):
            found.setdefault(int(address, 16), name.partition(".")[0])
    return sorted(found.items())
