# SPDX-License-Identifier: Apache-2.0
"""Compute the measurement of a repetition from the files that its guest left: the medium's counters, all metrics, the
series.

No result contains it. It is computed from the output, so that a corrected formula changes every report at once and runs
no guest. It is kept until the code changes, because computing it takes minutes for 10,000 repetitions. The cell is
known from the result (`CellInputs`), so that a result can be read without its study.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import fsum, isfinite
from pathlib import Path

from pydantic import TypeAdapter

from flashbed.common import atomic, foreign, locks, paths
from flashbed.common.digest import digest_bytes, digest_code, digest_json
from flashbed.common.tomlfile import shown
from flashbed.guest_output import (
    cpu_load,
    durability,
    filesystem_costs,
    limit,
    medium_counters,
    power_cuts,
    program_calls,
    steadiness,
    wear,
)
from flashbed.guest_output.assessment import State, Status
from flashbed.guest_output.steadiness import Series, Settling
from flashbed.guest_output.system_calls import CALL_NOTES
from flashbed.result.metrics import CPU_NS, LAYERS, METRICS
from flashbed.result.result import CellInputs, Measurement, Result, ResultError
from flashbed.result.store import DIGESTS
from flashbed.workload import WORKLOADS
from flashbed.workload.base import WorkloadOutputError

_UNREADABLE = (WorkloadOutputError, ValueError, TypeError, ArithmeticError, RecursionError, LookupError, AttributeError)
"""The exceptions of readers for output that no tool writes. The guest is not trusted: its files may have any content.
"""

_MOST_MOUNTED = 2000

Out = Mapping[str, bytes]


class UnreadableError(Exception):
    """The output cannot be read; the text says why."""


class OutFiles(Mapping[str, bytes]):
    """A guest's files in a directory, by name. A file is read when it is first looked up, and then kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = dict[str, bytes]()

    @cached_property
    def _names(self) -> dict[str, None]:
        try:
            with os.scandir(self._folder) as entries:
                return dict.fromkeys(sorted(entry.name for entry in entries if entry.is_file()))
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self._read:
            try:
                self._read[name] = (self._folder / name).read_bytes()
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                raise KeyError(name) from None
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def evaluate(result: Result, out: Out) -> Measurement:
    """Return the measurement of a result from its guest's files. Raises UnreadableError."""
    try:
        inputs = CellInputs.of(result.cell)
    except ResultError as error:
        raise UnreadableError(str(error)) from None
    if inputs.tool not in WORKLOADS:
        raise UnreadableError(f'its tool "{foreign.line(str(inputs.tool))}" is not installed, as that of a plugin')
    workload, parameters = WORKLOADS[inputs.tool], inputs.parameters
    try:
        series = _checked_series(workload.series(parameters, out))
        settled = steadiness.settling(steadiness.programmed(out), series)
        calls = program_calls.program_calls(out, workload.needs(parameters).roots) if CALL_NOTES in out else None
        of_tool = {**(program_calls.metrics(calls) if calls else {}), **workload.metrics(out)}
        commits = workload.commits(parameters, out)
        if calls and not commits.asked:
            commits = calls.commits
        medium, metrics = _medium_and_metrics(inputs, out, result.medium_bytes, settled, of_tool)
        if calls and (page_bytes := inputs.numbers.get("page_bytes")):
            metrics["programmed_bytes"] = float(medium_counters.programmed_bytes(medium["synced"], page_bytes))
        return Measurement(
            mounted=foreign.line(filesystem_costs.described_mount(out), _MOST_MOUNTED),
            durable=durability.durability(commits, out, inputs.medium),
            settled=settled,
            metrics=_checked(metrics),
            medium=medium,
            counted={CPU_NS: sum(cpu_load.each_busy_ns(out)), **_of_layers(medium["synced"])},
            series=series,
            calls=program_calls.summary(calls) if calls else None,
        )
    except KeyError as error:
        raise UnreadableError(f"its output cannot be read: it has no {foreign.line(str(error))}") from None
    except _UNREADABLE as error:
        raise UnreadableError(f"its output cannot be read: {foreign.line(str(error))}") from None


def _checked(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics. Raises WorkloadOutputError for an unknown name, and for a value that is no finite number."""
    for name, value in metrics.items():
        if name not in METRICS:
            raise WorkloadOutputError(f"{name} is no metric")
        if type(value) not in (int, float) or not isfinite(value):
            raise WorkloadOutputError(f"{name} is {shown(value)}")
    return dict(metrics)


def _checked_series(moved: Sequence[Series]) -> list[Series]:
    """Return the series with printable names. Raises WorkloadOutputError for a number that is not finite."""
    if not all(isfinite(number) for series in moved for number in (series.seconds, series.grain, *series.parts)):
        raise WorkloadOutputError("its rate over time is not a number")
    return [replace(series, name=foreign.line(series.name)) for series in moved]


def _of_layers(medium: medium_counters.Counters) -> dict[str, int]:
    return {name: medium[name] for names in LAYERS.values() for name in names if name in medium}


def with_measurement(result: Result, folder: Path) -> Result:
    """Return the result in `folder` with the measurement that follows from the files there. If this version cannot read
    them, the result has failed.
    """
    if not result.is_measured:
        return result
    keeping = _Keeping.of(result, folder)
    if keeping is not None and (kept := keeping.load()) is not None:
        return replace(result, measurement=kept)
    try:
        measurement = evaluate(result, OutFiles(folder / "out"))
    except UnreadableError as error:
        return replace(result, outcome=Status.FAILED, reason=f"{error}; remove {folder} to measure it again")
    if keeping is not None:
        keeping.save(measurement)
    return replace(result, measurement=measurement)


_MEASUREMENTS = "measurements"
"""The cache's directory of computed measurements. They are those of one state of the code."""


@dataclass(frozen=True)
class _Keeping:
    """The file that keeps the measurement of a stored result, and a digest of the store's digests of the output that it
    was computed from: the store has checked that the output still has these.

    The file's first line is a digest of `source` and of the rest of the file. So neither a damaged file nor one of
    another output is taken for this result's.
    """

    place: Path
    source: str

    @staticmethod
    def of(result: Result, folder: Path) -> _Keeping | None:
        """Return the file of a result. Return None if the result is not in the cache's store, if it has no tool or
        output, or if its workload is of another package, whose code is in no digest here.
        """
        root = paths.cache_root()
        try:
            if not folder.is_relative_to(root / "results") or not _is_ours(CellInputs.of(result.cell).tool):
                return None
            digests = (folder / DIGESTS).read_text(encoding="utf-8")
        except (OSError, LookupError, ResultError):
            return None
        place = root / _MEASUREMENTS / digest_code()[:16] / result.key[:2] / result.key
        return _Keeping(place, digest_json([digests, result.medium_bytes]))

    def load(self) -> Measurement | None:
        """Return the kept measurement; None if there is none, or if it is damaged or of another output."""
        try:
            digest, _, text = self.place.read_bytes().partition(b"\n")
            if digest != self._digest(text):
                return None
            return _measurements().validate_json(text)
        except (OSError, ValueError):
            return None

    def save(self, measurement: Measurement) -> None:
        """Keep the measurement, and remove those of other states of the code. Do nothing if the cache cannot be written
        to.
        """
        of_this_code = self.place.parents[1]
        with suppress(OSError):
            if not of_this_code.is_dir():
                for old in of_this_code.parent.glob("*"):
                    locks.remove(old)
            self.place.parent.mkdir(parents=True, exist_ok=True)
            text = _measurements().dump_json(measurement)
            atomic.write(self.place, self._digest(text) + b"\n" + text)

    def _digest(self, text: bytes) -> bytes:
        return digest_bytes(self.source.encode() + text).encode()


def _is_ours(tool: str) -> bool:
    return type(WORKLOADS[tool]).__module__.partition(".")[0] == __name__.partition(".")[0]


@cache
def _measurements() -> TypeAdapter[Measurement]:
    return TypeAdapter(Measurement)


def _medium_and_metrics(
    inputs: CellInputs, out: Out, medium_bytes: int, settled: Settling, of_tool: Mapping[str, float]
) -> tuple[dict[str, medium_counters.Counters], dict[str, float]]:
    """Return the medium's counters by phase, and all metrics. Lifetimes are among them only if write amplification had
    settled. `of_tool` are the metrics of the tool and of its programs' calls.
    """
    numbers = inputs.numbers
    page_bytes = numbers.get("page_bytes")
    medium = medium_counters.phases(out)
    marked, reached = _reached(inputs, out, page_bytes)
    # Only the medium counts what a warm-up writes, so there is no ratio of the two then
    has_ratio = "warm_up_s" not in of_tool
    written, block = of_tool.get("written_bytes", 0.0) if has_ratio else 0.0, medium_counters.translated_bytes(out)
    programmed_blocks = medium["synced"].get("flash_programmed_pages", 0) / numbers.get("pages_per_block", 1)
    load = medium_counters.of_load(out)
    moved = fsum(medium_counters.moved_bytes(load, page_bytes))
    rig = limit.Rig(numbers, inputs.pio_sector_ns, inputs.nand_cycle_ps)
    metrics = {
        **of_tool,
        **reached,
        **medium_counters.metrics(medium, page_bytes, block, written),
        **medium_counters.discarded(out),
        **filesystem_costs.aging_metrics(out),
        "cpu_percent": cpu_load.percent(out),
        **cpu_load.several(out),
        **limit.percents(rig, load, moved, limit.time_of(out, of_tool)),
        **limit.platters(medium["synced"], limit.time_of(out, of_tool, cpu_load.MEASUREMENT_WINDOW)),
        **filesystem_costs.upkeep_metrics(out, medium_bytes),
        **(power_cuts.metrics(out) if inputs.has_power_cuts else {}),
        **wear.metrics(
            out,
            numbers.get("endurance_erases", 0),
            written,
            programmed_blocks,
            numbers.get("pages_per_block", 0) * (page_bytes or 0),
            _with_warm_up(of_tool),
            settled=settled.state != State.NOT_SETTLED,
        ),
    }
    return {**medium, **marked}, metrics


def _with_warm_up(metrics: Mapping[str, float]) -> float:
    """Return the bytes that the tool wrote, warm-up included. The warm-up is taken to write at the later rate."""
    return metrics.get("written_bytes", 0.0) * (1 + metrics.get("warm_up_s", 0.0) / (metrics.get("runtime_s") or 1.0))


def _reached(
    inputs: CellInputs, out: Out, page_bytes: int | None
) -> tuple[dict[str, medium_counters.Counters], dict[str, float]]:
    """Return the medium's counters of each phase, and metrics: the percentage of the requested bytes that reached the
    medium, and the erased blocks of flash. Return two empty mappings for a tool without phases.
    """
    phases = WORKLOADS[inputs.tool].phases(inputs.parameters)
    if not phases:
        return {}, {}
    marked = medium_counters.marked(out, [phase.name for phase in phases])
    requested = fsum(phase.requested_bytes for phase in phases)
    metrics: dict[str, float] = {"requested_bytes": requested, limit.REACHED_PERCENT: 0.0}
    for phase in phases:
        read, written = medium_counters.moved_bytes(marked[phase.name], page_bytes)
        moved = {"read": read, "write": written, "either": read + written}[phase.direction]
        metrics[f"{phase.name}_reached_percent"] = 100.0 * moved / phase.requested_bytes
        # At most the requested bytes count: surplus of one phase does not make up for what memory kept of another
        metrics[limit.REACHED_PERCENT] += 100.0 * min(moved, phase.requested_bytes) / requested
        if "flash_erased_blocks" in marked[phase.name]:
            metrics[f"{phase.name}_erases"] = float(marked[phase.name]["flash_erased_blocks"])
    return marked, metrics
