# SPDX-License-Identifier: Apache-2.0
"""Put the verdict on one group of a comparison into sentences, with its factors and what it does not cover.

Turns numbers into words: it computes no ratio, and must not know tables or HTML. lines.py says what several groups have
in common.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from flashbed.analysis.decisive import Doubt, DoubtKind, LostInCuts, ReachedShare, Transient, Waited
from flashbed.analysis.groups import Comparison, Group, Lead, Setting, narrowed
from flashbed.analysis.ratio import CLEAR_FACTOR, INTERVAL_SEEDS, apart, quotient
from flashbed.analysis.study_results import JointValue
from flashbed.analysis.words import (
    Words,
    as_condition,
    capitalized,
    count,
    factor,
    factors,
    figures,
    in_sentence,
    listing,
    metric_of,
    percent_more,
    percents,
    scale_of,
)
from flashbed.guest_output.assessment import Assessment
from flashbed.result.metrics import Metric

CLOSE_FACTOR = 1.095
"""A lead below this factor is small, and is given in percent."""

ON_THIS_BOARD = "The CPU decides there: it holds on this board, and another may turn it."

NO_SIZE = "the seeds do not tell how far"

NAMED_SETTINGS = 3
"""The most settings that a sentence names; of more, it says how many there are."""


def sentence(comparison: Comparison, group: Group, words: Words) -> str:
    """Return the verdict on one group in one or two sentences."""
    metric = metric_of(comparison.metric)
    verdict = _verdict_text(comparison, group, metric, words)
    if group.cpu_decides_best:
        verdict += f" {ON_THIS_BOARD}"
    verdict += _omissions(comparison, group, words)
    opening = words.places(group.at)
    if opening:
        return f"{as_condition(opening)}, {verdict}"
    # A verdict that is ahead of all others begins with the name of the best, which keeps its spelling
    begins_with_a_name = bool(group.leads) and len(group.leads_that_are("ahead")) == len(group.leads)
    return verdict if begins_with_a_name else capitalized(verdict)


def _verdict_text(comparison: Comparison, group: Group, metric: Metric, words: Words) -> str:
    """Return the verdict as the rest of a sentence that may begin with the place."""
    if group.best is None and group.not_durable and not group.in_doubt:
        return "nothing that was measured kept what the load committed."
    if group.in_doubt and not group.leads:
        return f"not decided: {_why_open(group)}."
    if group.best is None:
        return "no result has a figure for it." if comparison.is_unknown else "nothing was measured."
    best = words.named(comparison.compare, group.best)
    if not group.leads and group.not_durable:
        return f"only {best} kept what the load committed, so there is nothing to compare."
    if not group.leads:
        return f"only {best} was measured, so there is nothing to compare."

    clauses = []
    even, depends, ahead = (group.leads_that_are(verdict) for verdict in ("even", "depends", "ahead"))
    if even:
        names = [best, *(words.named(comparison.compare, lead.over) for lead in even)]
        clear = "" if group.is_zero else "clear "
        clauses.append(f"there is no {clear}difference between {listing(names)}{why_even(even, group)}")
    clauses += [dependence(lead, group, comparison, metric, words) for lead in depends]
    if ahead:
        clauses.append(_ahead(ahead, group, comparison, metric, words))
    return "; ".join(clauses) + "."


def why_even(leads: Sequence[Lead], group: Group) -> str:
    """Return how far apart those that count as even are, and what the seeds say of it, in parentheses."""
    if group.is_zero:
        return " (none at all)"
    furthest = max(apart(lead.factor) for lead in leads)
    if furthest < CLEAR_FACTOR:
        return " (less than 1 % apart)"
    low, high = min(lead.whole.low for lead in leads), max(lead.whole.high for lead in leads)
    seeds = min(lead.whole.n for lead in leads)
    interval = "the 95 % confidence interval of their ratio" if seeds >= INTERVAL_SEEDS else "their ratio"
    goes = f"{interval} goes from {factor(low)} to {factor(high)} over {count(seeds, 'seed')}"
    if furthest == math.inf:
        return f" ({goes}: some of their figures are 0)"
    return f" ({f'up to {percent_more(furthest)}' if len(leads) > 1 else percent_more(furthest)} apart, but {goes})"


def against(leads: Sequence[Lead], metric: Metric) -> tuple[str, str]:
    """Return the figures of the best and of the other value as texts, if one of them is 0 and the ratio is no number:
    "none at all" and "3".
    """
    pairs = [pair for lead in leads for pair in lead.zeros.values()]
    scale = scale_of(metric, (number for pair in pairs for number in pair))
    return figures([best for best, _ in pairs], scale), figures([over for _, over in pairs], scale)


def dependence(lead: Lead, group: Group, comparison: Comparison, metric: Metric, words: Words) -> str:
    """Return a clause: "which of f2fs and ext2 is faster depends on request size: f2fs at 64k (up to 1.2 times), ext2
    at 4k (...)".
    """
    best, other = (words.named(comparison.compare, value) for value in (group.best or (), lead.over))
    axes = listing([words.axis(axis) for axis in group.telling_axes])
    sides = [(best, lead.ahead_at, lead.highest), (other, lead.behind_at, quotient(1.0, lead.lowest))]
    parts = [
        f"{name} at {_settings(settings, group, words)} ({_furthest(lead, settings, furthest, metric)})"
        for name, settings, furthest in sides
        if settings
    ]
    return f"which of {best} and {other} {_comparative(metric)} depends on {axes}: {', '.join(parts)}"


def _furthest(lead: Lead, settings: Sequence[Setting], furthest: float, metric: Metric) -> str:
    """Return "up to 1.2 times", or the figures of both if one of them is 0."""
    if furthest < math.inf:
        return f"up to {factor(furthest)} times"
    pairs = [sorted(lead.zeros[setting]) for setting in settings if setting in lead.zeros]
    scale = scale_of(metric, (high for _, high in pairs))
    return f"{figures([low for low, _ in pairs], scale)}, against {figures([high for _, high in pairs], scale)}"


def _settings(settings: Sequence[Setting], group: Group, words: Words) -> str:
    """Return the settings by name, or how many they are if they are more than NAMED_SETTINGS."""
    if len(settings) > NAMED_SETTINGS:
        return f"{len(settings)} of {over(group, words)}"
    return listing([_setting(setting, group, words) for setting in settings])


def _setting(setting: Setting, group: Group, words: Words) -> str:
    """Return the part of a setting that distinguishes it from the others. Of a single axis, the value is enough."""
    telling = [pair for pair in setting if pair[0] in group.telling_axes]
    return words.value(*telling[0]) if len(telling) == 1 else words.places(telling)


def _ahead(leads: Sequence[Lead], group: Group, comparison: Comparison, metric: Metric, words: Words) -> str:
    """Return a clause: "f2fs is 3.1 times as fast as ext2 (2.8 to 3.4 over 4 request sizes) and ..."."""
    best = words.named(comparison.compare, group.best or ())
    clauses = []
    for place, lead in enumerate(leads):
        other = words.named(comparison.compare, lead.over)
        clauses.append(_how_far(lead, other, metric, place == 0) + _range(lead, group, words, place == 0))
    if is_speed(metric):
        return f"{best} is {listing(clauses)}"
    if len(leads) == len(group.leads):
        return f"{best} {superlative(metric)}: {listing(clauses)}"
    # Others are as good as the best, so there is no lowest or highest to name
    return f"against {best}, {listing(clauses)}" if metric.better == "lower" else f"{best}'s is {listing(clauses)}"


def _how_far(lead: Lead, other: str, metric: Metric, first: bool) -> str:
    """Return how far the best is ahead of `other`, worded for the metric. `first` is true of the first in a list."""
    if lead.is_endless:
        best_figures, other_figures = against([lead], metric)
        if is_speed(metric):
            return f"faster than {other} ({best_figures}, against {other_figures})"
        if metric.better == "lower":
            return f"{other}'s {'is ' if first else ''}{other_figures}, against {best_figures}"
        return f"{best_figures}, against {other_figures} of {other}"
    low, high = lead.ends
    close = high < CLOSE_FACTOR
    by, percent = factors(low, high), percents(low, high)
    times = f"{by} times"
    if is_speed(metric):
        return f"{percent} faster than {other}" if close else f"{times} as fast as {other}"
    if metric.better == "lower":
        return f"{other}'s {'is ' if first else ''}{f'{percent} higher' if close else f'{times} as high'}"
    return f"{percent} above that of {other}" if close else f"{times} that of {other}"


def _range(lead: Lead, group: Group, words: Words, first: bool) -> str:
    """Return the range of the factor over the settings, in parentheses. Only the `first` of a list names the axes."""
    if len(group.settings) == 1 or not lead.has_known_size:
        return "" if lead.has_known_size else f" ({NO_SIZE})"
    if lead.is_endless:
        if len(lead.zeros) < len(group.settings):
            return f" (at {len(lead.zeros)} of {over(group, words)})"
        return f" (at each of {over(group, words)})" if first else " (everywhere)"
    lowest, highest = factor(lead.lowest), factor(lead.highest)
    if lowest == highest:
        return f" (at each of {over(group, words)})" if first else " (everywhere)"
    return f" ({lowest} to {highest}{f' over {over(group, words)}' if first else ''})"


def over(group: Group, words: Words) -> str:
    """Return the settings as a number: "4 request sizes", or "8 combinations of request size and file size"."""
    axes = group.telling_axes
    if len(axes) == 1:
        return f"{len(group.settings)} {words.axis_plural(axes[0])}"
    return f"{len(group.settings)} combinations of {listing([words.axis(axis) for axis in axes])}"


def _omissions(comparison: Comparison, group: Group, words: Words) -> str:
    """Return sentences on what the verdict does not cover, each after a space; "" if it covers all."""

    def names(values: Sequence[JointValue]) -> str:
        return listing([words.named(comparison.compare, value) for value in values])

    text = ""
    for value, doubt in group.not_durable.items():
        text += f" NOT DURABLE, and not compared: {names([value])}, because {doubt_words(doubt)}."
    missing = [value for value in group.left_out if value not in (*group.in_doubt, *group.not_durable)]
    if group.in_doubt and group.leads:
        text += f" Not decided: {names(group.in_doubt)}, because {because(group, group.in_doubt)}."
    elif group.in_doubt and group.best:
        text += f" Only {names([group.best])} was measured without that."
    if missing and not comparison.is_unknown:
        text += f" Not compared: {names(missing)}, for want of results."
    if group.leads and group.is_partial:
        # Missing results are named one by one
        doubted = any(gap in group.doubts for gap in group.gaps)
        only = words.places(narrowed(group.settings, group.planned)) if doubted else ""
        part = f"{len(group.settings)} of {group.settings_planned} settings{f' ({only})' if only else ''}"
        text += f" This rests on {part}: {_elsewhere(comparison, group, words)}."
    return text


def _elsewhere(comparison: Comparison, group: Group, words: Words) -> str:
    """Return a clause on the settings that are not compared: what is missing, and what is in doubt."""
    absent = [gap for gap in group.gaps if gap not in group.doubts or not group.doubts[gap].bars]
    barred = [gap for gap in group.gaps if gap not in absent]
    doubted = [group.doubts[gap] for gap in barred]
    named = [
        f"{words.named(comparison.compare, value)} has no result at {words.places(setting)}"
        for value, setting in absent[:NAMED_SETTINGS]
    ]
    if len(absent) > NAMED_SETTINGS:
        named.append(f"{len(absent) - NAMED_SETTINGS} more are missing")
    if doubted:
        others = "others" if len({setting for _, setting in barred}) > 1 else "other"
        named.append(f"in the {others} {_clauses(doubted)}")
    return listing(named) or "elsewhere no seed has them all"


def _why_open(group: Group) -> str:
    """Return a clause that says why nothing is compared: "memory kept most of the bytes from the medium"."""
    reason = because(group, group.in_doubt)
    if group.standings or not group.settings:
        return reason
    return (
        f"only {len(group.settings)} of {group.settings_planned} settings decide, fewer than half; elsewhere {reason}"
    )


def because(group: Group, values: Sequence[JointValue]) -> str:
    """Return a clause that says why the figures of some values decide nothing."""
    barring = [doubt for (value, _), doubt in group.doubts.items() if doubt.bars and value in values]
    return _clauses(barring) if barring else "results are missing"


_CLAUSES: Mapping[DoubtKind, str] = {
    "memory": "memory kept much of the data from the medium",
    "memory or compression": "memory or compression kept much of the data from the medium",
    "not steady": "the rate was not steady",
    "not settled": "its write amplification was another one in its second half",
    "too short": "it is too short, the beginning of a longer one with another rate",
}
"""Doubts of a kind as one clause, without the numbers of each."""

_WITHOUT_FIGURES: Mapping[DoubtKind, str] = {
    "memory": "memory kept most of the bytes from the medium",
    "memory or compression": "memory or compression kept most of the bytes from the medium",
    "CPU": "the CPU decides",
    "write cache": "it went into the drive's write cache in part, faster than onto its platters",
    "below zero": "a difference came out below zero, and has no ratio",
}
"""The clauses of doubts whose kind says all."""

_ASSESSED: Mapping[DoubtKind, str] = {
    "not durable": "commits of the load were lost",
    "commits not known": "it is not known whether all commits were carried out",
    "not steady": "its rate was not steady",
    "not settled": "a longer run has another one",
}
"""The clauses of doubts that come from an assessment. Its reason follows in parentheses."""


def doubt_words(doubt: Doubt) -> str:
    """Return a doubt as a clause to follow "because", with its figures."""
    match doubt.facts:
        case ReachedShare(percent):
            return f"only {percent:.0f} % of the bytes passed between board and medium"
        case LostInCuts(lost, cuts):
            return f"{lost} of {cuts} power cuts lost data, or the file system"
        case Waited.FOR_THE_FLUSH:
            return "its writes ended in memory, and what it waited for was the flush at its end"
        case Transient(longer, times_off) if times_off is not None:
            off = f"{factor(times_off)} times off the steady one of the same over {longer}"
            return f"it is too short to tell its rate, {off}"
        case Transient(longer):
            return f"it is only the beginning of the same over {longer}, whose rate was not steady"
        case Assessment(_, reason):
            return f"{_ASSESSED[doubt.kind]} ({reason})" if reason else _ASSESSED[doubt.kind]
    return _WITHOUT_FIGURES[doubt.kind]


_BRIEF: Mapping[DoubtKind, str] = {"not steady": "no steady rate", "too short": "no steady rate"}
"""A kind of doubt in a few words, where its own name is no noun."""


def brief_reason(kind: DoubtKind) -> str:
    """Return a kind of doubt in a few words, for a list of reasons."""
    return _BRIEF.get(kind, kind)


def _clauses(doubts: Sequence[Doubt]) -> str:
    """Return a clause such as "memory kept most of the bytes from the medium, or the rate was not steady". A reason
    that occurs once is given in full; several of one kind are given without their numbers.
    """
    clauses = []
    for kind in dict.fromkeys(doubt.kind for doubt in doubts):
        texts = list(dict.fromkeys(doubt_words(doubt) for doubt in doubts if doubt.kind == kind))
        clauses.append(texts[0] if len(texts) == 1 else _CLAUSES.get(kind, texts[0]))
    return ", or ".join(clauses)


def closest(group: Group) -> Lead:
    """Return the lead over the next best value."""
    return min(group.leads, key=lambda lead: lead.factor)


def is_close(group: Group) -> bool:
    """True if the best is ahead of the next by less than 10 %, as far as the seeds tell."""
    return closest(group).ends[1] < CLOSE_FACTOR


def is_speed(metric: Metric) -> bool:
    """True if "faster" describes a better figure: for rates, and for the times of the same work."""
    return (metric.unit, metric.better) in (("MiB/s", "higher"), ("1/s", "higher"), ("s", "lower"))


def superlative(metric: Metric) -> str:
    """Return "is fastest" or, of what is no speed, "has the lowest latency"."""
    if is_speed(metric):
        return "is fastest"
    lowest = "lowest" if metric.better == "lower" else "highest"
    return f"has the {lowest} {in_sentence(metric.title)}"


def _comparative(metric: Metric) -> str:
    """Return "is faster" or, of what is no speed, "has the lower latency"."""
    if is_speed(metric):
        return "is faster"
    return f"has the {'lower' if metric.better == 'lower' else 'higher'} {in_sentence(metric.title)}"
