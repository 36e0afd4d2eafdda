# SPDX-License-Identifier: Apache-2.0
"""The picture of an answer: a field for each load and each compared value, marked by how sure it is.

Turns groups of comparisons into short texts and tones. A tone is a colour and a sign, so that nothing depends on colour
alone. Each measured field has its figure, even if that decides nothing. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashbed.analysis import Comparison, Doubt, Group, Lead, Load, Standing
from flashbed.analysis.answer import CLOSE_FACTOR, doubt_words, is_close, is_speed
from flashbed.analysis.groups import narrowed, telling_axes
from flashbed.analysis.ratio import CLEAR_FACTOR, apart
from flashbed.analysis.study_results import JointValue
from flashbed.analysis.words import Scale, Words, direction, factor, figures, listing, metric_of, percent_more, scale_of

TONES = {
    "best": ("★", "ahead, as far as the seeds tell"),
    "just-best": ("☆", "ahead by less than 10 %, as far as the seeds tell"),
    "even": ("≈", "not told apart from the best"),
    "turns": ("↕", "better at some sizes, worse at others"),
    "behind": ("▾", "behind, as far as the seeds tell"),
    "doubt": ("?", "too little of it decides: memory, the CPU or a transient did, or results are missing"),
    "leads": ("▴", "ahead of those that decide; a greyed one may be better, so that nothing is recommended"),
    "lost": ("✗", "not durable: commits of the load never reached the medium, so it is out of the comparison"),
    "plain": ("", "nothing to compare with"),
    "missing": ("–", "no result"),
}
"""The sign and the meaning of each tone, in the order of the key."""


NO_CHOICE = "nothing to choose"


@dataclass(frozen=True)
class MatrixField:
    """What one value does under one load; `reason` says why it decides nothing, or nothing about the medium."""

    tone: str
    text: str
    note: str = ""
    reason: str = ""

    @property
    def sign(self) -> str:
        """Return the sign of its tone."""
        return TONES[self.tone][0]


@dataclass(frozen=True)
class MatrixRow:
    """A load and its fields, None for a value that is not in the study. `telling` distinguishes it from the other loads
    of its name; `rest` is the same in all of these.
    """

    name: str
    telling: str
    rest: str
    fields: Sequence[MatrixField | None]
    one_seed: bool

    @property
    def whole(self) -> MatrixField | None:
        """Return the one field of all columns, if there is nothing to choose between them."""
        first = self.fields[0]
        return first if first and first.text == NO_CHOICE and set(self.fields) == {first} else None


@dataclass(frozen=True)
class MatrixPart:
    """The loads by one metric; `reading` says how to read the numbers."""

    title: str
    reading: str
    rows: Sequence[MatrixRow]


@dataclass(frozen=True)
class Matrix:
    """The picture of one question. `same` is what all loads have in common."""

    columns: Sequence[str]
    parts: Sequence[MatrixPart]
    same: str = ""

    @property
    def key(self) -> list[tuple[str, str, str]]:
        """Return tone, sign and meaning of all tones in use."""
        used = {field.tone for part in self.parts for row in part.rows for field in row.fields if field}
        return [(tone, *meaning) for tone, meaning in TONES.items() if tone in used]

    @property
    def has_one_seed(self) -> bool:
        """True if any load was run with one seed."""
        return any(row.one_seed for part in self.parts for row in part.rows)


@dataclass(frozen=True)
class Look:
    """How the numbers of a part are shown: their unit, the words, and the axes over which some loads are means."""

    scale: Scale
    words: Words
    averaged: Sequence[str]


def matrix(parts: Sequence[Sequence[Load]], words: Words, fixed: Mapping[str, str] | None = None) -> Matrix:
    """Return the picture of a question. A part has the loads of one of its metrics; `fixed` has the axes that the
    question itself fixes.
    """
    comparison = parts[0][0].comparison
    columns = [words.joint_value(comparison.compare, value) for value in comparison.compare.values]
    values = {
        axis: list(dict.fromkeys(dict(load.group.at)[axis] for loads in parts for load in loads))
        for axis in comparison.by
    }
    several = sum(map(len, parts)) > 1
    alone = {axis: values_[0] for axis, values_ in values.items() if several and len(values_) == 1}
    shown = [_part(loads, alone, words) for loads in parts]
    return Matrix(columns, shown, words.places({**(fixed or {}), **alone}))


def _part(loads: Sequence[Load], alone: Mapping[str, str], words: Words) -> MatrixPart:
    """Return the loads of one metric; `alone` has the axes with one value in all loads."""
    comparison = loads[0].comparison
    metric = metric_of(comparison.metric)
    scale = scale_of(metric, (_largest(standing) for load in loads for standing in _all_standings(load.group)))
    axes = dict.fromkeys(
        axis for load in loads for standing in _all_standings(load.group) for axis in standing.telling_axes
    )
    kind = "mean" if comparison.in_time else "geometric mean"
    mean = f"{kind} over {listing([words.axis_plural(axis) for axis in axes])}" if axes else ""
    reading = "; ".join(filter(None, (scale.unit, mean, direction(metric).rstrip(".").lower())))
    look = Look(scale, words, list(axes))
    places = [_places(load, alone, look) for load in loads]
    return MatrixPart(
        metric.title, reading, [_row(load, *_title(own, places), look) for load, own in zip(loads, places, strict=True)]
    )


def _all_standings(group: Group) -> list[Standing]:
    return [*group.standings, *group.undecided.values()]


def _places(load: Load, alone: Mapping[str, str], look: Look) -> list[str]:
    """Return where a load was measured, in words. `alone` has the axes that are the same in all loads."""
    group, words = load.group, look.words
    coordinates = {axis: (value,) for axis, value in group.at}
    # If other loads are means over an axis, a load with a single value of it would pass for such a mean
    telling = telling_axes(group.planned)
    single = [pair for pair in group.planned[0] if pair[0] in look.averaged and pair[0] not in telling]
    return [
        words.place(axis, value)
        for axis, value in (*group.at, *single)
        if axis not in alone and not words.is_idle(axis, coordinates)
    ]


def _title(places: Sequence[str], loads: Sequence[Sequence[str]]) -> tuple[str, str, str]:
    """Return the name of a load, what distinguishes it from the `loads` of the same name, and the rest."""
    name, *more = places or ["All"]
    namesakes = [other for other in loads if other[:1] == [name]]
    rest = [place for place in more if all(place in namesake for namesake in namesakes)] if namesakes[1:] else more
    return name, ", ".join(place for place in more if place not in rest), ", ".join(rest)


def _row(load: Load, name: str, telling: str, rest: str, look: Look) -> MatrixRow:
    group, comparison = load.group, load.comparison
    fields = [
        MatrixField("doubt", NO_CHOICE, reason=load.no_choice) if load.no_choice else field(load, value, look)
        for value in comparison.compare.values
    ]
    return MatrixRow(name, telling, rest, fields, group.seeds == 1)


def field(load: Load, value: JointValue, look: Look) -> MatrixField | None:
    """Return one value against the best of its group; None if it is not in the study."""
    group, comparison = load.group, load.comparison
    barred = [doubt for (name, _), doubt in group.doubts.items() if name == value and doubt.bars]
    standings = {standing.value: standing for standing in group.standings}
    if value not in standings:
        return _uncompared_field(group, value, barred, look)
    notes = [_figure(standings[value], look.scale) + _part_of(standings[value], group, look.words)]
    if barred:
        notes.append(f"{_kinds(barred)} in {len(barred)}")
    cached = [
        setting
        for (name, setting), doubt in group.doubts.items()
        if name == value and doubt.kind == "write cache" and setting in group.settings
    ]
    if cached:
        some = f" in {len(cached)} of {len(group.settings)}" if len(cached) < len(group.settings) else ""
        notes.append(f"into the drive's write cache{some}")
    note = ", ".join(notes)
    plain = _compared_field(comparison, group, value, note, look.words)
    if group.cpu_decides(value):
        return MatrixField("doubt", plain.text, plain.note, "the CPU decides")
    return plain


def _uncompared_field(group: Group, value: JointValue, barred: Sequence[Doubt], look: Look) -> MatrixField | None:
    """Return the field of a value that is not compared: why, and what was measured."""
    standing = group.undecided.get(value)
    if not standing and not barred:
        return MatrixField("missing", "no result") if value in group.left_out else None
    figure = _figure(standing, look.scale) + _part_of(standing, group, look.words) if standing else ""
    if lost := group.not_durable.get(value):
        return MatrixField("lost", lost.kind, figure, doubt_words(lost))
    if not barred:
        return MatrixField("doubt", "too few results", figure)
    kinds = _kinds(barred)
    few = f" in {len(barred)} of {group.settings_planned}" if len(barred) < group.settings_planned else ""
    return MatrixField("doubt", f"{kinds}{few}", figure, kinds)


def _part_of(standing: Standing, group: Group, words: Words) -> str:
    """Return the settings that a figure is over, if not all: " at file size 10M (4 of 8 settings)", " on 5 of 8
    settings".
    """
    few, all_ = len(standing.settings), group.settings_planned
    if few == all_:
        return ""
    only = words.places(narrowed(standing.settings, group.planned))
    return f" at {only} ({few} of {all_} settings)" if only else f" on {few} of {all_} settings"


def _largest(standing: Standing) -> float:
    """Return the number that decides the unit."""
    return standing.score or max(standing.medians)


def _figure(standing: Standing, scale: Scale) -> str:
    """Return the mean, and the range of the seeds if that is wide. A zero leaves nothing of a mean, so the range over
    the settings is given then.
    """
    if not standing.score and not standing.is_zero:
        return figures(standing.medians, scale)
    seeds = standing.seeds
    seeds_range = f" (seeds {scale.number(seeds.minimum)} to {scale.number(seeds.maximum)})" if seeds.is_wide else ""
    return scale.figure(standing.score) + seeds_range


def _kinds(doubts: Sequence[Doubt]) -> str:
    """Return the kinds of doubts as a list in words."""
    return listing(list(dict.fromkeys(doubt.kind for doubt in doubts)))


def _compared_field(comparison: Comparison, group: Group, value: JointValue, figure: str, words: Words) -> MatrixField:
    """Return the field of a compared value."""
    if not group.leads:
        return MatrixField("plain", figure)
    if value == group.best:
        if group.depends:
            return MatrixField("turns", "best on the whole", figure)
        if group.leads_that_are("even"):
            return MatrixField("even", "among the best", figure)
        # If others are in doubt, none is the best of all
        if group.in_doubt:
            return MatrixField("leads", "ahead of the rest", figure)
        return MatrixField("just-best" if is_close(group) else "best", "best", figure)
    lead = next(lead for lead in group.leads if lead.over == value)
    behind = _how_far_behind(comparison, group, lead)
    if lead.verdict == "depends":
        telling = group.telling_axes
        at = [words.places([pair for pair in setting if pair[0] in telling]) for setting in lead.behind_at]
        where = f"better at {at[0]}" if len(at) == 1 else f"better in {len(at)} settings"
        return MatrixField("turns", behind, f"{figure}, {where}")
    return (
        MatrixField("even", "no clear difference", figure)
        if lead.verdict == "even"
        else MatrixField("behind", behind, figure)
    )


def _how_far_behind(comparison: Comparison, group: Group, lead: Lead) -> str:
    """Return how far a value is behind: "2.8× slower", "4 % slower", for other metrics "2.8× higher", beside a zero
    "some, against none".
    """
    metric = metric_of(comparison.metric)
    if lead.is_endless:
        text = "some, against none" if metric.better == "lower" else "none at all"
        some = 0 < len(lead.zeros) < len(group.settings)
        return f"{text} in {len(lead.zeros)} of {len(group.settings)}" if some else text
    if apart(lead.factor) < CLEAR_FACTOR:
        return "equal on the whole"
    than = "slower" if is_speed(metric) else "higher" if metric.better == "lower" else "lower"
    low, high = lead.ends
    if low != high:
        return f"{factor(low)} to {factor(high)}× {than}" + ("" if lead.has_known_size else ", size not known")
    return f"{percent_more(low)} {than}" if low < CLOSE_FACTOR else f"{factor(low)}× {than}"
