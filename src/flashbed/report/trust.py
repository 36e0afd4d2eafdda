# SPDX-License-Identifier: Apache-2.0
"""How far the cells that a claim compares can be trusted: how many were not steady, where memory kept the bytes, where
the CPU decided. The verdict stays what the figures say; this stands beside it. Must not know HTML.
"""

from __future__ import annotations

from dataclasses import dataclass

from flashbed.analysis import Judgement
from flashbed.analysis.decisive import MEMORY, is_of_the_load, phase_of
from flashbed.analysis.words import count, listing
from flashbed.report.model import Report
from flashbed.result.columns import Combination

HOLDING = ("CPU", "write cache")
"""What decides a figure, and leaves the order of what is compared as it is."""


@dataclass(frozen=True)
class Trust:
    """Of the cells that a claim compares, how many say little of what it is about; where it has several metrics, of
    the figures, one a cell and metric. `decides` is whether the comparison that decides rests on such a one.
    """

    cells: int
    memory: int = 0
    not_durable: int = 0
    commits_not_known: int = 0
    not_steady: int = 0
    too_short: int = 0
    not_settled: int = 0
    cpu: int = 0
    cached: int = 0
    decides: bool = False
    what: str = "cell"
    keeper: str = "memory"
    """What kept bytes from the medium: memory, or compression."""

    @property
    def short(self) -> str:
        """ "3 of 12 cells not steady, memory in 4 of 12" """
        told = [
            (self.not_durable, f"{self.not_durable} of {count(self.cells, self.what)} not durable"),
            (self.commits_not_known, f"commits not known in {self.commits_not_known} of {self.cells}"),
            (self.not_steady, f"{self.not_steady} of {count(self.cells, self.what)} not steady"),
            (self.too_short, f"{self.too_short} of {self.cells} too short"),
            (self.not_settled, f"{self.not_settled} of {self.cells} not settled"),
            (self.memory, f"{self.keeper} kept the bytes in {self.memory} of {self.cells}"),
            (self.cpu, f"the CPU decided in {self.cpu} of {self.cells}"),
            (self.cached, f"the drive's write cache took it in {self.cached} of {self.cells}"),
        ]
        return ", ".join(text for number, text in told if number)

    @property
    def sentence(self) -> str:
        """For a claim's remarks."""
        told = [
            (self.not_durable, f"commits of the load were lost in {self.not_durable}"),
            (self.commits_not_known, f"it is not known whether commits were carried out in {self.commits_not_known}"),
            (self.memory, f"{self.keeper} kept the bytes in {self.memory}"),
            (self.not_steady, f"the rate was not steady in {self.not_steady}"),
            (self.too_short, f"it was only the beginning of a longer one with another rate in {self.too_short}"),
            (self.not_settled, f"a longer run has another write amplification in {self.not_settled}"),
            (self.cpu, f"the CPU decided in {self.cpu}"),
            (self.cached, f"the drive's write cache took much of it in {self.cached}"),
        ]
        found = [text for number, text in told if number]
        if not found:
            return ""
        decides = f" The comparison that decides rests on such a {self.what}." if self.decides else ""
        return f"Of the {count(self.cells, self.what)} compared, {listing(found)}.{decides}"


def trust(report: Report, judgement: Judgement) -> Trust:
    """What the rules of the analysis (decisive.py) say of a claim's cells, by each of its metrics. Of other systems
    nothing is known.
    """
    if judgement.claim.is_about_systems:
        return Trust(0)
    told = {
        (cell, finding.metric): _kind(report, cell, finding.metric)
        for finding in judgement.findings
        for cell in finding.cells
    }
    kinds = list(told.values())
    deciding = judgement.deciding
    decides = deciding is not None and any(told[cell, deciding.metric] not in ("", *HOLDING) for cell in deciding.cells)
    return Trust(
        cells=len(told),
        memory=sum(kind in MEMORY for kind in kinds),
        not_durable=kinds.count("not durable"),
        commits_not_known=kinds.count("commits not known"),
        not_steady=kinds.count("not steady"),
        too_short=kinds.count("too short"),
        not_settled=kinds.count("not settled"),
        cpu=kinds.count("CPU"),
        cached=kinds.count("write cache"),
        decides=decides,
        what="cell" if len(judgement.claim.metric) == 1 else "figure",
        keeper=report.keeper(cell for (cell, _), kind in told.items() if kind in MEMORY),
    )


def _kind(report: Report, cell: Combination, metric: str) -> str:
    """Of what is no speed, such as bytes written, and of no phase, the cell as a whole tells of memory; of what is
    counted until all has reached the medium, nothing does.
    """
    doubt = report.doubts(metric).get(cell)
    if doubt:
        return doubt.kind
    whole = is_of_the_load(metric) and phase_of(report.results.metrics, metric) is None
    return "memory" if whole and report.results.limits.get(cell) == "memory" else ""
