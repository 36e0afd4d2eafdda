# SPDX-License-Identifier: Apache-2.0
"""How finely a life of flash is known: it is counted in whole erases of the most worn block, so that one erase more or
less changes it, however many seeds agree. A lead that one erase on either side could make is none.

Knows the metrics of a life; must not know how it is shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from flashbed.analysis.groups import Comparison, Group, Lead
from flashbed.analysis.results import Combination, Results

COUNTED = ("lifetime_years", "tbw_bytes")
"""Metrics that are something over the erases of the most worn block."""


def steps(results: Results) -> dict[Combination, float]:
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
    found = steps(results) if comparison.metric in COUNTED else {}
    if not found:
        return comparison

    def step(group: Group, value: str) -> float:
        """The coarsest over the settings."""
        cells = ({**dict(group.at), **dict(setting), comparison.compare: value} for setting in group.settings)
        return max((found.get(tuple(cell[axis] for axis in results.axes), 0.0) for cell in cells), default=0.0)

    def told(group: Group) -> Group:
        of = {standing.value: step(group, standing.value) for standing in group.standings}
        return replace(group, leads=[_open(lead, of, group.best or "") for lead in group.leads])

    return replace(comparison, groups=[told(group) for group in comparison.groups])


def _open(lead: Lead, of: Mapping[str, float], best: str) -> Lead:
    """With a erases against b, the lead b / a may be (b - 1) / (a + 1): as 1 where it is (1 + 1 / a) / (1 - 1 / b)."""
    mine, its = of[best], of[lead.over]
    return replace(lead, counts_leave=(1 + mine) / (1 - its) if its < 1 else math.inf)
