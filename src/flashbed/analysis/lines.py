# SPDX-License-Identifier: Apache-2.0
"""Answer a question in a few lines: loads with the same verdict share a line.

A line says one thing: leads under 10 % stand apart from larger ones, and each reason why nothing is decided stands
beside its loads. Boxes say where a verdict holds: products of values of the axes that are kept apart. An axis over
which nothing changes is not named. Turns comparisons into words, and judges nothing. Must not know tables or HTML.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from flashbed.analysis.answer import (
    CLOSE_FACTOR,
    NO_SIZE,
    against,
    brief_reason,
    closest,
    dependence,
    doubt_words,
    is_close,
    is_speed,
    superlative,
)
from flashbed.analysis.groups import Comparison, Group, Setting, narrowed, telling_axes
from flashbed.analysis.study_results import JointAxis, JointValue
from flashbed.analysis.words import (
    Words,
    before_place,
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
from flashbed.profiles.library import Selector
from flashbed.study.format import PROFILE_AXES

NAMED_BOXES = 3
"""The most boxes that a line names; of more, it gives the number of loads, and the picture has each."""

METRIC = "metric"
"""The name of the metric as an axis, if a question has several metrics."""

AVERAGED = ""
"""The value of an axis over which a load is a mean; it is not named."""

MANNERS = ("flush", "direct", "allocate", "caches")
"""Axes that say how something is done: alone, they need a noun."""

Box = Mapping[str, Sequence[str]]


def whereabouts(here: Sequence[Setting], everywhere: Sequence[Setting], words: Words) -> str:
    """Return where a verdict holds: " for random write, flushed at the end", or " throughout"."""
    if len(here) == len(everywhere):
        return " throughout" if len(here) > 1 else ""
    places = [place(box, words) for box in boxes(here, everywhere)]
    if len(places) > 1:
        rest = boxes([at for at in everywhere if at not in here], everywhere)
        if len(rest) == 1:
            return f" for all but {place(rest[0], words)}"
    if len(places) > NAMED_BOXES:
        return f" for {count(len(here), 'load')} of {len(everywhere)} (see the picture)"
    prefixes = [before_place(text) for text in places]
    if not any(", " in text for text in places) and len(set(prefixes)) == 1:
        return f" {prefixes[0]}{' and '.join(places)}"
    return f" {', and '.join(map(''.join, zip(prefixes, places, strict=True)))}"


def boxes(here: Sequence[Setting], everywhere: Sequence[Setting]) -> list[Box]:
    """Return products of values that cover all of `here` and nothing else of `everywhere`.

    A box names each axis of which its loads do not have all values: given fewer conditions, a reader would take it for
    more than was measured.
    """
    axes = [axis for axis, _ in everywhere[0]]
    values = {axis: list(dict.fromkeys(dict(at)[axis] for at in everywhere)) for axis in axes}
    settings, left = set(here), list(here)
    chosen: list[Box] = []

    def inside(box: Box) -> list[Setting]:
        return [at for at in everywhere if all(value in box.get(axis, (value,)) for axis, value in at)]

    def allowed(box: Box) -> bool:
        return settings.issuperset(inside(box))

    while left:
        box: dict[str, list[str]] = {axis: [value] for axis, value in left[0]}
        for axis in reversed(axes):
            without = {name: taken for name, taken in box.items() if name != axis}
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
        if METRIC in has:  # a metric that a line has named is not named again with the others
            has[METRIC] = {dict(at)[METRIC] for at in covered.intersection(left)}
        covered_by_axis = {axis: [value for value in values[axis] if value in has[axis]] for axis in axes}
        chosen.append({axis: covered_by_axis[axis] for axis in axes if len(covered_by_axis[axis]) < len(values[axis])})
        left = [at for at in left if at not in covered]
    return chosen


def place(box: Box, words: Words) -> str:
    """Return a box in words: "random read and random write, flushed at the end"."""
    parts = []
    for axis, values in box.items():
        single = [value for value in values if value != AVERAGED]
        if axis == METRIC:
            parts.append(listing([in_sentence(metric_of(value).title).removeprefix("time ") for value in values]))
        elif len(single) == len(values) and not words.is_idle(axis, box):
            parts.append(words.several(axis, values))
    if not parts:  # only means distinguish these loads from the others
        return f"means over {listing([words.axis_plural(axis) for axis in box])}"
    return ("all " if next(iter(box), "") in MANNERS else "") + ", ".join(parts)


MOST_ANSWER_LINES = 10
"""The most lines of the answer in a report."""

LEAST_LINES = 2
"""The lines that each question keeps while another has more."""

NOT_DURABLE_LABEL = "NOT DURABLE"

_LineKind = Literal[
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
]
"""What a line says of its loads, in the order of lines."""

_ORDER: tuple[_LineKind, ...] = get_args(_LineKind)

LineVerdict = tuple[_LineKind, Hashable]
"""What a line says, and what its loads have in common: values, axes or a reason."""


@dataclass(frozen=True)
class Load:
    """A group of a comparison by one metric: what a line of the answer or a row of its picture is about."""

    comparison: Comparison
    group: Group
    no_choice: str = ""
    """Why there is nothing to choose at all; "" if there is."""


@dataclass(frozen=True)
class AnswerLines:
    """The lines on a question."""

    texts: Sequence[str]
    undecided: str = ""
    """The line among them that lists what is not decided; "" if everything is."""


def lines(loads: Sequence[Load], words: Words) -> list[str]:
    """Return the verdicts on all loads of a question, the verdict on most loads first."""
    return list(answer_lines(loads, words).texts)


def answer_lines(loads: Sequence[Load], words: Words) -> AnswerLines:
    """Return the lines of `lines`, and which of them lists what is not decided."""
    several = len({load.comparison.metric for load in loads}) > 1
    averaged = list(dict.fromkeys(axis for load in loads for axis in telling_axes(load.group.planned)))
    placed = [(_coordinates(load, several, averaged), load) for load in loads]
    by_verdict: dict[LineVerdict, list[tuple[Setting, Load]]] = {}
    for at, load in placed:
        by_verdict.setdefault(_verdict(load), []).append((at, load))
    everywhere = [at for at, _ in placed]
    ordered = sorted(by_verdict.items(), key=lambda item: (_ORDER.index(item[0][0]), -len(item[1])))
    texts, undecided = _not_durable(placed, everywhere, words), ""
    for verdict, members in ordered:
        if verdict[0] == "not decided":
            undecided = _not_decided(members, everywhere, words)
            texts.append(undecided)
        else:
            where = whereabouts([at for at, _ in members], everywhere, words)
            texts.append(_line(verdict[0], [load for _, load in members], where, several, words))
    return AnswerLines(texts, undecided)


def shortened(answers: Sequence[AnswerLines], most: int = MOST_ANSWER_LINES) -> list[list[str]]:
    """Return the lines of several questions, together at most `most`, but at least one for each. The first question is
    what the study asks: the others give way before it, down to LEAST_LINES, the longest first. The last line of a
    question says how many are left out.
    """
    kept = [len(answer.texts) for answer in answers]
    while sum(kept) > most and max(kept) > 1:
        longest = max(range(len(kept)), key=lambda place: (kept[place] > LEAST_LINES and place > 0, kept[place], place))
        kept[longest] -= 1
    return [_first(answer, lines_) for answer, lines_ in zip(answers, kept, strict=True)]


def _first(answer: AnswerLines, most: int) -> list[str]:
    """Return the first `most` lines, with how many are left out. Of three or more, one is what is not decided: without
    it a reader would take the rest for all. Of fewer, the last line says that something is not decided.
    """
    if most >= len(answer.texts):
        return list(answer.texts)
    undecided = [answer.undecided] if answer.undecided else []
    kept = undecided if most > LEAST_LINES else []
    decided = [line for line in answer.texts if line not in undecided][: most - len(kept)]
    shown = [*decided, *kept] or undecided[:most]
    open_ = ", where something is not decided," if undecided and not set(undecided) & set(shown) else ""
    rest = f"For {count(len(answer.texts) - len(shown), 'more verdict')}{open_} see the picture."
    return [*shown[:-1], f"{shown[-1]} {rest}"]


def _verdict(load: Load) -> LineVerdict:
    """Return what several loads may share in one line: a kind of verdict, and the values, the axes or the reason
    that it names.
    """
    group = load.group
    if load.no_choice:
        return "no choice", load.no_choice
    if group.in_doubt:
        return "not decided", ()
    if load.comparison.is_unknown:
        return "nothing", "unknown"
    if group.best is None:
        return "none durable" if group.not_durable else "nothing", ()
    if not group.leads:
        return "alone", group.best
    if group.cpu_decides_best:
        return "CPU", group.winner
    if group.depends:
        return "depends", tuple(group.telling_axes)
    if group.winner is None:
        return "even", (frozenset([group.best, *_others(group, "even")]), group.is_zero)
    return "just ahead" if is_close(group) else "ahead", group.best


def _others(group: Group, verdict: str) -> list[JointValue]:
    return [lead.over for lead in group.leads if lead.verdict == verdict]


def _line(kind: _LineKind, loads: Sequence[Load], where: str, several: bool, words: Words) -> str:
    """Return one line on loads that share a verdict. `several` is true if the question has several metrics."""
    group, comparison = loads[0].group, loads[0].comparison
    best = words.named(comparison.compare, group.best) if group.best else ""
    partly = _partly(loads, words)
    if kind == "CPU":
        if not group.winner:
            return f"The CPU decides{where}, and nothing is best there{partly}."
        superlative_ = _superlative(loads, several)
        return f"The CPU decides{where}: on this board {best} {superlative_}, {_lead(loads, words)}{partly}."
    if kind in ("ahead", "just ahead"):
        return f"{beginning(best)} {_superlative(loads, several)}{where}: {_lead(loads, words)}{partly}."
    if kind == "depends":
        depending = [load.group.leads_that_are("depends") for load in loads]
        if len(loads) == len(depending[0]) == 1 and not several:
            return capitalized(
                f"{dependence(depending[0][0], group, comparison, metric_of(comparison.metric), words)}{where}{partly}."
            )
        pairs = {frozenset([load.group.best or (), *_others(load.group, "depends")]) for load in loads}
        axes = listing([words.axis(axis) for axis in group.telling_axes])
        which = words.joint_axis(comparison.compare)
        if len(pairs) == 1:
            which = f"of {_names(comparison, [group.best or (), *_others(group, 'depends')], words)}"
        return f"Which {which} {_superlative(loads, several)} depends on {axes}{where}{partly}."
    if kind == "even":
        names = [group.best or (), *_others(group, "even")]
        rest = "; the others are behind" if any(len(load.group.leads) > len(names) - 1 for load in loads) else ""
        if group.is_zero:
            return f"No difference between {_names(comparison, names, words)}{where}: none at all{rest}{partly}."
        return f"No clear difference between {_names(comparison, names, words)}{where}{rest}{partly}."
    if kind == "no choice":
        return f"Nothing to choose{where}: {loads[0].no_choice}."
    if kind == "none durable":
        return f"Nothing to recommend{where}: no value that was measured kept what the load committed."
    if kind == "alone" and group.not_durable:
        return f"Only {best} kept what the load committed{where}: nothing to compare."
    if kind == "alone":
        return f"Only {best} was measured{where}: nothing to compare."
    if all(load.comparison.is_unknown for load in loads):
        titles = dict.fromkeys(in_sentence(metric_of(load.comparison.metric).title) for load in loads)
        return f"No result has a figure for {listing(list(titles), 'or')}."
    return f"Nothing was measured{where}."


def _not_durable(placed: Sequence[tuple[Setting, Load]], everywhere: Sequence[Setting], words: Words) -> list[str]:
    """Return one line on the values that lost commits of the load, or none."""
    by_place: dict[tuple[Setting, ...], dict[str, str]] = {}
    for value in dict.fromkeys(value for _, load in placed for value in load.group.not_durable):
        losing = [(at, load) for at, load in placed if value in load.group.not_durable]
        load = losing[0][1]
        axis = load.comparison.compare
        name = _with_options(words.named(axis, value), axis, value)
        by_place.setdefault(tuple(at for at, _ in losing), {})[name] = doubt_words(load.group.not_durable[value])
    clauses = [
        f"{listing(list(names))}{whereabouts(list(at), everywhere, words)}, because {next(iter(names.values()))}"
        for at, names in by_place.items()
    ]
    return [f"{NOT_DURABLE_LABEL}, and not compared: {'; '.join(clauses)}."] if clauses else []


def _with_options(name: str, axis: JointAxis, value: JointValue) -> str:
    """Return a profile's name with its options: the stack with these options lost the commits, not every stack of its
    kind.
    """
    pairs = zip(axis.axes, value, strict=True)
    options = ",".join(option for name, part in pairs if name in PROFILE_AXES for option in Selector.options_of(part))
    return f"{name} ({options})" if options and "(" not in name else name


def _not_decided(members: Sequence[tuple[Setting, Load]], everywhere: Sequence[Setting], words: Words) -> str:
    """Return one line, with each reason beside its loads."""
    by_reason: dict[str, list[Setting]] = {}
    for at, load in members:
        by_reason.setdefault(listing(_why(load.group), "or"), []).append(at)
    clauses = [f"{reason},{whereabouts(at, everywhere, words) or ' everywhere'}" for reason, at in by_reason.items()]
    return f"Not decided: {'; '.join(clauses)}; nothing is recommended there."


def _why(group: Group) -> list[str]:
    """Return the reasons why a group is not decided, in a word or two each."""
    barring = [doubt for (value, _), doubt in group.doubts.items() if doubt.bars and value in group.in_doubt]
    kinds = dict.fromkeys(doubt.kind for doubt in barring)
    return list(dict.fromkeys(brief_reason(kind) for kind in kinds)) or ["missing results"]


def _partly(loads: Sequence[Load], words: Words) -> str:
    """Return, in parentheses, how many of several loads rest on part of their settings; of a single load, on how many
    settings.
    """
    partial = [load.group for load in loads if load.group.is_partial]
    if not partial:
        return ""
    if len(loads) == 1:
        only = words.places(narrowed(partial[0].settings, partial[0].planned))
        return f" ({only and f'{only}, '}{len(partial[0].settings)} of {partial[0].settings_planned} settings)"
    if len(partial) == len(loads):
        return " (each on part of its settings)"
    return f" ({len(partial)} of {len(loads)} loads on part of their settings)"


def _names(comparison: Comparison, values: Sequence[JointValue], words: Words) -> str:
    return listing([words.named(comparison.compare, value) for value in values])


def _superlative(loads: Sequence[Load], several: bool) -> str:
    """Return the predicate of the best value of several loads: "is fastest"."""
    metrics = [metric_of(load.comparison.metric) for load in loads]
    if not several:
        return superlative(metrics[0])
    return "is fastest" if all(map(is_speed, metrics)) else "is best"


def _lead(loads: Sequence[Load], words: Words) -> str:
    """Return how far the best is ahead of the next: "1.3 to 4.0 times as fast as ext2"."""
    leads = [closest(load.group) for load in loads]
    others = list(dict.fromkeys(lead.over for lead in leads))
    name = listing([words.named(loads[0].comparison.compare, value) for value in others], "or")
    if len(loads[0].group.leads) > 1 or len(others) > 1:
        name = f"the next ({name})"
    low, high = min(lead.ends[0] for lead in leads), max(lead.ends[1] for lead in leads)
    unknown = sum(not lead.has_known_size for lead in leads)
    metrics = [metric_of(load.comparison.metric) for load in loads]
    speed = all(map(is_speed, metrics))
    if low == math.inf:
        pairs = {against(leads, metric) for metric in metrics} if len(set(metrics)) == 1 else set()
        lower = metrics[0].better == "lower"
        unnamed = ("none at all", "some") if lower else ("some", "none at all")
        best_figures, next_figures = pairs.pop() if pairs else unnamed
        return f"{best_figures}, against {next_figures} of {name}"
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
    unknown_size = f" ({NO_SIZE}{f' in {unknown} of {len(leads)}' if len(leads) > 1 else ''})" if unknown else ""
    if speed:
        return f"{by} times as fast as {name}{unknown_size}"
    if all(metric.better == "lower" for metric in metrics):
        return f"that of {name} is {by} times as high{unknown_size}"
    times = f"{by} times that of {name}" if all(m.better == "higher" for m in metrics) else f"by {by} times"
    return times + unknown_size


def _coordinates(load: Load, several: bool, averaged: Sequence[str]) -> Setting:
    """Return what distinguishes a load from others. It includes, for an axis over which other loads are means, its only
    value, or AVERAGED.
    """
    planned = [dict(setting) for setting in load.group.planned]
    over = {axis: list(dict.fromkeys(setting.get(axis, AVERAGED) for setting in planned)) for axis in averaged}
    single = tuple((axis, values[0] if len(values) == 1 else AVERAGED) for axis, values in over.items())
    return (*(((METRIC, load.comparison.metric),) if several else ()), *load.group.at, *single)
