# SPDX-License-Identifier: Apache-2.0
"""The table of results: a row a repetition, and what its columns are called, hold and mean.

The one place that knows the columns. Data frames, results.csv, .parquet and .json, the comparison of two reports and
the table in docs/studies.md are all made of COLUMNS. Beside these a table has the axes of its study, and the metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from flashbed.guest_output import limit, steadiness, wear
from flashbed.guest_output.durability import Durability
from flashbed.guest_output.limit import Limit
from flashbed.guest_output.steadiness import Settling, Steadiness
from flashbed.guest_output.wear import Freshness
from flashbed.result.result import MEASURED, Result
from flashbed.workload import WORKLOADS

Combination = tuple[str, ...]
"""One value for each axis, in the axes' order: the coordinates of a cell."""

COUNTED = "counted."
"""What columns of `flashbed.results()` begin with that hold what was counted: the names in LAYERS."""


@dataclass(frozen=True)
class ResultRow:
    """One row of the results. Metrics hold finite numbers only: what could not be told is absent."""

    combination: Combination
    seed: int
    outcome: str
    reason: str = ""
    key: str = ""
    check: str | None = None
    """What the file system's own checker said of the image left behind: "" is clean, None is not checked."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    limit: Limit = ""
    """What was measured; "" where nothing tells."""
    mounted: str = ""
    """How the kernel had its file system mounted."""
    durable: Durability = field(default_factory=Durability)
    steady: Steadiness = field(default_factory=Steadiness)
    settled: Settling = field(default_factory=Settling)
    fresh: Freshness = field(default_factory=Freshness)
    writes: str = ""
    """Whether its writes allocated or overwrote, where a pattern tells."""
    counted: Mapping[str, int] = field(default_factory=dict)
    """CPU time, and what the medium did until all had reached it, by name."""
    kernel_source: str = ""
    """What a kernel of the user's own was made of: a short name, and git's hash; "" where it was one of the lab's."""
    waits_for_memory: bool = False
    """Whether its writes ended in memory, so that their latency leaves out the flush that most of its run was."""
    compresses: bool = False
    """Whether its file system may have stored fewer bytes than it was given."""

    @property
    def is_measured(self) -> bool:
        return self.outcome == MEASURED


@dataclass(frozen=True)
class RowInputs:
    """What a row needs of its cell and its study, beside the result."""

    tool: str
    parameters: Mapping[str, Any]
    """Of the tool."""
    medium: Mapping[str, Any]
    """The parameters of the medium's model."""
    pio: bool = False
    """Whether the board's CPU moves the data."""
    polls: bool = False
    """Whether the CPU is busy while the medium is."""
    kernel_source: str = ""
    bytes_per_day: int | None = None
    """What the study says is written a day."""


def row_of(result: Result, axes: Iterable[str], inputs: RowInputs) -> ResultRow:
    """The row of a repetition. What depends on the study's questions, and not on how it was measured, is made here, and
    is in no key.
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
    )


@dataclass(frozen=True)
class Column:
    """A column of the table that is neither an axis nor a metric."""

    name: str
    meaning: str
    """For docs/studies.md."""
    value: Callable[[ResultRow], str | int | None]
    """What it holds of a row."""
    kind: Literal["str", "int64", "object"] = "str"
    """Its type in a data frame; None is a value of "object" only."""
    if_any: bool = False
    """Whether it is there only where a row has it."""
    compared: bool = False
    """Whether two reports differ that differ in it."""
    optional: bool = False
    """Whether a results.json of before may lack it: then it is empty."""


COLUMNS: tuple[Column, ...] = (
    Column("seed", "the seed", lambda row: row.seed, kind="int64"),
    Column(
        "outcome",
        "`measured`, or how the repetition ended: `failed`, `timed out` ...",
        lambda r: r.outcome,
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
        lambda row: row.durable.text,
        compared=True,
        optional=True,
    ),
    Column("steady", "whether the rate was the same all the time", lambda row: row.steady.text, compared=True),
    Column("settled", "whether write amplification was the same in both halves", lambda row: row.settled.text),
    Column("fresh", "that less was ever programmed than the flash holds", lambda row: row.fresh.text, compared=True),
    Column(
        "writes", "`allocates` or `overwrites`, where a pattern of fio tells", lambda row: row.writes, compared=True
    ),
)
"""In the order of a table."""


def names() -> tuple[str, ...]:
    """Of all columns. No axis of a study has such a name."""
    return tuple(column.name for column in COLUMNS)


def columns_of(rows: Iterable[ResultRow]) -> list[Column]:
    """The columns that a table of these rows has."""
    known = list(rows)
    return [column for column in COLUMNS if not column.if_any or any(map(column.value, known))]


def values(row: ResultRow, columns: Iterable[Column]) -> dict[str, str | int | None]:
    """What a row holds, by column."""
    return {column.name: column.value(row) for column in columns}


def compared_of(told: Mapping[str, Any]) -> dict[str, Any]:
    """Of a row of results.json, what two reports are compared by, beside numbers; not among it is the key: it changes
    with what changes no figure. Raises KeyError for a row that lacks what each has.
    """
    compared = [column for column in COLUMNS if column.compared]
    plain = {column.name: told[column.name] for column in compared if not column.optional}
    return plain | {column.name: told.get(column.name, "") for column in compared if column.optional}
