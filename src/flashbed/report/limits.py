# SPDX-License-Identifier: Apache-2.0
"""What limited the cells that stand side by side, and how a report says so: a cell that the CPU or memory limits says
little of the medium or the file system that it is to compare. Must not know HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from flashbed.analysis import Combination, Group
from flashbed.analysis.words import count, listing
from flashbed.report.model import Report
from flashbed.study_format import Answer

MEDIUM = "medium"
"""What a study of media and file systems means to measure."""

WORDS = {"medium": "the medium", "bus": "the bus", "cpu": "the CPU", "memory": "memory", "load": "the load itself"}

SHORT = {"medium": "medium", "bus": "bus", "cpu": "CPU", "memory": "memory", "load": "load"}
"""For a cell of a table."""


def remark(report: Report, cells: Iterable[Combination], said: Collection[str] = ()) -> str:
    """ "The CPU limits 3 of 5 cells and memory 1." Nothing where the medium limits all of them, and nothing of what is
    said already.
    """
    shown = list(dict.fromkeys(cells))
    limits = report.results.limits
    found = Counter(limits[cell] for cell in shown if limits.get(cell, MEDIUM) not in (MEDIUM, *said))
    if not found:
        return ""
    (most, number), *others = sorted(found.items(), key=lambda one: (-one[1], list(WORDS).index(one[0])))
    told = [f"{WORDS[most]} limits {number} of {count(len(shown), 'cell')}"]
    told += [f"{WORDS[name]} {number}" for name, number in others]
    text = listing(told)
    return f"{text[0].upper()}{text[1:]}."


def cells_of(report: Report, answer: Answer, group: Group) -> list[Combination]:
    """The cells that a group of an answer rests on."""
    where = {**answer.where, **{axis: (value,) for axis, value in group.at}}
    return list(report.results.combinations(where))
