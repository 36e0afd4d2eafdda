# SPDX-License-Identifier: Apache-2.0
"""Compare the values of one axis, or of several as one: which is best, by how much, and whether the seeds agree.

A group has what a study keeps apart, such as one pattern. Its settings are the combinations of all other axes, such as
request sizes, over which ratios are averaged. A figure that does not decide (decisive.py) is not compared, and if fewer
than half of the settings decide, nothing is. A value that lost commits of the load in any setting is out of the
comparison. All figures of a group are over the same settings. The life of flash is counted in whole erases of the most
worn block, so one erase more or less changes it, however many seeds agree: a lead that one erase on either side could
make is none. Must not know words for people.
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
from flashbed.analysis.study_results import JointValue, Results
from flashbed.result.columns import Combination

LIFETIME_METRICS = ("lifetime_years", "tbw_bytes")
"""Metrics that are a quantity divided by the erases of the most worn block."""


def erase_steps(results: Results) -> dict[Combination, float]:
    """Return, by cell, the share of a life that one erase of the most worn block makes up.

    In the measurement that block had the mean number of erases, times how much sooner it reaches its end.
    """
    first, level, turns = (results.spreads(name) for name in ("tbw_bytes", "tbw_level_bytes", "overwrites"))
    return {
        cell: first[cell].median / (level[cell].median * turns[cell].median)
        for cell in first
        if cell in level and cell in turns and turns[cell].median and level[cell].median
    }


def with_erase_counts(comparison: Comparison, results: Results) -> Comparison:
    """Return the comparison with `counts_leave` set in each lead. `results` are those that were compared."""
    steps = erase_steps(results) if comparison.metric in LIFETIME_METRICS else {}
    if not steps:
        return comparison

    def step(group: Group, value: JointValue) -> float:
        """Return the largest step over the settings."""
        compared = comparison.compare.coordinates(value)
        cells = ({**dict(group.at), **dict(setting), **compared} for setting in group.settings)
        return max((steps.get(tuple(cell[axis] for axis in results.axes), 0.0) for cell in cells), default=0.0)

    def counted(group: Group) -> Group:
        steps_of = {standing.value: step(group, standing.value) for standing in group.standings}
        return replace(group, leads=[_with_count(lead, steps_of, group.best or ()) for lead in group.leads])

    return replace(comparison, groups=[counted(group) for group in comparison.groups])


def _with_count(lead: Lead, steps: Mapping[JointValue, float], best: JointValue) -> Lead:
    """Return the lead with the factor that one erase on either side may be. With a erases against b, the lead b / a may
    be (b - 1) / (a + 1): it is as good as 1 up to (1 + 1 / a) / (1 - 1 / b).
    """
    best_step, other_step = steps[best], steps[lead.over]
    return replace(lead, counts_leave=(1 + best_step) / (1 - other_step) if other_step < 1 else math.inf)


def compare(
    results: Results,
    axes: Sequence[str],
    by: Sequence[str],
    metric: str,
    higher_is_better: bool,
    doubts: Mapping[Combination, Doubt] | None = None,
    *,
    in_time: bool = False,
) -> Comparison:
    """Compare the values of some axes, taken as one, in each group; groups come in the order of the study.

    `doubts` is by cell. The mean over settings is the geometric mean of ratios or, if `in_time`, the ratio of mean
    times, in which the longest counts most.
    """
    doubts = doubts or {}
    numbers = results.numbers(metric)
    planned = list(results.combinations())
    compared = results.joint_axis(axes)
    positions = {name: position for position, name in enumerate(results.axes)}
    rest = [name for name in results.axes if name not in (*axes, *by)]

    def coordinates(combination: Combination, names: Iterable[str]) -> Setting:
        return tuple((name, combination[positions[name]]) for name in names)

    groups = []
    for at in product(*(results.axes[name] for name in by)):
        group_at = tuple(zip(by, at, strict=True))
        measured: dict[JointValue, dict[Setting, Numbers]] = {}
        settings: dict[Setting, set[JointValue]] = {}
        doubted: dict[tuple[JointValue, Setting], Doubt] = {}
        for combination in planned:
            if coordinates(combination, by) != group_at:
                continue
            value, setting = compared.value_in(results.coordinates(combination)), coordinates(combination, rest)
            settings.setdefault(setting, set()).add(value)
            cells = measured.setdefault(value, {})
            doubt, by_seed = doubts.get(combination), numbers.get(combination, {})
            if min(by_seed.values(), default=0.0) < 0:
                doubt, by_seed = BELOW_ZERO, {}
            if doubt:
                doubted[value, setting] = doubt
            if by_seed:
                cells[setting] = by_seed
        if measured:
            in_order = {value: measured[value] for value in compared.values if value in measured}
            groups.append(_group(group_at, in_order, settings, doubted, higher_is_better, in_time))
    measured_any = any(repetition.is_measured for repetition in results.repetitions)
    unknown = measured_any and not numbers and not doubts
    return Comparison(compared, tuple(by), metric, groups, unknown, in_time)


NumbersTable = Mapping[JointValue, Mapping[Setting, Numbers]]
"""The numbers by value and setting."""

Planned = Mapping[Setting, Collection[JointValue]]
"""By setting, the values that the study plans to measure there. A value that it leaves out is not missing."""


def _group(
    at: Setting,
    measured: NumbersTable,
    planned: Planned,
    doubts: Mapping[tuple[JointValue, Setting], Doubt],
    higher_is_better: bool,
    in_time: bool,
) -> Group:
    """Return one group: who is compared, in which settings, and how far the best is ahead."""
    lost = {value for (value, _), doubt in doubts.items() if doubt.kind == "not durable"}
    table = {
        value: {
            setting: by_seed
            for setting, by_seed in cells.items()
            if value not in lost and not ((doubt := doubts.get((value, setting))) and doubt.bars)
        }
        for value, cells in measured.items()
    }
    values, common = _comparable(table, planned)
    compared_values = values or [value for value in measured if measured[value] and value not in lost]
    settings = _planned_for(planned, compared_values)
    if not values:
        common = _shared(table, settings, compared_values)
    standings = [_standing(value, table[value], common, in_time) for value in values]
    # A stable sort: equals keep the study's order
    standings.sort(key=lambda standing: standing.rank, reverse=higher_is_better)
    leads = [_lead(standings[0], follower, table, common, higher_is_better, in_time) for follower in standings[1:]]
    seeds = min((len(measured[value][setting]) for value in compared_values for setting in common), default=0)
    left_out = [value for value in table if value not in values]
    gaps = [(value, setting) for setting in settings for value in compared_values if setting not in table[value]]
    undecided = _undecided(measured, left_out, common if values else [], in_time)
    return Group(at, standings, leads, common, settings, gaps, left_out, seeds, doubts, undecided)


def _planned_for(planned: Planned, values: Sequence[JointValue]) -> list[Setting]:
    """Return the settings in which the study plans to measure all of these values; if there are none, all settings."""
    return [setting for setting, meant in planned.items() if set(values) <= set(meant)] or list(planned)


def _comparable(table: NumbersTable, planned: Planned) -> tuple[list[JointValue], list[Setting]]:
    """Return the values to compare, and the settings in which all of them decide with a common seed.

    If these are too few of the planned settings, leave out the value that decides in the fewest, until they are enough.
    Of the last two values neither is left out for the other: if both decide in as many settings, but in different ones,
    nothing is compared.
    """
    values = [value for value in table if table[value]]
    while values:
        meant = _planned_for(planned, values)
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
    measured: NumbersTable, values: Sequence[JointValue], compared: Sequence[Setting], in_time: bool
) -> dict[JointValue, Standing]:
    """Return the standings of values that are not compared. Each is over the compared settings that the value has; if
    nothing is compared, over the settings that all of these values have; if there are none, over all of its own.
    """
    with_numbers = [value for value in values if measured[value]]
    shared = [
        setting
        for setting in _all_settings(measured, with_numbers)
        if all(setting in measured[v] for v in with_numbers)
    ]
    standings = {}
    for value in with_numbers:
        cells = measured[value]
        over = [setting for setting in compared or shared if setting in cells] or list(cells)
        standings[value] = _standing(value, cells, over, in_time)
    return standings


def _all_settings(measured: NumbersTable, values: Sequence[JointValue]) -> list[Setting]:
    return list(dict.fromkeys(setting for value in values for setting in measured[value]))


def _shared(table: NumbersTable, settings: Sequence[Setting], values: Sequence[JointValue]) -> list[Setting]:
    """Return the settings in which each of these values has a number and all have a seed in common. Without such a seed
    nothing pairs their numbers.
    """
    numbers = {setting: [table[value].get(setting, {}) for value in values] for setting in settings}
    return [setting for setting, cells in numbers.items() if cells and set(cells[0]).intersection(*cells[1:])]


def _standing(
    value: JointValue, cells: Mapping[Setting, Numbers], settings: Sequence[Setting], in_time: bool
) -> Standing:
    """Return the mean of a value over some settings, with its spread over the seeds."""
    medians = [median(cells[setting].values()) for setting in settings]
    rows = [cells[setting] for setting in settings]
    mean = mean_by_seed(rows) if in_time else {}
    if mean:
        return Standing(value, fmean(medians), medians, spread(list(mean.values())), settings)
    return Standing(value, geometric_mean(medians), medians, mean_spread(rows), settings)


def _lead(
    best: Standing,
    other: Standing,
    table: NumbersTable,
    settings: Sequence[Setting],
    higher_is_better: bool,
    in_time: bool,
) -> Lead:
    """Return how far the best is ahead of another value."""
    pairs = {setting: (table[best.value][setting], table[other.value][setting]) for setting in settings}
    medians = {
        setting: (median(best_numbers.values()), median(other_numbers.values()))
        for setting, (best_numbers, other_numbers) in pairs.items()
    }
    if not higher_is_better:
        pairs = {setting: (other_numbers, best_numbers) for setting, (best_numbers, other_numbers) in pairs.items()}
    ratios = {setting: factor for setting, pair in pairs.items() if (factor := ratio([pair]))}
    whole = ratio(list(pairs.values()))
    if in_time and (means := [mean_by_seed([pair[side] for pair in pairs.values()]) for side in (0, 1)]) and all(means):
        whole = ratio([(means[0], means[1])])
    assert whole is not None  # the settings are those in which there is a ratio
    return Lead(
        other.value,
        whole,
        min(factor.median for factor in ratios.values()),
        max(factor.median for factor in ratios.values()),
        [setting for setting, factor in ratios.items() if is_ahead(factor)],
        [setting for setting, factor in ratios.items() if is_ahead(inverse(factor))],
        {setting: medians[setting] for setting, factor in ratios.items() if factor.median in (0.0, math.inf)},
    )
