# SPDX-License-Identifier: Apache-2.0
"""A claim on the average of its cases: one finding for each comparison that it makes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from flashbed.analysis.claim_parts import NO_SEED, Finding, Side
from flashbed.analysis.ratio import geometric_mean, mean_by_seed, quotient, ratio
from flashbed.study.format import Claim


def averages(claim: Claim, findings: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for each comparison that the claim makes, over the cases or over those that differ in `over` alone.

    It is of the geometric mean of the ratios or, as many papers have it, of the ratio of the mean times: there a long
    file counts for more. Cases differ in what is not compared; so the same comparison is that of the same two sides.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        case = tuple(pair for pair in finding.case if claim.over and pair[0] not in claim.over)
        key = (finding.metric, finding.relation, finding.band, finding.left.told, finding.right.told, case)
        groups.setdefault(key, []).append(replace(finding, case=case))
    in_time = claim.average == "time"
    for group in groups.values():
        first = group[0]
        missing = [finding for finding in group if finding.ratio is None]
        left, right = first.left, first.right
        single = None if missing else ratio([(finding.left.numbers, finding.right.numbers) for finding in group])
        found = single
        if len(group) > 1:
            sides = [[getattr(one, name) for one in group] for name in ("left", "right")]
            left, right = (_all_cells(each_, in_time and not missing) for each_ in sides)
            if in_time and not missing:
                found = ratio([(left.numbers, right.numbers)])
        reason = missing[0].reason if missing else "" if found else NO_SEED
        beside = single if in_time and len(group) > 1 else None
        printed = _mean_printed(group, in_time)
        yield replace(first, left=left, right=right, ratio=found, reason=reason, printed_ratio=printed, beside=beside)


def _mean_printed(group: Sequence[Finding], in_time: bool) -> float | None:
    """The paper's figures averaged likewise; None if one of them is missing or invalid."""
    ratios = [finding.printed_ratio for finding in group if finding.printed_ratio is not None]
    if len(ratios) < len(group):
        return None
    if not in_time:
        return geometric_mean(ratios)
    pairs = [(one.left.printed, one.right.printed) for one in group]
    return quotient(fmean(a.value for a, _ in pairs if a), fmean(b.value for _, b in pairs if b))


def _all_cells(sides: Sequence[Side], in_time: bool) -> Side:
    """Of an average of ratios no single cell's numbers are shown, of one of times the means; the paper's figure is, if
    it is one for all.
    """
    same = all(side.printed == sides[0].printed for side in sides)
    means = mean_by_seed([side.numbers for side in sides]) if in_time else {}
    of = tuple(zip(sides, _shares(sides, in_time), strict=True))
    return Side(None, sides[0].told, means, sides[0].printed if same else None, of)


def _shares(sides: Sequence[Side], in_time: bool) -> Sequence[float]:
    """By how much the mean grows with each side, as an exponent: in a geometric mean all alike, in one of times each by
    its part of their sum.
    """
    times = [side.spread.median for side in sides if side.spread] if in_time else []
    whole = math.fsum(times)
    return [time / whole for time in times] if whole else [1 / len(sides)] * len(sides)
