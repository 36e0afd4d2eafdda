# SPDX-License-Identifier: Apache-2.0
"""IOzone 3: its parameters, the call of a user's own program, and its table. Without a program, fio carries out the
same sequence.

IOzone's licence keeps it out of Debian, so the lab cannot fetch it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, WithJsonSchema

from flashbed.common.tomlfile import Problem, Size
from flashbed.common.units import KIB, MIB, describe_size
from flashbed.guest_output.durability import Commits
from flashbed.workload.base import (
    MARK,
    REMOUNT,
    FileParameters,
    Parameters,
    Phase,
    Phased,
    Switch,
    ToolParameters,
    WithoutPackages,
    WorkloadOutputError,
    not_in_sectors,
    some_of,
)
from flashbed.workload.fio import output
from flashbed.workload.fio.jobs import FIO, RANDOM, section

IOZONE_TESTS = ("write", "rewrite", "read", "reread")
"""The tests in order of time."""


AGING_ROUNDS = 4
"""The rounds in which a volume is aged. At most one round's data exists before half of it is removed."""

AGING_REQUEST_BYTES = 16 << 10
"""The unit of writes that alternate between the file that stays and the file that is removed."""


IozoneTests = Annotated[tuple[str, ...], some_of(IOZONE_TESTS), WithJsonSchema({"type": "string"})]


class IozoneParameters(FileParameters):
    """A file that is written, written again, read and read again, record by record. Sizes are in bytes."""

    record: Size = Field(default=4096, gt=0, description="size of a request, bytes")
    tests: IozoneTests = Field(
        default=IOZONE_TESTS, description="which of write, rewrite, read and reread, with commas between"
    )
    include_flush: Switch = Field(default=False, description="an fsync ends each test, inside its time (its -e)")
    include_close: Switch = Field(default=False, description="closing is inside the time (its -c); needs program")
    direct: Switch = Field(default=False, description="past the page cache (its -I)")
    remount: Switch = Field(
        default=True, description="mounts the file system anew before the first read, so that it is from the medium"
    )
    content: Literal["constant", "random"] = Field(
        default="constant",
        description="what is written: one word again and again, as IOzone does it, or random bytes, which nothing "
        "compresses; random needs fio, so no program",
    )
    aged: Size = Field(
        default=0,
        ge=0,
        description="so much is written to the volume before, 16 KiB in turns to two files, of which one is removed; "
        "if that is more than the volume holds, the file system must collect before it writes; uncompressed, where it "
        "can be told so",
    )
    program: str = Field(
        default="", description="an IOzone 3 for arm64, linked statically, relative to the study; absent: fio stands in"
    )

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between parameters."""
        if self.record > self.file:
            yield Problem(
                ("record",),
                f"{describe_size(self.record)} is larger than file = {describe_size(self.file)}: no record would fit",
            )
        if self.direct:
            yield from not_in_sectors("record", self.record)
        for test, before in (("rewrite", "write"), ("read", "write"), ("reread", "read")):
            if test in self.tests and before not in self.tests:
                yield Problem(("tests",), f"{test} needs {before} before it")
                break
        if self.aged % (2 * AGING_ROUNDS * AGING_REQUEST_BYTES):
            yield Problem(("aged",), f"{describe_size(self.aged)} must be a multiple of 128k")
        if not self.program:
            if self.include_close:
                yield Problem(
                    ("include_close",), 'true needs IOzone itself (program = "..."): fio does not time the closing'
                )
            return
        if self.content != "constant":
            yield Problem(("content",), f'"{self.content}" cannot stand beside program: IOzone writes what it writes')
        if self.processes > 1:
            yield Problem(("processes",), f"{self.processes} cannot stand beside program: the lab calls IOzone for one")
        for name, size in (("file", self.file), ("record", self.record)):
            if size % KIB:
                yield Problem((name,), f"IOzone counts in KiB, so {size} must be a multiple of 1k")

    def bytes_on_medium(self) -> int:
        """Return the larger of the file plus the rest of an aged volume, and the volume during its last aging round."""
        stays, at_most = self.aged // 2, self.aged * (AGING_ROUNDS + 1) // (2 * AGING_ROUNDS)
        return max(super().bytes_on_medium() + stays, at_most)


IOZONE = "/job/program"

CONSTANT = {"buffer_pattern": "0xdeadbeef", "scramble_buffers": 0}
"""Content that repeats every four bytes and is the same in each record."""

PAIRS = (("write", "rewrite"), ("read", "reread"))
"""The tests that IOzone does in one call, by the number of its -i."""


_AGING = """\
mount -o remount,compr=none /mnt || true # JFFS2 and UBIFS; the mount before the measurement says nothing of it
for round in {rounds}; do
	{fio} --filename=/mnt/aged.$round.0:/mnt/aged.$round.1 /job/aged.fio >/dev/null && rm /mnt/aged.$round.1 || exit
done
"""


class _TestResult(NamedTuple):
    """A tool's result of one test."""

    size: float
    """Bytes."""
    seconds: float
    cpu_s: float | None = None
    """CPU time of the tool's processes; None if the tool does not report it."""


class Iozone(WithoutPackages, Phased):
    """The workload `iozone`."""

    parameters: type[ToolParameters] = IozoneParameters
    built: tuple[str, ...] = ("fio",)
    begins_with: tuple[str, ...] = ("aged.fio",)
    own_files: tuple[str, ...] = ("program",)

    def sequence(self, parameters: Parameters) -> str:
        return "IOzone" if parameters.get("program") else "IOzone's sequence"

    def title(self, parameters: Parameters) -> str:
        return self.sequence(parameters) + ("" if parameters.get("program") else ", carried out by fio")

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Return each test's bandwidth. If the tests are on an axis, return those that all of its values have."""
        named = [texts.split(",") for texts in values.get("tests", (",".join(IOZONE_TESTS),))]
        shared = [test for test in IOZONE_TESTS if all(test in map(str.strip, names) for names in named)]
        return tuple(f"{test}_bandwidth" for test in shared) or ("runtime_s",)

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the scripts and fio's jobs. The lab adds /job/program."""
        parsed = IozoneParameters.model_validate(dict(parameters))
        files = _aging(parsed.aged)
        steps = [] if parsed.program else [_fio_step(test) for test in parsed.tests]
        if parsed.program:
            steps = [_own_step(parsed, number) for number, (test, _) in enumerate(PAIRS) if test in parsed.tests]
        else:
            files |= {f"{test}.fio": section(test, _job(parsed, test, seed)) for test in parsed.tests}
        reads = next((place for place, step in enumerate(steps) if step.startswith(f"{MARK} read\n")), None)
        if parsed.remount and reads is not None:
            steps.insert(reads, f"{REMOUNT}\n")
        return {**files, "measure": "".join(steps).encode()}

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Return seconds and MiB/s of each test, and the seconds of all; with fio also the CPU load of its processes
        over the same time.

        fio's time has steps of 1 ms; IOzone prints whole KiB per second. Raises WorkloadOutputError.
        """
        results = dict(_from_tables(out) if f"{PAIRS[0][0]}.txt" in out else _from_fio(out))
        if not results:
            raise WorkloadOutputError("write.json and write.txt are missing: nothing was measured")
        metrics: dict[str, float] = {}
        for test, result in results.items():
            metrics[f"{test}_s"] = result.seconds
            if result.seconds > 0:
                metrics[f"{test}_bandwidth"] = result.size / result.seconds / MIB
        metrics["runtime_s"] = fsum(result.seconds for result in results.values())
        if metrics["runtime_s"] > 0 and all(result.cpu_s is not None for result in results.values()):
            cpu_s = fsum(result.cpu_s or 0.0 for result in results.values())
            metrics["process_cpu_percent"] = 100.0 * cpu_s / metrics["runtime_s"]
        return metrics

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        """Return one commit per process and writing test."""
        parsed = IozoneParameters.model_validate(dict(parameters))
        writing = sum(not test.endswith("read") for test in parsed.tests)
        return Commits(writing * parsed.processes if parsed.include_flush else 0, parsed.processes)

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        """Return one phase for each test. IOzone does a test and its repetition in one call, so in one phase."""
        parsed = IozoneParameters.model_validate(dict(parameters))
        size = float(parsed.file * parsed.processes)
        if parsed.program:
            return [Phase(test, test, 2 * size) for test in ("write", "read") if test in parsed.tests]
        return [Phase(test, "read" if test.endswith("read") else "write", size) for test in parsed.tests]


def _aging(aged: int) -> dict[str, bytes]:
    """Return the files that age a volume: they write `aged` bytes alternately to two files and remove one, so that each
    block of flash keeps half of its data.
    """
    if not aged:
        return {"prepare": b"true\n"}
    job = {
        "rw": "write",
        "bs": AGING_REQUEST_BYTES,
        "size": aged // AGING_ROUNDS,
        "file_service_type": "roundrobin:1",
        "fallocate": "none",
        "ioengine": "psync",
        "zero_buffers": 1,
        "end_fsync": 1,
    }
    rounds = " ".join(map(str, range(AGING_ROUNDS)))
    return {"aged.fio": section("aged", job), "prepare": _AGING.format(rounds=rounds, fio=FIO).encode()}


def _fio_step(test: str) -> str:
    return f"{MARK} {test}\n{FIO} --output=/out/{test}.json /job/{test}.fio\n"


def _job(parameters: IozoneParameters, test: str, seed: int) -> dict[str, object]:
    return {
        "directory": "/mnt",
        "filename_format": "iozone.$jobnum",
        "size": parameters.file,
        "numjobs": parameters.processes,
        "thread": 1,
        "fallocate": "none",
        "clocksource": "clock_gettime",
        **RANDOM,
        "randseed": seed,
        "ioengine": "psync",
        "invalidate": 0,  # as IOzone, leave the page cache unchanged
        "rw": "read" if test.endswith("read") else "write",
        "bs": parameters.record,
        "direct": int(parameters.direct),
        "overwrite": int(test == "rewrite"),
        "end_fsync": int(parameters.include_flush and test.endswith("write")),
        **(CONSTANT if parameters.content == "constant" else {}),  # fio's default content is random
        "group_reporting": 1,
    }


def _from_fio(out: Mapping[str, bytes]) -> Iterable[tuple[str, _TestResult]]:
    """Yield each test that fio ran. Raises WorkloadOutputError."""
    for test in IOZONE_TESTS:
        if f"{test}.json" in out:
            metrics = output.metrics_of(out, f"{test}.json")
            cpu_s = metrics.get("process_cpu_percent", 0.0) / 100.0 * metrics["runtime_s"]
            yield test, _TestResult(metrics["requested_bytes"], metrics["runtime_s"], cpu_s)


def _own_step(parsed: IozoneParameters, number: int) -> str:
    """Return the commands of one call. -w keeps the file for the call that reads it."""
    test, _ = PAIRS[number]
    switches = {"-e": parsed.include_flush, "-c": parsed.include_close, "-I": parsed.direct}
    options = "".join(f" {switch}" for switch, on in switches.items() if on)
    call = f"{IOZONE} -i {number} -w -s {parsed.file // KIB}k -r {parsed.record // KIB}k -f /mnt/iozone.0{options}"
    tests = " ".join(test for test in parsed.tests)
    return f"{MARK} {test}\n{call} >/out/{test}.txt\necho {tests} >/out/tests\n"


def _from_tables(out: Mapping[str, bytes]) -> Iterable[tuple[str, _TestResult]]:
    """Yield each test of IOzone's tables: KiB, KiB per record, then KiB per second of the test and of its repetition.
    Raises WorkloadOutputError.
    """
    tests = out.get("tests", b"").decode().split()
    for pair in PAIRS:
        if f"{pair[0]}.txt" not in out:
            continue
        text = out[f"{pair[0]}.txt"].decode(errors="replace")
        rows = [line.split() for line in text.splitlines()]
        numbers = [[int(word) for word in row] for row in rows if len(row) >= 4 and all(w.isdecimal() for w in row)]
        if len(numbers) != 1 or not all(numbers[0]):
            raise WorkloadOutputError(f"{pair[0]}.txt has no line of IOzone with a size, a record and two rates")
        size, _, *rates = numbers[0]
        for test, rate in zip(pair, rates, strict=False):
            if test in tests:
                yield test, _TestResult(float(size * KIB), size / rate)
