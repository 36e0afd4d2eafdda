# SPDX-License-Identifier: Apache-2.0
"""What a report is made from, gathered once: the study, its results, the names, and the evidence.

Everything that draws or tabulates takes this and nothing else. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashbed.analysis import Combination, Comparison, Judgement, Results, Words, compare, judge, results_of
from flashbed.analysis.words import metric_of
from flashbed.report.names import names_of

if TYPE_CHECKING:
    from flashbed.study import Study

Consoles = Mapping[str, Sequence[str]]
"""By key, the last lines of the console."""

Artefacts = Mapping[str, Path]
"""By key, the folder with what a repetition left, for those whose requests are drawn."""


@dataclass(frozen=True)
class Report:
    """A study with its results."""

    study: Study
    results: Results
    words: Words
    manifest: Mapping[str, Any]
    consoles: Consoles = field(default_factory=dict)
    artefacts: Artefacts = field(default_factory=dict)

    @property
    def fixed(self) -> dict[str, str]:
        """All that the study does not vary."""
        return {**self.study.fixed, **self.study.workload}

    @property
    def compared_axis(self) -> str | None:
        return self.study.answer.compare if self.study.answer else None

    def comparison(self) -> Comparison | None:
        """The study's question answered, if it asks one."""
        answer = self.study.answer
        if answer is None:
            return None
        higher_is_better = metric_of(answer.metric).better != "lower"
        return compare(self.results, answer.compare, answer.by, answer.metric, higher_is_better)

    def judgements(self) -> list[Judgement]:
        """The study's claims, each held against the results that it is about."""
        return [judge(claim, self.results) for claim in self.study.claims]

    def cell_name(self, combination: Combination) -> str:
        """ "ext2, random write, request size 4k" """
        return self.words.places(self.results.coordinates(combination)) or "the only cell"


def report_of(
    study: Study,
    rows: Iterable[Mapping[str, Any]],
    manifest: Mapping[str, Any],
    consoles: Consoles | None = None,
    artefacts: Artefacts | None = None,
) -> Report:
    """The report's contents from rows of the results table; what was planned and is not among them is missing."""
    planned = [
        (tuple(coordinates[axis] for axis in study.axes), seed)
        for coordinates in study.combinations()
        for seed in study.seeds
    ]
    results = results_of(study.axes, rows, planned)
    words = Words(results.axes, names_of(study.library, results.axes))
    return Report(study, results, words, manifest, consoles or {}, artefacts or {})
