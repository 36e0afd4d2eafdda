# SPDX-License-Identifier: Apache-2.0
"""Which value of one axis is best, by how much, and whether the seeds agree.

A group holds what a study wants kept apart (say, one pattern); its settings are the combinations of all other axes
(say, request sizes), over which ratios are averaged. A figure that does not decide (decisive.py) is compared with none,
and where fewer than half of the settings decide, nothing is. A value that lost commits of the load in any setting is
out of the comparison. All figures of a group are over the same settings. A life of flash is counted in whole erases of
the most worn block, so that one erase more or less changes it, however many seeds agree: a lead that one erase on
either side could make is none.
Knows results and numbers; the words are somebody else's.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean, median

from flashbed.analysis.decisive import BELOW_ZERO, Doubt, is_enough
from flashbed.analysis.groups import Comparison, Group, Lead, Setting, Standing
from flashbed.analysis.ratio import Numbers, geometric_mean, inverse, is_ahead, mean_by_seed, mean_spread, ratio, spread
from flashbed.analysis.results import Results
from flashbed.result.columns import Combination

COUNTED = ("lifetime_years", "tbw_bytes")
"""Metrics that are something over the erases of the most worn block."""


def erase_steps(results: Results) -> dict[Combination, float]:
    """By cell, the part of a life that one erase of its most worn block makes.

    In the measurement that block had as many erases as all in the mean, times how much sooner it is at its end.
    """
    first, level, turns = (results.spreads(name) for name in ("tbw_bytes", "tbw_level_bytes", "overwrites"))
    return {
        cell: first[cell].median / (level[cell].median * turns[cell].median)
        for cell in first
        if cell in level and cell in turns and turns[cell].median and level[cell].median
    }


def as_counted(comparison: Comparison, results: Results) -> Comparison:
    """The comparison with each lead told how much of it the counts of the two leave open; `results` are those that were
    compared.
    """
    found = erase_steps(results) if comparison.metric in COUNTED else {}
    if not found:
        return comparison

    def step(group: Group, value: str) -> float:
        """The coarsest over the settings."""
        cells = ({**dict(group.at), **dict(setting), comparison.compare: value} for setting in group.settings)
        return max((found.get(tuple(cell[axis] for axis in results.axes), 0.0) for cell in cells), default=0.0)

    def told(group: Group) -> Group:
        of = {standing.value: step(group, standing.value) for standing in group.standings}
        return replace(group, leads=[_left_open(lead, of, group.best or "") for lead in group.leads])

    return replace(comparison, groups=[told(group) for group in comparison.groups])


def _left_open(lead: Lead, of: Mapping[str, float], best: str) -> Lead:
    """With a erases against b, the lead b / a may be (b - 1) / (a + 1): as 1 where it is (1 + 1 / a) / (1 - 1 / b)."""
    mine, its = of[best], of[lead.over]
    return replace(lead, counts_leave=(1 + mine) / (1 - its) if its < 1 else math.inf)


def compare(
    results: Results,
    axis: str,
    by: Sequence[str],
    metric: str,
    higher_is_better: bool,
    doubts: Mapping[Combination, Doubt] | None = None,
    *,
    in_time: bool = False,
) -> Comparison:
    """Compare the values of an axis in each group; groups come in the study's order. `doubts` is by cell. Over
    settings, the geometric mean of ratios is taken; `in_time`, the ratio of mean times, where the longest counts most.
    """
    doubts = doubts or {}
    numbers = results.numbers(metric)
    planned = list(results.combinations())
    positions = {name: position for position, name in enumerate(results.axes)}
    rest = [name for name in results.axes if name != axis and name not in by]

    def coordinates(combination: Combination, names: Iterable[str]) -> Setting:
        return tuple((name, combination[positions[name]]) for name in names)

    groups = []
    for at in product(*(results.axes[name] for name in by)):
        here = tuple(zip(by, at, strict=True))
        measured: dict[str, dict[Setting, Numbers]] = {}
        settings: dict[Setting, set[str]] = {}
        doubted: dict[tuple[str, Setting], Doubt] = {}
        for combination in planned:
            if coordinates(combination, by) != here:
                continue
            value, setting = combination[positions[axis]], coordinates(combination, rest)
            settings.setdefault(setting, set()).add(value)
            cells = measured.setdefault(value, {})
            doubt, found = doubts.get(combination), numbers.get(combination, {})
            if min(found.values(), default=0.0) < 0:
                doubt, found = BELOW_ZERO, {}
            if doubt:
                doubted[value, setting] = doubt
            if found:
                cells[setting] = found
        if measured:
            in_order = {value: measured[value] for value in results.axes[axis] if value in measured}
            groups.append(_group(here, in_order, settings, doubted, higher_is_better, in_time))
    measured_any = any(repetition.is_measured for repetition in results.repetitions)
    unknown = measured_any and not numbers and not doubts
    return Comparison(axis, tuple(results.axes[axis]), tuple(by), metric, groups, unknown, in_time)


Table = Mapping[str, Mapping[Setting, Numbers]]
"""By value and setting."""

Planned = Mapping[Setting, Collection[str]]
"""By setting, the values that the study means to measure there: where it leaves a value out, nothing is missing."""


def _group(
    at: Setting,
    measured: Table,
    planned: Planned,
    doubts: Mapping[tuple[str, Setting], Doubt],
    higher_is_better: bool,
    in_time: bool,
) -> Group:
    lost = {value for (value, _), doubt in doubts.items() if doubt.kind == "not durable"}
    table = {
        value: {
            setting: found
            for setting, found in cells.items()
            if value not in lost and not ((doubt := doubts.get((value, setting))) and doubt.bars)
        }
        for value, cells in measured.items()
    }
    values, common = _comparable(table, planned)
    wanted = values or [value for value in measured if measured[value] and value not in lost]
    settings = _meant(planned, wanted)
    if not values:
        common = _shared(table, settings, wanted)
    standings = [_standing(value, table[value], common, in_time) for value in values]
    # A stable sort: equals keep the study's order.
    standings.sort(key=lambda standing: standing.rank, reverse=higher_is_better)
    leads = [_lead(standings[0], other, table, common, higher_is_better, in_time) for other in standings[1:]]
    seeds = min((len(measured[value][setting]) for value in wanted for setting in common), default=0)
    left_out = [value for value in table if value not in values]
    gaps = [(value, setting) for setting in settings for value in wanted if setting not in table[value]]
    undecided = _undecided(measured, left_out, common if values else [], in_time)
    return Group(at, standings, leads, common, settings, gaps, left_out, seeds, doubts, undecided)


def _meant(planned: Planned, values: Sequence[str]) -> list[Setting]:
    """The settings in which the study means to measure all of these values; if in none, all that it has."""
    return [setting for setting, meant in planned.items() if set(values) <= set(meant)] or list(planned)


def _comparable(table: Table, planned: Planned) -> tuple[list[str], list[Setting]]:
    """The values to compare, and the settings in which the figures of each decide, with a seed that all have.

    If these are too few of those planned, the value that decides in the fewest is left out, until they are enough. Of
    the last two, neither is left out for the other's sake: if both decide in as many, but elsewhere, nothing is.
    """
    values = [value for value in table if table[value]]
    while values:
        meant = _meant(planned, values)
        common = _shared(table, meant, values)
        if is_enough(len(common), len(meant)):
            return values, common
        fewest = min(len(table[value]) for value in values)
        worst = [value for value in values if len(table[value]) == fewest]
        if len(values) == len(worst) == 2:
            break
        values.remove(worst[-1])
    return [], []


def _undecided(
    measured: Table, values: Sequence[str], compared: Sequence[Setting], in_time: bool
) -> dict[str, Standing]:
    """What was measured of values that are not compared: over the settings that are, or over those that all of these
    values have, so that what stands side by side can be compared; if there is none, over all that a value has.
    """
    found = [value for value in values if measured[value]]
    shared = [setting for setting in _all_settings(measured, found) if all(setting in measured[v] for v in found)]
    told = {}
    for value in found:
        cells = measured[value]
        over = [setting for setting in compared or shared if setting in cells] or list(cells)
        told[value] = _standing(value, cells, over, in_time)
    return told


def _all_settings(measured: Table, values: Sequence[str]) -> list[Setting]:
    return list(dict.fromkeys(setting for value in values for setting in measured[value]))


def _shared(table: Table, settings: Sequence[Setting], values: Sequence[str]) -> list[Setting]:
    """The settings in which each of these values has a number, with a seed that all have: without one, nothing pairs
    their numbers.
    """
    found = {setting: [table[value].get(setting, {}) for value in values] for setting in settings}
    return [setting for setting, cells in found.items() if cells and set(cells[0]).intersection(*cells[1:])]


def _standing(value: str, cells: Mapping[Setting, Numbers], settings: Sequence[Setting], in_time: bool) -> Standing:
    medians = [median(cells[setting].values()) for setting in settings]
    rows = [cells[setting] for setting in settings]
    mean = mean_by_seed(rows) if in_time else {}
    if mean:
        return Standing(value, fmean(medians), medians, spread(list(mean.values())), settings)
    return Standing(value, geometric_mean(medians), medians, mean_spread(rows), settings)


def _lead(
    best: Standing,
    other: Standing,
    table: Mapping[str, Mapping[Setting, Numbers]],
    settings: Sequence[Setting],
    higher_is_better: bool,
    in_time: bool,
) -> Lead:
    pairs = {setting: (table[best.value][setting], table[other.value][setting]) for setting in settings}
    medians = {setting: (median(mine.values()), median(its.values())) for setting, (mine, its) in pairs.items()}
    if not higher_is_better:
        pairs = {setting: (its, mine) for setting, (mine, its) in pairs.items()}
    ratios = {setting: found for setting, pair in pairs.items() if (found := ratio([pair]))}
    whole = ratio(list(pairs.values()))
    if in_time and (means := [mean_by_seed([pair[side] for pair in pairs.values()]) for side in (0, 1)]) and all(means):
        whole = ratio([(means[0], means[1])])
    assert whole is not None  # the settings are those in which there is a ratio
    return Lead(
        other.value,
        whole,
        min(found.median for found in ratios.values()),
        max(found.median for found in ratios.values()),
        [setting for setting, found in ratios.items() if is_ahead(found)],
        [setting for setting, found in ratios.items() if is_ahead(inverse(found))],
        {setting: medians[setting] for setting, found in ratios.items() if found.median in (0.0, math.inf)},
    )
