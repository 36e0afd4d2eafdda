# SPDX-License-Identifier: Apache-2.0
"""Judge a claim: whether the results bear it out, and which finding decides.

Each finding has a verdict of its own. The verdicts of a case become one, and those of the cases become the claim's. The
paper's own figures are held against the same bands. Must not know words for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from flashbed.analysis.claim_ratios import averages, comparisons, gaps
from flashbed.analysis.finding import Case, Finding
from flashbed.analysis.model_error import ErrorLeft, SourceOf, left_over
from flashbed.analysis.study_results import Results
from flashbed.study.format import Claim, Printed
from flashbed.study.relation import FEW, Verdict


@dataclass(frozen=True)
class Unjudged:
    """Why a claim has no comparison: none of its cells is among the results, or a system's results are missing."""

    not_imported: tuple[str, ...] = ()
    """The systems that the claim is about, and of which no results are imported."""


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict and the findings behind it."""

    claim: Claim
    verdict: Verdict
    findings: Sequence[Finding]
    cases: Mapping[tuple[str, Case], Verdict]
    """The verdicts by metric and case."""
    printed_verdict: Verdict | None
    """The verdict on the paper's figures; None if it has none."""
    unjudged: Unjudged | None = None
    """Why there is nothing to judge by; None if there is."""

    @property
    def decisive(self) -> list[Finding]:
        """Return the findings with the claim's verdict; if it holds, all findings that hold."""
        return [finding for finding in self.findings if finding.verdict == self.verdict]

    @property
    def deciding(self) -> Finding | None:
        """Return the finding that says most: the closest, if the claim holds; the clearest against it, if it does not
        or the models leave it open; else the first that leaves it open.
        """
        decisive = self.decisive
        if not decisive or decisive[0].ratio is None or self.verdict == Verdict.UNDECIDED:
            return decisive[0] if decisive else None
        return min(decisive, key=lambda finding: finding.margin)

    @property
    def why(self) -> str:
        """Return the study's own words on this verdict; "" if it has none. If the models leave the claim open and the
        figures are against it, the words on REFUTED explain the figures all the same.
        """
        deciding = self.deciding
        if self.verdict == Verdict.WITHIN_ERROR and self.verdict not in self.claim.why and deciding:
            return self.claim.why.get(Verdict.REFUTED, "") if deciding.margin < 0 else ""
        return self.claim.why.get(self.verdict, "")

    @property
    def printed_against(self) -> Finding | None:
        """Return the finding in which the paper's own figures are clearest against the claim; None if none are."""
        refuted = [finding for finding in self.findings if finding.printed_verdict == Verdict.REFUTED]
        return min(refuted, key=lambda finding: finding.printed_margin) if refuted else None

    @property
    def invalid(self) -> list[Printed]:
        """Return the paper's figures that cannot be right."""
        return [printed for printed in self.claim.printed if printed.invalid]


def judge(claim: Claim, results: Results, source_of: SourceOf | None = None) -> Judgement:
    """Hold a claim against results that have its axes. `source_of` names the model whose error is in a cell's figure;
    without it the figures count as exact.
    """
    find = comparisons if claim.gap_along is None else gaps
    findings = [finding for metric in claim.metric for finding in find(claim, metric, results)]
    if claim.cells == "average":
        findings = list(averages(claim, findings))
    findings = [replace(finding, error=_error(finding, source_of)) for finding in _without_constants(findings)]
    if not findings:
        return undecidable(claim, Unjudged())
    verdicts: dict[tuple[str, Case], list[Verdict]] = {}
    printed: dict[tuple[str, Case], list[Verdict]] = {}
    for finding in findings:
        place = finding.metric, finding.case
        verdicts.setdefault(place, []).append(finding.verdict)
        if finding.printed_verdict is not None:
            printed.setdefault(place, []).append(finding.printed_verdict)
    cases = {place: every(of_case) for place, of_case in verdicts.items()}
    combine = {"most": most, "almost every": almost_every}.get(claim.cells, every)
    return Judgement(
        claim,
        combine(cases.values()),
        findings,
        cases,
        combine([every(of_case) for of_case in printed.values()]) if printed else None,
    )


def undecidable(claim: Claim, why: Unjudged) -> Judgement:
    """Return the judgement of a claim for which there are no results at all."""
    return Judgement(claim, Verdict.UNKNOWN, [], {}, None, why)


OPEN = (Verdict.WITHIN_ERROR, Verdict.UNDECIDED, Verdict.UNKNOWN)
"""The verdicts that leave a claim open, the first to be named first."""


def every(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine verdicts of which all must hold: a single REFUTED decides, whatever else is open."""
    distinct = set(verdicts)
    return next((verdict for verdict in (Verdict.REFUTED, *OPEN) if verdict in distinct), Verdict.HOLDS)


def most(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine verdicts of which more than half must hold; an open one counts as neither."""
    all_ = list(verdicts)
    if all_.count(Verdict.HOLDS) * 2 > len(all_):
        return Verdict.HOLDS
    if all_.count(Verdict.REFUTED) * 2 >= len(all_):
        return Verdict.REFUTED
    return _first_open(all_)


def almost_every(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine verdicts of which all but a few (relation.FEW) must hold; an open one counts as neither."""
    all_ = list(verdicts)
    few = FEW * len(all_)
    if len(all_) - all_.count(Verdict.HOLDS) <= few:
        return Verdict.HOLDS
    if all_.count(Verdict.REFUTED) > few:
        return Verdict.REFUTED
    return _first_open(all_)


def _first_open(verdicts: Sequence[Verdict]) -> Verdict:
    return next(verdict for verdict in OPEN if verdict in verdicts)


def _error(finding: Finding, source_of: SourceOf | None) -> ErrorLeft | None:
    """Return what the models' errors leave open of a finding's ratio; None without a ratio or a `source_of`."""
    if source_of is None or finding.ratio is None:
        return None
    exponents = [
        (cell, sign * exponent)
        for side, sign in ((finding.left, 1.0), (finding.right, -1.0))
        for cell, exponent in side.exponents
    ]
    return left_over(exponents, finding.metric, source_of)


def _without_constants(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with cases that lack the axes in which all of them are the same."""
    columns = list(zip(*(finding.case for finding in findings), strict=True))
    telling = [place for place, column in enumerate(columns) if len(set(column)) > 1]
    return [replace(finding, case=tuple(finding.case[place] for place in telling)) for finding in findings]
