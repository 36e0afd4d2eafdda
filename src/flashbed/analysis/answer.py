# SPDX-License-Identifier: Apache-2.0
"""The study's question answered in plain sentences, one for each group of a comparison and one for the whole.

Turns numbers into words and nothing else: it computes no ratio, and knows neither tables nor HTML.
"""

from __future__ import annotations

from collections.abc import Sequence

from flashbed.analysis.comparison import CLEAR_FACTOR, Comparison, Group, Lead, Setting
from flashbed.analysis.words import Words, count, factor, listing, metric_of, percent_more
from flashbed.metrics import Metric

SPEEDS = ("bandwidth", "iops")
"""Metrics of which people say "faster"."""

NAMED_SETTINGS = 3
"""So many exceptions are named in a sentence; of more, only how many there are."""


def headline(comparison: Comparison, words: Words) -> str:
    """The whole answer in one sentence: who wins where."""
    wins: dict[str, list[Group]] = {}
    open_groups = []
    for group in comparison.groups:
        if group.winner is None:
            open_groups.append(group)
        else:
            wins.setdefault(group.winner, []).append(group)
    metric = metric_of(comparison.metric)
    superlative = _superlative(metric)
    parts = []
    for value in sorted(wins, key=lambda value: -len(wins[value])):
        name = words.value(comparison.compare, value)
        if len(wins[value]) == len(comparison.groups):
            where = "" if len(comparison.groups) == 1 else f" in all {len(comparison.groups)} comparisons"
            return f"{name} {superlative}{where}."
        parts.append(f"{name} {superlative} for {listing([words.places(group.at) for group in wins[value]])}")
    if not parts:
        return f"No {words.axis(comparison.compare)} is clearly ahead."
    if open_groups:
        parts.append(f"none is clearly ahead for {listing([words.places(group.at) for group in open_groups])}")
    return "; ".join(parts) + "."


def sentence(comparison: Comparison, group: Group, words: Words) -> str:
    """One group in one or two sentences."""
    metric = metric_of(comparison.metric)
    said = _finding(comparison, group, metric, words)
    said += _omissions(comparison, group, words)
    opening = words.places(group.at)
    text = f"for {opening}, {said}" if opening else said
    return text[0].upper() + text[1:]


def _finding(comparison: Comparison, group: Group, metric: Metric, words: Words) -> str:
    if group.best is None:
        return "nothing was measured."
    best = words.value(comparison.compare, group.best)
    if not group.leads:
        return f"only {best} was measured, so there is nothing to compare."

    clear = [lead for lead in group.leads if lead.clear]
    even = [best, *(words.value(comparison.compare, value) for value in group.ties)]
    told = []
    if len(even) > 1:
        told.append(f"there is no clear difference between {listing(even)}{_why_even(group)}")
    if clear:
        told.append(f"{best} {_ahead(clear, group, comparison, metric, words)}")
    return "; ".join(told) + "."


def _why_even(group: Group) -> str:
    lead = next(lead for lead in group.leads if not lead.clear)
    if lead.factor < CLEAR_FACTOR:
        return " (less than 1 % apart)"
    return f" ({percent_more(lead.factor)} apart, and their ranges over {count(group.seeds, 'seed')} overlap)"


def _ahead(leads: Sequence[Lead], group: Group, comparison: Comparison, metric: Metric, words: Words) -> str:
    """ "is 3.1 times as fast as ext2 (2.8 to 3.4 over 4 request sizes) and ..." """
    told = []
    for place, lead in enumerate(leads):
        other = words.value(comparison.compare, lead.over)
        close = lead.factor < 1.095
        if metric.better == "lower":
            amount = f"{percent_more(lead.factor)} higher" if close else f"{factor(lead.factor)} times as high"
            text = f"{other}'s is {amount}" if place == 0 else f"{other}'s {amount}"
        elif metric.name in SPEEDS:
            text = f"{percent_more(lead.factor)} faster than" if close else f"{factor(lead.factor)} times as fast as"
            text += f" {other}"
        else:
            amount = f"{percent_more(lead.factor)} above" if close else f"{factor(lead.factor)} times"
            text = f"{amount} that of {other}"
        told.append(text + _range(lead, group, words))
    if metric.name in SPEEDS:
        return f"is {listing(told)}"
    return f"{_superlative(metric)}: {listing(told)}"


def _range(lead: Lead, group: Group, words: Words) -> str:
    """How far the factor moves over the settings, and where it turns round."""
    if len(group.settings) == 1:
        return ""
    over = _over(group.settings, words)
    lowest, highest = factor(lead.lowest), factor(lead.highest)
    text = f"at all {over}" if lowest == highest else f"{lowest} to {highest} over {over}"
    if lead.behind_at:
        named = [words.places(_telling(setting, group.settings)) for setting in lead.behind_at[:NAMED_SETTINGS]]
        if len(lead.behind_at) > NAMED_SETTINGS:
            named.append(f"{len(lead.behind_at) - NAMED_SETTINGS} more")
        text += f"; behind at {listing(named)}"
    return f" ({text})"


def _over(settings: Sequence[Setting], words: Words) -> str:
    """ "4 request sizes", or "8 combinations of request size and file size" """
    telling = [axis for axis, _ in _telling(settings[0], settings)]
    if len(telling) == 1:
        return f"{len(settings)} {words.axis_plural(telling[0])}"
    return f"{len(settings)} combinations of {listing([words.axis(axis) for axis in telling])}"


def _telling(setting: Setting, settings: Sequence[Setting]) -> Setting:
    """The part of a setting that tells it from the others."""
    return tuple(pair for place, pair in enumerate(setting) if len({other[place] for other in settings}) > 1)


def _omissions(comparison: Comparison, group: Group, words: Words) -> str:
    """What the finding does not cover."""
    text = ""
    if group.left_out:
        names = listing([words.value(comparison.compare, value) for value in group.left_out])
        text += f" Not compared: {names}, for want of results."
    if group.leads and group.gaps:
        named = [
            f"{words.value(comparison.compare, value)} has no result at {words.places(setting)}"
            for value, setting in group.gaps[:NAMED_SETTINGS]
        ]
        if len(group.gaps) > NAMED_SETTINGS:
            named.append(f"{len(group.gaps) - NAMED_SETTINGS} more are missing")
        text += f" This rests on {len(group.settings)} of {group.settings_planned} settings: {listing(named)}."
    return text


def _superlative(metric: Metric) -> str:
    if metric.name in SPEEDS:
        return "is fastest"
    lowest = "lowest" if metric.better == "lower" else "highest"
    return f"has the {lowest} {metric.title[0].lower()}{metric.title[1:]}"
