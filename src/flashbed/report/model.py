# SPDX-License-Identifier: Apache-2.0
"""The content of a report, gathered once: the study, its results, the names, and the evidence.

All that draws or tabulates takes a Report and nothing else. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from flashbed.analysis import (
    Comparison,
    Doubt,
    Judgement,
    Results,
    Words,
    amount_axis,
    compare,
    doubts,
    judge,
    results_of,
    steadiness_unknown,
    undecidable,
    unsteady_cells,
    with_erase_counts,
)
from flashbed.analysis.answer import doubt_words
from flashbed.analysis.decisive import is_of_the_load, not_durable
from flashbed.analysis.judgement import Unjudged
from flashbed.analysis.model_error import SourceOf, sources
from flashbed.analysis.words import listing, metric_of
from flashbed.guest_output.durability import Durability
from flashbed.guest_output.steadiness import Steadiness
from flashbed.profiles.profile import has_queue
from flashbed.report.display_names import words_of
from flashbed.report.inputs import Consoles, Logs, Manifest, ReportInputs
from flashbed.result.columns import Combination, ResultRow
from flashbed.study.format import SYSTEM, Answer, Claim
from flashbed.workload import WORKLOADS

if TYPE_CHECKING:
    from flashbed.study.loading import Study

SCHEDULER = "scheduler"
"""The axis of I/O schedulers."""


@dataclass(frozen=True)
class Report:
    """A study with its results."""

    study: Study
    results: Results
    words: Words
    manifest: Manifest
    consoles: Consoles = field(default_factory=dict)
    logs: Logs = field(default_factory=dict)
    elsewhere: Results | None = None
    """What other systems measured, in real time: with one axis more, the system. Never mixed with `results`."""
    left_out: Sequence[str] = ()
    """Sentences on imported results that are not shown, and why."""

    @property
    def fixed(self) -> dict[str, str]:
        """Return all that the study does not vary."""
        return {**self.study.fixed, "tool": self.tool, **self.study.workload}

    @property
    def tool(self) -> str:
        """Return the name of the program that made the load; it may stand in for the study's tool."""
        return WORKLOADS[self.study.tool].title({"program": self.study.program})

    @property
    def compared_axis(self) -> str | None:
        """Return the axis that the answer compares; None without an answer, or if it compares several axes."""
        answer = self.study.answer
        return answer.compare[0] if answer and len(answer.compare) == 1 else None

    @cached_property
    def queueless(self) -> frozenset[Combination]:
        """Return the cells in which no scheduler can order anything; empty in a study that does not vary it."""
        if SCHEDULER not in self.results.axes:
            return frozenset()
        library, has = self.study.library, {}
        cells: dict[Combination, tuple[str, str]] = {}
        for combination in self.results.combinations():
            coordinates = {**self.study.fixed, **self.results.coordinates(combination)}
            pair = cells[combination] = coordinates["medium"], coordinates["translation"]
            if pair not in has:
                has[pair] = has_queue(library.medium(pair[0]), library.translation(pair[1]))
        return frozenset(cell for cell, pair in cells.items() if not has[pair])

    def polls(self, combination: Combination) -> bool:
        """True if the CPU is busy while the cell's medium is, as Cell.polls."""
        coordinates = {**self.study.fixed, **self.results.coordinates(combination)}
        library = self.study.library
        return (
            library.medium(coordinates["medium"]).provides == "mtd"
            and library.board(coordinates["board"]).nand_wait == "poll"
        )

    @cached_property
    def not_durable(self) -> dict[Combination, Durability]:
        """Return the cells that lost commits of the load, with what was counted."""
        return not_durable(self.results)

    @cached_property
    def unsteady(self) -> dict[Combination, Steadiness]:
        """Return the cells whose rate was not steady, with the reason."""
        return unsteady_cells(self.results)

    @cached_property
    def unknown(self) -> dict[Combination, str]:
        """Return the cells of which it is not known whether their rate was steady, with the reason."""
        return steadiness_unknown(self.results)

    @property
    def asked_metrics(self) -> list[str]:
        """Return asked_metrics() of the study."""
        return asked_metrics(self.study)

    @property
    def asks_of_loads(self) -> bool:
        """True if memory, limits and steadiness matter. They do not if all metrics that the study asks for are counted
        until everything has reached the medium.
        """
        return not self.asked_metrics or any(map(is_of_the_load, self.asked_metrics))

    @cached_property
    def _doubts(self) -> dict[str, Mapping[Combination, Doubt]]:
        return {}

    def doubts(self, metric: str) -> Mapping[Combination, Doubt]:
        """Return why a metric decides nothing, by cell of the study."""
        if metric not in self._doubts:
            apart = {axis for answer in self.questions for axis in (*answer.compare, *answer.by)}
            self._doubts[metric] = doubts(self.results, metric, self._amount(self.results, apart))
        return self._doubts[metric]

    @property
    def too_short(self) -> dict[Combination, str]:
        """Return the cells that are only the beginning of a longer one, with the reason; by the first metric of the
        questions.
        """
        metric = next((name for answer in self.questions for name in answer.metric), None)
        doubts_ = self.doubts(metric) if metric else {}
        return {cell: doubt_words(doubt) for cell, doubt in doubts_.items() if doubt.kind == "too short"}

    @property
    def questions(self) -> list[Answer]:
        """Return the study's answer and its choices, in the order of the study."""
        return [*([self.study.answer] if self.study.answer else []), *self.study.choices]

    def _amount(self, results: Results, apart: Collection[str]) -> str | None:
        """Return the axis of how much is done; None for a user's job, because nothing tells what its variables mean."""
        if self.study.has_own_load or "io_size" in self.study.workload:
            return None
        return amount_axis(results, apart)

    @cached_property
    def _asked(self) -> dict[str, Results]:
        return {}

    @cached_property
    def _comparisons(self) -> dict[str, list[Comparison]]:
        return {}

    def asked(self, answer: Answer) -> Results:
        """Return the results that a question is about."""
        if (key := answer.model_dump_json()) not in self._asked:
            self._asked[key] = self.results.only(answer.where, {*answer.compare, *answer.by})
        return self._asked[key]

    def comparisons(self, answer: Answer) -> list[Comparison]:
        """Answer a question: return a comparison for each of its metrics. Page, exports and terminal share them."""
        if (key := answer.model_dump_json()) not in self._comparisons:
            self._comparisons[key] = self._compared(answer)
        return self._comparisons[key]

    def _compared(self, answer: Answer) -> list[Comparison]:
        results = self.asked(answer)
        amount = self._amount(results, (*answer.compare, *answer.by))
        return [
            with_erase_counts(
                compare(
                    results,
                    answer.compare,
                    answer.by,
                    metric,
                    metric_of(metric).better != "lower",
                    doubts(results, metric, amount),
                    in_time=answer.average == "time",
                ),
                results,
            )
            for metric in answer.metric
        ]

    def judgements(self) -> list[Judgement]:
        """Hold each of the study's claims against the results that it is about."""
        return [self._judged(claim) for claim in self.study.claims]

    def _judged(self, claim: Claim) -> Judgement:
        """Hold a claim against the results, or against those of other systems if it is about systems."""
        if not claim.is_about_systems:
            return judge(claim, self.results, self._source_of)
        named = [selection.get(SYSTEM, ()) for selection in (claim.where, *claim.compare)]
        wanted = dict.fromkeys(name for names in named for name in names) or self.study.systems
        present = self.elsewhere.axes[SYSTEM] if self.elsewhere else ()
        missing = [name for name in wanted if name not in present]
        if missing or self.elsewhere is None:
            return undecidable(claim, Unjudged(tuple(missing)))
        return judge(claim, self.elsewhere)

    @cached_property
    def _source_of(self) -> SourceOf:
        return sources(self.results, self.fixed)

    def prepares(self, combination: Combination) -> bool:
        """True if the load of a cell lays files out before the file system is mounted for the measurement."""
        parameters = {**self.study.workload, **self.results.coordinates(combination)}
        if self.study.job is not None:
            parameters["job"] = self.study.job.get(parameters.get("job", ""), next(iter(self.study.job.values())))
        return WORKLOADS[self.study.tool].prepares(parameters)

    def keeper(self, cells: Iterable[Combination]) -> str:
        """Return what kept bytes of these cells from the medium: "memory", or "memory or compression" if a file system
        compresses.
        """
        compressing = {repetition.combination for repetition in self.results.repetitions if repetition.compresses}
        return "memory" if compressing.isdisjoint(cells) else "memory or compression"

    def cell_name(self, combination: Combination) -> str:
        """Return the name of a cell: "ext2, random write, request size 4k"."""
        return self.words.cell(self.results.coordinates(combination))


def asked_metrics(study: Study) -> list[str]:
    """Return what a study is about: the metrics of its answers first, then of its figures, tables and claims."""
    questions = [*([study.answer] if study.answer else []), *study.choices]
    metrics = [metric for question in questions for metric in question.metric]
    metrics += [figure.y for figure in study.figures]
    metrics += [metric for table in study.tables for metric in table.metric]
    metrics += [metric for claim in study.claims for metric in claim.metric]
    return list(dict.fromkeys(metrics))


def report_of(inputs: ReportInputs) -> Report:
    """Return the report's contents. A repetition that the study plans and that has no row is missing."""
    study = inputs.study
    planned = [
        (tuple(coordinates[axis] for axis in study.axes), seed)
        for coordinates in study.combinations()
        for seed in study.seeds
    ]
    results = results_of(study.axes, inputs.rows, planned)
    words = words_of(study.library, results.axes, study.labels, list(results.combinations()))
    elsewhere = _elsewhere(study, inputs.elsewhere, planned) if inputs.elsewhere else None
    return Report(study, results, words, inputs.manifest, inputs.consoles, inputs.logs, elsewhere, inputs.left_out)


def _elsewhere(study: Study, rows: Sequence[ResultRow], planned: Sequence[tuple[Combination, int]]) -> Results:
    """Return results with the system as the first axis; a repetition that a system has not run is missing there."""
    systems = list(dict.fromkeys(row.combination[0] for row in rows))
    everything = [((system, *combination), seed) for system in systems for combination, seed in planned]
    return results_of({SYSTEM: systems, **study.axes}, rows, everything)


NAMED_BY = ("medium", "filesystem")
"""The axes that name the cells in a sentence."""


def no_scheduler(report: Report, cells: Iterable[Combination]) -> str:
    """Return a sentence if some of these cells differ in a scheduler that none of them has; else ""."""
    shown = [cell for cell in cells if cell in report.queueless]
    if not shown:
        return ""
    axes = list(report.results.axes)
    if len({cell[axes.index(SCHEDULER)] for cell in shown}) < 2:
        return ""
    names = [
        listing(list(dict.fromkeys(report.words.value(axis, cell[axes.index(axis)]) for cell in shown)))
        for axis in NAMED_BY
        if axis in axes
    ]
    where = f" ({', '.join(names)})" if names else ""
    return (
        f"On a raw chip{where} there is no I/O scheduler, because nothing passes the block layer. The lab leaves it "
        "out there, so that cells which differ in the scheduler alone are the same guest: their results are equal by "
        "construction, and say nothing of schedulers."
    )
