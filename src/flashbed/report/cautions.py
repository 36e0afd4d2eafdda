# SPDX-License-Identifier: Apache-2.0
"""Warn the reader of what the answer does not cover, each caution with the place on the page that has the details.

Must not know how a page looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flashbed.analysis import Flow
from flashbed.analysis.decisive import AMPLIFICATION, losses_in_cuts
from flashbed.analysis.words import count, in_sentence, listing, metric_of
from flashbed.guest_output.assessment import State, Status
from flashbed.guest_output.power_cuts import ALL
from flashbed.report import conditions, evidence, lifetimes, limits
from flashbed.report.model import Report
from flashbed.study.questions import AFTER_CUT

MOUNTS = ("mount_s", "mount_memory_bytes")
"""Metrics of a mount, which depend on the content of the medium."""

CPU_SHARES = ("cpu_percent", "process_cpu_percent", "busiest_cpu_percent")


@dataclass(frozen=True)
class Caution:
    """A caution for the reader, with a link to the place on the page that has the details."""

    text: str
    link: str = ""
    """The place; "" if there is none."""
    link_text: str = ""


def cautions(report: Report, flows: Sequence[Flow]) -> list[Caution]:
    """Return the cautions in the order of the page."""
    return [
        *_not_durable(report),
        *_lost_in_cuts(report),
        *_commits_not_known(report),
        *_losses(report),
        *_changed_lines(report),
        *_swallowed_and_limited(report, flows),
        *_empty_mounts(report),
        *_cpu_shares(report),
        *_no_power_cut(report),
        *_lifetimes(report),
        *_new_devices(report),
        *_not_steady(report, flows),
        *_too_short(report),
        *_steadiness_not_known(report, flows),
        *_not_settled(report),
        *_damaged(report),
        *_one_seed(report),
    ]


def _not_durable(report: Report) -> Iterator[Caution]:
    """Warn of stacks that lost what the load committed."""
    if report.not_durable:
        cell, reason = evidence.not_durable(report)[0]
        they_are = "it is" if len(report.not_durable) == 1 else "they are"
        text = (
            f"NOT DURABLE in {count(len(report.not_durable), 'cell')}: the load asked that its writes survive a power "
            f"cut, and the storage stack returned before they would. Their figures are those of less work, and "
            f"{they_are} never called best ({cell}: {reason})."
        )
        yield Caution(text, "#durable", "Which")


def _lost_in_cuts(report: Report) -> Iterator[Caution]:
    """Warn of stacks that lost data in power cuts."""
    if lost := losses_in_cuts(report.results):
        tested = {row.combination for row in report.results.repetitions if row.is_measured and row.metrics.get(ALL)}
        worst = max(lost, key=lambda cell: lost[cell].lost / lost[cell].cuts)
        yield Caution(
            f"Power cuts LOST DATA in {len(lost)} of {count(len(tested), 'cell')}: acknowledged data were gone or "
            f"unreadable, or the file system did not mount. No other figure of these cells is compared (at worst in "
            f"{lost[worst].lost} of {count(lost[worst].cuts, 'cut')}, {report.cell_name(worst)}).",
            "#power-cuts",
            "Each cell's cuts",
        )


def _commits_not_known(report: Report) -> Iterator[Caution]:
    """Warn of stacks that may have lost what the load committed, unless power cuts have shown that they did."""
    rows = [row for row in report.results.repetitions if row.is_measured and row.durable.state == State.NOT_KNOWN]
    lost = losses_in_cuts(report.results)
    if open_ := [cell for cell in dict.fromkeys(row.combination for row in rows) if cell not in lost]:
        yield Caution(
            f"Whether commits were carried out is not known in {count(len(open_), 'cell')}: fewer flushes reached the "
            f"medium than the load asked for, and some of those may have been of files without new data. They are not "
            f"compared. A job of fio with one file decides it, and so do power cuts under a program "
            f"({report.cell_name(open_[0])})."
        )


def _losses(report: Report) -> Iterator[Caution]:
    """Warn of repetitions without a result."""
    outcomes = report.results.outcomes()
    lost = {ending: number for ending, number in outcomes.items() if ending != Status.MEASURED and number}
    if lost:
        endings = listing([f"{number} {ending}" for ending, number in lost.items()])
        text = f"{sum(lost.values())} of {count(sum(outcomes.values()), 'repetition')} gave no result: {endings}."
        yield Caution(text, "#losses", "Which, and why")


def _changed_lines(report: Report) -> Iterator[Caution]:
    """Say of each kernel of the user's own how many of its changed lines ran."""
    for coverage in report.manifest.coverage:
        yield Caution(f"Kernel {evidence.changed_lines(coverage)}", "#manifest", "Which kernels")


def _swallowed_and_limited(report: Report, flows: Sequence[Flow]) -> Iterator[Caution]:
    """Warn of cells that measured memory, and of those that another part than the medium limited. The second caution
    leaves memory out if the first is there.
    """
    swallowed = evidence.swallowed(flows) if report.asks_of_loads else []
    if swallowed:
        worst = min(swallowed, key=lambda flow: flow.reached)
        keeper = report.keeper(flow.combination for flow in swallowed)
        text = (
            f"In {count(len(swallowed), 'cell')}, less than half of the bytes asked for reached the medium: they "
            f"measure {keeper} more than the medium (at worst {worst.percent} reached, "
            f"{report.cell_name(worst.combination)}).{_waiting(report)}"
        )
        yield Caution(text, "#bytes", "Bytes at the medium")
    limited = limits.remark(
        report, report.results.combinations(), report.asked_metrics, left_out=("memory",) if swallowed else ()
    )
    if limited:
        where = "#bytes" if flows else "#repetitions"
        yield Caution(
            " ".join(filter(None, (limited, limits.faster_medium_remark(report)))), where, "What limits each cell"
        )


def _waiting(report: Report) -> str:
    """Return what would make a load of fio wait for its writes; "" if it does, or if the load is not fio's."""
    study = report.study
    waits = "flush" in study.axes or study.workload.get("flush", "none") != "none"
    if study.tool != "fio" or study.job is not None or waits:
        return ""
    return ' With flush = "fsync" the run waits for its writes.'


def _empty_mounts(report: Report) -> Iterator[Caution]:
    """Warn of mounts of file systems that are almost empty, if the study asks how long a mount takes."""
    metrics = [name for name in MOUNTS if name in report.asked_metrics]
    if not metrics:
        return
    cells = list(report.results.combinations())
    empty = [cell for cell in cells if not report.prepares(cell)]
    if empty:
        few = "" if len(empty) == len(cells) else f" in {len(empty)} of {count(len(cells), 'cell')}"
        names = listing([in_sentence(metric_of(name).title) for name in metrics])
        text = (
            f"What is mounted holds next to nothing{few}, as the load makes its files later: {names} would be another "
            "with files. A load that reads or overwrites lays them out before (allocate = false; [prepare] in a job)."
        )
        yield Caution(text)


def _cpu_shares(report: Report) -> Iterator[Caution]:
    """Explain the CPU load, if the study asks about it."""
    metrics = [name for answer in report.questions for name in answer.metric if name in CPU_SHARES]
    if metrics:
        yield Caution(
            "CPU load is a share of the run: of two that do the same work with the same CPU time, the slower one has "
            "the lower load. Read it beside the speed."
        )


def _no_power_cut(report: Report) -> Iterator[Caution]:
    """Warn of cells in which no power was cut, although the study asks for it."""
    cells = {row.combination for row in report.results.repetitions if row.is_measured and AFTER_CUT not in row.metrics}
    if report.study.power_cut and cells:
        media = dict.fromkeys(report.results.coordinates(cell).get("medium", "") for cell in sorted(cells))
        names = listing([report.words.value("medium", name) for name in media])
        yield Caution(
            f"No power was cut in {count(len(cells), 'cell')}, on {names}: power_cut is for raw chips. A block medium "
            "that lost power is made by flashbed medium cut, and a study starts from it (docs/profiles.md)."
        )


def _lifetimes(report: Report) -> Iterator[Caution]:
    """Say how finely the life of the flash is known."""
    for sentence in filter(None, (lifetimes.resolution(report), lifetimes.not_known(report))):
        yield Caution(sentence, "#lives" if lifetimes.table(report) else "", "Each life")


def _new_devices(report: Report) -> Iterator[Caution]:
    """Warn of figures of new devices."""
    if new := conditions.new_devices(report):
        yield Caution(new, "#conditions", "What the file systems stood on")


def _which(flows: Sequence[Flow]) -> tuple[str, str]:
    """Return the link to the table of bytes, and its text; the table is there only if there are flows."""
    return ("#bytes", "Which") if flows else ("", "")


def _not_steady(report: Report, flows: Sequence[Flow]) -> Iterator[Caution]:
    """Warn of cells whose rate was not steady."""
    if report.unsteady and report.asks_of_loads:
        cell, verdict = next(iter(report.unsteady.items()))
        pronoun, such_as = ("it", "") if len(report.unsteady) == 1 else ("them", "such as ")
        text = (
            f"In {count(len(report.unsteady), 'cell')} the rate was not steady while it was measured, and the answer "
            f"does not rest on {pronoun} ({such_as}{report.cell_name(cell)}: {verdict.reason})."
        )
        yield Caution(text, *_which(flows))


def _too_short(report: Report) -> Iterator[Caution]:
    """Warn of cells that are only the beginning of a longer one."""
    if report.too_short:
        cell, clause = next(iter(report.too_short.items()))
        them = "it" if len(report.too_short) == 1 else "them"
        text = (
            f"{count(len(report.too_short), 'cell is', 'cells are')} too short: a longer one with the same settings "
            f"was not steady, or has another rate, and the answer does not rest on {them} "
            f"({report.cell_name(cell)}: {clause})."
        )
        yield Caution(text)


def _steadiness_not_known(report: Report, flows: Sequence[Flow]) -> Iterator[Caution]:
    """Warn of cells of which nothing tells whether their rate was steady."""
    unknown = Counter(report.unknown.values() if report.asks_of_loads else ())
    if unknown:
        several = len(unknown) > 1
        reasons = [
            reason + (f" ({count(number, 'cell')})" if several else "") for reason, number in unknown.most_common()
        ]
        text = (
            f"Whether the rate was steady is not known in {count(len(report.unknown), 'cell')}: {'; '.join(reasons)}."
        )
        yield Caution(text, *_which(flows))


def _not_settled(report: Report) -> Iterator[Caution]:
    """Warn of write amplification that a longer run may not have, if the study asks for it."""
    metrics = [name for answer in report.questions for name in answer.metric if name in AMPLIFICATION]
    rows = [row for row in report.results.repetitions if row.is_measured and set(metrics).intersection(row.metrics)]
    cells = {row.combination for row in rows} - {row.combination for row in rows if row.settled}
    if cells:
        yield Caution(
            f"Whether a longer run has the same write amplification is not known in {count(len(cells), 'cell')}: the "
            "flash was programmed in too few steps, or nothing noted them. Measure longer."
        )


def _damaged(report: Report) -> Iterator[Caution]:
    """Warn of file systems in which their checker found damage."""
    damaged = [summary.filesystem for summary in evidence.check_summaries(report) if summary.damaged]
    if damaged:
        text = f"The checker found damage in images that {listing(damaged)} left behind."
        yield Caution(text, "#checks", "What it said")


def _one_seed(report: Report) -> Iterator[Caution]:
    """Warn of a study with a single seed."""
    if len(report.study.seeds) == 1:
        yield Caution("Each cell was run with one seed, so nothing tells how far chance would move these numbers.")
