# SPDX-License-Identifier: Apache-2.0
"""Beside a claim's verdict: how many of its cells memory, a transient or the CPU decided."""

from __future__ import annotations

import json
from dataclasses import replace

from flashbed.analysis.decisive import MEMORY
from flashbed.report.claims import overview, shown
from flashbed.report.export import json_bytes
from flashbed.report.model import Report
from flashbed.report.papers import section
from flashbed.report.trust import Trust, trust
from flashbed.study.format import Claim
from tests.support.facts import Facts
from tests.support.made_up_results import made_up_frame, made_up_study, rows_of
from tests.support.tabled import report_of

STUDY = made_up_study()


def claim(*metric: str) -> Claim:
    """F2FS against ext2 at random write, with four sizes each."""
    return Claim(
        text="F2FS is ahead.", where={"pattern": ("randwrite",)}, metric=metric,
        compare=[{"filesystem": ("f2fs",)}, {"filesystem": ("ext2:block=4k",)}], relation=(">",),
    )  # fmt: skip


def report(*metric: str, **columns: dict[str, str]) -> Report:
    """`columns` has, by column and request size, what ext2's random writes say in it."""
    study = replace(STUDY, claims=(claim(*metric or ("bandwidth",)),))
    frame = made_up_frame(study).assign(limit="medium", steady="steady")
    for column, by_size in columns.items():
        for size, text in by_size.items():
            place = (frame["filesystem"] == "ext2:block=4k") & (frame["pattern"] == "randwrite")
            frame.loc[place & (frame["request"] == size), column] = text
    return report_of(study, rows_of(frame), {})


def found(one: Report) -> Trust:
    [judgement] = one.judgements()
    return trust(one, judgement)


def test_each_reason_is_counted() -> None:
    told = found(report(limit={"4k": "memory", "16k": "cpu"}, steady={"64k": "not steady: it rises"}))
    assert (told.cells, told.number(*MEMORY), told.number("not steady"), told.number("CPU")) == (8, 1, 1, 1)
    assert told.short == Facts("1 of 8 cells not steady", "bytes in 1 of 8", "CPU decided in 1 of 8")
    assert told.sentence.startswith(
        "Of the 8 cells compared, memory kept the bytes in 1, the rate was not steady in 1 and the CPU decided in 1."
    )


def test_nothing_is_said_where_the_medium_decides() -> None:
    told = found(report())
    assert (told.short, told.sentence) == ("", "")


def test_it_says_whether_the_comparison_that_decides_is_one_of_them() -> None:
    # F2FS has no result at 1k, which leaves the claim open: that comparison decides
    for size, decides in (("1k", True), ("4k", False)):
        one = report(limit={size: "memory"})
        [judgement] = one.judgements()
        assert judgement.deciding
        assert dict(judgement.deciding.case)["request"] == "1k"
        told = trust(one, judgement)
        assert told.decides == decides
        assert (" The comparison that decides rests on such a cell." in told.sentence) == decides


def test_what_is_no_speed_is_told_of_memory_alone() -> None:
    told = found(report("write_amplification", limit={"4k": "memory"}, steady={"64k": "not steady: it rises"}))
    assert (told.number(*MEMORY), told.number("not steady")) == (1, 0)


def test_memory_has_no_part_in_what_is_counted_to_the_end() -> None:
    """The requests of a small write come with the sync after the load: they are all there, and memory kept none."""
    assert found(report("medium_requests", limit={"4k": "memory"})).number(*MEMORY) == 0
    assert found(report("medium_written_bytes", limit={"4k": "memory"})).number(*MEMORY) == 1


def test_of_several_metrics_figures_are_counted() -> None:
    told = found(report("bandwidth", "iops", steady={"64k": "not steady: it rises"}))
    assert (told.cells, told.number("not steady")) == (16, 2)
    assert told.short == "2 of 16 figures not steady"


def test_it_stands_beside_the_verdict_everywhere() -> None:
    one = report(steady={"64k": "not steady: it rises"})
    [judgement] = one.judgements()
    [row] = overview(one, [judgement]).rows
    assert (row.cells[0].text, row.cells[0].note) == (judgement.verdict, "1 of 8 cells not steady")
    [entry] = shown(one, [judgement])
    sentence = "Of the 8 cells compared, the rate was not steady in 1."
    assert sentence in entry.remarks
    assert sentence in section(one)
    assert json.loads(json_bytes(one))["claims"][0]["trust"] == "1 of 8 cells not steady"
