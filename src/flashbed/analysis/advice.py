# SPDX-License-Identifier: Apache-2.0
"""What to choose, group by group of a comparison: the value to take, how clear that is, and where nothing says so.

Turns a comparison into words for someone who has to decide, and judges nothing anew. Must not know tables or HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashbed.analysis.answer import CLOSE_FACTOR, dependence, over, why_even
from flashbed.analysis.comparison import Comparison, Group, Lead
from flashbed.analysis.spread import INTERVAL_SEEDS
from flashbed.analysis.words import Words, count, factor, listing, metric_of, percent_more

NAMED_LOSERS = 3
"""So many of those that are behind are told with their factor; the winners table has the others."""


@dataclass(frozen=True)
class Advice:
    """`choice` in a few words, and the reason in whole sentences. `clear` if one value is to be taken."""

    place: str
    choice: str
    reason: str
    clear: bool = False


def advice(comparison: Comparison, group: Group, words: Words) -> Advice:
    """What a group says to someone who must choose."""
    place = words.places(group.at)
    more = _rests_on(comparison, group, words)

    def said(choice: str, *reasons: str, clear: bool = False) -> Advice:
        return Advice(place, choice, " ".join(filter(None, [*reasons, more])), clear)

    if group.best is None:
        return said("not known yet", "Nothing was measured.")
    best = words.value(comparison.compare, group.best)
    if not group.leads:
        return said("not known yet", f"Only {best} was measured, so there is nothing to compare.")
    ahead, even, depends = (group.leads_that_are(verdict) for verdict in ("ahead", "even", "depends"))
    behind = _behind(ahead, group, comparison, words)
    of_best = f"{best} is better{behind.removeprefix('Better')}" if behind else ""
    if depends:
        metric = metric_of(comparison.metric)
        told = "; ".join(dependence(lead, group, comparison, metric, words) for lead in depends)
        return said("it depends", f"{told[0].upper()}{told[1:]}.", of_best)
    if even:
        names = [best, *(words.value(comparison.compare, lead.over) for lead in even)]
        told = f"No clear difference between {listing(names)}{why_even(even, group)}."
        return said(listing(names, "or"), told, of_best)
    return said(best, behind, clear=True)


def _rests_on(comparison: Comparison, group: Group, words: Words) -> str:
    """What is not covered, in short; the answer names it."""
    told = []
    if group.left_out:
        names = listing([words.value(comparison.compare, value) for value in group.left_out])
        told.append(f"Not known of {names}.")
    if group.leads and len(group.settings) < group.settings_planned:
        told.append(f"From {len(group.settings)} of {group.settings_planned} settings; the others lack results.")
    return " ".join(told)


def _behind(leads: Sequence[Lead], group: Group, comparison: Comparison, words: Words) -> str:
    """ "Better than ext2 by a factor of 3.1 (2.8 to 3.4 over 4 request sizes; 95 % confidence 3.0 to 3.2, 9 seeds)" """
    if not leads:
        return ""
    told = [f"{words.value(comparison.compare, lead.over)} {_by(lead, group, words)}" for lead in leads[:NAMED_LOSERS]]
    if len(leads) > NAMED_LOSERS:
        told.append(f"{len(leads) - NAMED_LOSERS} more by more than that")
    return f"Better than {listing(told)}."


def _by(lead: Lead, group: Group, words: Words) -> str:
    by = percent_more(lead.factor) if lead.factor < CLOSE_FACTOR else f"a factor of {factor(lead.factor)}"
    notes = []
    lowest, highest = factor(lead.lowest), factor(lead.highest)
    if len(group.settings) > 1 and lowest != highest:
        notes.append(f"{lowest} to {highest} over {over(group, words)}")
    if lead.whole.n == 1:
        notes.append("one seed, so no interval")
    else:
        kind = "95 % confidence" if lead.whole.n >= INTERVAL_SEEDS else "from"
        low, high = _apart(lead.whole.low, lead.whole.high)
        notes.append(f"{kind} {low} to {high}, {count(lead.whole.n, 'seed')}")
    return f"by {by} ({'; '.join(notes)})"


def _apart(low: float, high: float) -> tuple[str, str]:
    """Both ends in as many digits as tell them apart, if any do."""
    if factor(low) != factor(high) or low == high:
        return factor(low), factor(high)
    for digits in range(4, 8):
        ends = f"{low:.{digits}g}", f"{high:.{digits}g}"
        if ends[0] != ends[1]:
            return ends
    return factor(low), factor(high)
