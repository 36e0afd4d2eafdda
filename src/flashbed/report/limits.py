# SPDX-License-Identifier: Apache-2.0
"""What limited the cells that stand side by side, and how a report says so: a cell that the CPU or memory limits says
little of the medium or the file system that it is to compare. Must not know HTML.
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

MEDIUM = "medium"
"""What a study of media and file systems means to measure."""

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
"""For a cell of a table."""


def remark(report: Report, cells: Iterable[Combination], metrics: Collection[str], said: Collection[str] = ()) -> str:
    """ "The CPU limits 3 of 5 cells and memory 1." Nothing where the medium limits all of them, nothing of what is said
    already, and nothing where no load has a part in the metrics that are shown.
    """
    if metrics and not any(map(is_of_the_load, metrics)):
        return ""
    shown = list(dict.fromkeys(cells))
    limits = report.results.limits
    found = Counter(limits[cell] for cell in shown if limits.get(cell, MEDIUM) not in (MEDIUM, *said))
    if not found:
        return ""
    (most, number), *others = sorted(found.items(), key=lambda one: (-one[1], list(WORDS).index(one[0])))
    kept = report.keeper(cell for cell in shown if limits.get(cell) == "memory")
    words = {**WORDS, "memory": kept}
    told = [f"{words[most]} limits {number} of {count(len(shown), 'cell')}"]
    told += [f"{words[name]} {number}" for name, number in others]
    return f"{capitalized(listing(told))}."


def spared(report: Report) -> str:
    """In which cells a medium that takes no time would make the bandwidth, or the requests a second, at most 1.25 times
    what it is; nothing where the study asks for neither, or where that holds of no cell.

    Of a latency, of wear or of write amplification nothing follows from what was busy. Nor does it of a job of the
    user's: what its background does is counted too.
    """
    study, results = report.study, report.results
    asked = {name for question in report.questions for name in question.metric}
    rates = [word for name, word in RATES.items() if name in asked]
    if not rates or study.job is not None:
        return ""
    cpu, medium = (results.spreads(f"busy_{part}_percent") for part in ("cpu", "medium"))
    found = []
    for cell in (cell for cell in medium if cell in cpu and results.limits.get(cell) in ("cpu", "bus", "link", "load")):
        # A CPU that is busy while a chip is, because it polls it, is not counted as its own work
        cpu_decides = results.limits[cell] == "cpu" and cpu[cell].median >= BUSY_PERCENT and not report.polls(cell)
        if cpu_decides or medium[cell].median <= 100 - BUSY_PERCENT:
            found.append(results.limits[cell])
    names = [WORDS[limit] for limit in WORDS if limit in found]
    if not names:
        return ""
    verb = "limits" if len(names) == 1 else "limit"
    where = f"In {count(len(found), 'cell')} that {listing(names)} {verb}"
    return f"{where}, a faster medium, or a better order on it, would change the {listing(rates)} little."


def cells_of(report: Report, answer: Answer, group: Group) -> list[Combination]:
    """The cells that a group of an answer rests on."""
    where = {**answer.where, **{axis: (value,) for axis, value in group.at}}
    return list(report.results.combinations(where))
