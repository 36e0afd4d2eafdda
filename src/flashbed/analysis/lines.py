# SPDX-License-Identifier: Apache-2.0
"""The answer to a question in a few lines: what is the same for several loads is said once, for all of them.

A line says one thing: leads under 10 % stand apart from larger ones, and each reason why nothing is decided beside the
loads of which it holds. Where a verdict holds is told by boxes, products of values of the axes that are kept apart; an
axis over which nothing changes is not named. Turns comparisons into words, and judges nothing. Must not know tables or
HTML.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashbed.analysis.answer import (
    CLOSE_FACTOR,
    NO_SIZE,
    against,
    brief_reason,
    closest,
    dependence,
    is_close,
    is_speed,
    superlative,
)
from flashbed.analysis.groups import Comparison, Group, Setting, narrowed, telling_axes
from flashbed.analysis.words import (
    PREPOSITIONS,
    Words,
    beginning,
    capitalized,
    count,
    factor,
    factors,
    in_sentence,
    listing,
    metric_of,
    percents,
)

NAMED_BOXES = 3
"""So many are named in a line; of more, only how many loads they are: the picture has each."""

METRIC = "metric"
"""Stands for an axis where a question has several metrics."""

MANY = ""
"""Stands for the value of an axis over which a load is a mean: nothing is said of it."""

MANNERS = ("flush", "direct", "allocate", "caches")
"""Axes that say how something is done: alone, they need a word for what is done."""

Box = Mapping[str, Sequence[str]]


def whereabouts(here: Sequence[Setting], everywhere: Sequence[Setting], words: Words) -> str:
    """ " for random write, flushed at the end, and for sequential read", or " throughout"."""
    if len(here) == len(everywhere):
        return " throughout" if len(here) > 1 else ""
    told = [place(box, words) for box in boxes(here, everywhere)]
    if len(told) > 1:
        rest = boxes([at for at in everywhere if at not in here], everywhere)
        if len(rest) == 1:
            return f" for all but {place(rest[0], words)}"
    if len(told) > NAMED_BOXES:
        return f" for {count(len(here), 'load')} of {len(everywhere)} (see the picture)"
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


def place(box: Box, words: Words) -> str:
    """ "random read and random write, flushed at the end" """
    told = []
    for axis, values in box.items():
        single = [value for value in values if value != MANY]
        if axis == METRIC:
            told.append(listing([in_sentence(metric_of(value).title).removeprefix("time ") for value in values]))
        elif len(single) == len(values) and not words.is_idle(axis, box):
            told.append(words.several(axis, values))
    if not told:  # nothing but means tells these loads from the others
        return f"means over {listing([words.axis_plural(axis) for axis in box])}"
    return ("all " if next(iter(box), "") in MANNERS else "") + ", ".join(told)


MOST_LINES = 10
"""In which a report has its answer in words."""

LEAST_LINES = 2
"""So many keeps each question, while another has more."""

NOT_DECIDED = "Not decided"
NOT_DURABLE = "NOT DURABLE"

Verdict = tuple[str, tuple[str, ...]]


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
    averaged = list(dict.fromkeys(axis for load in loads for axis in telling_axes(load.group.planned)))
    placed = [(_coordinates(load, several, averaged), load) for load in loads]
    found: dict[Verdict, list[tuple[Setting, Load]]] = {}
    for at, load in placed:
        found.setdefault(_verdict(load), []).append((at, load))
    everywhere = [at for at, _ in placed]
    ordered = sorted(found.items(), key=lambda one: (_ORDER.index(one[0][0]), -len(one[1])))
    told = _not_durable(placed, everywhere, words)
    for verdict, here in ordered:
        if verdict[0] == "not decided":
            told.append(_not_decided(here, everywhere, words))
        else:
            where = whereabouts([at for at, _ in here], everywhere, words)
            told.append(_line(verdict, [load for _, load in here], where, several, words))
    return told


def shortened(answers: Sequence[Sequence[str]], most: int = MOST_LINES) -> list[list[str]]:
    """The lines of several questions, together at most so many (but one for each). The first question is what the study
    asks: the others give way before it, down to LEAST_LINES, the longest first. What is left out is told at the end.
    """
    kept = [len(answer) for answer in answers]
    while sum(kept) > most and max(kept) > 1:
        longest = max(range(len(kept)), key=lambda place: (kept[place] > LEAST_LINES and place > 0, kept[place], place))
        kept[longest] -= 1
    return [_first(answer, lines_) for answer, lines_ in zip(answers, kept, strict=True)]


def _first(answer: Sequence[str], most: int) -> list[str]:
    """So many lines in their order, with how many are left out. Of three or more, one is what is not decided: without
    it a reader would take what is left for all. Of fewer, it is told that something is not.
    """
    if most >= len(answer):
        return list(answer)
    undecided = [line for line in answer if line.startswith(NOT_DECIDED)]
    kept = undecided[:1] if most > LEAST_LINES else []
    decided = [line for line in answer if line not in undecided][: most - len(kept)]
    told = [*decided, *kept] or undecided[:most]
    open_ = ", where something is not decided," if undecided and not set(undecided) & set(told) else ""
    rest = f"For {count(len(answer) - len(told), 'more verdict')}{open_} see the picture."
    return [*told[:-1], f"{told[-1]} {rest}"]


_ORDER = (
    "ahead",
    "just ahead",
    "depends",
    "even",
    "CPU",
    "no choice",
    "not decided",
    "alone",
    "none durable",
    "nothing",
)


def _verdict(load: Load) -> Verdict:
    """What may be said of several loads at once, if it is the same for them."""
    group = load.group
    if load.no_choice:
        return "no choice", (load.no_choice,)
    if group.in_doubt:
        return "not decided", ()
    if load.comparison.is_unknown:
        return "nothing", ("unknown",)
    if group.best is None:
        return "none durable" if group.not_durable else "nothing", ()
    if not group.leads:
        return "alone", (group.best,)
    if group.is_the_cpus:
        return "CPU", (group.best,) if group.winner else ()
    if group.depends:
        return "depends", tuple(group.telling_axes)
    if group.winner is None:
        return "even", tuple(sorted([group.best, *_others(group, "even")]))
    return "just ahead" if is_close(group) else "ahead", (group.best,)


def _others(group: Group, verdict: str) -> list[str]:
    return [lead.over for lead in group.leads if lead.verdict == verdict]


def _line(verdict: Verdict, loads: Sequence[Load], where: str, several: bool, words: Words) -> str:
    kind, told = verdict
    group, comparison = loads[0].group, loads[0].comparison
    partly = _partly(loads, words)
    if kind == "CPU":
        if not told:
            return f"The CPU decides{where}, and nothing is best there{partly}."
        best, lead = words.named(comparison.compare, told[0]), _lead(loads, words)
        return f"The CPU decides{where}: on this board {best} {_superlative(loads, several)}, {lead}{partly}."
    if kind in ("ahead", "just ahead"):
        best = words.named(comparison.compare, told[0])
        return f"{beginning(best)} {_superlative(loads, several)}{where}: {_lead(loads, words)}{partly}."
    if kind == "depends":
        depending = [load.group.leads_that_are("depends") for load in loads]
        if len(loads) == len(depending[0]) == 1 and not several:
            return capitalized(
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
    if kind == "no choice":
        return f"Nothing to choose{where}: {told[0]}."
    if kind == "none durable":
        return f"Nothing to recommend{where}: no value that was measured kept what the load committed."
    if kind == "alone" and group.not_durable:
        return (
            f"Only {words.named(comparison.compare, told[0])} kept what the load committed{where}: nothing to compare."
        )
    if kind == "alone":
        return f"Only {words.named(comparison.compare, told[0])} was measured{where}: nothing to compare."
    if all(load.comparison.is_unknown for load in loads):
        titles = dict.fromkeys(in_sentence(metric_of(load.comparison.metric).title) for load in loads)
        return f"No result has a figure for {listing(list(titles), 'or')}."
    return f"Nothing was measured{where}."


def _not_durable(placed: Sequence[tuple[Setting, Load]], everywhere: Sequence[Setting], words: Words) -> list[str]:
    """One line on the values that lost commits of the load, or none."""
    found: dict[tuple[Setting, ...], dict[str, str]] = {}
    for value in dict.fromkeys(value for _, load in placed for value in load.group.not_durable):
        here = [(at, load) for at, load in placed if value in load.group.not_durable]
        load = here[0][1]
        name = _with_options(words.named(load.comparison.compare, value), value)
        found.setdefault(tuple(at for at, _ in here), {})[name] = load.group.not_durable[value].text
    told = [
        f"{listing(list(names))}{whereabouts(list(at), everywhere, words)}, because {next(iter(names.values()))}"
        for at, names in found.items()
    ]
    return [f"{NOT_DURABLE}, and not compared: {'; '.join(told)}."] if told else []


def _with_options(name: str, value: str) -> str:
    """A profile's name with its options: these lost the commits, and not all of its kind."""
    options = value.partition(":")[2]
    return f"{name} ({options})" if options and "(" not in name else name


def _not_decided(here: Sequence[tuple[Setting, Load]], everywhere: Sequence[Setting], words: Words) -> str:
    """One line, with each reason beside its loads."""
    by_reason: dict[str, list[Setting]] = {}
    for at, load in here:
        by_reason.setdefault(listing(_why(load.group), "or"), []).append(at)
    told = [f"{why},{whereabouts(at, everywhere, words) or ' everywhere'}" for why, at in by_reason.items()]
    return f"{NOT_DECIDED}: {'; '.join(told)}; nothing is recommended there."


def _why(group: Group) -> list[str]:
    """In a word or two each."""
    of = [doubt for (value, _), doubt in group.doubts.items() if doubt.bars and value in group.in_doubt]
    found = dict.fromkeys(doubt.kind for doubt in of)
    return list(dict.fromkeys(brief_reason(kind) for kind in found)) or ["missing results"]


def _partly(loads: Sequence[Load], words: Words) -> str:
    """How many of several loads rest on part of their settings, or of a single one, on how many."""
    partial = [load.group for load in loads if load.group.is_partial]
    if not partial:
        return ""
    if len(loads) == 1:
        only = words.places(narrowed(partial[0].settings, partial[0].planned))
        return f" ({only and f'{only}, '}{len(partial[0].settings)} of {partial[0].settings_planned} settings)"
    if len(partial) == len(loads):
        return " (each on part of its settings)"
    return f" ({len(partial)} of {len(loads)} loads on part of their settings)"


def _names(comparison: Comparison, values: Sequence[str], words: Words) -> str:
    return listing([words.named(comparison.compare, value) for value in values])


def _superlative(loads: Sequence[Load], several: bool) -> str:
    metrics = [metric_of(load.comparison.metric) for load in loads]
    if not several:
        return superlative(metrics[0])
    return "is fastest" if all(map(is_speed, metrics)) else "is best"


def _lead(loads: Sequence[Load], words: Words) -> str:
    """How far the best is ahead of the next: "1.3 to 4.0 times as fast as ext2" """
    leads = [closest(load.group) for load in loads]
    others = list(dict.fromkeys(lead.over for lead in leads))
    name = listing([words.named(loads[0].comparison.compare, other) for other in others], "or")
    if len(loads[0].group.leads) > 1 or len(others) > 1:
        name = f"the next ({name})"
    low, high = min(lead.ends[0] for lead in leads), max(lead.ends[1] for lead in leads)
    unknown = sum(not lead.has_known_size for lead in leads)
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
        by = percents(low, high)
        if speed:
            return f"{by} faster than {name}"
        if all(metric.better == "lower" for metric in metrics):
            return f"that of {name} is {by} higher"
        return f"{by} above that of {name}" if all(m.better == "higher" for m in metrics) else f"{by} apart from {name}"
    by = factors(low, high)
    how = f" ({NO_SIZE}{f' in {unknown} of {len(leads)}' if len(leads) > 1 else ''})" if unknown else ""
    if speed:
        return f"{by} times as fast as {name}{how}"
    if all(metric.better == "lower" for metric in metrics):
        return f"that of {name} is {by} times as high{how}"
    return (f"{by} times that of {name}" if all(m.better == "higher" for m in metrics) else f"by {by} times") + how


def _coordinates(load: Load, several: bool, averaged: Sequence[str]) -> Setting:
    """What tells a load from others: also of an axis over which others are means, its only value, or MANY."""
    planned = [dict(setting) for setting in load.group.planned]
    over = {axis: list(dict.fromkeys(setting.get(axis, MANY) for setting in planned)) for axis in averaged}
    single = tuple((axis, values[0] if len(values) == 1 else MANY) for axis, values in over.items())
    return (*(((METRIC, load.comparison.metric),) if several else ()), *load.group.at, *single)
