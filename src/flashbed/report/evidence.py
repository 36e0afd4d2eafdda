# SPDX-License-Identifier: Apache-2.0
"""The section "Evidence": every repetition, what failed and why, bytes, checks and the manifest.

Gathers and shortens; judges only by the rules of the analysis. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from flashbed.analysis import Flow, Spread
from flashbed.analysis.ratio import PROPORTION_CONFIDENCE, proportion
from flashbed.analysis.words import ONLY_CELL, SCALES, Scale, capitalized, listing, metric_of, number, scale_of
from flashbed.common.foreign import without_controls
from flashbed.guest_output.assessment import Status
from flashbed.guest_output.power_cuts import GOOD, METRIC_OF, CutOutcome
from flashbed.image.changed_code import NotLocated, Obstacle
from flashbed.image.kernel_sources import ChangeUnknown
from flashbed.report.inputs import Manifest
from flashbed.report.limits import MEDIUM_LIMIT, SHORT
from flashbed.report.model import Report
from flashbed.report.tables import Head, ReportTable, Row, TableCell
from flashbed.result.columns import Combination, ResultRow
from flashbed.result.metrics import METRICS

if TYPE_CHECKING:
    from flashbed.execution.coverage import LineCoverage

LISTED_REPETITIONS = 2000
"""The most rows that a browser scrolls with ease; the rest is in results.csv, and the report says so."""

KEY_DIGITS = 10
"""The digits of a key that a table shows in one line beside the longest numbers. results.csv has all of them."""

LISTED_PLACES = 5
"""The most changed lines that did not run, or changed files without code, that are named."""

SHOWN_COLUMNS = 10
"""The most columns for axes, seed and metrics of a repetition: the width of a page."""

OWN_COLUMNS = 5
"""The most axes that have a column each; of more, one column has the cell's name."""

OWN_BESIDE_BYTES = 4
"""The same limit beside nine columns of numbers."""

_ENDINGS = {"_bytes": SCALES["bytes"], "_ns": (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)), "_us": SCALES["us"]}


@dataclass(frozen=True)
class Loss:
    """Repetitions of one cell that ended alike, without a result. `console` has the last lines of the first."""

    cell: str
    outcome: Status
    reason: str
    repetitions: Sequence[ResultRow]
    console: str

    @property
    def seeds(self) -> str:
        """Return the seeds as text: "seeds 1 and 3"."""
        numbers = [str(repetition.seed) for repetition in self.repetitions]
        return f"{'seed' if len(numbers) == 1 else 'seeds'} {listing(numbers)}"


@dataclass(frozen=True)
class CheckSummary:
    """What the host's checker found in the images of one file system; `findings` has a place and a text for each
    damaged one.
    """

    filesystem: str
    clean: int
    damaged: int
    unchecked: int
    findings: Sequence[tuple[str, str]]

    @property
    def verdict(self) -> str:
        """Return "damaged", "clean" or "not checked"."""
        if self.damaged:
            return "damaged"
        return "clean" if self.clean else "not checked"

    @property
    def text(self) -> str:
        """Return the number of images by verdict."""
        parts = [(self.damaged, "damaged"), (self.clean, "clean"), (self.unchecked, "not checked")]
        return ", ".join(f"{number_} {word}" for number_, word in parts if number_)


def losses(report: Report) -> list[Loss]:
    """Return the repetitions that failed, with the end of the first console."""
    return _losses(report, [r for r in report.results.not_measured() if r.outcome != Status.MISSING])


def missing(report: Report) -> list[Loss]:
    """Return the repetitions that were planned and have not run."""
    return _losses(report, [r for r in report.results.not_measured() if r.outcome == Status.MISSING])


def _losses(report: Report, repetitions: Sequence[ResultRow]) -> list[Loss]:
    """Return repetitions in groups of the same cell and ending."""
    groups: dict[tuple[Combination, Status, str], list[ResultRow]] = {}
    for repetition in repetitions:
        ending = (repetition.combination, repetition.outcome, repetition.reason)
        groups.setdefault(ending, []).append(repetition)
    return [
        Loss(report.cell_name(combination), outcome, without_controls(reason), group, _console(report, group))
        for (combination, outcome, reason), group in groups.items()
    ]


def _console(report: Report, repetitions: Sequence[ResultRow]) -> str:
    """Return the last lines of the first console that is kept; "" if none is."""
    for repetition in repetitions:
        lines = report.consoles.get(repetition.key, ()) if repetition.key else ()
        if lines:
            return without_controls("\n".join(lines))
    return ""


def swallowed(flows: Sequence[Flow]) -> list[Flow]:
    """Return the cells in which memory kept most of the requested bytes from the medium."""
    return [flow for flow in flows if flow.swallowed]


def flow_table(report: Report, flows: Sequence[Flow], caption: str) -> ReportTable:
    """Return a table of requested bytes against bytes that reached the medium."""
    scale = scale_of(METRICS["medium_read_bytes"], (flow.requested_bytes for flow in flows))
    limits = report.results.limits
    noted = {repetition.combination for repetition in report.results.repetitions if repetition.steady}
    open_ = {report.unknown.get(flow.combination, "") for flow in flows}
    alike = f" Whether the rate was steady is not known: {min(open_)}." if len(open_) == 1 and min(open_) else ""
    noted = set() if alike else noted  # one line says it for all
    shares = [report.results.spreads(f"busy_{part}_percent") for part in ("medium", "bus", "cpu")]
    rows = []
    for flow in flows:
        bytes_ = (flow.requested_bytes, flow.read_bytes, flow.written_bytes)
        cells = [TableCell(scale.number(value), sort=value) for value in bytes_]
        share = TableCell(flow.percent, tone="warn" if flow.swallowed else "", sort=flow.reached)
        limit = limits.get(flow.combination, "")
        busy = [_percent(spreads.get(flow.combination)) for spreads in shares]
        limit_cell = TableCell(
            SHORT.get(limit, "–"), tone="" if limit == MEDIUM_LIMIT else "warn" if limit else "quiet"
        )
        steady = [_steady(report, flow.combination, flow.combination in noted)]
        heads = _places(report, flow.combination, OWN_BESIDE_BYTES)
        rows.append(Row(heads, [*cells, share, *busy, limit_cell, *(steady if noted else [])]))
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
            *(["Steady"] if noted else []),
        ],
        rows=rows,
        kind="sortable",
    )


def _steady(report: Report, cell: Combination, is_noted: bool) -> TableCell:
    """Return the cell that says whether the rate was steady. `is_noted` is True if a note says so."""
    if verdict := report.unsteady.get(cell):
        return TableCell("no", hint=verdict.text, tone="warn")
    if reason := report.unknown.get(cell):
        return TableCell("not known", hint=reason, tone="quiet")
    return TableCell("yes" if is_noted else "–")


def _corner(report: Report, own: int = OWN_COLUMNS) -> list[str]:
    """Return the heads over the places of cells: one for each axis, or "Cell" if there are more than `own` axes."""
    axes = list(report.results.axes)
    return ["Cell"] if len(axes) > own else [capitalized(report.words.axis(axis)) for axis in axes]


def _places(report: Report, cell: Combination, own: int = OWN_COLUMNS) -> list[Head]:
    """Return a cell's place as row heads, one for each head of _corner()."""
    if len(report.results.axes) > own:
        return [Head(report.cell_name(cell))]
    return [Head(report.words.value(axis, value)) for axis, value in report.results.coordinates(cell).items()]


def _percent(spread: Spread | None) -> TableCell:
    """Return a share as a cell."""
    return TableCell(f"{spread.median:.0f} %", sort=spread.median) if spread else TableCell("–", tone="quiet")


def check_summaries(report: Report) -> list[CheckSummary]:
    """Return the verdicts by file system, in the order of the study."""
    axis = "filesystem"
    groups: dict[str, list[ResultRow]] = {}
    for repetition in report.results.repetitions:
        if repetition.key:
            name = report.results.coordinates(repetition.combination).get(axis, report.fixed.get(axis, ""))
            groups.setdefault(name, []).append(repetition)
    return [_check_summary(report, report.words.value(axis, name), group) for name, group in groups.items()]


def _check_summary(report: Report, name: str, repetitions: Sequence[ResultRow]) -> CheckSummary:
    """Return the verdicts on the images of one file system."""
    findings = [
        (f"{report.cell_name(repetition.combination)}, seed {repetition.seed}", without_controls(repetition.check))
        for repetition in repetitions
        if repetition.check
    ]
    clean = sum(repetition.check == "" for repetition in repetitions)
    return CheckSummary(name, clean, len(findings), len(repetitions) - clean - len(findings), findings)


def repetition_table(report: Report) -> ReportTable:
    """Return a table of every repetition, with its key, its limit and the metrics that the study asks for."""
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
    """Return the cells that lost commits of the load, by name, with what was counted."""
    return [(report.cell_name(cell), durability.reason) for cell, durability in report.not_durable.items()]


def _asked_metrics(report: Report) -> list[str]:
    """Return the metrics that the study asks for, then other measured ones, as many as a page is wide."""
    asked = dict.fromkeys([*report.asked_metrics, *report.results.metrics])
    known = [name for name in asked if name in report.results.metrics]
    return known[: SHOWN_COLUMNS - len(_corner(report)) - 1]


def _metric_cell(value: float | None, scale: Scale) -> TableCell:
    """Return a number as a cell, which sorts by its hint; an empty one for None."""
    return TableCell("") if value is None else TableCell(scale.number(value), hint=repr(value))


_HOW_TO_GET_A_BASE = "`git init`, `git add --force .` and `git commit` there, before the change, give it a base"

_CHANGE_UNKNOWN = {
    ChangeUnknown.NO_REPOSITORY: f"no git repository has it; {_HOW_TO_GET_A_BASE}",
    ChangeUnknown.IGNORED_BY_GIT: (
        "its .gitignore leaves out the tree itself, as Debian's does, so git does not have it; " + _HOW_TO_GET_A_BASE
    ),
    ChangeUnknown.NOTHING_COMMITTED: f"nothing is committed there yet; {_HOW_TO_GET_A_BASE}",
    ChangeUnknown.LINES_SKIPPED: "nobody looked where they are; a run without --skip-lines does",
}

_OBSTACLES = {
    Obstacle.NOT_IN_KERNEL: "is no part of this kernel",
    Obstacle.TOO_MANY_OBJECTS: "is part of {objects} objects, too many to look at",
    Obstacle.NOT_COMPILED: "cannot be compiled with line numbers",
    Obstacle.NO_CODE: "became no code",
}


def changed_lines(coverage: LineCoverage) -> str:
    """Return a sentence on how many of a kernel's changed lines ran."""
    kernel = coverage.kernel
    if coverage.unknown:
        why = _CHANGE_UNKNOWN[coverage.unknown]
        return f"{kernel}: which lines are changed in it, and whether they ran, is not known: {why}."
    beside = _not_located(coverage)
    if not coverage.lines:
        return f"{kernel}: no changed line became code of this kernel{beside}: no difference means nothing."
    if not coverage.ran:
        none = f"none of the {coverage.lines} changed lines ran" if coverage.lines > 1 else "the changed line never ran"
        return f"{kernel}: {none} in any guest{beside}: no difference means nothing."
    rest = f"; not {_first_places(coverage.never)}" if coverage.never else ""
    return f"{kernel}: {coverage.ran} of {coverage.lines} changed lines ran, first in {coverage.first}{rest}{beside}."


def _not_located(coverage: LineCoverage) -> str:
    """Return the changed files that cannot be watched, with the reasons."""
    places: dict[NotLocated, list[str]] = {}
    for place, reason in (coverage.not_located or {}).items():
        places.setdefault(reason, []).append(place)
    return "".join(
        f"; {_first_places(of_reason)} {_OBSTACLES[reason.why].format(objects=reason.objects)}"
        for reason, of_reason in places.items()
    )


def _first_places(places: Sequence[str]) -> str:
    more = f" and {len(places) - LISTED_PLACES} more" if len(places) > LISTED_PLACES else ""
    return f"{', '.join(places[:LISTED_PLACES])}{more}"


def manifest_document(manifest: Manifest) -> dict[str, Any]:
    """Return the manifest as results.json has it: single values and tables by name."""
    document: dict[str, Any] = dict(manifest.versions)
    if manifest.own_modules:
        document["modules of your own"] = dict(manifest.own_modules)
    if manifest.coverage:
        document["changed lines"] = [changed_lines(coverage) for coverage in manifest.coverage]
    return {**document, **manifest.profiles}


def manifest_rows(manifest: Manifest) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the manifest in groups: its single values first, then each of its tables, flattened."""
    document = manifest_document(manifest)
    single = [(str(name), _scalar(value)) for name, value in document.items() if not isinstance(value, Mapping)]
    groups = [("", single)] if single else []
    for name, value in document.items():
        if isinstance(value, Mapping):
            groups.append((str(name), list(_flat(value))))
    return groups


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the entries of a table, with dotted names for nested tables."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _scalar(value, str(name))


def _scalar(value: Any, name: str = "") -> str:
    """Return a value as text. A large number whose name ends with a unit is also given in a readable unit."""
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
    """Return a value in the largest unit that is not above it."""
    unit, size = [step for step in steps if value >= step[1]][-1]
    return f"{number(value / size)} {unit}"


_ALWAYS_SHOWN = (CutOutcome.SURVIVED, CutOutcome.LOST)
"""The outcomes that have a column even if no cut led to them."""


def power_cuts(report: Report) -> ReportTable | None:
    """Return a row for each cell whose power was cut; None if there is none. The cuts of all seeds count together."""
    cells: dict[Combination, list[ResultRow]] = {}
    for repetition in report.results.repetitions:
        if repetition.is_measured and repetition.metrics.get("cuts"):
            cells.setdefault(repetition.combination, []).append(repetition)
    if not cells:
        return None
    summed = {cell: _summed_cuts(rows) for cell, rows in cells.items()}
    shown = [
        outcome for outcome in CutOutcome if outcome in _ALWAYS_SHOWN or any(of[outcome] for of in summed.values())
    ]
    rows = [
        Row(
            [Head(report.words.value(axis, value)) for axis, value in report.results.coordinates(cell).items()]
            or [Head(capitalized(ONLY_CELL))],
            [
                TableCell(f"{sum(counts.values()):,}", sort=sum(counts.values())),
                *(TableCell(f"{counts[outcome]:,}", sort=counts[outcome]) for outcome in shown),
                _kept_data(counts),
                _recovery_time(cells[cell]),
            ],
        )
        for cell, counts in summed.items()
    ]
    return ReportTable(
        caption="What power cuts left",
        note="The cuts of all seeds, at moments from the command's first change of a file on. Data are kept if "
        "the file system mounts, after its repair if need be, and all acknowledged data are there. Below the share "
        f"stands its exact interval (Clopper and Pearson, {100 * PROPORTION_CONFIDENCE:.0f} %). Recovery is the time "
        "from the first attempt to mount to the mounted file system, mean and longest.",
        corner=[capitalized(report.words.axis(axis)) for axis in report.results.axes] or ["Cell"],
        columns=["Cuts", *(capitalized(outcome) for outcome in shown), "Data kept", "Recovery (s)"],
        rows=rows,
        kind="sortable",
    )


def _summed_cuts(rows: list[ResultRow]) -> dict[CutOutcome, int]:
    return {outcome: sum(int(row.metrics[name]) for row in rows) for outcome, name in METRIC_OF.items()}


def _kept_data(counts: dict[CutOutcome, int]) -> TableCell:
    cuts, kept = sum(counts.values()), sum(counts[outcome] for outcome in GOOD)
    low, high = proportion(kept, cuts)
    return TableCell(f"{100 * kept / cuts:.1f} %", note=f"{100 * low:.1f} – {100 * high:.1f} %", sort=kept / cuts)


def _recovery_time(rows: list[ResultRow]) -> TableCell:
    measured = [row.metrics for row in rows if "recovery_mean_s" in row.metrics]
    if not measured:
        return TableCell("never", tone="quiet")
    mean = fmean(metrics["recovery_mean_s"] for metrics in measured)
    return TableCell(number(mean), note=f"at most {number(max(m['recovery_max_s'] for m in measured))}", sort=mean)
