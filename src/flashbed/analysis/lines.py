# SPDX-License-Identifier: Apache-2.0
"""The answer to a question in a few lines: what is the same for several loads is said once, for all of them.

Loads with the same verdict are gathered into boxes: products of values of the axes that are kept apart. An axis over
which nothing changes is not named. Turns comparisons into words, and judges nothing. Must not know tables or HTML.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashbed.analysis.answer import CLOSE_FACTOR, against, dependence, is_speed, superlative
from flashbed.analysis.groups import Comparison, Group, Setting, narrowed
from flashbed.analysis.words import Words, count, factor, in_sentence, listing, metric_of, percent_more

MOST_LINES = 10
"""In which a report has its answer in words."""

NAMED_BOXES = 3
"""So many are named in a line; of more, only how many loads they are."""

NOT_DECIDED = "Not decided"

METRIC = "metric"
"""Stands for an axis where a question has several metrics."""

MANNERS = ("flush", "direct", "allocate", "caches")
"""Axes that say how something is done: alone, they need a word for what is done."""

PREPOSITIONS = ("beside", "on", "in", "with", "without", "through", "past", "after")
"""A place that begins so needs no "for"."""

Verdict = tuple[str, tuple[str, ...]]
Box = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Load:
    """What a line or a row of the answer is about: a group of a comparison by one metric."""

    comparison: Comparison
    group: Group
    no_choice: str = ""
    """Why there is nothing to choose at all."""


def lines(loads: Sequence[Load], words: Words) -> list[str]:
    """The verdicts on all loads of a question, the one on most loads first."""
    several = len({load.comparison.metric for load in loads}) > 1
    placed = [(_coordinates(load, several), load) for load in loads]
    found: dict[Verdict, list[tuple[Setting, Load]]] = {}
    for at, load in placed:
        found.setdefault(_verdict(load), []).append((at, load))
    everywhere = [at for at, _ in placed]
    ordered = sorted(found.items(), key=lambda one: (_ORDER.index(one[0][0]), -len(one[1])))
    return [
        _line(verdict, [load for _, load in here], _where([at for at, _ in here], everywhere, words), several, words)
        for verdict, here in ordered
    ]


def shortened(answers: Sequence[Sequence[str]], most: int = MOST_LINES) -> list[list[str]]:
    """The lines of several questions, together at most so many (but one for each): the longest answers give way. They
    keep what comes first, and what is not decided: without it a reader would take what is left for all.
    """
    kept = [len(answer) for answer in answers]
    while sum(kept) > most and max(kept) > 1:
        kept[kept.index(max(kept))] -= 1
    told = []
    for answer, lines_ in zip(answers, kept, strict=True):
        if lines_ == len(answer):
            told.append(list(answer))
        elif lines_ > 1:
            rest = f"For {count(len(answer) - lines_ + 1, 'more verdict')} see the picture."
            told.append([*_first(answer, lines_ - 1), rest])
        else:
            told.append(["It differs from load to load: see above."])
    return told


def _first(answer: Sequence[str], most: int) -> list[str]:
    """So many lines in their order; of two or more, one is what is not decided."""
    undecided = [line for line in answer if line.startswith(NOT_DECIDED)][: most // 2]
    decided = [line for line in answer if not line.startswith(NOT_DECIDED)][: most - len(undecided)]
    return [*decided, *undecided]


_ORDER = ("ahead", "depends", "even", "no choice", "not decided", "alone", "nothing")


def _verdict(load: Load) -> Verdict:
    """What may be said of several loads at once, if it is the same for them."""
    group = load.group
    if load.no_choice:
        return "no choice", (load.no_choice,)
    if group.in_doubt:
        return "not decided", ()
    if group.best is None:
        return "nothing", ()
    if not group.leads:
        return "alone", (group.best,)
    if group.depends:
        return "depends", tuple(group.telling_axes)
    if group.winner is None:
        return "even", tuple(sorted([group.best, *_others(group, "even")]))
    return "ahead", (group.best,)


def _others(group: Group, verdict: str) -> list[str]:
    return [lead.over for lead in group.leads if lead.verdict == verdict]


def _line(verdict: Verdict, loads: Sequence[Load], where: str, several: bool, words: Words) -> str:
    kind, told = verdict
    group, comparison = loads[0].group, loads[0].comparison
    partly = _partly(loads, words)
    if kind == "ahead":
        best = words.value(comparison.compare, told[0])
        return f"{best} {_superlative(loads, several)}{where}: {_lead(loads, words)}{partly}."
    if kind == "depends":
        depending = [load.group.leads_that_are("depends") for load in loads]
        if len(loads) == len(depending[0]) == 1 and not several:
            return _capital(
                f"{dependence(depending[0][0], group, comparison, metric_of(comparison.metric), words)}{where}{partly}."
            )
        pairs = {tuple(sorted([load.group.best or "", *_others(load.group, "depends")])) for load in loads}
        axes = listing([words.axis(axis) for axis in group.telling_axes])
        which = words.axis(comparison.compare)
        if len(pairs) == 1:
            which = f"of {_names(comparison, [group.best or '', *_others(group, 'depends')], words)}"
        return f"Which {which} {_superlative(loads, several)} depends on {axes}{where}{partly}."
    if kind == "even":
        names = [group.best or "", *_others(group, "even")]
        rest = "; the others are behind" if any(len(load.group.leads) > len(told) - 1 for load in loads) else ""
        if all(load.group.is_zero for load in loads):
            return f"No difference between {_names(comparison, names, words)}{where}: none at all{rest}{partly}."
        return f"No clear difference between {_names(comparison, names, words)}{where}{rest}{partly}."
    if kind == "not decided":
        why = dict.fromkeys(kind for load in loads for kind in _why(load.group))
        return f"{NOT_DECIDED}: {listing(list(why), 'or')},{where or ' everywhere'}; nothing is recommended there."
    if kind == "no choice":
        return f"Nothing to choose{where}: {told[0]}."
    if kind == "alone":
        return f"Only {words.value(comparison.compare, told[0])} was measured{where}: nothing to compare."
    return f"Nothing was measured{where}."


_PLAINLY = {"not steady": "no steady rate"}


def _why(group: Group) -> list[str]:
    """In a word or two each."""
    of = [doubt for (value, _), doubt in group.doubts.items() if doubt.bars and value in group.in_doubt]
    found = dict.fromkeys(doubt.kind for doubt in of)
    return [_PLAINLY.get(kind, kind) for kind in found] or ["missing results"]


def _partly(loads: Sequence[Load], words: Words) -> str:
    """How many of several loads rest on part of their settings, or of a single one, on how many."""
    partial = [load.group for load in loads if load.group.is_partial]
    if not partial:
        return ""
    if len(loads) == 1:
        only = words.places(narrowed(partial[0].settings, partial[0].planned))
        return f" ({only and f'{only}, '}{len(partial[0].settings)} of {partial[0].settings_planned} settings)"
    if len(partial) == len(loads):
        return " (each on part of its settings: see the picture)"
    return f" ({len(partial)} of the {len(loads)} loads on part of the settings: see the picture)"


def _names(comparison: Comparison, values: Sequence[str], words: Words) -> str:
    return listing([words.value(comparison.compare, value) for value in values])


def _superlative(loads: Sequence[Load], several: bool) -> str:
    metrics = [metric_of(load.comparison.metric) for load in loads]
    if not several:
        return superlative(metrics[0])
    return "is fastest" if all(map(is_speed, metrics)) else "is best"


def _lead(loads: Sequence[Load], words: Words) -> str:
    """How far the best is ahead of the next: "1.3 to 4.0 times as fast as ext2" """
    leads = [min(load.group.leads, key=lambda lead: lead.factor) for load in loads]
    others = list(dict.fromkeys(lead.over for lead in leads))
    name = listing([words.value(loads[0].comparison.compare, other) for other in others], "or")
    if len(loads[0].group.leads) > 1 or len(others) > 1:
        name = f"the next ({name})"
    low, high = min(lead.factor for lead in leads), max(lead.factor for lead in leads)
    metrics = [metric_of(load.comparison.metric) for load in loads]
    speed = all(map(is_speed, metrics))
    if low == math.inf:
        told = {against(leads, metric) for metric in metrics} if len(set(metrics)) == 1 else set()
        lower = metrics[0].better == "lower"
        mine, its = told.pop() if told else ("none at all", "some") if lower else ("some", "none at all")
        return f"{mine}, against {its} of {name}"
    if high == math.inf:
        endless = sum(lead.is_endless for lead in leads)
        return f"by {factor(low)} times or more from {name}, and in {endless} of {len(leads)} one of the two is 0"
    if high < CLOSE_FACTOR:
        both = percent_more(low), percent_more(high)
        by = both[1] if both[0] == both[1] else f"{both[0].removesuffix(' %')} to {both[1]}"
        return f"{by} faster than {name}" if speed else f"{by} apart from {name}"
    by = factor(low) if factor(low) == factor(high) else f"{factor(low)} to {factor(high)}"
    if speed:
        return f"{by} times as fast as {name}"
    if all(metric.better == "lower" for metric in metrics):
        return f"that of {name} is {by} times as high"
    return f"{by} times that of {name}" if all(m.better == "higher" for m in metrics) else f"by {by} times"


# --- where a verdict holds ------------------------------------------------------------------------------------------


def _coordinates(load: Load, several: bool) -> Setting:
    return (*(((METRIC, load.comparison.metric),) if several else ()), *load.group.at)


def _where(here: Sequence[Setting], everywhere: Sequence[Setting], words: Words) -> str:
    """ " for random write, flushed at the end, and for sequential read", or " throughout"."""
    if len(here) == len(everywhere):
        return " throughout" if len(here) > 1 else ""
    told = [_place(box, words) for box in boxes(here, everywhere)]
    if len(told) > 1:
        rest = boxes([at for at in everywhere if at not in here], everywhere)
        if len(rest) == 1:
            return f" for all but {_place(rest[0], words)}"
    if len(told) > NAMED_BOXES:
        return f" for {count(len(here), 'load')} of {len(everywhere)}"
    for_ = ["" if place.partition(" ")[0] in PREPOSITIONS else "for " for place in told]
    if not any(", " in place for place in told) and len(set(for_)) == 1:
        return f" {for_[0]}{' and '.join(told)}"
    return f" {', and '.join(map(''.join, zip(for_, told, strict=True)))}"


def boxes(here: Sequence[Setting], everywhere: Sequence[Setting]) -> list[Box]:
    """Products of values that hold all of `here` and of `everywhere` no other. A box names each axis of which its loads
    do not have all values: a reader who is told of fewer conditions would take it for more than was measured.
    """
    axes = [axis for axis, _ in everywhere[0]]
    values = {axis: list(dict.fromkeys(dict(at)[axis] for at in everywhere)) for axis in axes}
    wanted, left = set(here), list(here)
    found: list[Box] = []

    def inside(box: Box) -> list[Setting]:
        return [at for at in everywhere if all(value in box.get(axis, (value,)) for axis, value in at)]

    def allowed(box: Box) -> bool:
        return wanted.issuperset(inside(box))

    while left:
        box: dict[str, list[str]] = {axis: [value] for axis, value in left[0]}
        for axis in reversed(axes):
            without = {other: told for other, told in box.items() if other != axis}
            if allowed(without):
                box = {**without}
        for axis in [axis for axis in reversed(axes) if axis in box]:
            for value in values[axis]:
                grown = {**box, axis: [*box[axis], value]}
                if allowed(grown) and len(inside(grown)) > len(inside(box)):
                    box = grown
            box[axis] = [value for value in values[axis] if value in box[axis]]
        covered = set(inside(box))
        has = {axis: {dict(at)[axis] for at in covered} for axis in axes}
        if METRIC in has:  # what was said of one metric is not said again with the others
            has[METRIC] = {dict(at)[METRIC] for at in covered.intersection(left)}
        told = {axis: [value for value in values[axis] if value in has[axis]] for axis in axes}
        found.append({axis: told[axis] for axis in axes if len(told[axis]) < len(values[axis])})
        left = [at for at in left if at not in covered]
    return found


def _place(box: Box, words: Words) -> str:
    """ "random read and random write, flushed at the end" """
    told = []
    for axis, values in box.items():
        if axis == METRIC:
            told.append(listing([in_sentence(metric_of(value).title) for value in values]))
        elif not words.is_idle(axis, box):
            told.append(words.several(axis, values))
    return ("all " if next(iter(box), "") in MANNERS else "") + ", ".join(told)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
