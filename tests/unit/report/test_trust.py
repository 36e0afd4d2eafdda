# SPDX-License-Identifier: Apache-2.0
"""Trust beside a claim's verdict: in how many of its cells memory, a transient or the CPU decided."""

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
    """Return F2FS against ext2 at random write, with four sizes each."""
    return Claim(
        text="F2FS is ahead.", where={"pattern": ("randwrite",)}, metric=metric,
        compare=[{"filesystem": ("f2fs",)}, {"filesystem": ("ext2:block=4k",)}], relation=(">",),
    )  # fmt: skip


def report(*metric: str, **columns: dict[str, str]) -> Report:
    """Return a report; `columns` has, by column and request size, the values of ext2's random writes."""
    study = replace(STUDY, claims=(claim(*metric or ("bandwidth",)),))
    frame = made_up_frame(study).assign(limit="medium", steady="steady")
    for column, by_size in columns.items():
        for size, text in by_size.items():
            place = (frame["filesystem"] == "ext2:block=4k") & (frame["pattern"] == "randwrite")
            frame.loc[place & (frame["request"] == size), column] = text
    return report_of(study, rows_of(frame))


def trust_of(report_: Report) -> Trust:
    [judgement] = report_.judgements()
    return trust(report_, judgement)


def test_each_reason_is_counted() -> None:
    trusted = trust_of(report(limit={"4k": "memory", "16k": "cpu"}, steady={"64k": "not steady: it rises"}))
    assert (trusted.cells, trusted.number(*MEMORY), trusted.number("not steady"), trusted.number("CPU")) == (8, 1, 1, 1)
    assert trusted.short == Facts("1 of 8 cells not steady", "bytes in 1 of 8", "CPU decided in 1 of 8")
    assert Facts("8 cells", "memory", "in 1", "not steady in 1", "CPU decided in 1").within(trusted.sentence)


def test_nothing_is_said_where_the_medium_decides() -> None:
    trusted = trust_of(report())
    assert (trusted.short, trusted.sentence) == ("", "")


def test_the_sentence_says_whether_the_deciding_comparison_is_in_doubt() -> None:
    # F2FS has no result at 1k, which leaves the claim open: that comparison decides
    for size, decides in (("1k", True), ("4k", False)):
        report_ = report(limit={size: "memory"})
        [judgement] = report_.judgements()
        assert judgement.deciding
        assert dict(judgement.deciding.case)["request"] == "1k"
        trusted = trust(report_, judgement)
        assert trusted.decides == decides
        assert (" The comparison that decides rests on such a cell." in trusted.sentence) == decides


def test_what_is_no_speed_is_told_of_memory_alone() -> None:
    trusted = trust_of(report("write_amplification", limit={"4k": "memory"}, steady={"64k": "not steady: it rises"}))
    assert (trusted.number(*MEMORY), trusted.number("not steady")) == (1, 0)


def test_memory_has_no_part_in_what_is_counted_to_the_end() -> None:
    """The requests of a small write come with the sync after the load. All are counted, and memory kept none."""
    assert trust_of(report("medium_requests", limit={"4k": "memory"})).number(*MEMORY) == 0
    assert trust_of(report("medium_written_bytes", limit={"4k": "memory"})).number(*MEMORY) == 1


def test_of_several_metrics_figures_are_counted() -> None:
    trusted = trust_of(report("bandwidth", "iops", steady={"64k": "not steady: it rises"}))
    assert (trusted.cells, trusted.number("not steady")) == (16, 2)
    assert trusted.short == "2 of 16 figures not steady"


def test_trust_stands_beside_every_verdict() -> None:
    report_ = report(steady={"64k": "not steady: it rises"})
    [judgement] = report_.judgements()
    [row] = overview(report_, [judgement]).rows
    assert (row.cells[0].text, row.cells[0].note) == (judgement.verdict, "1 of 8 cells not steady")
    [entry] = shown(report_, [judgement])
    sentence = "Of the 8 cells compared, the rate was not steady in 1."
    assert sentence in entry.remarks
    assert sentence in section(report_)
    assert json.loads(json_bytes(report_))["claims"][0]["trust"] == "1 of 8 cells not steady"
