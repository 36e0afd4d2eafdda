# SPDX-License-Identifier: Apache-2.0
"""Whether the results bear out what a claim says, and the numbers that decide it.

A claim is read (claim_reading.py) into findings (claim_parts.py), each with a verdict of its own; here they become that
of the claim. Knows no words for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from flashbed.analysis.claim_averages import averages
from flashbed.analysis.claim_parts import Case, ClaimVerdict, Finding
from flashbed.analysis.claim_reading import comparisons, gaps
from flashbed.analysis.results import Results
from flashbed.study.format import Claim, Printed
from flashbed.study.relation import FEW


@dataclass(frozen=True)
class Judgement:
    """A claim with what became of it. `decisive` are the findings that made the verdict."""

    claim: Claim
    verdict: ClaimVerdict
    findings: Sequence[Finding]
    cases: Mapping[tuple[str, Case], ClaimVerdict]
    """By metric and case."""
    printed_verdict: ClaimVerdict | None
    reason: str = ""
    """Why there is nothing to judge by."""

    @property
    def decisive(self) -> list[Finding]:
        """The findings with the claim's verdict; if it holds, all."""
        return [finding for finding in self.findings if finding.verdict == self.verdict]

    @property
    def deciding(self) -> Finding | None:
        """The finding that says most: of a claim that holds the closest, of one that does not the clearest against it;
        of one that is open, the first that leaves it open.
        """
        found = self.decisive
        if not found or found[0].ratio is None or self.verdict not in ("holds", "does not hold"):
            return found[0] if found else None
        return min(found, key=lambda finding: finding.margin)

    @property
    def why(self) -> str:
        """The study's own words on why the claim came to this verdict; none if it came to another."""
        return self.claim.why.get(self.verdict, "")

    @property
    def printed_against(self) -> Finding | None:
        """Where the paper's own figures are clearest against it."""
        found = [finding for finding in self.findings if finding.printed_verdict == "does not hold"]
        return min(found, key=lambda finding: finding.printed_margin) if found else None

    @property
    def invalid(self) -> list[Printed]:
        """The paper's figures that cannot be right."""
        return [printed for printed in self.claim.printed if printed.invalid]


def judge(claim: Claim, results: Results) -> Judgement:
    """Holds a claim, with its selections in full, against results that have its axes."""
    find = comparisons if claim.gap_along is None else gaps
    findings = [found for metric in claim.metric for found in find(claim, metric, results)]
    if claim.cells == "average":
        findings = list(averages(claim, findings))
    findings = _without_constants(findings)
    verdicts: dict[tuple[str, Case], list[ClaimVerdict]] = {}
    for finding in findings:
        verdicts.setdefault((finding.metric, finding.case), []).append(finding.verdict)
    cases = {place: every(found) for place, found in verdicts.items()}
    printed: dict[tuple[str, Case], list[ClaimVerdict]] = {}
    for finding in findings:
        if finding.printed_verdict is not None:
            printed.setdefault((finding.metric, finding.case), []).append(finding.printed_verdict)
    combine = {"most": most, "almost every": almost_every}.get(claim.cells, every)
    if not cases:
        return Judgement(claim, "cannot be decided", [], {}, None, "none of its cells is among the results")
    return Judgement(
        claim,
        combine(cases.values()),
        findings,
        cases,
        combine([every(found) for found in printed.values()]) if printed else None,
    )


def undecidable(claim: Claim, reason: str) -> Judgement:
    """A claim for which there are no results at all."""
    return Judgement(claim, "cannot be decided", [], {}, None, reason)


def every(verdicts: Iterable[ClaimVerdict]) -> ClaimVerdict:
    """One that does not hold decides, whatever else is open."""
    found = set(verdicts)
    order: tuple[ClaimVerdict, ...] = ("does not hold", "undecided", "cannot be decided")
    return next((verdict for verdict in order if verdict in found), "holds")


def most(verdicts: Iterable[ClaimVerdict]) -> ClaimVerdict:
    """More than half; what is open counts as neither."""
    found = list(verdicts)
    if found.count("holds") * 2 > len(found):
        return "holds"
    if found.count("does not hold") * 2 >= len(found):
        return "does not hold"
    return "undecided" if "undecided" in found else "cannot be decided"


def almost_every(verdicts: Iterable[ClaimVerdict]) -> ClaimVerdict:
    """All but a few (relation.FEW); what is open counts as neither."""
    found = list(verdicts)
    few = FEW * len(found)
    if len(found) - found.count("holds") <= few:
        return "holds"
    if found.count("does not hold") > few:
        return "does not hold"
    return "undecided" if "undecided" in found else "cannot be decided"


def _without_constants(findings: Sequence[Finding]) -> list[Finding]:
    """Without what is the same in the case of each."""
    columns = list(zip(*(finding.case for finding in findings), strict=True))
    telling = [place for place, column in enumerate(columns) if len(set(column)) > 1]
    return [replace(finding, case=tuple(finding.case[place] for place in telling)) for finding in findings]
