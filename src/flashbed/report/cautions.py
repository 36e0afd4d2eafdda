# SPDX-License-Identifier: Apache-2.0
"""What a reader must know before believing the answer, each with the place where it is shown.

Must not know how a page looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from flashbed.analysis import Flow
from flashbed.analysis.decisive import AMPLIFICATION
from flashbed.analysis.words import count, in_sentence, listing, metric_of
from flashbed.execution.coverage import CHANGED_LINES
from flashbed.guest_output.durability import COMMITS_NOT_KNOWN
from flashbed.report import conditions, evidence, lifetimes, limits
from flashbed.report.model import Report
from flashbed.study.questions import AFTER_CUT

MOUNTS = ("mount_s", "mount_memory_bytes")
"""Metrics of a mount, which what is on the medium decides."""

CPU_SHARES = ("cpu_percent", "process_cpu_percent", "busiest_cpu_percent")

Caution = dict[str, str]
"""`text`, the name of a place on the page (`link`) and what the link says, "" where there is none."""


def found(report: Report, flows: Sequence[Flow]) -> list[Caution]:
    """In the order in which they stand on the page."""
    return [
        *_not_durable(report),
        *_lost(report),
        *_changed(report),
        *_limited(report, flows),
        *_empty(report),
        *_shares(report),
        *_uncut(report),
        *_started(report),
        *_unsteady(report, flows),
        *_unsettled(report),
        *_damaged(report),
    ]


def _caution(text: str, link: str = "", link_text: str = "") -> Caution:
    return {"text": text, "link": link, "link_text": link_text}


def _not_durable(report: Report) -> Iterator[Caution]:
    """Stacks that lost what the load committed, or may have."""
    if report.not_durable:
        cell, why = evidence.not_durable(report)[0]
        them = "it is" if len(report.not_durable) == 1 else "they are"
        text = (
            f"NOT DURABLE in {count(len(report.not_durable), 'cell')}: the load asked that its writes survive a power "
            f"cut, and the storage stack returned before they would. Their figures are those of less work, and "
            f"{them} never called best ({cell}: {why})."
        )
        yield _caution(text, "#durable", "Which")
    rows = [row for row in report.results.repetitions if row.is_measured and row.durable.state == COMMITS_NOT_KNOWN]
    if open_ := list(dict.fromkeys(row.combination for row in rows)):
        yield _caution(
            f"Whether commits were carried out is not known in {count(len(open_), 'cell')}: the job of fio flushes the "
            f"file that is next in turn, which may have no new data, and fewer flushes came than were asked for. They "
            f"are not compared; a job of one file decides it ({report.cell_name(open_[0])})."
        )


def _lost(report: Report) -> Iterator[Caution]:
    """Repetitions without a result."""
    outcomes = report.results.outcomes()
    lost = {ending: number for ending, number in outcomes.items() if ending != "measured" and number}
    if lost:
        endings = listing([f"{number} {ending}" for ending, number in lost.items()])
        text = f"{sum(lost.values())} of {count(sum(outcomes.values()), 'repetition')} gave no result: {endings}."
        yield _caution(text, "#losses", "Which, and why")


def _changed(report: Report) -> Iterator[Caution]:
    """Whether the lines ran in which a kernel of the user's differs from another."""
    for sentence in report.manifest.get(CHANGED_LINES, ()):
        yield _caution(f"Kernel {sentence}", "#manifest", "Which kernels")


def _limited(report: Report, flows: Sequence[Flow]) -> Iterator[Caution]:
    """Cells that memory or another part than the medium made."""
    swallowed = evidence.swallowed(flows) if report.asks_of_loads else []
    if swallowed:
        worst = min(swallowed, key=lambda flow: flow.reached)
        keeper = report.keeper(flow.combination for flow in swallowed)
        text = (
            f"In {count(len(swallowed), 'cell')}, less than half of the bytes asked for reached the medium: they "
            f"measure {keeper} more than the medium (at worst {worst.percent} reached, "
            f"{report.cell_name(worst.combination)}).{_waiting(report)}"
        )
        yield _caution(text, "#bytes", "Bytes at the medium")
    limited = limits.remark(
        report, report.results.combinations(), report.asked_metrics, said=("memory",) if swallowed else ()
    )
    if limited:
        where = "#bytes" if flows else "#repetitions"
        yield _caution(" ".join(filter(None, (limited, limits.spared(report)))), where, "What limits each cell")


def _waiting(report: Report) -> str:
    """What makes a load of fio wait for its writes, where it does not."""
    study = report.study
    waits = "flush" in study.axes or study.workload.get("flush", "none") != "none"
    if study.tool != "fio" or study.job is not None or waits:
        return ""
    return ' With flush = "fsync" the run waits for its writes.'


def _empty(report: Report) -> Iterator[Caution]:
    """Mounts of file systems that hold nothing, where a study asks how long a mount takes."""
    asked = [name for name in MOUNTS if name in report.asked_metrics]
    if not asked:
        return
    cells = list(report.results.combinations())
    empty = [cell for cell in cells if not report.prepares(cell)]
    if empty:
        few = "" if len(empty) == len(cells) else f" in {len(empty)} of {count(len(cells), 'cell')}"
        names = listing([in_sentence(metric_of(name).title) for name in asked])
        text = (
            f"What is mounted holds next to nothing{few}, as the load makes its files later: {names} would be another "
            "with files. A load that reads or overwrites lays them out before (allocate = false; [prepare] in a job)."
        )
        yield _caution(text)


def _shares(report: Report) -> Iterator[Caution]:
    """CPU load as a question."""
    asked = [name for answer in report.questions for name in answer.metric if name in CPU_SHARES]
    if asked:
        yield _caution(
            "CPU load is a share of the run: of two that do the same work with the same CPU time, the slower one has "
            "the lower load. Read it beside the speed."
        )


def _uncut(report: Report) -> Iterator[Caution]:
    """Cells of a study that cuts the power which kept theirs."""
    cells = {row.combination for row in report.results.repetitions if row.is_measured and AFTER_CUT not in row.metrics}
    if report.study.power_cut and cells:
        media = dict.fromkeys(report.results.coordinates(cell).get("medium", "") for cell in sorted(cells))
        names = listing([report.words.value("medium", name) for name in media])
        yield _caution(
            f"No power was cut in {count(len(cells), 'cell')}, on {names}: power_cut is for raw chips. A block medium "
            "that lost power is made by flashbed medium cut, and a study starts from it (docs/profiles.md)."
        )


def _started(report: Report) -> Iterator[Caution]:
    """How finely a life is known, and what the file systems stood on."""
    for sentence in filter(None, (lifetimes.resolution(report), lifetimes.not_known(report))):
        yield _caution(sentence, "#lives" if lifetimes.table(report) else "", "Each life")
    if new := conditions.new(report):
        yield _caution(new, "#conditions", "What the file systems stood on")


def _unsteady(report: Report, flows: Sequence[Flow]) -> Iterator[Caution]:
    """Rates that were not steady, that a longer run has otherwise, or of which nothing is known."""
    which = ("#bytes", "Which") if flows else ("", "")
    if report.unsteady and report.asks_of_loads:
        cell, verdict = next(iter(report.unsteady.items()))
        them, such = ("it", "") if len(report.unsteady) == 1 else ("them", "such as ")
        text = (
            f"In {count(len(report.unsteady), 'cell')} the rate was not steady while it was measured, and the answer "
            f"does not rest on {them} ({such}{report.cell_name(cell)}: {verdict.reason})."
        )
        yield _caution(text, *which)
    if report.too_short:
        cell, why = next(iter(report.too_short.items()))
        them = "it" if len(report.too_short) == 1 else "them"
        text = (
            f"{count(len(report.too_short), 'cell is', 'cells are')} too short: a longer one with the same settings "
            f"was not steady, or has another rate, and the answer does not rest on {them} "
            f"({report.cell_name(cell)}: {why})."
        )
        yield _caution(text)
    unknown = Counter(report.unknown.values() if report.asks_of_loads else ())
    if unknown:
        several = len(unknown) > 1
        reasons = [
            reason + (f" ({count(number, 'cell')})" if several else "") for reason, number in unknown.most_common()
        ]
        text = (
            f"Whether the rate was steady is not known in {count(len(report.unknown), 'cell')}: {'; '.join(reasons)}."
        )
        yield _caution(text, *which)


def _unsettled(report: Report) -> Iterator[Caution]:
    """Write amplification, where a study asks for it and nothing tells whether a longer run has the same."""
    asked = [name for answer in report.questions for name in answer.metric if name in AMPLIFICATION]
    rows = [row for row in report.results.repetitions if row.is_measured and set(asked).intersection(row.metrics)]
    cells = {row.combination for row in rows} - {row.combination for row in rows if row.settled}
    if cells:
        yield _caution(
            f"Whether a longer run has the same write amplification is not known in {count(len(cells), 'cell')}: the "
            "flash was programmed in too few steps, or nothing noted them. Measure longer."
        )


def _damaged(report: Report) -> Iterator[Caution]:
    """What checkers said; and a single seed."""
    damaged = [summary.filesystem for summary in evidence.check_summaries(report) if summary.damaged]
    if damaged:
        text = f"The checker found damage in images that {listing(damaged)} left behind."
        yield _caution(text, "#checks", "What it said")
    if len(report.study.seeds) == 1:
        yield _caution("Each cell was run with one seed, so nothing tells how far chance would move these numbers.")
