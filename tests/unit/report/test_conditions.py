# SPDX-License-Identifier: Apache-2.0
"""A report's statements on limits, and on the media below the file systems."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

from flashbed.analysis import doubts, flows
from flashbed.report import conditions, evidence, limits
from flashbed.report.answers import questions
from flashbed.report.claims import in_answer, shown
from flashbed.report.tables import study_tables
from tests.support.facts import Facts
from tests.support.made_up_limits import INPLACE, limited, report
from tests.support.made_up_results import MANIFEST, PATTERNS, made_up_frame, made_up_study, rows_of
from tests.support.tabled import bring_up_to_date, report_of

GB = 10**9


def test_the_answer_says_what_else_it_measured(tmp_path: Path) -> None:
    study = made_up_study()
    page = bring_up_to_date(study, rows_of(limited(study)), MANIFEST, tmp_path).read_text()
    remark = "The CPU limits 2 of 12 cells and the bus 1."
    # The answer's sentence for random writes
    assert page.count(f"F2FS has no result at request size 1k. {remark}") == 1
    # The CPU is busy for 87 %; in the cell that the bus limits, the medium is busy for 41 %
    assert Facts("CPU limits 2 of 48 cells", "the bus 1", "In 2 cells that the CPU limits").within(page)
    table = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    assert {row["limit"] for row in table} == {"medium", "cpu", "bus"}
    assert INPLACE in {row["mounted"] for row in table}
    rows = json.loads((tmp_path / "results.json").read_text())["repetitions"]
    assert {row["limit"] for row in rows if row["pattern"] == "read"} == {"medium"}


def test_a_faster_medium_is_told_of_rates_only_and_where_it_is_true() -> None:
    study = made_up_study()
    assert limits.faster_medium_remark(report()) == Facts("In 2 cells that the CPU limits", "the bandwidth")
    assert study.answer
    for metric in ("latency_p99_us", "write_amplification"):
        answer = study.answer.model_copy(update={"metric": (metric,)})
        assert limits.faster_medium_remark(report(answer=answer)) == ""
    assert limits.faster_medium_remark(report(job={"job": "[background]"})) == ""

    def is_spared(
        limit: str, cpu: float, medium: float, board: str = "arm64-1000", medium_name: str = "usb-stick-2g"
    ) -> bool:
        frame = limited(study).assign(limit=limit, busy_cpu_percent=cpu, busy_medium_percent=medium)
        used = replace(study, fixed={**study.fixed, "board": board, "medium": medium_name})
        return bool(limits.faster_medium_remark(report_of(used, rows_of(frame))))

    # A medium that takes no time makes the load 1 / (1 - share) times as fast: 1.25 times for a fifth
    assert is_spared("load", 10.0, 20.0)
    assert not is_spared("load", 10.0, 21.0)
    assert not is_spared("bus", 10.0, 44.0)
    assert is_spared("bus", 10.0, 5.0)
    assert not is_spared("cpu", 60.0, 40.0)
    assert is_spared("cpu", 80.0, 60.0)
    assert not is_spared("cpu", 100.0, 45.0, "s3c2440-400", "slc-nand-256m")  # it polls
    assert not is_spared("medium", 0.0, 10.0)


def test_what_memory_kept_is_said_once() -> None:
    study = made_up_study()
    frame = limited(study)
    swallowed = (
        (frame["filesystem"] == "ext2:block=4k") & (frame["pattern"] == "randwrite") & (frame["request"] == "64k")
    )
    frame.loc[swallowed, "limit"] = "memory"
    report_ = report_of(study, rows_of(frame))
    cells = list(report_.results.combinations())
    assert limits.remark(report_, cells, ["bandwidth"]) == "The CPU limits 2 of 48 cells and memory 1."
    [question] = questions(report_)
    text = question.behind[PATTERNS.index("randwrite")].sentence
    # F2FS failed at 1k, and memory spoilt ext2 at 64k: two of the four request sizes are left.
    no_result = ("F2FS has no result at request size 1k", "memory kept most of the bytes")
    assert Facts("2 of 4 settings", *no_result, "The CPU limits 2 of 12 cells.").within(text)
    assert "limits" not in question.behind[PATTERNS.index("read")].sentence


def test_an_answer_does_not_rest_on_a_rate_that_was_not_steady(tmp_path: Path) -> None:
    study = made_up_study()
    frame = limited(study).assign(steady="steady")
    rises = (frame["filesystem"] == "f2fs") & (frame["pattern"] == "randwrite")
    frame.loc[rises, "steady"] = "not steady: 40 % faster in the second half"
    report_ = report_of(study, rows_of(frame))
    # F2FS failed at 1k: three of its four cells have a rate, and none of these is steady.
    assert len(report_.unsteady) == 3
    [question] = questions(report_)
    row = question.matrix.parts[0].rows[PATTERNS.index("randwrite")]
    assert [field and (field.tone, field.text) for field in row.fields][2] == ("doubt", "not steady in 3 of 4")
    assert Facts("Not decided: no steady rate", "for random write").within(question.lines)
    page = bring_up_to_date(study, rows_of(frame), MANIFEST, tmp_path).read_text()
    assert "In 3 cells the rate was not steady while it was measured" in page
    bandwidth = study_tables(report_)[0]
    assert sum("not steady" in cell.note for row in bandwidth.rows for cell in row.cells) == 3
    assert "steady" in next(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))


def test_what_is_not_known_to_be_steady_is_said_in_words(tmp_path: Path) -> None:
    study = made_up_study()
    frame = limited(study).assign(steady="not known: bonnie tells no rate within a phase")
    # One seed of which the steadiness is known is enough
    frame.loc[(frame["filesystem"] == "f2fs") & (frame["seed"] == 1), "steady"] = "steady"
    report_ = report_of(study, rows_of(frame))
    assert (len(report_.unsteady), set(report_.unknown.values())) == (0, {"bonnie tells no rate within a phase"})
    table = evidence.flow_table(report_, flows(report_.results, report_.fixed), "")
    assert table.columns[-1] == "Steady"
    assert {row.cells[-1].text for row in table.rows} == {"not known", "yes"}
    page = bring_up_to_date(study, rows_of(frame), MANIFEST, tmp_path).read_text()
    number = len(report_.unknown)
    assert Facts("not known", f"in {number} cells", "bonnie tells no rate within a phase").within(page)
    assert {doubt.kind for doubt in doubts(report_.results, "bandwidth").values()} <= {"CPU"}


def test_what_is_known_of_no_cell_is_said_in_one_line() -> None:
    study = made_up_study()
    frame = limited(study).assign(steady="not known: bonnie tells no rate within a phase")
    report_ = report_of(study, rows_of(frame))
    table = evidence.flow_table(report_, flows(report_.results, report_.fixed), "")
    assert "Steady" not in table.columns
    assert Facts("steady is not known", "bonnie tells no rate within a phase").within(table.note)


def test_less_than_half_is_not_written_as_half() -> None:
    """499 of 1,000 bytes are less than half, although 49.9 % is 50 % in whole percent."""
    frame = made_up_frame(made_up_study())
    half = (frame["pattern"] == "write") & (frame["filesystem"] == "ext2:block=4k") & (frame["request"] == "4k")
    frame.loc[half, "medium_written_bytes"] = frame.loc[half, "requested_bytes"] * 0.499
    report_ = report_of(made_up_study(), rows_of(frame))
    by_cell = {flow.combination: flow for flow in flows(report_.results, report_.fixed)}
    flow = by_cell["ext2:block=4k", "write", "4k"]
    assert (flow.swallowed, flow.percent) == (True, "just under 50 %")


def test_a_new_device_is_told_before_the_answer_is_relied_on(tmp_path: Path) -> None:
    study = made_up_study()
    frame = limited(study).assign(fresh="")
    assert conditions.new_devices(report_of(study, rows_of(frame))) == ""
    frame.loc[frame["filesystem"] == "f2fs", "fresh"] = "fresh: 4 % of its capacity was ever programmed"
    sentence = conditions.new_devices(report_of(study, rows_of(frame)))
    assert sentence == Facts("Some figures", "a new device", "usb-stick-2g", "less was ever written")
    page = bring_up_to_date(study, rows_of(frame), MANIFEST, tmp_path).read_text()
    assert page.index("Some figures are those of a new device") < page.index('id="evidence"')


def test_where_all_is_counted_to_the_end_nothing_is_said_of_memory(tmp_path: Path) -> None:
    """The report of choi2014-accesses warned that 0 % of the bytes had reached the medium, of a count that goes on
    until all have.
    """
    study = made_up_study()
    frame = limited(study).assign(limit="memory", medium_written_bytes=0.0, steady="not known: nothing tells")
    frame["medium_requests"] = 5.0
    assert study.answer
    metric = {"metric": ("medium_requests",)}
    answer, table = study.answer.model_copy(update=metric), study.tables[0].model_copy(update=metric)
    counted = replace(study, answer=answer, figures=(), claims=(), tables=(table,))
    page = bring_up_to_date(counted, rows_of(frame), MANIFEST, tmp_path).read_text()
    for warning in ("less than half of", "emory limits", "limit: memory", "is not known"):
        assert warning not in page.partition('id="evidence"')[0]
    assert "The page cache kept the rest" not in page
    assert "until all that was written has reached the medium." in page


def test_tables_mark_what_is_not_the_mediums() -> None:
    bandwidth = study_tables(report())[0]
    notes = {
        (*(head.text for head in row.heads), column): cell.note
        for row in bandwidth.rows
        for column, cell in zip(bandwidth.columns, row.cells, strict=True)
    }
    assert notes["16k", "F2FS"].splitlines()[-1] == "limit: CPU"
    assert notes["64k", "ext2"].splitlines()[-1] == "limit: bus"
    assert sum("limit" in note for note in notes.values()) == 3
    assert bandwidth.note.endswith("The CPU limits 2 of 48 cells and the bus 1.")


def test_the_shares_stand_beside_the_bytes() -> None:
    report_ = report()
    table = evidence.flow_table(report_, flows(report_.results, report_.fixed), "Bytes")
    assert table.columns[-4:] == ["Medium", "Bus", "CPU", "Limit"]
    by_cell = {tuple(head.text for head in row.heads): [cell.text for cell in row.cells[-4:]] for row in table.rows}
    assert by_cell["F2FS", "random write", "16k"] == ["41 %", "3 %", "87 %", "CPU"]


def test_a_cells_limit_is_that_of_most_seeds() -> None:
    study = made_up_study()
    frame = limited(study)
    cell = (frame["filesystem"] == "f2fs") & (frame["pattern"] == "read") & (frame["request"] == "4k")
    frame.loc[cell & (frame["seed"] < 3), "limit"] = "load"
    assert report_of(study, rows_of(frame)).results.limits["f2fs", "read", "4k"] == "load"


# --- what the file systems stood on ---------------------------------------------------------------------------------


def test_how_each_file_system_was_mounted() -> None:
    table = conditions.mounts(report())
    assert table is not None
    by_file_system = {row.heads[0].text: row.cells[0].text for row in table.rows}
    assert by_file_system["F2FS"] == INPLACE
    assert by_file_system["ext2"] == "ext2 rw,relatime"
    study = made_up_study()
    assert conditions.mounts(report_of(study, rows_of(made_up_frame(study)))) is None


def test_a_claim_may_stand_in_the_answer(tmp_path: Path) -> None:
    study = made_up_study()
    claim = study.claims[0]
    stands = replace(study, claims=(claim.model_copy(update={"in_answer": True}), *study.claims[1:]))
    pages = [
        bring_up_to_date(study_, rows_of(limited(study_)), MANIFEST, tmp_path).read_text() for study_ in (study, stands)
    ]
    head = f"{claim.text.rstrip('.')}: holds."
    assert [page.partition('id="claims"')[0].count(head) for page in pages] == [0, 1]
    report_ = report_of(stands, rows_of(limited(stands)))
    assert in_answer(report_, report_.judgements()) == [("#claim-1", head)]
    explained = claim.model_copy(update={"in_answer": True, "why": {"holds": "The stick has no arm."}})
    reasoned = report_of(replace(study, claims=(explained,)), rows_of(limited(study)))
    # The answer leaves the reason to the claim: it has ten lines, and a reason alone may take five
    assert in_answer(reasoned, reasoned.judgements()) == [("#claim-1", head)]
    assert shown(reasoned, reasoned.judgements())[0].remarks.endswith("The stick has no arm.")


def test_what_the_cells_of_a_claim_cannot_say_stands_in_the_answer_too() -> None:
    study = made_up_study()
    frame = limited(study)
    frame["limit"] = "memory"
    explained = study.claims[0].model_copy(update={"in_answer": True, "why": {"holds": "The stick has no arm."}})
    report_ = report_of(replace(study, claims=(explained,)), rows_of(frame))
    [(_, text)] = in_answer(report_, report_.judgements())
    remark = text.partition(": holds. ")[2]
    assert remark.startswith("Of the ")
    assert "memory kept the bytes in " in remark
