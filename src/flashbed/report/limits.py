# SPDX-License-Identifier: Apache-2.0
"""Say what limited the cells that a report shows side by side: a cell that the CPU or memory limits says little about
the medium or the file system that it compares. Must not know HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from flashbed.analysis import Group
from flashbed.analysis.decisive import is_of_the_load
from flashbed.analysis.words import capitalized, count, listing
from flashbed.guest_output.limit import BUSY_PERCENT
from flashbed.report.model import Report
from flashbed.result.columns import Combination
from flashbed.study.format import Answer

MEDIUM_LIMIT = "medium"
"""The limit that a study of media and file systems intends."""

WORDS = {
    "medium": "the medium",
    "bus": "the bus",
    "cpu": "the CPU",
    "memory": "memory",
    "link": "the link",
    "load": "the load itself",
}

RATES = {"bandwidth": "bandwidth", "iops": "requests a second"}
"""Metrics that grow as the time shrinks, for sentences."""

SHORT = {"medium": "medium", "bus": "bus", "cpu": "CPU", "memory": "memory", "link": "link", "load": "load"}
"""Limits for a cell of a table."""


def remark(
    report: Report, cells: Iterable[Combination], metrics: Collection[str], left_out: Collection[str] = ()
) -> str:
    """Return a sentence: "The CPU limits 3 of 5 cells and memory 1." It leaves out the medium and the limits in
    `left_out`. Return "" if nothing is left, or if none of the metrics depends on the load.
    """
    if metrics and not any(map(is_of_the_load, metrics)):
        return ""
    shown = list(dict.fromkeys(cells))
    limits = report.results.limits
    counts = Counter(limits[cell] for cell in shown if limits.get(cell, MEDIUM_LIMIT) not in (MEDIUM_LIMIT, *left_out))
    if not counts:
        return ""
    (most, number), *others = sorted(counts.items(), key=lambda item: (-item[1], list(WORDS).index(item[0])))
    kept = report.keeper(cell for cell in shown if limits.get(cell) == "memory")
    words = {**WORDS, "memory": kept}
    clauses = [f"{words[most]} limits {number} of {count(len(shown), 'cell')}"]
    clauses += [f"{words[name]} {number}" for name, number in others]
    return f"{capitalized(listing(clauses))}."


def faster_medium_remark(report: Report) -> str:
    """Return a sentence on the cells in which a medium that takes no time would change the bandwidth, or the requests a
    second, to at most 1.25 times; "" if there are none, or if the study asks for neither.

    Nothing follows from busy times for latency, wear or write amplification, nor for a job of the user's, whose
    background work is counted too.
    """
    study, results = report.study, report.results
    metrics = {name for question in report.questions for name in question.metric}
    rates = [word for name, word in RATES.items() if name in metrics]
    if not rates or study.has_own_load:
        return ""
    cpu, medium = (results.spreads(f"busy_{part}_percent") for part in ("cpu", "medium"))
    limiting = []
    for cell in (cell for cell in medium if cell in cpu and results.limits.get(cell) in ("cpu", "bus", "link", "load")):
        # A CPU that is busy while a chip is, because it polls it, is not counted as its own work
        cpu_decides = results.limits[cell] == "cpu" and cpu[cell].median >= BUSY_PERCENT and not report.polls(cell)
        if cpu_decides or medium[cell].median <= 100 - BUSY_PERCENT:
            limiting.append(results.limits[cell])
    names = [WORDS[limit] for limit in WORDS if limit in limiting]
    if not names:
        return ""
    verb = "limits" if len(names) == 1 else "limit"
    where = f"In {count(len(limiting), 'cell')} that {listing(names)} {verb}"
    return f"{where}, a faster medium, or a better order on it, would change the {listing(rates)} little."


def cells_of(report: Report, answer: Answer, group: Group) -> list[Combination]:
    """Return the cells that a group of an answer rests on."""
    where = {**answer.where, **{axis: (value,) for axis, value in group.at}}
    return list(report.results.combinations(where))
