# SPDX-License-Identifier: Apache-2.0
"""Where a verdict holds, in words: loads gathered into boxes, products of values of the axes that are kept apart.

An axis over which nothing changes is not named. Turns coordinates into words, and knows no figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flashbed.analysis.groups import Setting
from flashbed.analysis.words import PREPOSITIONS, Words, count, in_sentence, listing, metric_of

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
