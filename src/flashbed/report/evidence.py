# SPDX-License-Identifier: Apache-2.0
"""What a reader needs to believe or doubt a report: every repetition, what failed and why, bytes, checks, manifest.

Gathers and shortens; judges only by the rules of the analysis. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashbed.analysis import MISSING, Flow, Spread
from flashbed.analysis.words import SCALES, Scale, capitalized, listing, metric_of, number, scale_of
from flashbed.common.foreign_text import without_controls
from flashbed.report.limits import MEDIUM, SHORT
from flashbed.report.model import Report
from flashbed.report.tables import Head, ReportTable, Row, TableCell
from flashbed.result.columns import Combination, ResultRow
from flashbed.result.metrics import METRICS

LISTED_REPETITIONS = 2000
"""Rows that a browser scrolls with ease; a larger study has the rest in results.csv, and the report says so."""

KEY_DIGITS = 10
"""Of a key in a table: as many as its column shows in one line beside the longest numbers. All are in results.csv."""

SHOWN_COLUMNS = 10
"""Axes, seed and metrics of each repetition; a page is no wider."""

OWN_COLUMNS = 5
"""Axes that have a column each; of more, the cell's name stands in one."""

OWN_BESIDE_BYTES = 4
"""The same beside nine columns of numbers."""

_ENDINGS = {"_bytes": SCALES["bytes"], "_ns": (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)), "_us": SCALES["us"]}


@dataclass(frozen=True)
class Loss:
    """Repetitions of one cell that ended in the same way, without a result."""

    cell: str
    outcome: str
    reason: str
    repetitions: Sequence[ResultRow]
    console: str

    @property
    def seeds(self) -> str:
        numbers = [str(repetition.seed) for repetition in self.repetitions]
        return f"{'seed' if len(numbers) == 1 else 'seeds'} {listing(numbers)}"


@dataclass(frozen=True)
class CheckSummary:
    """What the host's checker said of the images that one file system left behind."""

    filesystem: str
    clean: int
    damaged: int
    unchecked: int
    findings: Sequence[tuple[str, str]]

    @property
    def verdict(self) -> str:
        if self.damaged:
            return "damaged"
        return "clean" if self.clean else "not checked"

    @property
    def text(self) -> str:
        parts = [(self.damaged, "damaged"), (self.clean, "clean"), (self.unchecked, "not checked")]
        return ", ".join(f"{number_} {word}" for number_, word in parts if number_)


def losses(report: Report) -> list[Loss]:
    """What failed, with the end of the first console."""
    return _losses(report, [r for r in report.results.not_measured() if r.outcome != MISSING])


def missing(report: Report) -> list[Loss]:
    """What was planned and has not run."""
    return _losses(report, [r for r in report.results.not_measured() if r.outcome == MISSING])


def _losses(report: Report, repetitions: Sequence[ResultRow]) -> list[Loss]:
    groups: dict[tuple[Combination, str, str], list[ResultRow]] = {}
    for repetition in repetitions:
        how = (repetition.combination, repetition.outcome, repetition.reason)
        groups.setdefault(how, []).append(repetition)
    return [
        Loss(report.cell_name(combination), outcome, without_controls(reason), group, _console(report, group))
        for (combination, outcome, reason), group in groups.items()
    ]


def _console(report: Report, repetitions: Sequence[ResultRow]) -> str:
    for repetition in repetitions:
        lines = report.consoles.get(repetition.key, ()) if repetition.key else ()
        if lines:
            return without_controls("\n".join(lines))
    return ""


def swallowed(found: Sequence[Flow]) -> list[Flow]:
    """The cells in which memory kept most of what the workload asked for from the medium."""
    return [flow for flow in found if flow.swallowed]


def flow_table(report: Report, found: Sequence[Flow], caption: str) -> ReportTable:
    """Bytes asked for against bytes that reached the medium."""
    scale = scale_of(METRICS["medium_read_bytes"], (flow.requested_bytes for flow in found))
    limits = report.results.limits
    told = {repetition.combination for repetition in report.results.repetitions if repetition.steady}
    open_ = {report.unknown.get(flow.combination, "") for flow in found}
    alike = f" Whether the rate was steady is not known: {min(open_)}." if len(open_) == 1 and min(open_) else ""
    told = set() if alike else told  # one line says it for all
    shares = [report.results.spreads(f"busy_{part}_percent") for part in ("medium", "bus", "cpu")]
    rows = []
    for flow in found:
        bytes_ = (flow.requested_bytes, flow.read_bytes, flow.written_bytes)
        cells = [TableCell(scale.number(value), sort=value) for value in bytes_]
        share = TableCell(flow.percent, tone="warn" if flow.swallowed else "", sort=flow.reached)
        limit = limits.get(flow.combination, "")
        busy = [_percent(found.get(flow.combination)) for found in shares]
        what = TableCell(SHORT.get(limit, "–"), tone="" if limit == MEDIUM else "warn" if limit else "quiet")
        steady = [_steady(report, flow.combination, flow.combination in told)]
        heads = _places(report, flow.combination, OWN_BESIDE_BYTES)
        rows.append(Row(heads, [*cells, share, *busy, what, *(steady if told else [])]))
    return ReportTable(
        caption=caption,
        note=f"{scale.unit} during the measurement, medians over seeds; the share counts reads where the pattern "
        "reads, and writes where it writes. Medium, bus and CPU: for how much of the time each was at work; the limit "
        f"is what one would have to make faster.{alike}",
        corner=_corner(report, OWN_BESIDE_BYTES),
        columns=[
            "Asked for",
            "Read from medium",
            "Written to medium",
            "Reached",
            "Medium",
            "Bus",
            "CPU",
            "Limit",
            *(["Steady"] if told else []),
        ],
        rows=rows,
        kind="sortable",
    )


def _steady(report: Report, cell: Combination, told: bool) -> TableCell:
    if verdict := report.unsteady.get(cell):
        return TableCell("no", hint=verdict.text, tone="warn")
    if why := report.unknown.get(cell):
        return TableCell("not known", hint=why, tone="quiet")
    return TableCell("yes" if told else "–")


def _corner(report: Report, own: int = OWN_COLUMNS) -> list[str]:
    """What stands over the places of cells; of more axes than `own`, the cell's name stands in one column."""
    axes = list(report.results.axes)
    return ["Cell"] if len(axes) > own else [capitalized(report.words.axis(axis)) for axis in axes]


def _places(report: Report, cell: Combination, own: int = OWN_COLUMNS) -> list[Head]:
    if len(report.results.axes) > own:
        return [Head(report.cell_name(cell))]
    return [Head(report.words.value(axis, value)) for axis, value in report.results.coordinates(cell).items()]


def _percent(found: Spread | None) -> TableCell:
    return TableCell(f"{found.median:.0f} %", sort=found.median) if found else TableCell("–", tone="quiet")


def check_summaries(report: Report) -> list[CheckSummary]:
    """The verdicts by file system, in the study's order."""
    axis = "filesystem"
    groups: dict[str, list[ResultRow]] = {}
    for repetition in report.results.repetitions:
        if repetition.key:
            name = report.results.coordinates(repetition.combination).get(axis, report.fixed.get(axis, ""))
            groups.setdefault(name, []).append(repetition)
    return [_check_summary(report, report.words.value(axis, name), group) for name, group in groups.items()]


def _check_summary(report: Report, name: str, repetitions: Sequence[ResultRow]) -> CheckSummary:
    findings = [
        (f"{report.cell_name(repetition.combination)}, seed {repetition.seed}", without_controls(repetition.check))
        for repetition in repetitions
        if repetition.check
    ]
    clean = sum(repetition.check == "" for repetition in repetitions)
    return CheckSummary(name, clean, len(findings), len(repetitions) - clean - len(findings), findings)


def repetition_table(report: Report) -> ReportTable:
    """Every repetition, with its key, its limit and the metrics that the study asks for."""
    listed = report.results.repetitions[:LISTED_REPETITIONS]
    left = len(report.results.repetitions) - len(listed)
    metrics = _asked_metrics(report)
    scales = {
        name: scale_of(metric_of(name), (r.metrics[name] for r in report.results.repetitions if name in r.metrics))
        for name in metrics
    }
    rows = [
        Row(
            [*_places(report, repetition.combination), Head(str(repetition.seed))],
            [
                TableCell(repetition.outcome, hint=repetition.reason, tone="" if repetition.is_measured else "bad"),
                TableCell(repetition.key[:KEY_DIGITS], hint=repetition.key, tone="key"),
                TableCell(SHORT.get(repetition.limit, "–"), tone="" if repetition.limit else "quiet"),
                *(_metric_cell(repetition.metrics.get(name), scales[name]) for name in metrics),
            ],
        )
        for repetition in listed
    ]
    rest = f" The first {len(listed):,}; {left:,} more are in results.csv." if left else ""
    return ReportTable(
        caption="Every repetition",
        note="Numbers in three digits; exact ones, and all metrics, are in results.csv, and flashbed show KEY has the "
        f"rest.{rest}",
        corner=[*_corner(report), "Seed"],
        columns=["Outcome", "Key", "Limit", *(scales[name].title(metric_of(name)) for name in metrics)],
        rows=rows,
        kind="sortable dense",
    )


def not_durable(report: Report) -> list[tuple[str, str]]:
    """The cells that lost commits of the load, by name, with what was counted."""
    return [(report.cell_name(cell), why.reason) for cell, why in report.not_durable.items()]


def _asked_metrics(report: Report) -> list[str]:
    """What the study is about, as far as a page is wide; then what else was measured."""
    asked = dict.fromkeys([*report.asked_metrics, *report.results.metrics])
    known = [name for name in asked if name in report.results.metrics]
    return known[: SHOWN_COLUMNS - len(_corner(report)) - 1]


def _metric_cell(value: float | None, scale: Scale) -> TableCell:
    return TableCell("") if value is None else TableCell(scale.number(value), hint=repr(value), sort=value)


def manifest_rows(manifest: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The manifest in groups: its single values first, then each table of it, flattened."""
    single = [(str(name), _scalar(value)) for name, value in manifest.items() if not isinstance(value, Mapping)]
    groups = [("", single)] if single else []
    for name, value in manifest.items():
        if isinstance(value, Mapping):
            groups.append((str(name), list(_flat(value))))
    return groups


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _scalar(value, str(name))


def _scalar(value: Any, name: str = "") -> str:
    """A value as it is; a large number whose name tells its unit also in a unit that can be read."""
    if isinstance(value, list | tuple):
        return ", ".join(_scalar(item) for item in value)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value >= 10_000:
        scale = next((_readable(value, steps) for ending, steps in _ENDINGS.items() if name.endswith(ending)), None)
        return f"{value} ({scale})" if scale else str(value)
    return str(value)


def _readable(value: int, steps: Sequence[tuple[str, float]]) -> str:
    unit, one = [step for step in steps if value >= step[1]][-1]
    return f"{number(value / one)} {unit}"
