# SPDX-License-Identifier: Apache-2.0
"""Define the table of results: a row for each repetition; the names, values and meanings of its columns.

This is the only place that knows the columns. Data frames, results.csv, .parquet and .json, the comparison of two
reports and the table in docs/studies.md are all made from COLUMNS. A table also has the axes of its study, and the
metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from flashbed.guest_output import limit, steadiness, wear
from flashbed.guest_output.assessment import Assessment, State, Status
from flashbed.guest_output.durability import Durability
from flashbed.guest_output.limit import Limit
from flashbed.guest_output.program_calls import CallSummary
from flashbed.guest_output.steadiness import Settling, Steadiness
from flashbed.guest_output.wear import Freshness
from flashbed.result.result import Result
from flashbed.workload import WORKLOADS

Combination = tuple[str, ...]
"""One value for each axis, in the axes' order: the coordinates of a cell."""

COUNTED = "counted."
"""The prefix of columns of `flashbed.results()` with counts: the names in LAYERS."""


@dataclass(frozen=True)
class ResultRow:
    """A row of the results. Metrics are finite numbers; an unknown one is absent."""

    combination: Combination
    seed: int
    outcome: Status
    reason: str = ""
    key: str = ""
    check: str | None = None
    """The output of the file system's own checker: "" if the image is clean, None if it was not checked."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    limit: Limit = ""
    """What was measured; "" if it is unknown."""
    mounted: str = ""
    """The mount, as the kernel reports it."""
    durable: Durability = field(default_factory=Durability)
    steady: Steadiness = field(default_factory=Steadiness)
    settled: Settling = field(default_factory=Settling)
    fresh: Freshness = field(default_factory=Freshness)
    writes: str = ""
    """Whether its writes allocated or overwrote, if a pattern determines it."""
    counted: Mapping[str, int] = field(default_factory=dict)
    """CPU time in ns, and the medium's work until all data had reached it, by the names of LAYERS."""
    kernel_source: str = ""
    """The source of a user's own kernel: a short name, and git's hash; "" for a kernel of the lab."""
    waits_for_memory: bool = False
    """True if its writes ended in memory. Then their latency leaves out the flush, which took most of the run."""
    compresses: bool = False
    """True if its file system may have stored fewer bytes than it was given."""
    calls: CallSummary | None = None
    """Where the time of its programs went; None if their calls were not noted."""

    @property
    def is_measured(self) -> bool:
        return self.outcome == Status.MEASURED


@dataclass(frozen=True)
class RowInputs:
    """The inputs of a row beside the result: those of its cell and its study."""

    tool: str
    parameters: Mapping[str, Any]
    """The parameters of the tool."""
    medium: Mapping[str, Any]
    """The parameters of the medium's model."""
    pio: bool = False
    """True if the board's CPU moves the data."""
    polls: bool = False
    """True if the CPU is busy while the medium is."""
    kernel_source: str = ""
    compresses: bool = False
    """True if the file system may store fewer bytes than it is given."""
    bytes_per_day: int | None = None
    """The bytes written a day, as the study says."""


def row_of(result: Result, axes: Iterable[str], inputs: RowInputs) -> ResultRow:
    """Return the row of a repetition. Values that depend on the study's questions, and not on the measurement, are
    computed here; they are in no key.
    """
    measurement, tool = result.measurement, WORKLOADS[inputs.tool]
    figures = {**measurement.metrics, **wear.years(measurement.metrics, inputs.bytes_per_day)}
    metrics = {name: float(value) for name, value in figures.items()}
    direction = limit.direction_of(inputs.parameters)
    silent = tool.silent(inputs.parameters)
    return ResultRow(
        combination=tuple(result.coordinates[axis] for axis in axes),
        seed=result.seed,
        outcome=result.outcome,
        reason=result.reason,
        key=result.key,
        check=result.check,
        metrics=metrics,
        limit=limit.limit(metrics, direction, pio=inputs.pio, polls=inputs.polls),
        mounted=measurement.mounted,
        durable=measurement.durable,
        steady=steadiness.steadiness(measurement.series, silent) if result.is_measured else Steadiness(),
        settled=measurement.settled,
        fresh=wear.freshness(measurement.medium, inputs.medium),
        writes=tool.writes(inputs.parameters),
        counted=measurement.counted,
        kernel_source=inputs.kernel_source,
        waits_for_memory=limit.waits_for_memory(inputs.parameters, metrics),
        compresses=inputs.compresses,
        calls=measurement.calls,
    )


@dataclass(frozen=True)
class Column:
    """A column of the table that is neither an axis nor a metric."""

    name: str
    meaning: str
    """For docs/studies.md."""
    value: Callable[[ResultRow], str | int | Assessment | None]
    """Returns the column's value for a row."""
    kind: Literal["str", "int64", "object"] = "str"
    """The type in a data frame. Only "object" has the value None."""
    if_any: bool = False
    """True if a table has the column only if a row has a value."""
    compared: bool = False
    """True if the comparison of two reports looks at it."""
    optional: bool = False
    """True if an older results.json may lack it. Then it is empty."""
    is_assessment: bool = False
    """True if its values are assessments. Tables have their texts; results.json also has state and reason."""

    def shown(self, row: ResultRow) -> str | int | None:
        """Return the value of a table."""
        value = self.value(row)
        return value.text if isinstance(value, Assessment) else value


COLUMNS: tuple[Column, ...] = (
    Column("seed", "the seed", lambda row: row.seed, kind="int64"),
    Column(
        "outcome",
        "`measured`, or how the repetition ended: `failed`, `timed out` ...",
        lambda row: row.outcome.value,
        compared=True,
    ),
    Column("reason", "why it has no figures", lambda row: row.reason),
    Column("key", "the key of the result", lambda row: row.key),
    Column(
        "check",
        "what the file system's own checker found: nothing if it is empty; not there (`None`) if it was not checked",
        lambda row: row.check,
        kind="object",
        compared=True,
    ),
    Column(
        "kernel_source",
        "what a kernel of yours was made of; only where a cell ran on one",
        lambda row: row.kernel_source,
        if_any=True,
    ),
    Column(
        "limit",
        "what was measured: `medium`, `bus`, `cpu`, `memory`, `link` or `load`",
        lambda row: row.limit,
        compared=True,
    ),
    Column(
        "mounted", "the file system and its options, as /proc/mounts has them", lambda row: row.mounted, compared=True
    ),
    Column(
        "durable",
        "whether the commits that the load asked for were carried out",
        lambda row: row.durable,
        compared=True,
        optional=True,
        is_assessment=True,
    ),
    Column(
        "steady",
        "whether the rate was the same all the time",
        lambda row: row.steady,
        compared=True,
        is_assessment=True,
    ),
    Column(
        "settled",
        "whether write amplification was the same in both halves",
        lambda row: row.settled,
        is_assessment=True,
    ),
    Column(
        "fresh",
        "that less was ever programmed than the flash holds",
        lambda row: row.fresh,
        compared=True,
        is_assessment=True,
    ),
    Column(
        "writes", "`allocates` or `overwrites`, where a pattern of fio tells", lambda row: row.writes, compared=True
    ),
)
"""In the order of a table."""


def names() -> tuple[str, ...]:
    """Return the names of all columns. No axis of a study may have one of them."""
    return tuple(column.name for column in COLUMNS)


def columns_of(rows: Iterable[ResultRow]) -> list[Column]:
    """Return the columns of a table with these rows."""
    all_rows = list(rows)
    return [column for column in COLUMNS if not column.if_any or any(map(column.value, all_rows))]


def values(row: ResultRow, columns: Iterable[Column]) -> dict[str, str | int | None]:
    """Return the values of a row by the names of `columns`."""
    return {column.name: column.shown(row) for column in columns}


RESULTS_JSON = "results.json"
"""The file of a report with its rows. `flashbed compare` reads it."""

ASSESSMENTS = "assessments"
"""The name, in a row of results.json, of its assessments: state and reason by the names of columns."""

TABLES = ("metrics", "counted", ASSESSMENTS)
"""The tables of a row of results.json, beside its columns. No axis of a study may have one of these names either."""


def assessments(row: ResultRow, columns: Iterable[Column]) -> dict[str, dict[str, str]]:
    """Return state and reason of each assessment in a row that is not empty."""
    assessed = {column.name: column.value(row) for column in columns if column.is_assessment}
    return {name: asdict(value) for name, value in assessed.items() if isinstance(value, Assessment) and value}


def compared_texts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts of a row of results.json by which two reports are compared. The key is not among them, because
    it also changes with inputs that change no figure. Raises KeyError if the row lacks one.
    """
    compared = [column for column in COLUMNS if column.compared and not column.is_assessment]
    return {column.name: row.get(column.name, "") if column.optional else row[column.name] for column in compared}


def compared_assessments(row: Mapping[str, Any]) -> dict[str, Assessment]:
    """Return the assessments of a row of results.json by which two reports are compared. Raises KeyError, TypeError,
    ValueError or AttributeError if the row lacks one, or has something else.
    """
    compared = [column for column in COLUMNS if column.compared and column.is_assessment]
    if ASSESSMENTS in row:
        return {column.name: _assessment(**row[ASSESSMENTS].get(column.name, {})) for column in compared}
    return {
        column.name: _from_text(row.get(column.name, "") if column.optional else row[column.name])
        for column in compared
    }


def _from_text(text: str) -> Assessment:
    """Return the assessment of a text: a results.json of flashbed 0.2.0 and before has only the texts of tables."""
    state, _, reason = text.partition(": ")
    return _assessment(state, reason)


def _assessment(state: str = "", reason: str = "") -> Assessment:
    if not isinstance(reason, str):
        raise TypeError("a reason is no text")
    return Assessment(State(state), reason)
