# SPDX-License-Identifier: Apache-2.0
"""The picture of an answer: a field for each load and each value that is compared, by how sure it is.

Turns groups of comparisons into short texts and tones; a tone is a colour and a sign, so that nothing hangs on colours
alone. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashbed.analysis import Comparison, Doubt, Group, Lead, Load, Standing
from flashbed.analysis.answer import CLOSE_FACTOR, is_speed
from flashbed.analysis.ratio import CLEAR_FACTOR, apart
from flashbed.analysis.words import Scale, Words, direction, factor, figures, listing, metric_of, percent_more, scale_of

TONES = {
    "best": ("★", "ahead, as far as the seeds tell"),
    "even": ("≈", "not told apart from the best"),
    "turns": ("↕", "better at some sizes, worse at others"),
    "behind": ("▾", "behind, as far as the seeds tell"),
    "doubt": ("?", "memory, the CPU or a transient decided, as it says"),
    "leads": ("☆", "ahead of what is decided; a greyed one may be faster"),
    "plain": ("", "nothing to compare with"),
    "missing": ("–", "no result"),
}
"""By tone, its sign and what it means, in the order of the key."""


@dataclass(frozen=True)
class Field:
    """What one value does under one load; `reason` is why it decides nothing, or not the medium."""

    tone: str
    text: str
    note: str = ""
    reason: str = ""

    @property
    def sign(self) -> str:
        return TONES[self.tone][0]


@dataclass(frozen=True)
class Row:
    """A load: its name in two parts, of which the first tells more, and its fields; None is not in the study."""

    name: str
    rest: str
    fields: Sequence[Field | None]
    one_seed: bool


@dataclass(frozen=True)
class Part:
    """The loads by one metric."""

    title: str
    reading: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Matrix:
    columns: Sequence[str]
    parts: Sequence[Part]

    @property
    def key(self) -> list[tuple[str, str, str]]:
        """Tone, sign and meaning of what is in it."""
        used = {field.tone for part in self.parts for row in part.rows for field in row.fields if field}
        return [(tone, *told) for tone, told in TONES.items() if tone in used]

    @property
    def has_one_seed(self) -> bool:
        return any(row.one_seed for part in self.parts for row in part.rows)


def matrix(parts: Sequence[Sequence[Load]], words: Words) -> Matrix:
    """The picture of a question; a part is the loads of one of its metrics."""
    comparison = parts[0][0].comparison
    columns = [words.value(comparison.compare, value) for value in comparison.values]
    return Matrix(columns, [_part(loads, words) for loads in parts])


def _part(loads: Sequence[Load], words: Words) -> Part:
    comparison = loads[0].comparison
    metric = metric_of(comparison.metric)
    scale = scale_of(metric, (_largest(one) for load in loads for one in load.group.standings))
    averaged = any(len(load.group.settings) > 1 for load in loads)
    mean = "geometric mean over all else" if averaged else ""
    reading = "; ".join(filter(None, (scale.unit, mean, direction(metric).rstrip(".").lower())))
    return Part(metric.title, reading, [_row(load, scale, words) for load in loads])


def _row(load: Load, scale: Scale, words: Words) -> Row:
    group, comparison = load.group, load.comparison
    said = {axis: (value,) for axis, value in group.at}
    places = [words.place(axis, value) for axis, value in group.at if not words.is_idle(axis, said)]
    fields = [
        Field("doubt", "nothing to choose", reason=load.no_choice)
        if load.no_choice
        else field(load, value, scale, words)
        for value in comparison.values
    ]
    return Row(places[0] if places else "All", ", ".join(places[1:]), fields, group.seeds == 1)


def field(load: Load, value: str, scale: Scale, words: Words) -> Field | None:
    """One value against the best of its group."""
    group, comparison = load.group, load.comparison
    mine = [(setting, doubt) for (name, setting), doubt in group.doubts.items() if name == value]
    barred = [doubt for _, doubt in mine if doubt.bars]
    standings = {standing.value: standing for standing in group.standings}
    if value not in standings:
        if barred:
            return Field("doubt", _kinds(barred), reason=_kinds(barred))
        return Field("missing", "no result") if value in group.left_out else None
    found = _standing(comparison, group, value, _figure(standings[value], scale), words)
    cpu = [doubt for setting, doubt in mine if not doubt.bars and setting in group.settings]
    if 2 * len(cpu) > len(group.settings):
        return Field("doubt", found.text, found.note, "the CPU decides")
    if barred:
        notes = [found.note, f"{_kinds(barred)} in {len(barred)} of {group.settings_planned}"]
        return Field(found.tone, found.text, ", ".join(filter(None, notes)))
    return found


def _largest(standing: Standing) -> float:
    """The number that says in which unit it is told."""
    return standing.score or max(standing.medians)


def _figure(standing: Standing, scale: Scale) -> str:
    """The mean; of which a zero leaves nothing, so that there the range is told."""
    if standing.score or standing.is_zero:
        return scale.figure(standing.score)
    return figures(standing.medians, scale)


def _kinds(doubts: Sequence[Doubt]) -> str:
    return listing(list(dict.fromkeys(doubt.kind for doubt in doubts)))


def _standing(comparison: Comparison, group: Group, value: str, figure: str, words: Words) -> Field:
    if not group.leads:
        return Field("plain", figure)
    if value == group.best:
        if group.depends:
            return Field("turns", "best on the whole", figure)
        if group.leads_that_are("even"):
            return Field("even", "among the best", figure)
        # Where others are in doubt, none is the best of all.
        return Field("leads", "ahead of the rest", figure) if group.in_doubt else Field("best", "best", figure)
    lead = next(lead for lead in group.leads if lead.over == value)
    behind = _behind(comparison, group, lead)
    if lead.verdict == "depends":
        at = [words.places(setting) for setting in lead.behind_at]
        return Field("turns", behind, f"better at {at[0]}" if len(at) == 1 else f"better in {len(at)} settings")
    return Field("even", "no clear difference", figure) if lead.verdict == "even" else Field("behind", behind, figure)


def _behind(comparison: Comparison, group: Group, lead: Lead) -> str:
    """ "2.8× slower", "4 % slower"; of what is no speed "2.8× higher"; beside a zero "some, against none" """
    metric = metric_of(comparison.metric)
    if lead.is_endless:
        told = "some, against none" if metric.better == "lower" else "none at all"
        some = 0 < len(lead.zeros) < len(group.settings)
        return f"{told} in {len(lead.zeros)} of {len(group.settings)}" if some else told
    if apart(lead.factor) < CLEAR_FACTOR:
        return "equal on the whole"
    than = "slower" if is_speed(metric) else "higher" if metric.better == "lower" else "lower"
    return f"{percent_more(lead.factor)} {than}" if lead.factor < CLOSE_FACTOR else f"{factor(lead.factor)}× {than}"
