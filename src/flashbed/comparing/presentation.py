# SPDX-License-Identifier: Apache-2.0
"""Put a comparison into lines and tables of text, the same for a terminal and a page. Knows no format."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from flashbed.analysis.ratio import SIGNIFICANCE_LEVEL
from flashbed.analysis.words import ONLY_CELL, count
from flashbed.common.page import PageTable
from flashbed.comparing.change import BeginsWith, Cause, Change, FlushChange
from flashbed.comparing.compared_cells import Compared, ComparedCell, Defect, NewDefect, TextChange
from flashbed.comparing.regression_limits import SPEED, Broken, ChangeLimit, broken, worse_by
from flashbed.comparing.result_set import CHECK_COLUMN, Place, ResultSet
from flashbed.result.metrics import CPU_LAYER, Better


class ChangeVerdict(StrEnum):
    """What a change of a figure is, in a word or two."""

    WORSE = "worse"
    BETTER = "better"
    MORE = "more"
    """Of a figure of which neither more nor less is better."""
    LESS = "less"
    SHUFFLE = "may be a shuffle"
    ONE_SEED = "one seed"


CHANGE_TONES = {str(ChangeVerdict.WORSE): "bad", str(ChangeVerdict.BETTER): "good"}
LEAST_CHANCE = 0.0001
"""A smaller chance is shown as "below" this."""

CALLED = {CHECK_COLUMN: "checker", "limit": "limited by", "mounted": "mounted as"}
"""Names of columns for people, where the column's own name says too little."""

_COUNTED = {BeginsWith.CODE: CPU_LAYER, BeginsWith.MEDIUM: "pages"}
"""The layer whose change is shown for a cause, where its name is not that of `begins_with`."""

_EXPLAINED = {
    BeginsWith.BYTES: "other data reach the medium",
    BeginsWith.REQUESTS: "the same bytes come in other requests",
    BeginsWith.MEDIUM: "it gets the same requests and bytes, and programs or erases otherwise",
    BeginsWith.CODE: "the medium gets the same requests and bytes; the CPU works for another time",
    BeginsWith.MOMENTS: "the same CPU time, requests and bytes at other times",
    BeginsWith.UNKNOWN: "one of the reports has no counters; write it anew",
}

_FLUSHED = {
    FlushChange.MORE: "the medium is told to flush more often",
    FlushChange.FEWER: "the medium is told to flush less often",
    FlushChange.MIXED: "the medium is told to flush more often with some seeds and less often with others",
}

MOST_OPTIONS = 10
"""The most options of a kernel that are listed. Others are counted."""

MOST_OPEN_ROWS = 12
"""Rows that a page shows at once."""

COMPARISON_HEADS = ("cell", "figure", "change", "seeds", "seeds apart", "chance", "verdict", "begins with")


@dataclass(frozen=True)
class Presented:
    """A comparison as text, for a terminal and a page."""

    facts: Sequence[str]
    """The comparison in a few sentences."""
    new_defects: Sequence[str]
    """Sentences on cells with a defect that B has and A has not."""
    broken: Sequence[str]
    """Figures that are beyond their limits."""
    summary: Sequence[str]
    """The lines that a page shows first, beside `new_defects`."""
    differences: Sequence[Difference]
    """The figures with a limit that differ, and the texts."""
    table: PageTable
    """The same for a page."""
    all_figures: PageTable

    @property
    def is_worse(self) -> bool:
        """Return True if B has new defects, or breaks a limit. `flashbed compare` then ends with status 5."""
        return bool(self.new_defects or self.broken)


def presented(compared: Compared, limits: Sequence[ChangeLimit]) -> Presented:
    """Hold a comparison to its limits, and return it as text."""
    beyond = list(broken(limits, compared))
    of_limits = differences(compared, [limit.metric for limit in limits])
    return Presented(
        facts=list(lines(compared, limits, beyond)),
        new_defects=list(defect_lines(compared)),
        broken=[broken_line(compared, figure) for figure in beyond],
        summary=list(in_short(compared, limits)),
        differences=of_limits,
        table=table(of_limits),
        all_figures=replace(table(differences(compared), "All figures that differ"), most=0),
    )


def lines(compared: Compared, limits: Sequence[ChangeLimit], beyond: Sequence[Broken]) -> Iterator[str]:
    """Yield the comparison in a few sentences. `beyond` has the figures beyond their limits."""
    yield f"A: {compared.a.name} ({compared.a.study})"
    yield f"B: {compared.b.name} ({compared.b.study})"
    for sentence in other_inputs(compared.a, compared.b):
        yield f"Not alike: {sentence}"
    for lacking, side, other in ((compared.only_a, "A", "B"), (compared.only_b, "B", "A")):
        if lacking:
            yield f"Not in {other}, and not compared: {count(lacking, 'repetition')} of {side}"
    same = sum(cell.is_same for cell in compared.cells)
    neither = sum(cell.neither for cell in compared.cells)
    seeds = sum(len(cell.seeds) for cell in compared.cells) - neither
    if neither:
        yield f"{count(neither, 'repetition')} failed in A and in B: nothing is known of them"
    if same == len(compared.cells):
        yield f"same bytes: {count(same, 'cell')}, {count(seeds, 'repetition')}"
        return
    differ, cells = len(compared.cells) - same, count(len(compared.cells), "cell")
    yield f"{differ} of {cells} {'differs' if differ == 1 else 'differ'} ({count(seeds, 'repetition')})"
    yield from in_short(compared, limits)
    tested = sum(len(cell.changes.keys() & {limit.metric for limit in limits}) for cell in compared.cells)
    if limits:
        limit_texts = ", ".join(f"{limit.metric} {_percent(limit.share)}" for limit in limits)
        yield f"Limits, worse by: {limit_texts}"
        yield _held(len(beyond), tested)


def other_inputs(a: ResultSet, b: ResultSet) -> Iterator[str]:
    """Yield a sentence for each input in which the two sets differ."""
    for axis in sorted({**a.fixed, **b.fixed}):
        of_a, of_b = a.fixed.get(axis), b.fixed.get(axis)
        if of_a != of_b and of_a is not None and of_b is not None:
            yield f"{axis}: {of_a} / {of_b}"
    for name in dict.fromkeys([*a.inputs, *b.inputs]):
        yield from _other(name, a.inputs.get(name), b.inputs.get(name))
    for kernel in a.options:
        if kernel in b.options:
            yield from _other_options(kernel, a.options[kernel], b.options[kernel])


def _other_options(kernel: str, of_a: Mapping[str, str], of_b: Mapping[str, str]) -> Iterator[str]:
    differ = [name for name in sorted({**of_a, **of_b}) if of_a.get(name) != of_b.get(name)]
    for name in differ[:MOST_OPTIONS]:
        yield f"{kernel}, {name}: {of_a.get(name, 'not set')} / {of_b.get(name, 'not set')}"
    if differ[MOST_OPTIONS:]:
        yield f"{kernel}: {len(differ) - MOST_OPTIONS} more options"


def _other(name: str, of_a: Any, of_b: Any) -> Iterator[str]:
    if of_a == of_b:
        return
    if isinstance(of_a, Mapping) and isinstance(of_b, Mapping):
        for key in dict.fromkeys([*of_a, *of_b]):
            yield from _other(f"{name}, {key}", of_a.get(key), of_b.get(key))
    elif of_a is None or of_b is None:
        yield f"{name}: only in {'B' if of_a is None else 'A'}"
    else:
        yield f"{name}: {_short(of_a)} / {_short(of_b)}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:12]}..."


def in_short(compared: Compared, limits: Sequence[ChangeLimit]) -> Iterator[str]:
    """Yield the changes of the figures that have a limit, throughput and latency first; then the causes."""
    for limit in limits:
        yield from _moved(compared, limit.metric)
    yield from _begins(compared)


def _moved(compared: Compared, metric: str) -> Iterator[str]:
    """Yield a sentence on the number of cells in which a figure is better or worse, and by how much; nothing if it is
    neither in any.
    """
    changed = [(cell, change) for cell in compared.cells if (change := cell.changes.get(metric)) is not None]
    parts = []
    for word in (ChangeVerdict.WORSE, ChangeVerdict.BETTER):
        changes = [(cell, change) for cell, change in changed if _is(change, compared.better(metric)) is word]
        if changes:
            cell, most = max(changes, key=lambda pair: abs(pair[1].mean))
            where = f" ({named(cell.place)})" if len(compared.cells) > 1 else ""
            most_of = f"{'up to ' if len(changes) > 1 else ''}{_signed(most.mean)}{where}"
            parts.append(f"{word} in {len(changes)} of {count(len(compared.cells), 'cell')}, {most_of}")
    if parts:
        yield f"{compared.title(metric)}: {'; '.join(parts)}"


def _is(change: Change, better: Better) -> ChangeVerdict:
    """Return the verdict; for a single seed the direction that it shows."""
    if change.seeds > 1:
        return verdict(change, better)
    return _direction(change, better)


def _direction(change: Change, better: Better) -> ChangeVerdict:
    return ChangeVerdict.WORSE if worse_by(change.mean, better) > 0 else ChangeVerdict.BETTER


def _begins(compared: Compared) -> Iterator[str]:
    """Yield a sentence for each cause, the most frequent first."""
    causes: dict[tuple[BeginsWith, FlushChange], list[Mapping[str, float]]] = {}
    for cell in compared.cells:
        if cell.cause:
            causes.setdefault((cell.cause.begins_with, cell.cause.flushes), []).append(cell.cause.moved)
    for (begins_with, flushes), cells in sorted(causes.items(), key=lambda pair: -len(pair[1])):
        moves = {counter: [by[counter] for by in cells if counter in by] for counter in cells[0]}
        moved = ", ".join(f"{counter} {_range(by)}" for counter, by in moves.items() if any(by))
        beside = f" ({moved})" if moved else ""
        begins = f"{count(len(cells), 'cell')} begin{'s' if len(cells) == 1 else ''}"
        yield f"{begins} with {begins_with}: {explained(begins_with, flushes)}{beside}"


def explained(begins_with: BeginsWith, flushes: FlushChange) -> str:
    """Return a clause on what it means that a difference begins there."""
    if begins_with is BeginsWith.FLUSHES:
        return f"{_FLUSHED[flushes]}, with the same bytes"
    return ", and ".join(filter(None, (_EXPLAINED[begins_with], _FLUSHED.get(flushes, ""))))


def _range(shares: Sequence[float]) -> str:
    least, most = _signed(min(shares)), _signed(max(shares))
    return least if least == most else f"{least} to {most}"


def _held(beyond: int, moved: int) -> str:
    """Return how many figures are beyond their limits, and how many would be by chance."""
    if not moved:
        return "No cell differs in a figure that has a limit"
    by_chance = round(SIGNIFICANCE_LEVEL * moved, 2)
    return (
        f"Figures with a limit: {moved} moved, {beyond} of them beyond it; if all had moved by chance, "
        f"{by_chance:g} would be called better or worse all the same"
    )


@dataclass(frozen=True)
class Difference:
    """A row of the tables: a figure of a cell that differs, or a text, which has no change."""

    cell: ComparedCell
    title: str
    """The title of the figure, or a sentence."""
    figure: str = ""
    change: Change | None = None
    better: Better = None
    reworded: bool = False
    """True if the text is an assessment of which only the reason differs."""

    def key(self, order: Sequence[str]) -> tuple[int, int, float]:
        """Return the sort key. Texts come first. Then come figures that are worse, in the figures' `order` and the
        worst first, then other figures in the same order. Assessments of which only the reason differs come last.
        """
        if self.change is None:
            return (3 if self.reworded else 0, 0, 0.0)
        worse = worse_by(self.change.mean, self.better) or abs(self.change.mean)
        return (1 if _is(self.change, self.better) is ChangeVerdict.WORSE else 2, order.index(self.figure), -worse)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of COMPARISON_HEADS."""
        where, begins = named(self.cell.place), _where(self.cell.cause)
        if (change := self.change) is None:
            return (where, self.title, "", str(len(self.cell.seeds)), "", "", "not the same", begins)
        numbers = (_change(change), str(change.seeds), _percent(change.by_seed), _share_of_chance(change.chance))
        return (where, self.title, *numbers, verdict(change, self.better), begins)

    @property
    def line(self) -> str:
        """Return a line of a terminal, which is too narrow for the table."""
        begins = f". Begins with {_where(self.cell.cause)}" if self.cell.cause else ""
        if (change := self.change) is None:
            return f"  {named(self.cell.place)}: {self.title}{begins}"
        seeds = f"{count(change.seeds, 'seed')} {_percent(change.by_seed)} apart"
        numbers = f"{_change(change)}, {seeds}, chance {_share_of_chance(change.chance)}"
        return f"  {named(self.cell.place)}: {self.title} {numbers}: {verdict(change, self.better)}{begins}"


def differences(compared: Compared, figures: Sequence[str] = ()) -> list[Difference]:
    """Return the texts that differ, and those of `figures` that do; all figures if none are named."""
    order = [*figures, *SPEED, *sorted(compared.figures)]
    unsorted = [difference for cell in compared.cells for difference in _of_cell(compared, cell, figures)]
    return sorted(unsorted, key=lambda difference: difference.key(order))


def _of_cell(compared: Compared, cell: ComparedCell, figures: Sequence[str]) -> Iterator[Difference]:
    for text in cell.other_texts:
        yield Difference(cell, text_change(text))
    for name in cell.lone_figures:
        yield Difference(cell, f"{name}: only one of A and B has it")
    for text in cell.reworded:
        yield Difference(cell, text_change(text), reworded=True)
    for name, change in cell.changes.items():
        if not figures or name in figures:
            yield Difference(cell, compared.title(name), name, change, compared.better(name))


def text_change(change: TextChange) -> str:
    """Return a sentence on a column that differs."""
    was, now = (_shown(text, change.column) for text in (change.a, change.b))
    return f"{CALLED.get(change.column, change.column)}: A says {was}, B says {now} ({_seeds(change.seeds)})"


def _shown(text: str | None, column: str) -> str:
    if column == CHECK_COLUMN and not text:
        return "not checked" if text is None else "clean"
    return "; ".join(text.splitlines()) if text else "nothing"


def _seeds(some: Sequence[int]) -> str:
    return f"seed{'s' * (len(some) > 1)} {', '.join(map(str, some))}"


NOTE = (
    "change: from A to B, the mean of the seeds, and the least and the most of them. seeds apart: how far the seeds of "
    "one side lie from each other, which is what the choice of a seed does. chance: how often a shuffle alone would "
    "move the seeds as evenly."
)


def table(shown: Sequence[Difference], title: str = "What differs") -> PageTable:
    """Return a table of differences for a page."""
    rows = [difference.texts for difference in shown]
    return PageTable(
        title, COMPARISON_HEADS, rows, left=2, note=NOTE if rows else "", tones=CHANGE_TONES, most=MOST_OPEN_ROWS
    )


def _where(cause: Cause | None) -> str:
    """Return a text such as "flushes +100 %"; "" without a cause."""
    if cause is None:
        return ""
    by = cause.moved.get(_COUNTED.get(cause.begins_with, cause.begins_with), 0.0)
    return f"{cause.begins_with} {_signed(by)}" if by else cause.begins_with


def _share_of_chance(chance: float | None) -> str:
    if chance is None:
        return "-"
    return f"{100 * chance:.2g} %" if chance >= LEAST_CHANCE else f"below {100 * LEAST_CHANCE:g} %"


def verdict(change: Change, better: Better) -> ChangeVerdict:
    """Return whether a change is worse, better or perhaps a shuffle."""
    if change.chance is None:
        return ChangeVerdict.ONE_SEED
    if not change.is_telling:
        return ChangeVerdict.SHUFFLE
    if better is None:
        return ChangeVerdict.MORE if change.mean > 0 else ChangeVerdict.LESS
    return _direction(change, better)


def named(place: Place) -> str:
    """Return the name of a cell: its values."""
    return ", ".join(value for _, value in place) or ONLY_CELL


def broken_line(compared: Compared, broken: Broken) -> str:
    """Return a sentence on a figure beyond its limit."""
    why = f"; begins with {broken.cell.cause.begins_with}" if broken.cell.cause else ""
    seeds = "one seed, which may be a shuffle" if broken.change.seeds == 1 else f"{broken.change.seeds} seeds"
    title = compared.title(broken.metric)
    return f"{named(broken.cell.place)}: {title} is worse by {_percent(broken.share)} ({seeds}){why}"


def defect_lines(compared: Compared) -> Iterator[str]:
    """Yield a sentence for each defect of a cell that B has and A has not."""
    for cell in compared.cells:
        for defect in cell.new_defects:
            yield f"{named(cell.place)}: {_new_defect(defect)}"


def _new_defect(new: NewDefect) -> str:
    with_seeds = f"with {_seeds(new.seeds)}"
    if new.defect is Defect.NO_RESULT:
        return f"measured in A, and in B {new.shown} {with_seeds}"
    if new.defect is Defect.DAMAGED:
        return f"the checker found nothing in A, and in B {with_seeds}: {new.shown.splitlines()[0]}"
    return f"commits of the load were lost in B {with_seeds}: {new.shown}"


def failure(comparisons: Sequence[Presented]) -> str:
    """Return why comparisons fail, in a line: figures beyond their limits, and defects that only B has."""
    beyond = sum(len(comparison.broken) for comparison in comparisons)
    defects = sum(len(comparison.new_defects) for comparison in comparisons)
    parts = []
    if beyond:
        parts.append(f"{count(beyond, 'figure')} {'is' if beyond == 1 else 'are'} worse than the limits allow")
    if defects:
        parts.append(f"in {count(defects, 'cell')} B fails, or leaves a damaged file system, and A does not")
    return "; ".join(parts)


def _change(change: Change) -> str:
    if change.seeds == 1:
        return _signed(change.mean)
    return f"{_signed(change.mean)} ({_signed(change.least)} to {_signed(change.most)})"


def _signed(share: float) -> str:
    return "from zero" if math.isinf(share) else f"{100 * share:+.3g} %"


def _percent(share: float) -> str:
    return "without end" if math.isinf(share) else f"{100 * share:.3g} %"
