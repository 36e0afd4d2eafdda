# SPDX-License-Identifier: Apache-2.0
"""The study's question answered in plain sentences, one for each group of a comparison and one for the whole.

Turns numbers into words and nothing else: it computes no ratio, and knows neither tables nor HTML.
"""

from __future__ import annotations

from collections.abc import Sequence

from flashbed.analysis.comparison import Comparison, Group, Lead, Setting
from flashbed.analysis.ratio import CLEAR_FACTOR
from flashbed.analysis.spread import INTERVAL_SEEDS
from flashbed.analysis.words import Words, count, factor, listing, metric_of, percent_more
from flashbed.metrics import Metric

SPEEDS = ("bandwidth", "iops")
"""Metrics of which people say "faster"."""

CLOSE_FACTOR = 1.095
"""Below it a lead reads better in percent."""

NAMED_SETTINGS = NAMED_GROUPS = 3
"""So many are named in a sentence; of more, only how many there are."""


def headline(comparison: Comparison, words: Words) -> str:
    """The whole answer in one sentence: who wins where."""
    wins: dict[str, list[Group]] = {}
    for group in comparison.groups:
        if group.winner is not None:
            wins.setdefault(group.winner, []).append(group)
    depending = [group for group in comparison.groups if group.depends]
    alone = [group for group in comparison.groups if not group.leads]
    even = [group for group in comparison.groups if group.leads and not group.depends and group.winner is None]

    superlative, axis = _superlative(metric_of(comparison.metric)), words.axis(comparison.compare)
    told = []
    for value in sorted(wins, key=lambda value: -len(wins[value])):
        told.append(f"{words.value(comparison.compare, value)} {superlative}{_where(wins[value], comparison, words)}")
    if depending:
        axes = dict.fromkeys(axis for group in depending for axis in group.telling_axes)
        on = listing([words.axis(axis) for axis in axes])
        told.append(f"which {axis} {superlative} depends on {on}{_where(depending, comparison, words)}")
    if even:
        told.append(f"no {axis} is clearly ahead{_where(even, comparison, words)}")
    if alone or not told:
        told.append(f"there is nothing to compare{_where(alone, comparison, words) if told else ''}")
    if not wins:
        told[0] = told[0][0].upper() + told[0][1:]
    return "; ".join(told) + "."


def _where(groups: Sequence[Group], comparison: Comparison, words: Words) -> str:
    """ "for read and write (flushed at the end)"; if there are many, how many."""
    if len(groups) == len(comparison.groups):
        return "" if len(groups) <= 1 else f" in all {len(groups)} comparisons"
    if len(groups) > NAMED_GROUPS:
        return f" in {len(groups)} of {len(comparison.groups)} comparisons"
    names = []
    for group in groups:
        first, rest = words.places(group.at[:1]), words.places(group.at[1:])
        names.append(f"{first} ({rest})" if rest else first)
    return f" for {listing(names)}"


def sentence(comparison: Comparison, group: Group, words: Words) -> str:
    """One group in one or two sentences."""
    metric = metric_of(comparison.metric)
    said = _finding(comparison, group, metric, words)
    said += _omissions(comparison, group, words)
    opening = words.places(group.at)
    if opening:
        return f"For {opening}, {said}"
    begins_with_a_name = group.best is not None and said.startswith(words.value(comparison.compare, group.best))
    return said if begins_with_a_name else said[0].upper() + said[1:]


def _finding(comparison: Comparison, group: Group, metric: Metric, words: Words) -> str:
    if group.best is None:
        return "nothing was measured."
    best = words.value(comparison.compare, group.best)
    if not group.leads:
        return f"only {best} was measured, so there is nothing to compare."

    told = []
    even, depends, ahead = (group.leads_that_are(verdict) for verdict in ("even", "depends", "ahead"))
    if even:
        names = [best, *(words.value(comparison.compare, lead.over) for lead in even)]
        told.append(f"there is no clear difference between {listing(names)}{why_even(even, group)}")
    told += [dependence(lead, group, comparison, metric, words) for lead in depends]
    if ahead:
        told.append(_ahead(ahead, group, comparison, metric, words))
    return "; ".join(told) + "."


def why_even(leads: Sequence[Lead], group: Group) -> str:
    """How far apart those are that count as even, and what the seeds say of it."""
    furthest = max(max(lead.factor, 1 / lead.factor) for lead in leads)
    if furthest < CLEAR_FACTOR:
        return " (less than 1 % apart)"
    apart = f"up to {percent_more(furthest)}" if len(leads) > 1 else percent_more(furthest)
    low, high = min(lead.whole.low for lead in leads), max(lead.whole.high for lead in leads)
    interval = "the 95 % confidence interval of their ratio" if group.seeds >= INTERVAL_SEEDS else "their ratio"
    return (
        f" ({apart} apart, but {interval} goes from {factor(low)} to {factor(high)} over {count(group.seeds, 'seed')})"
    )


def dependence(lead: Lead, group: Group, comparison: Comparison, metric: Metric, words: Words) -> str:
    """ "which of f2fs and ext2 is faster depends on request size: f2fs at 64k (up to 1.2 times), ext2 at 4k (...)" """
    best, other = (words.value(comparison.compare, value) for value in (group.best or "", lead.over))
    axes = listing([words.axis(axis) for axis in group.telling_axes])
    sides = [(best, lead.ahead_at, lead.highest), (other, lead.behind_at, 1 / lead.lowest)]
    told = [
        f"{name} at {_settings(settings, group, words)} (up to {factor(furthest)} times)"
        for name, settings, furthest in sides
        if settings
    ]
    return f"which of {best} and {other} {_comparative(metric)} depends on {axes}: {', '.join(told)}"


def _settings(settings: Sequence[Setting], group: Group, words: Words) -> str:
    """The settings by name, or how many they are."""
    if len(settings) > NAMED_SETTINGS:
        return f"{len(settings)} of {over(group, words)}"
    return listing([_setting(setting, group, words) for setting in settings])


def _setting(setting: Setting, group: Group, words: Words) -> str:
    """The part of a setting that tells it from the others; of a single axis, its value says enough."""
    telling = [pair for pair in setting if pair[0] in group.telling_axes]
    return words.value(*telling[0]) if len(telling) == 1 else words.places(telling)


def _ahead(leads: Sequence[Lead], group: Group, comparison: Comparison, metric: Metric, words: Words) -> str:
    """ "f2fs is 3.1 times as fast as ext2 (2.8 to 3.4 over 4 request sizes) and ..." """
    best = words.value(comparison.compare, group.best or "")
    told = []
    for place, lead in enumerate(leads):
        other = words.value(comparison.compare, lead.over)
        told.append(_how_far(lead, other, metric, place == 0) + _range(lead, group, words, place == 0))
    if metric.name in SPEEDS:
        return f"{best} is {listing(told)}"
    if len(leads) == len(group.leads):
        return f"{best} {_superlative(metric)}: {listing(told)}"
    # Others are as good as the best, so that there is no lowest or highest to name.
    return f"against {best}, {listing(told)}" if metric.better == "lower" else f"{best}'s is {listing(told)}"


def _how_far(lead: Lead, other: str, metric: Metric, first: bool) -> str:
    close = lead.factor < CLOSE_FACTOR
    times, percent = f"{factor(lead.factor)} times", percent_more(lead.factor)
    if metric.name in SPEEDS:
        return f"{percent} faster than {other}" if close else f"{times} as fast as {other}"
    if metric.better == "lower":
        return f"{other}'s {'is ' if first else ''}{f'{percent} higher' if close else f'{times} as high'}"
    return f"{percent} above that of {other}" if close else f"{times} that of {other}"


def _range(lead: Lead, group: Group, words: Words, first: bool) -> str:
    """How far the factor moves over the settings; what they are is said once."""
    if len(group.settings) == 1:
        return ""
    lowest, highest = factor(lead.lowest), factor(lead.highest)
    if lowest == highest:
        return f" (at each of {over(group, words)})" if first else " (everywhere)"
    return f" ({lowest} to {highest}{f' over {over(group, words)}' if first else ''})"


def over(group: Group, words: Words) -> str:
    """ "4 request sizes", or "8 combinations of request size and file size" """
    axes = group.telling_axes
    if len(axes) == 1:
        return f"{len(group.settings)} {words.axis_plural(axes[0])}"
    return f"{len(group.settings)} combinations of {listing([words.axis(axis) for axis in axes])}"


def _omissions(comparison: Comparison, group: Group, words: Words) -> str:
    """What the finding does not cover."""
    text = ""
    if group.left_out:
        names = listing([words.value(comparison.compare, value) for value in group.left_out])
        text += f" Not compared: {names}, for want of results."
    if group.leads and len(group.settings) < group.settings_planned:
        named = [
            f"{words.value(comparison.compare, value)} has no result at {words.places(setting)}"
            for value, setting in group.gaps[:NAMED_SETTINGS]
        ]
        if len(group.gaps) > NAMED_SETTINGS:
            named.append(f"{len(group.gaps) - NAMED_SETTINGS} more are missing")
        why = listing(named) or "elsewhere no seed has them all"
        text += f" This rests on {len(group.settings)} of {group.settings_planned} settings: {why}."
    return text


def _superlative(metric: Metric) -> str:
    if metric.name in SPEEDS:
        return "is fastest"
    lowest = "lowest" if metric.better == "lower" else "highest"
    return f"has the {lowest} {metric.title[0].lower()}{metric.title[1:]}"


def _comparative(metric: Metric) -> str:
    if metric.name in SPEEDS:
        return "is faster"
    return f"has the {'lower' if metric.better == 'lower' else 'higher'} {metric.title[0].lower()}{metric.title[1:]}"
