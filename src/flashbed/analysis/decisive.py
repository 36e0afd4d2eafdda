# SPDX-License-Identifier: Apache-2.0
"""Judge whether a figure decides anything about what is compared: memory, a transient or the CPU may have made it.

A cell may be only the beginning of a longer one, with the same settings and less of the same work: the longer cell went
through what the short one measured, and went on. The short cell is a transient if the rate of the longer one was not
steady. It is one too if it was too short to tell, and its figure differs from the steady rate of the longer one. A
transient is shown, and decides nothing. A short cell that agrees with the longer one supports it. If both were steady,
the figure depends on the size.

All that compare, advise or draw ask this module. Knows the columns of the results table. Must not know workloads, nor
words for people (answer.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from statistics import median
from typing import Literal

from flashbed.analysis.ratio import apart
from flashbed.analysis.study_results import Results
from flashbed.common.units import by_size, sizes
from flashbed.guest_output import percentiles, power_cuts
from flashbed.guest_output.assessment import Assessment, State
from flashbed.guest_output.durability import Durability
from flashbed.guest_output.steadiness import MOST_APART, Steadiness
from flashbed.result.columns import Combination, ResultRow

AMOUNT_AXES = ("io_size", "file")
"""Axes of how much is done; the first that a study varies counts. Each byte of a file is requested once, unless an
amount of I/O says otherwise.
"""

AGREES = 1 + MOST_APART / 2
"""The largest factor between a short cell and a longer one that agree. Half of a steady rate may be as far from all of
it (steadiness.py).
"""

RATE = "bandwidth"


def amount_axis(results: Results, apart_by: Collection[str] = ()) -> str | None:
    """Return the axis along which cells differ only in how much they do; None if the study compares its values or keeps
    them apart, for then they are different loads.
    """
    axis = next((axis for axis in AMOUNT_AXES if len(results.axes.get(axis, ())) > 1), None)
    return axis if axis is not None and axis not in apart_by and sizes(results.axes[axis]) else None


@dataclass(frozen=True)
class Transient:
    """A longer cell that speaks against a shorter one."""

    longer: str
    """The amount of the longer cell."""
    times_off: float | None = None
    """How far the shorter one's rate is from the longer one's steady rate; None if the longer one is not steady."""


def transients(results: Results, axis: str) -> dict[Combination, Transient]:
    """Return the cells that are transients; other cells are absent. `axis` is one of amounts."""
    place = list(results.axes).index(axis)
    steady = _steadiness(results)
    rates = {cell: median(numbers.values()) for cell, numbers in results.numbers(RATE).items()}
    order = {value: rank for rank, value in enumerate(by_size(results.axes[axis]))}
    alike: dict[Combination, list[Combination]] = {}
    for cell in steady:
        alike.setdefault((*cell[:place], *cell[place + 1 :]), []).append(cell)
    transient_of = {}
    for cells in alike.values():
        cells.sort(key=lambda cell: order[cell[place]])
        for rank, cell in enumerate(cells):
            if transient := _transient(cell, cells[rank + 1 :], steady, rates, place):
                transient_of[cell] = transient
    return transient_of


def _transient(
    cell: Combination,
    longer: Collection[Combination],
    steady: Mapping[Combination, State],
    rates: Mapping[Combination, float],
    place: int,
) -> Transient | None:
    """Return the longer cell that speaks against `cell`; None if none does."""
    for longer_cell in longer:
        if steady[longer_cell] == State.NOT_STEADY:
            return Transient(longer_cell[place])
    known = [longer_cell for longer_cell in longer if steady[longer_cell] == State.STEADY]
    if steady[cell] != State.NOT_KNOWN or not known or not {cell, known[-1]} <= rates.keys():
        return None
    far = apart(rates[cell] / rates[known[-1]]) if rates[cell] and rates[known[-1]] else 1.0
    return Transient(known[-1][place], far) if far > AGREES else None


def _steadiness(results: Results) -> dict[Combination, State]:
    """Return, by measured cell, the state of more than half of its seeds (STEADY or NOT_STEADY), NOT_KNOWN if it
    is not known of any seed, else NOT_ASSESSED.
    """
    states_of = {}
    for cell, verdicts in _judged(results).items():
        states = [verdict.state for verdict in verdicts]
        most = next(
            (state for state in (State.STEADY, State.NOT_STEADY) if 2 * states.count(state) > len(states)),
            State.NOT_ASSESSED,
        )
        states_of[cell] = State.NOT_KNOWN if all(state == State.NOT_KNOWN for state in states) else most
    return states_of


DoubtKind = Literal[
    "not durable",
    "commits not known",
    "memory",
    "memory or compression",
    "not steady",
    "too short",
    "not settled",
    "CPU",
    "write cache",
    "below zero",
]

MEMORY: tuple[DoubtKind, ...] = ("memory", "memory or compression")

LEAST_REACHED_PERCENT = 75.0
"""The share of a phase's bytes that must pass between the board and the medium for its figure to be the medium's.

If three quarters pass, the figure is at most 1 / 0.75 = 1.33 times that of the medium alone: no further off than the
model of a medium itself, a third either way. Half is too little: a phase that reads and writes back passes half of its
bytes even if memory answers every read.
"""

LATENCIES = percentiles.names("latency")

TIMED = frozenset(
    ("bandwidth", "iops", "runtime_s", *LATENCIES, *percentiles.names("commit"), *percentiles.names("flush"))
)
"""Metrics that depend on the speed of the load as a whole."""

AMPLIFICATION = ("write_amplification", "total_write_amplification")

ENDINGS = ("", "_s", "_bandwidth", "_cpu_percent")
"""The endings of metrics of a phase, after its name."""

OF_NO_LOAD = ("medium_requests", "mount_", "space_")
"""The beginnings of metrics that do not cover the time in which the load ran: totals at the medium, whenever it did the
work, and what is measured before and after the load.
"""

ENOUGH_SHARE = 0.5
"""The share of the settings planned for a load that must decide. With fewer, more is left out than compared, and the
rest is seldom a fair choice: it is the small files, or the large requests.
"""


@dataclass(frozen=True)
class ReachedShare:
    """The share of a phase's bytes that passed between the board and the medium."""

    percent: float


@dataclass(frozen=True)
class LostInCuts:
    """The number of power cuts, and of those that lost data or the file system."""

    lost: int
    cuts: int


class Waited(Enum):
    """What a latency covers if the writes ended in memory."""

    FOR_THE_FLUSH = auto()
    """The flush at the end of the run."""


DoubtFacts = Assessment | Transient | ReachedShare | LostInCuts | Waited
"""The facts behind a doubt."""


@dataclass(frozen=True)
class Doubt:
    """Why a figure does not decide. answer.py puts it into words."""

    kind: DoubtKind
    facts: DoubtFacts | None = None
    """None if the kind says all."""

    @property
    def bars(self) -> bool:
        """True if nothing follows from the figure. If the CPU decides, the order still holds on this board; a write
        cache is part of the device.
        """
        return self.kind not in ("CPU", "write cache")


def doubt_of(repetition: ResultRow, metric: str) -> Doubt | None:
    """Return why this metric of a repetition decides nothing about its medium and file system; None if it does. A stack
    that lost commits did less than it was asked for, so none of its figures compares with those of others. What power
    cuts left is no figure of speed, and decides by itself.
    """
    if _counts_cuts(metric):
        return None
    if repetition.durable.state == State.NOT_DURABLE:
        return Doubt("not durable", repetition.durable)
    if _lost(repetition):
        return Doubt("not durable", _lost_in_cuts([repetition]))
    if repetition.durable.state == State.NOT_KNOWN:
        return Doubt("commits not known", repetition.durable)
    if metric in AMPLIFICATION and repetition.settled.state == State.NOT_SETTLED:
        return Doubt("not settled", repetition.settled)
    phase = phase_of(repetition.metrics, metric)
    if phase is None and not is_timed(metric):
        return None
    memory: DoubtKind = "memory or compression" if repetition.compresses else "memory"
    if phase is not None:
        reached = repetition.metrics[f"{phase}_reached_percent"]
        if reached < LEAST_REACHED_PERCENT:
            return Doubt(memory, ReachedShare(reached))
    elif repetition.limit == "memory":
        return Doubt(memory)
    if repetition.waits_for_memory and metric in LATENCIES:
        return Doubt("memory", Waited.FOR_THE_FLUSH)
    if repetition.steady.state == State.NOT_STEADY:
        return Doubt("not steady", repetition.steady)
    if repetition.limit == "cpu":
        return Doubt("CPU")
    if phase is None and repetition.metrics.get("platters_percent", 0.0) * LEAST_REACHED_PERCENT > 100.0 * 100.0:
        return Doubt("write cache")
    return None


def _counts_cuts(metric: str) -> bool:
    return metric.startswith(power_cuts.ALL)


def losses_in_cuts(results: Results) -> dict[Combination, LostInCuts]:
    """Return, by cell, how many power cuts of all its seeds lost data or the file system; cells that lost nothing are
    absent.
    """
    rows_of: dict[Combination, list[ResultRow]] = {}
    for row in results.repetitions:
        if row.is_measured:
            rows_of.setdefault(row.combination, []).append(row)
    return {cell: _lost_in_cuts(rows) for cell, rows in rows_of.items() if any(map(_lost, rows))}


def _lost_in_cuts(rows: Sequence[ResultRow]) -> LostInCuts:
    return LostInCuts(sum(map(_lost, rows)), sum(round(row.metrics.get(power_cuts.ALL, 0.0)) for row in rows))


def _lost(repetition: ResultRow) -> int:
    """Return the number of power cuts of a repetition that lost data or the file system."""
    return sum(round(repetition.metrics.get(power_cuts.METRIC_OF[outcome], 0.0)) for outcome in power_cuts.LOSSES)


def is_timed(metric: str) -> bool:
    """True if a metric depends on the speed of the load as a whole."""
    return metric in TIMED


BELOW_ZERO = Doubt("below zero")


def is_of_the_load(metric: str) -> bool:
    """True if a metric covers the time in which the load ran, so that it lacks what memory kept until then."""
    return not metric.startswith(OF_NO_LOAD)


def is_enough(deciding: int, planned: int) -> bool:
    """True if a verdict may rest on so many of the planned settings: on half of them or more (ENOUGH_SHARE)."""
    return deciding > 0 and deciding >= ENOUGH_SHARE * planned


def phase_of(metrics: Iterable[str], metric: str) -> str | None:
    """Return the phase of a measurement that a metric is of; None if it is of no phase."""
    for ending in ENDINGS:
        name = metric.removesuffix(ending) if ending else metric
        if metric.endswith(ending) and f"{name}_reached_percent" in metrics:
            return name
    return None


def doubts(results: Results, metric: str, amount: str | None = None) -> dict[Combination, Doubt]:
    """Return, by cell, why a metric decides nothing there.

    At least half of the measured seeds must say so; of a rate that is not steady more than half, for if two seeds
    disagree, neither is known to be right. Of commits that were lost, or may have been, one seed is enough. Along the
    axis `amount`, if given, a cell that is only the beginning of a longer one is in doubt too.
    """
    unsteady = unsteady_cells(results)
    doubts_of: dict[Combination, list[Doubt]] = {}
    measured: dict[Combination, int] = {}
    for repetition in results.repetitions:
        # If memory answered at once, there may be no rate at all: the tool calls it too fast to be measured
        has_metric = metric in repetition.metrics or phase_of(repetition.metrics, metric) is not None
        if repetition.is_measured and has_metric:
            measured[repetition.combination] = measured.get(repetition.combination, 0) + 1
            doubt = doubt_of(
                repetition if repetition.combination in unsteady else replace(repetition, steady=Steadiness()), metric
            )
            if doubt:
                doubts_of.setdefault(repetition.combination, []).append(doubt)
    decided = {}
    for cell, doubts in doubts_of.items():
        # Barring doubts come first, else the order of the seeds
        barring = [doubt for doubt in doubts if doubt.bars]
        for several in (barring, doubts):
            if 2 * len(several) >= measured[cell]:
                decided[cell] = several[0]
                break
    if amount is not None and is_timed(metric):
        for cell, transient in transients(results, amount).items():
            if cell in measured and not (cell in decided and decided[cell].bars):
                decided[cell] = Doubt("too short", transient)
    if _counts_cuts(metric):
        return decided
    open_ = {cell: Doubt("commits not known", durable) for cell, durable in _first(results, State.NOT_KNOWN).items()}
    lost = {cell: Doubt("not durable", durable) for cell, durable in not_durable(results).items()}
    lost |= {cell: Doubt("not durable", facts) for cell, facts in losses_in_cuts(results).items()}
    return {**decided, **open_, **lost}


def not_durable(results: Results) -> dict[Combination, Durability]:
    """Return, by cell, the assessment of the first seed whose commits were lost; other cells are absent."""
    return _first(results, State.NOT_DURABLE)


def _first(results: Results, state: State) -> dict[Combination, Durability]:
    """Return, by cell, the assessment of the first seed with this state of its commits; other cells are absent."""
    rows = [r for r in results.repetitions if r.is_measured and r.durable.state == state]
    return {r.combination: r.durable for r in reversed(rows)}


def unsteady_cells(results: Results) -> dict[Combination, Steadiness]:
    """Return, by cell, why its rate was not steady, if more than half of the measured seeds say so."""
    judged = _judged(results)
    unsteady_of = {
        cell: [verdict for verdict in verdicts if verdict.state == State.NOT_STEADY]
        for cell, verdicts in judged.items()
    }
    return {cell: verdicts[0] for cell, verdicts in unsteady_of.items() if 2 * len(verdicts) > len(judged[cell])}


def steadiness_unknown(results: Results) -> dict[Combination, str]:
    """Return, by cell, why it is not known whether its rate was steady, if it is not known of any measured seed."""
    return {
        cell: verdicts[0].reason
        for cell, verdicts in _judged(results).items()
        if all(verdict.state == State.NOT_KNOWN for verdict in verdicts)
    }


def _judged(results: Results) -> dict[Combination, list[Steadiness]]:
    """Return the steadiness of each measured seed, by cell."""
    judged: dict[Combination, list[Steadiness]] = {}
    for repetition in results.repetitions:
        if repetition.is_measured:
            judged.setdefault(repetition.combination, []).append(repetition.steady)
    return judged
