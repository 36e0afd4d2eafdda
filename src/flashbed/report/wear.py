# SPDX-License-Identifier: Apache-2.0
"""A line on wear beside an answer that asks for something else: a file system that wins in speed and wears out the
flash should not be chosen unawares. Must not know HTML.
"""

from __future__ import annotations

from dataclasses import replace

from flashbed.analysis import compare
from flashbed.analysis.decisive import doubts
from flashbed.analysis.words import JOINT, count, factor, listing
from flashbed.report.model import Report
from flashbed.study.format import Answer

PROGRAMMED = "total_write_amplification"

TELLS_OF_WEAR = (PROGRAMMED, "write_amplification", "wear_mean", "wear_max", "lifetime_years", "lifetime_level_years")
"""A study that asks for one of these has a picture of it."""


def line(report: Report, answer: Answer, asked: set[str]) -> str:
    """ "Wear: for each byte written to a file, flash programs 1.02 bytes with ext2 and 2.1 with FAT16."

    Means over the cells of the answer that all of its values have. A cell whose write amplification decides nothing,
    such as one that has not settled, is left out, and the line says how many are. "" where the study asks for wear
    itself (`asked` are the metrics of all its questions), nothing was measured of it, or the answer compares nothing.
    """
    if asked.intersection(TELLS_OF_WEAR):
        return ""
    results = report.asked(answer.model_copy(update={"by": ()}))
    measured = [one for one in results.repetitions if PROGRAMMED in one.metrics]
    doubted = {cell: doubt for cell, doubt in doubts(results, PROGRAMMED).items() if doubt.bars}
    told = [one for one in measured if one.combination not in doubted]
    if not told:
        return ""
    axis = JOINT.join(answer.compare)
    [group] = compare(replace(results, repetitions=told), axis, (), PROGRAMMED, False).groups
    if len(group.standings) < 2:
        return ""
    words = report.words
    first, *others = group.standings
    each = [f"{factor(first.score)} bytes with {words.value(axis, first.value)}"]
    each += [f"{factor(one.score)} with {words.value(axis, one.value)}" for one in others]
    mean = f" (geometric mean of {count(len(group.settings), 'setting')})" if len(group.settings) > 1 else ""
    left_out = {one.combination for one in measured}.intersection(doubted)
    without = f" Left out: {count(len(left_out), 'cell')} whose figure decides nothing." if left_out else ""
    return f"Wear: for each byte written to a file, flash programs {listing(each)}{mean}.{without}"
