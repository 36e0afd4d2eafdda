# SPDX-License-Identifier: Apache-2.0
"""Whether the results bear out what a claim says, and the numbers that decide it.

A claim is read (claim_reading.py) into findings (findings.py), each with a verdict of its own; here they become that
of the claim. Knows no words for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from flashbed.analysis.claim_reading import comparisons, gaps
from flashbed.analysis.findings import Case, Finding, averages
from flashbed.analysis.model_error import ErrorLeft, SourceOf, left_over
from flashbed.analysis.results import Results
from flashbed.study.format import Claim, Printed
from flashbed.study.relation import FEW, Verdict


@dataclass(frozen=True)
class Judgement:
    """A claim with what became of it. `decisive` are the findings that made the verdict."""

    claim: Claim
    verdict: Verdict
    findings: Sequence[Finding]
    cases: Mapping[tuple[str, Case], Verdict]
    """By metric and case."""
    printed_verdict: Verdict | None
    reason: str = ""
    """Why there is nothing to judge by."""

    @property
    def decisive(self) -> list[Finding]:
        """The findings with the claim's verdict; if it holds, all."""
        return [finding for finding in self.findings if finding.verdict == self.verdict]

    @property
    def deciding(self) -> Finding | None:
        """The finding that says most: of a claim that holds the closest, of one that does not, or that the models leave
        open, the clearest against it; of one that is open else, the first that leaves it open.
        """
        found = self.decisive
        if not found or found[0].ratio is None or self.verdict == Verdict.UNDECIDED:
            return found[0] if found else None
        return min(found, key=lambda finding: finding.margin)

    @property
    def why(self) -> str:
        """The study's own words on why the claim came to this verdict; none if it came to another. If the models leave
        it open and the figures are against it, the words on that explain the figures all the same.
        """
        deciding = self.deciding
        if self.verdict == Verdict.WITHIN_ERROR and self.verdict not in self.claim.why and deciding:
            return self.claim.why.get(Verdict.REFUTED, "") if deciding.margin < 0 else ""
        return self.claim.why.get(self.verdict, "")

    @property
    def printed_against(self) -> Finding | None:
        """Where the paper's own figures are clearest against it."""
        found = [finding for finding in self.findings if finding.printed_verdict == Verdict.REFUTED]
        return min(found, key=lambda finding: finding.printed_margin) if found else None

    @property
    def invalid(self) -> list[Printed]:
        """The paper's figures that cannot be right."""
        return [printed for printed in self.claim.printed if printed.invalid]


def judge(claim: Claim, results: Results, source_of: SourceOf | None = None) -> Judgement:
    """Hold a claim, with its selections in full, against results that have its axes. `source_of` names the model whose
    error is in a cell's figure; without it the figures count as exact.
    """
    find = comparisons if claim.gap_along is None else gaps
    findings = [found for metric in claim.metric for found in find(claim, metric, results)]
    if claim.cells == "average":
        findings = list(averages(claim, findings))
    findings = [replace(one, error=_error(one, source_of)) for one in _without_constants(findings)]
    verdicts: dict[tuple[str, Case], list[Verdict]] = {}
    for finding in findings:
        verdicts.setdefault((finding.metric, finding.case), []).append(finding.verdict)
    cases = {place: every(found) for place, found in verdicts.items()}
    printed: dict[tuple[str, Case], list[Verdict]] = {}
    for finding in findings:
        if finding.printed_verdict is not None:
            printed.setdefault((finding.metric, finding.case), []).append(finding.printed_verdict)
    combine = {"most": most, "almost every": almost_every}.get(claim.cells, every)
    if not cases:
        return Judgement(claim, Verdict.UNKNOWN, [], {}, None, "none of its cells is among the results")
    return Judgement(
        claim,
        combine(cases.values()),
        findings,
        cases,
        combine([every(found) for found in printed.values()]) if printed else None,
    )


def undecidable(claim: Claim, reason: str) -> Judgement:
    """A claim for which there are no results at all."""
    return Judgement(claim, Verdict.UNKNOWN, [], {}, None, reason)


OPEN = (Verdict.WITHIN_ERROR, Verdict.UNDECIDED, Verdict.UNKNOWN)
"""What leaves a claim open, the first that is told first."""


def every(verdicts: Iterable[Verdict]) -> Verdict:
    """One that does not hold decides, whatever else is open."""
    found = set(verdicts)
    return next((verdict for verdict in (Verdict.REFUTED, *OPEN) if verdict in found), Verdict.HOLDS)


def most(verdicts: Iterable[Verdict]) -> Verdict:
    """More than half; what is open counts as neither."""
    found = list(verdicts)
    if found.count(Verdict.HOLDS) * 2 > len(found):
        return Verdict.HOLDS
    if found.count(Verdict.REFUTED) * 2 >= len(found):
        return Verdict.REFUTED
    return _open(found)


def almost_every(verdicts: Iterable[Verdict]) -> Verdict:
    """All but a few (relation.FEW); what is open counts as neither."""
    found = list(verdicts)
    few = FEW * len(found)
    if len(found) - found.count(Verdict.HOLDS) <= few:
        return Verdict.HOLDS
    if found.count(Verdict.REFUTED) > few:
        return Verdict.REFUTED
    return _open(found)


def _open(found: Sequence[Verdict]) -> Verdict:
    return next(verdict for verdict in OPEN if verdict in found)


def _error(finding: Finding, source_of: SourceOf | None) -> ErrorLeft | None:
    if source_of is None or finding.ratio is None:
        return None
    exponents = [
        (cell, sign * exponent)
        for side, sign in ((finding.left, 1.0), (finding.right, -1.0))
        for cell, exponent in side.exponents
    ]
    return left_over(exponents, finding.metric, source_of)


def _without_constants(findings: Sequence[Finding]) -> list[Finding]:
    """Without what is the same in the case of each."""
    columns = list(zip(*(finding.case for finding in findings), strict=True))
    telling = [place for place, column in enumerate(columns) if len(set(column)) > 1]
    return [replace(finding, case=tuple(finding.case[place] for place in telling)) for finding in findings]
