# SPDX-License-Identifier: Apache-2.0
"""Whether a figure decides anything about what is compared: why not, where memory, a transient or the CPU made it.

A cell may be only the beginning of a longer one: the same settings, and less of the same work. What a short cell
measured, a longer one went through as well, and went on. So where the longer one's rate was not steady, or the short
one was too short to tell and its figure is another than the steady one of the longer, the short one is a transient: it
is shown, and decides nothing. One that agrees with the longer supports it, and one that was steady by itself stands
beside a longer one that was steady too: then the figure depends on the size.

The one place that judges this; who compares, advises or draws asks here. Knows the columns of the results table, and
no workload.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from flashbed.analysis.ratio import apart
from flashbed.analysis.results import Results
from flashbed.analysis.words import factor
from flashbed.common.units import by_size, sizes
from flashbed.guest_output.durability import COMMITS_NOT_KNOWN, NOT_DURABLE, Durability
from flashbed.guest_output.limit import direction_of, is_swallowed, waits_for_memory
from flashbed.guest_output.steadiness import MOST_APART, NOT_KNOWN, NOT_SETTLED, NOT_STEADY, STEADY, Steadiness
from flashbed.result.columns import Combination, ResultRow

AMOUNT_AXES = ("io_size", "file")
"""What says how much is done, the first of these that a study varies: each byte of a file is asked for once, unless an
amount of I/O says otherwise.
"""

AGREES = 1 + MOST_APART / 2
"""So far may half of a steady rate be from all of it (steadiness.py), and so far a short cell from a longer one."""

RATE = "bandwidth"


def amount_axis(results: Results, apart_by: Collection[str] = ()) -> str | None:
    """The axis along which cells differ in nothing but how much they do; none where the study compares its values or
    keeps them apart, for then they are different loads.
    """
    axis = next((axis for axis in AMOUNT_AXES if len(results.axes.get(axis, ())) > 1), None)
    return axis if axis is not None and axis not in apart_by and sizes(results.axes[axis]) else None


def transients(results: Results, axis: str) -> dict[Combination, str]:
    """By cell that is a transient, why: a clause. `axis` is one of amounts."""
    place = list(results.axes).index(axis)
    steady = _steadiness(results)
    rates = {cell: median(numbers.values()) for cell, numbers in results.numbers(RATE).items()}
    order = {value: rank for rank, value in enumerate(by_size(results.axes[axis]))}
    alike: dict[Combination, list[Combination]] = {}
    for cell in steady:
        alike.setdefault((*cell[:place], *cell[place + 1 :]), []).append(cell)
    why_of = {}
    for cells in alike.values():
        cells.sort(key=lambda cell: order[cell[place]])
        for rank, cell in enumerate(cells):
            why = _why_transient(cell, cells[rank + 1 :], steady, rates, place)
            if why:
                why_of[cell] = why
    return why_of


def _why_transient(
    cell: Combination,
    longer: Collection[Combination],
    steady: Mapping[Combination, str],
    rates: Mapping[Combination, float],
    place: int,
) -> str:
    """ "" where no longer cell speaks against it."""
    for other in longer:
        if steady[other] == NOT_STEADY:
            return f"it is only the beginning of the same over {other[place]}, whose rate was not steady"
    known = [other for other in longer if steady[other] == STEADY]
    if steady[cell] != NOT_KNOWN or not known or not {cell, known[-1]} <= rates.keys():
        return ""
    far = apart(rates[cell] / rates[known[-1]]) if rates[cell] and rates[known[-1]] else 1.0
    if far <= AGREES:
        return ""
    return (
        f"it is too short to tell its rate, {factor(far)} times off the steady one of the same over {known[-1][place]}"
    )


def _steadiness(results: Results) -> dict[Combination, str]:
    """By cell that was measured, STEADY or NOT_STEADY where more than half of its seeds say so, or NOT_KNOWN where
    none tells; "" else.
    """
    states_of = {}
    for cell, verdicts in _judged(results).items():
        states = [verdict.state for verdict in verdicts]
        most = next((state for state in (STEADY, NOT_STEADY) if 2 * states.count(state) > len(states)), "")
        states_of[cell] = NOT_KNOWN if all(state == NOT_KNOWN for state in states) else most
    return states_of


Kind = Literal[
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

MEMORY: tuple[Kind, ...] = ("memory", "memory or compression")

LEAST_REACHED_PERCENT = 75.0
"""Of a phase's bytes, so many must have passed between the board and the medium for its figure to be the medium's.

Where three quarters did, the figure is at most 1 / 0.75 = 1.33 times what the medium alone gives: no further off than
the model of a medium itself, a third either way. Half would not do: a phase that reads and writes back passes half of
its bytes when memory answers every read.
"""

TIMED = ("bandwidth", "iops", "runtime_s")
TIMED_BEGINNINGS = ("latency_", "commit_", "flush_")
"""Metrics of the load as a whole that its speed is in."""

AMPLIFICATION = ("write_amplification", "total_write_amplification")

ENDINGS = ("", "_s", "_bandwidth", "_cpu_percent")
"""What follows the name of a phase in the names of its metrics."""

OF_NO_LOAD = ("medium_requests", "mount_", "space_")
"""How metrics begin that ask nothing of the time in which the load ran: what all of it took of the medium in the end,
whenever that was, or what is measured before and after it.
"""

ENOUGH = 0.5
"""Of the settings that a study plans for a load, so much must decide. Of fewer, more is left out than is compared, and
what is left is seldom a fair choice: it is the small files, or the large requests.
"""


@dataclass(frozen=True)
class Doubt:
    """Why a figure does not decide: in a word, and in a clause that stands behind "because"."""

    kind: Kind
    text: str

    @property
    def bars(self) -> bool:
        """Whether nothing follows from the figure. Where the CPU decides, the order still holds on this board; a write
        cache is part of the device.
        """
        return self.kind not in ("CPU", "write cache")


def why_not(repetition: ResultRow, metric: str) -> Doubt | None:
    """Why this metric of a repetition decides nothing about its medium and file system; nothing if it does. A stack
    that lost commits did less than it was asked for, so none of its figures compares with those of others.
    """
    if repetition.durable.state == NOT_DURABLE:
        return _lost_commits(repetition.durable)
    if repetition.durable.state == COMMITS_NOT_KNOWN:
        return _open_commits(repetition.durable)
    if metric in AMPLIFICATION and repetition.settled.state == NOT_SETTLED:
        return Doubt("not settled", f"a longer run has another one ({repetition.settled.reason})")
    phase = phase_of(repetition.metrics, metric)
    if phase is None and not is_timed(metric):
        return None
    memory: Kind = "memory or compression" if repetition.compresses else "memory"
    if phase is not None:
        reached = repetition.metrics[f"{phase}_reached_percent"]
        if reached < LEAST_REACHED_PERCENT:
            return Doubt(memory, f"only {reached:.0f} % of the bytes passed between board and medium")
    elif repetition.limit == "memory":
        return Doubt(memory, f"{memory} kept most of the bytes from the medium")
    if repetition.waits_for_memory and metric.startswith("latency_"):
        return Doubt("memory", "its writes ended in memory, and what it waited for was the flush at its end")
    if repetition.steady.state == NOT_STEADY:
        reason = repetition.steady.reason
        return Doubt("not steady", f"its rate was not steady{f' ({reason})' if reason else ''}")
    if repetition.limit == "cpu":
        return Doubt("CPU", "the CPU decides")
    if phase is None and repetition.metrics.get("platters_percent", 0.0) * LEAST_REACHED_PERCENT > 100.0 * 100.0:
        return Doubt("write cache", "it went into the drive's write cache in part, faster than onto its platters")
    return None


def _lost_commits(durable: Durability) -> Doubt:
    return Doubt("not durable", f"commits of the load were lost ({durable.reason})")


def _open_commits(durable: Durability) -> Doubt:
    return Doubt("commits not known", f"it is not known whether all commits were carried out ({durable.reason})")


def is_timed(metric: str) -> bool:
    """Whether the speed of the load as a whole is in a metric."""
    return metric in TIMED or metric.startswith(TIMED_BEGINNINGS)


BELOW_ZERO = Doubt("below zero", "a difference came out below zero, and has no ratio")


def is_of_the_load(metric: str) -> bool:
    """Whether a metric is of the time in which the load ran, so that what memory kept until then is missing from it."""
    return not metric.startswith(OF_NO_LOAD)


def is_enough(deciding: int, planned: int) -> bool:
    """Whether a verdict may rest on so many of the settings that were planned: on half of them or more (ENOUGH)."""
    return deciding > 0 and deciding >= ENOUGH * planned


def phase_of(metrics: Iterable[str], metric: str) -> str | None:
    """The phase of a measurement that a metric is of, if it is of one."""
    for ending in ENDINGS:
        name = metric.removesuffix(ending) if ending else metric
        if metric.endswith(ending) and f"{name}_reached_percent" in metrics:
            return name
    return None


def doubts(results: Results, metric: str, amount: str | None = None) -> dict[Combination, Doubt]:
    """By cell, why a metric decides nothing there: what at least half of the seeds that were measured say; of a rate
    that is not steady more than half, for where two seeds disagree, neither is known to be right. Of commits that were
    lost, or may have been, one seed is enough. Along the axis `amount`, if there is one, also where a cell is only the
    beginning of a longer one.
    """
    transient = unsteady(results)
    doubts_of: dict[Combination, list[Doubt]] = {}
    measured: dict[Combination, int] = {}
    for repetition in results.repetitions:
        # What memory answered at once may have no rate at all: the tool calls it too fast to be measured.
        told_of = metric in repetition.metrics or phase_of(repetition.metrics, metric) is not None
        if repetition.is_measured and told_of:
            measured[repetition.combination] = measured.get(repetition.combination, 0) + 1
            doubt = why_not(
                repetition if repetition.combination in transient else replace(repetition, steady=Steadiness()), metric
            )
            if doubt:
                doubts_of.setdefault(repetition.combination, []).append(doubt)
    decided = {}
    for cell, said in doubts_of.items():
        # A stable sort: what bars comes first, else the order of the seeds.
        barring = [doubt for doubt in said if doubt.bars]
        for several in (barring, said):
            if 2 * len(several) >= measured[cell]:
                decided[cell] = several[0]
                break
    if amount is not None and is_timed(metric):
        for cell, why in transients(results, amount).items():
            if cell in measured and not (cell in decided and decided[cell].bars):
                decided[cell] = Doubt("too short", why)
    open_ = {cell: _open_commits(durable) for cell, durable in _first(results, COMMITS_NOT_KNOWN).items()}
    return {**decided, **open_, **{cell: _lost_commits(durable) for cell, durable in not_durable(results).items()}}


def not_durable(results: Results) -> dict[Combination, Durability]:
    """By cell, what was judged of a seed whose commits were lost, where any were."""
    return _first(results, NOT_DURABLE)


def _first(results: Results, state: str) -> dict[Combination, Durability]:
    """By cell, what was judged of the first seed with this state of its commits, where any has it."""
    rows = [r for r in results.repetitions if r.is_measured and r.durable.state == state]
    return {r.combination: r.durable for r in reversed(rows)}


def unsteady(results: Results) -> dict[Combination, Steadiness]:
    """By cell, why its rate was not steady, where more than half of the seeds that were measured say so."""
    judged = _judged(results)
    unsteady_of = {cell: [one for one in verdicts if one.state == NOT_STEADY] for cell, verdicts in judged.items()}
    return {cell: verdicts[0] for cell, verdicts in unsteady_of.items() if 2 * len(verdicts) > len(judged[cell])}


def unknown(results: Results) -> dict[Combination, str]:
    """By cell, why nothing tells whether its rate was steady, where no seed that was measured does."""
    return {
        cell: verdicts[0].reason
        for cell, verdicts in _judged(results).items()
        if all(verdict.state == NOT_KNOWN for verdict in verdicts)
    }


def _judged(results: Results) -> dict[Combination, list[Steadiness]]:
    """Whether the rate was steady, of each seed that was measured, by cell."""
    judged: dict[Combination, list[Steadiness]] = {}
    for repetition in results.repetitions:
        if repetition.is_measured:
            judged.setdefault(repetition.combination, []).append(repetition.steady)
    return judged


def with_memory_told(
    results: Results, fixed: Mapping[str, str], compresses: Callable[[str], bool] | None = None
) -> Results:
    """With `limit` saying "memory" also where only the bytes tell, and with what requests waited for. `fixed` has the
    parameters on no axis, and `compresses` says it of a file system by its name in the study.
    """

    def told(repetition: ResultRow) -> ResultRow:
        if compresses:
            name = {**fixed, **results.coordinates(repetition.combination)}.get("filesystem", "")
            repetition = replace(repetition, compresses=bool(name) and compresses(name))
        parameters = {**fixed, **results.coordinates(repetition.combination)}
        repetition = replace(repetition, waits_for_memory=waits_for_memory(parameters, repetition.metrics))
        if not repetition.is_measured or repetition.limit:
            return repetition
        direction = direction_of(parameters)
        return replace(repetition, limit="memory") if is_swallowed(repetition.metrics, direction) else repetition

    return replace(results, repetitions=[told(repetition) for repetition in results.repetitions])
