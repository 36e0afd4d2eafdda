# SPDX-License-Identifier: Apache-2.0
"""FxMark: what its tests ask of a file system, carried out by a small program of ours (guest/fxmark.c), a call a test.

Each test runs for a fixed virtual time, and what ends within it counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from flashbed.guest_output import profile
from flashbed.workload.base import KERNEL_MODULES, Needs, OfCalls, OfOurs, Parameters, WorkloadOutputError
from flashbed.workload.fxmark_parameters import READING, FxmarkParameters
from flashbed.workload.parameters import ToolParameters

PROGRAM = "fxmark"
SAID = "fxmark.txt"
"""Of each test three lines: its name, how many processes, how many of them write, and when operations began, when
counting began and when it ended (ns since boot); "read" and "other" with how many, the sum of their times and the
longest (ns), and pairs of a time (ns) and how many took no longer.
"""

PERCENTILES = (50, 95, 99)

_TIMES = {"runtime_s": "took_s", "warm_up_s": "warm_s"}
"""Metrics that are sums over all tests."""


@dataclass(frozen=True)
class _Kind:
    """Operations of one kind; `times` are upper bounds in ns, ascending, each with how many lie below it and above the
    one before.
    """

    many: int
    sum_ns: int
    longest_ns: int
    times: Sequence[tuple[int, int]]

    def latencies(self) -> dict[str, float]:
        """In us: percentiles in steps of 1/64, as the upper end of a step, and no more than the longest."""
        if not self.many:
            return {}
        found = {"latency_mean_us": self.sum_ns / self.many / 1e3, "latency_max_us": self.longest_ns / 1e3}
        for percent in PERCENTILES:
            passed, wanted = 0, self.many * percent / 100
            for upper_ns, many in self.times:
                passed += many
                if passed >= wanted:
                    found[f"latency_p{percent}_us"] = min(upper_ns, self.longest_ns) / 1e3
                    break
        return found


@dataclass(frozen=True)
class _Test:
    name: str
    processes: int
    writers: int
    warm_s: float
    took_s: float
    read: _Kind
    other: _Kind

    @property
    def operations(self) -> float:
        """Of both kinds, a second."""
        return (self.read.many + self.other.many) / self.took_s

    def by_kind(self) -> dict[str, float]:
        """Reads and others a second, as far as there are processes for them: 0 if these finished none."""
        kinds = {}
        if self.name in READING and self.processes > self.writers:
            kinds["read_operations"] = self.read.many / self.took_s
        if self.name not in READING or self.writers:
            kinds["other_operations"] = self.other.many / self.took_s
        return kinds

    def metric(self, what: str) -> str:
        """The name of a metric that each of several tests has."""
        return f"{self.name.replace('-', '_')}_{what}"


class Fxmark(OfCalls, OfOurs):
    """The workload `fxmark`."""

    parameters: type[ToolParameters] = FxmarkParameters
    built: tuple[str, ...] = (PROGRAM,)
    own_files: tuple[str, ...] = ()

    def needs(self, parameters: Parameters) -> Needs:
        return Needs(samples=True)

    def title(self, parameters: Parameters) -> str:
        return "FxMark's questions, asked by a program of the lab"

    def headline(self, said: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Operations a second: of each of several tests, or of the only one."""
        named = said.get("tests", (",".join(FxmarkParameters.model_fields["tests"].default or ()),))
        several = [test.strip() for test in named[0].split(",")] if len(named) == 1 else []
        if len(several) < 2:
            return ("operations",)
        return tuple(f"{test.replace('-', '_')}_operations" for test in several)

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Names of module functions are noted behind the tests, for the profile; of a kernel that comes without a
        System.map, as distributions', all names. A guest may have no module at all.
        """
        said = FxmarkParameters.model_validate(dict(parameters))
        numbers = [said.file, said.processes, said.writers, said.block, int(said.direct)]
        numbers += [said.warm_us, said.run_us, said.pool, seed, said.queue_depth]
        words = f"{' '.join(map(str, numbers))} {said.cpu_list or 'each'}"
        calls = [f"/bin/{PROGRAM} {test} /mnt {words} >>/out/{SAID}\n" for test in said.tests]
        names = f"[ -d {KERNEL_MODULES} ] && names=. || names='\\['\n"
        names += f'grep "$names" /proc/kallsyms >/out/{profile.MODULE_SYMBOLS} || [ $? = 1 ]\n'
        return {
            "prepare": f"/bin/{PROGRAM} prepare /mnt {said.file}\n".encode(),
            "measure": ("set -e\n" + "".join(calls) + names).encode(),
        }

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Operations a second of each test, and the share of the busy CPU time that went into waiting for locks; of a
        single test also reads and others apart, their latencies (of reads, if there are any) and the share of osq_lock.
        """
        tests = _said(out)
        metrics = {name: fsum(getattr(test, of) for test in tests) for name, of in _TIMES.items()}
        for test in tests:
            metrics[test.metric("operations")] = test.operations
        if len(tests) == 1:
            (test,) = tests
            metrics |= {"operations": test.operations, **test.by_kind()}
            metrics |= (test.read if test.read.many else test.other).latencies()
        sections = profile.sections(out)
        metrics |= _busy(tests, sections)
        for test, section in zip(tests, sections, strict=bool(sections)):
            if (percent := section.percent(profile.SPINNING)) is not None:
                metrics[test.metric("spinning_percent")] = percent
        if len(tests) == len(sections) == 1:
            metrics |= profile.metrics(sections[0])
        return metrics

    def silent(self, parameters: Parameters) -> str:
        return "fxmark tells no rate within a test"


def _busy(tests: Sequence[_Test], sections: Sequence[profile.Section]) -> dict[str, float]:
    """The share of the counted time for which the CPUs that the processes are bound to were busy: in the mean, as all
    do the same. Nothing without samples.
    """
    if not sections:
        return {}
    pairs = list(zip(tests, sections, strict=True))
    worked_s = fsum(section.busy_cpus() * test.took_s for test, section in pairs)
    had_s = fsum(min(test.processes, section.cpus) * test.took_s for test, section in pairs)
    return {"busy_cpu_percent": min(100.0, 100.0 * worked_s / had_s)}


def _said(out: Mapping[str, bytes]) -> list[_Test]:
    """Raises WorkloadOutputError."""
    lines = [line.split() for line in out.get(SAID, b"").decode(errors="replace").splitlines()]
    if not lines:
        raise WorkloadOutputError(f"{SAID} is missing: fxmark did not get as far as its first result")
    try:
        found = []
        for head, read, other in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
            processes, writers, begin_ns, from_ns, end_ns = map(int, head[1:])
            if (read[0], other[0]) != ("read", "other") or from_ns < begin_ns:
                raise ValueError
            if end_ns <= from_ns:
                raise WorkloadOutputError(
                    f"{head[0]} had no file left when counting began; raise pool, or lower warm_us"
                )
            times = ((from_ns - begin_ns) / 1e9, (end_ns - from_ns) / 1e9)
            kinds = (_kind(read[1:]), _kind(other[1:]))
            if not any(kind.many for kind in kinds):
                raise WorkloadOutputError(f"{head[0]} ended no operation while it counted; raise run_us")
            found.append(_Test(head[0], processes, writers, *times, *kinds))
    except (ValueError, IndexError):
        raise WorkloadOutputError(f"{SAID} is not what fxmark writes") from None
    return found


def _kind(words: Sequence[str]) -> _Kind:
    many, sum_ns, longest_ns, *times = map(int, words)
    return _Kind(many, sum_ns, longest_ns, list(zip(times[::2], times[1::2], strict=True)))
