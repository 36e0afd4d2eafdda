# SPDX-License-Identifier: Apache-2.0
"""FxMark: its parameters and its tests of a file system. A program of the lab (guest/fxmark.c) carries them out, one
call for each test.

Each test runs for a fixed virtual time, and counts the operations that end within it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from flashbed.common.tomlfile import Problem, Size
from flashbed.common.units import describe_size
from flashbed.guest_output import cpu_samples
from flashbed.guest_output.percentiles import PERCENTILES
from flashbed.workload.base import (
    KERNEL_MODULES,
    Count,
    FileParameters,
    Needs,
    Parameters,
    SinglePhase,
    Switch,
    ToolParameters,
    WithoutPackages,
    WorkloadOutputError,
    not_in_sectors,
    some_of,
)

SHARED_FILE = ("read-shared-file", "read-shared-block", "overwrite-shared-file", "random")
"""Tests on a file that all processes share."""

TRANSFERRING = ("read-private", "overwrite-private", "append-private", *SHARED_FILE)
"""Tests that transfer blocks."""

WITH_WRITERS = ("read-shared-file", "read-shared-block", "random")

READING = ("read-private", *WITH_WRITERS)
"""Tests whose processes read, except the writers among them."""

FXMARK_TESTS = (
    "read-private",
    "read-shared-file",
    "read-shared-block",
    "overwrite-private",
    "overwrite-shared-file",
    "append-private",
    "create-private",
    "create-shared",
    "rename-private",
    "rename-shared",
    "unlink-private",
    "unlink-shared",
    "random",
)
"""All tests, in the order in which they run. The first twelve are FxMark's DRBL, DRBM, DRBH, DWOL, DWOM, DWAL, MWCL,
MWCM, MWRL, MWRM, MWUL and MWUM (Min et al., USENIX ATC 2016, table 1).
"""


ANY_CPU = "any"

_CPUS = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3})(?::([0-9]{1,3}))?)?")


def _every_cpu(value: Any) -> Any:
    """Return the CPUs of a list in taskset's notation, in its order, with commas: "0-119:15,1" is 0, 15 ... 105, 1."""
    if not isinstance(value, str) or value in ("", ANY_CPU):
        return value
    cpus: list[int] = []
    for part in value.split(","):
        match = _CPUS.fullmatch(part.strip())
        if match is None or match[3] == "0" or (match[2] and int(match[2]) < int(match[1])):
            raise ValueError(f'must be "{ANY_CPU}" or CPUs as in "0-14" or "0-119:15,1", not "{value}"')
        cpus += range(int(match[1]), int(match[2] or match[1]) + 1, int(match[3] or 1))
    if len({*cpus}) < len(cpus):
        raise ValueError(f'"{value}" names a CPU twice')
    return ",".join(map(str, cpus))


CpuList = Annotated[str, BeforeValidator(_every_cpu), WithJsonSchema({"type": "string"})]

FxmarkTests = Annotated[tuple[str, ...], some_of(FXMARK_TESTS), WithJsonSchema({"type": "string"})]


class FxmarkParameters(FileParameters):
    """Processes that do the same at the same time, each on its own CPU. Sizes are in bytes."""

    file: Size = Field(gt=0, description="size of the file that all processes share, bytes")
    processes: Count = Field(default=1, ge=1, le=256, description="processes at the same time, each on its own CPU")
    tests: FxmarkTests = Field(
        default=FXMARK_TESTS[:-1],
        description="what they do, one test after another, with commas between: read or overwrite a block of a private "
        "file or a shared one, all the same block of a shared file, append to private files; create, rename and "
        "unlink files in private folders or in a shared one; random: any block of the shared file",
    )
    block: Size = Field(default=4096, ge=512, le=1 << 20, description="what is read or written at a time, bytes")
    direct: Switch = Field(default=False, description="past the page cache (O_DIRECT)")
    writers: Count = Field(
        default=0, ge=0, description="so many of the processes write where the others read a shared file"
    )
    queue_depth: Count = Field(
        default=1, ge=1, le=1024, description="requests that each process of random has under way at a time"
    )
    cpu_list: CpuList = Field(
        default="",
        description='the CPU of each process, one after the other, in the words of taskset: "0-14", "0-119:15,1"; any: '
        "bound to none; absent: process i to CPU i",
    )
    warm_us: Count = Field(default=1000, ge=0, description="how long a test runs before it counts, virtual us")
    run_us: Count = Field(default=10000, ge=100, description="how long it counts, virtual us")
    pool: Count = Field(
        default=200, ge=1, description="files that each process can unlink; who has none left ends the test for all"
    )

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between parameters."""
        shared = [test for test in self.tests if test in SHARED_FILE]
        if shared and self.file < self.processes * self.block:
            yield Problem(
                ("file",),
                f"{describe_size(self.file)} has no block of {describe_size(self.block)} for each of {self.processes} "
                f"processes, as {shared[0]} wants",
            )
        if self.direct:
            yield from not_in_sectors("block", self.block)
            if deaf := [test for test in self.tests if test not in TRANSFERRING]:
                yield Problem(("direct",), f"true means nothing to {deaf[0]}, which moves no blocks")
        if self.queue_depth > 1 and (not self.direct or self.tests != ("random",)):
            yield Problem(("queue_depth",), f'{self.queue_depth} needs direct = true and tests = "random" alone')
        if self.cpu_list not in ("", ANY_CPU) and (named := self.cpu_list.count(",") + 1) < self.processes:
            yield Problem(("cpu_list",), f"names {named} CPUs for processes = {self.processes}")
        if self.writers > self.processes:
            yield Problem(("writers",), f"{self.writers} are more than processes = {self.processes}")
        if self.writers and not set(self.tests) & set(WITH_WRITERS):
            yield Problem(("writers",), f"need one of the tests {', '.join(WITH_WRITERS)}")

    def bytes_on_medium(self) -> int:
        """Return the size of the shared file and of one block per process. The size of appended files depends on the
        speed.
        """
        return self.file + self.processes * self.block

    def describe_bytes(self) -> str:
        return f"file = {describe_size(self.file)}"


FXMARK = "fxmark"
FXMARK_OUTPUT = "fxmark.txt"
"""The program's output, three lines for each test. The first has its name, the number of processes, the number of
writers, and when operations began, counting began and counting ended (ns since boot). The lines "read" and "other" have
the number of operations, the sum of their times and the longest (ns), and pairs of a time (ns) and how many took no
longer.
"""

_TIMES = {"runtime_s": "took_s", "warm_up_s": "warm_s"}
"""Metrics that are sums over all tests."""


@dataclass(frozen=True)
class _Operations:
    """Operations of one kind. `times` has ascending upper bounds in ns, each with the number of operations up to it and
    above the previous one.
    """

    many: int
    sum_ns: int
    longest_ns: int
    times: Sequence[tuple[int, int]]

    def latencies(self) -> dict[str, float]:
        """Return latencies in us. Percentiles have steps of 1/64; each is the upper end of its step, and at most the
        maximum.
        """
        if not self.many:
            return {}
        metrics = {"latency_mean_us": self.sum_ns / self.many / 1e3, "latency_max_us": self.longest_ns / 1e3}
        for name, percent in PERCENTILES.items():
            passed, target = 0, self.many * percent / 100
            for upper_ns, many in self.times:
                passed += many
                if passed >= target:
                    metrics[f"latency_{name}_us"] = min(upper_ns, self.longest_ns) / 1e3
                    break
        return metrics


@dataclass(frozen=True)
class _Test:
    name: str
    processes: int
    writers: int
    warm_s: float
    took_s: float
    read: _Operations
    other: _Operations

    @property
    def operations(self) -> float:
        """Return the operations of both kinds per second."""
        return (self.read.many + self.other.many) / self.took_s

    def by_kind(self) -> dict[str, float]:
        """Return reads and other operations per second, for the kinds that have processes; 0 if these finished none."""
        kinds = {}
        if self.name in READING and self.processes > self.writers:
            kinds["read_operations"] = self.read.many / self.took_s
        if self.name not in READING or self.writers:
            kinds["other_operations"] = self.other.many / self.took_s
        return kinds

    def metric(self, suffix: str) -> str:
        """Return the name of a metric that each of several tests has."""
        return f"{self.name.replace('-', '_')}_{suffix}"


class Fxmark(SinglePhase, WithoutPackages):
    """The workload `fxmark`."""

    parameters: type[ToolParameters] = FxmarkParameters
    built: tuple[str, ...] = (FXMARK,)
    own_files: tuple[str, ...] = ()

    def needs(self, parameters: Parameters) -> Needs:
        return Needs(samples=True)

    def title(self, parameters: Parameters) -> str:
        return "FxMark's questions, asked by a program of the lab"

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Return operations per second, of each test if there are several."""
        named = values.get("tests", (",".join(FxmarkParameters.model_fields["tests"].default or ()),))
        several = [test.strip() for test in named[0].split(",")] if len(named) == 1 else []
        if len(several) < 2:
            return ("operations",)
        return tuple(f"{test.replace('-', '_')}_operations" for test in several)

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the scripts. After the tests they note the names of the modules' functions for the samples. If a
        kernel has no System.map, as those of distributions, they note all names. A guest may have no modules.
        """
        parsed = FxmarkParameters.model_validate(dict(parameters))
        numbers = [parsed.file, parsed.processes, parsed.writers, parsed.block, int(parsed.direct)]
        numbers += [parsed.warm_us, parsed.run_us, parsed.pool, seed, parsed.queue_depth]
        arguments = f"{' '.join(map(str, numbers))} {parsed.cpu_list or 'each'}"
        calls = [f"/bin/{FXMARK} {test} /mnt {arguments} >>/out/{FXMARK_OUTPUT}\n" for test in parsed.tests]
        names = f"[ -d {KERNEL_MODULES} ] && names=. || names='\\['\n"
        names += f'grep "$names" /proc/kallsyms >/out/{cpu_samples.MODULE_SYMBOLS} || [ $? = 1 ]\n'
        return {
            "prepare": f"/bin/{FXMARK} prepare /mnt {parsed.file}\n".encode(),
            "measure": ("set -e\n" + "".join(calls) + names).encode(),
        }

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Return operations per second of each test, and the share of busy CPU time spent waiting for locks.

        For a single test also return reads and other operations apart, their latencies (of reads, if there are any) and
        the share of osq_lock. Raises WorkloadOutputError.
        """
        tests = _parsed(out)
        metrics = {name: fsum(getattr(test, of) for test in tests) for name, of in _TIMES.items()}
        for test in tests:
            metrics[test.metric("operations")] = test.operations
        if len(tests) == 1:
            (test,) = tests
            metrics |= {"operations": test.operations, **test.by_kind()}
            metrics |= (test.read if test.read.many else test.other).latencies()
        sections = cpu_samples.sections(out)
        metrics |= _busy(tests, sections)
        for test, section in zip(tests, sections, strict=bool(sections)):
            if (percent := section.percent(cpu_samples.SPINNING)) is not None:
                metrics[test.metric("spinning_percent")] = percent
        if len(tests) == len(sections) == 1:
            metrics |= cpu_samples.metrics(sections[0])
        return metrics

    def silent(self, parameters: Parameters) -> str:
        return "fxmark tells no rate within a test"


def _busy(tests: Sequence[_Test], sections: Sequence[cpu_samples.SampleSection]) -> dict[str, float]:
    """Return the busy share of the counted time, averaged over the CPUs to which processes are bound, because all do
    the same; {} without samples.
    """
    if not sections:
        return {}
    pairs = list(zip(tests, sections, strict=True))
    worked_s = fsum(section.busy_cpus() * test.took_s for test, section in pairs)
    had_s = fsum(min(test.processes, section.cpus) * test.took_s for test, section in pairs)
    return {"busy_cpu_percent": min(100.0, 100.0 * worked_s / had_s)}


def _parsed(out: Mapping[str, bytes]) -> list[_Test]:
    """Return the tests of the program's output. Raises WorkloadOutputError."""
    lines = [line.split() for line in out.get(FXMARK_OUTPUT, b"").decode(errors="replace").splitlines()]
    if not lines:
        raise WorkloadOutputError(f"{FXMARK_OUTPUT} is missing: fxmark did not get as far as its first result")
    try:
        tests = []
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
            tests.append(_Test(head[0], processes, writers, *times, *kinds))
    except (ValueError, IndexError):
        raise WorkloadOutputError(f"{FXMARK_OUTPUT} is not what fxmark writes") from None
    return tests


def _kind(words: Sequence[str]) -> _Operations:
    many, sum_ns, longest_ns, *times = map(int, words)
    return _Operations(many, sum_ns, longest_ns, list(zip(times[::2], times[1::2], strict=True)))
