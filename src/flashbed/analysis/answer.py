# SPDX-License-Identifier: Apache-2.0
"""The study's question answered in plain sentences, one for each group of a comparison and one for the whole.

Turns numbers into words and nothing else: it computes no ratio, and knows neither tables nor HTML.
"""

from __future__ import annotations

from collections.abc import Sequence

from flashbed.analysis.comparison import CLEAR_FACTOR, Comparison, Group, Lead, Setting
from flashbed.analysis.spread import INTERVAL_SEEDS
from flashbed.analysis.words import Words, count, factor, listing, metric_of, percent_more
from flashbed.metrics import Metric

SPEEDS = ("bandwidth", "iops")
"""Metrics of which people say "faster"."""

CLOSE_FACTOR = 1.095
"""Below it a lead reads better in percent."""

NAMED_SETTINGS = 3
NAMED_GROUPS = 3
"""So many are named in a sentence; of more, only how many there are."""


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
        parts.append(f"{name} {superlative} {_where(wins[value], comparison, words)}")
    if not parts:
        return f"No {words.axis(comparison.compare)} is clearly ahead."
    if open_groups:
        parts.append(f"no {words.axis(comparison.compare)} is clearly ahead {_where(open_groups, comparison, words)}")
    return "; ".join(parts) + "."


def _where(groups: Sequence[Group], comparison: Comparison, words: Words) -> str:
    """ "for read and write (flushed at the end)"; if there are many, how many."""
    if len(groups) > NAMED_GROUPS:
        return f"in {len(groups)} of {len(comparison.groups)} comparisons"
    names = []
    for group in groups:
        first, rest = words.places(group.at[:1]), words.places(group.at[1:])
        names.append(f"{first} ({rest})" if rest else first)
    return f"for {listing(names)}"


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

    clear = [lead for lead in group.leads if lead.clear]
    even = [best, *(words.value(comparison.compare, value) for value in group.ties)]
    told = []
    if len(even) > 1:
        told.append(f"there is no clear difference between {listing(even)}{_why_even(group)}")
    if clear:
        told.append(_ahead(clear, group, comparison, metric, words))
    return "; ".join(told) + "."


def _why_even(group: Group) -> str:
    lead = next(lead for lead in group.leads if not lead.clear)
    if lead.factor < CLEAR_FACTOR:
        return " (less than 1 % apart)"
    intervals = "confidence intervals" if group.seeds >= INTERVAL_SEEDS else "ranges"
    return f" ({percent_more(lead.factor)} apart, and their {intervals} over {count(group.seeds, 'seed')} overlap)"


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
    """How far the factor moves over the settings, and where it turns round; what they are is said once."""
    if len(group.settings) == 1:
        return ""
    lowest, highest = factor(lead.lowest), factor(lead.highest)
    over = _over(group.settings, words)
    if lowest == highest:
        text = f"at each of {over}" if first else "everywhere"
    else:
        text = f"{lowest} to {highest}{f' over {over}' if first else ''}"
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
