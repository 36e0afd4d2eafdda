# SPDX-License-Identifier: Apache-2.0
"""The report's files: their content, that they repeat to the byte, and that they are written whole or not at all."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pytest

from flashbed.common.foreign import without_controls
from flashbed.execution.coverage import LineCoverage
from flashbed.report.claims import overview
from flashbed.report.display_names import names_of
from flashbed.report.evidence import changed_lines, manifest_rows
from flashbed.report.folder import EXPORTS
from flashbed.report.inputs import Manifest
from tests.support.facts import Facts
from tests.support.made_up_results import (
    REASON,
    made_up_elsewhere,
    made_up_frame,
    made_up_report,
    made_up_study,
    rows_of,
)
from tests.support.tabled import report_of
from tests.unit.report.written_report import Page, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up_report(tmp_path_factory.mktemp("report")).parent


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "report.html").read_text(encoding="utf-8"))


# --- the page -------------------------------------------------------------------------------------------------------


def test_the_answer_stands_before_figures_tables_and_evidence(page: Page) -> None:
    parts = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert parts == ["answer", "claims", "figures", "tables", "elsewhere", "evidence", "again"]
    assert "F2FS is fastest for sequential write and random write" in page.text
    # ext2's writes of 64k stayed in memory, so two of the three sizes that F2FS has are compared
    assert Facts("random write, F2FS is 4.0 times as fast as ext2").within(page.text)
    assert re.search(r"ext2 \([\d.]+ to [\d.]+ over 2 request", page.text)
    assert Facts("F2FS has no result at request size 1k", "memory kept most of the bytes").within(page.text)


def test_claims_stand_with_verdict_evidence_and_the_papers_figures(page: Page) -> None:
    assert Facts(
        "6 claims",
        "2 hold",
        "1 does not hold",
        "1 is within the model's error",
        "1 is undecided",
        "1 cannot be decided",
    ).within(page.text)
    assert Facts("F2FS against ext2 at request size 1k", "failed: mkfs.f2fs: exit status 255").within(page.text)
    assert Facts("Invalid in the paper", "1,078,400,404 K/s (an impossible rate)").within(page.text)
    assert Facts("paper's own figures, where they are valid, bear").within(page.text)
    assert Facts("at least 1.25", "paper's own figures bear").within(page.text.replace("\xa0", " "))
    # ext2's writes of 64k, sequential and random, in a claim about four sizes and four patterns.
    assert "Of the 16 cells compared, memory kept the bytes in 2" in page.text
    classes = [attributes.get("class") for tag, attributes in page.elements if tag == "li"]
    assert [name for name in classes if name and name.startswith("claim ")] == [
        "claim good", "claim quiet", "claim warn", "claim bad", "claim warn", "claim good"
    ]  # fmt: skip


def test_the_claims_stand_in_one_table_by_verdict_with_both_figures() -> None:
    study = made_up_study()
    report = report_of(study, rows_of(made_up_frame(study)), elsewhere=made_up_elsewhere())
    table = overview(report, report.judgements())
    shown = [(row.heads[0].text.partition(".")[0], row.heads[0].link, row.cells[0].text) for row in table.rows]
    assert shown == [
        ("1", "#claim-1", "holds"), ("6", "#claim-6", "holds"), ("4", "#claim-4", "does not hold"),
        ("3", "#claim-3", "within the model's error"), ("5", "#claim-5", "undecided"),
        ("2", "#claim-2", "cannot be decided"),
    ]  # fmt: skip
    by_number = {number: [cell.text for cell in row.cells] for (number, *_), row in zip(shown, table.rows, strict=True)}
    # 12.5 and 10 MB/s are printed; of four cells, 23.5 / 21 and 9.1 / 7.2 are made up: sqrt(1.119 * 1.264) = 1.19.
    assert by_number["4"][1:3] == ["ext2 against FAT16", "12.5 : 10"]
    assert float(by_number["4"][3].removesuffix(" ×")) == pytest.approx(1.19, abs=0.03)
    assert by_number["4"][4] == "at least 1.25"
    assert by_number["2"] == [
        "cannot be decided", "F2FS against ext2 at request size 1k", "1,331 : 348", "–", "at least 2.0"
    ]  # fmt: skip
    assert by_number["6"][1].endswith(", real time")


def test_other_results_change_the_verdicts(tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study)
    fat16, ext2 = "fat16:cluster=32k", "ext2:block=4k"
    frame["filesystem"] = frame["filesystem"].replace({fat16: ext2, ext2: fat16})
    written(tmp_path, study, frame)
    claims = json.loads((tmp_path / "results.json").read_text())["claims"]
    assert [claim["verdict"] for claim in claims] == [
        "does not hold", "does not hold", "holds", "does not hold", "undecided", "cannot be decided"
    ]  # fmt: skip


def test_real_time_stands_apart_from_virtual_time(page: Page, folder: Path) -> None:
    assert "Measured elsewhere, in real time" in page.text
    assert page.text.count("Windows XP") > 4
    for name in ("results.csv", "results.parquet"):
        assert b"Windows XP" not in (folder / name).read_bytes()
    document = json.loads((folder / "results.json").read_text())
    assert [row["time"] for row in document["elsewhere"]] == ["real"] * 24
    assert "Windows XP" not in json.dumps(document["repetitions"])


def test_a_claim_about_a_system_that_is_not_imported_says_so(tmp_path: Path) -> None:
    study = made_up_study()
    text = written(tmp_path, study, made_up_frame(study)).text
    assert "no results of Linux and Windows XP are imported" in text


def test_the_page_asks_for_nothing_outside_itself(page: Page) -> None:
    links = [value for _, attributes in page.elements for name, value in attributes.items() if name in ("src", "href")]
    assert all(link in EXPORTS or (link or "").startswith("#") for link in links)
    policies = [attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes]
    assert policies
    assert (policies[0] or "").startswith("default-src 'none'")


def test_links_within_the_page_lead_somewhere(page: Page) -> None:
    assert page.internal_links() <= page.places()


def test_what_limits_is_told_by_each_repetition_where_no_bytes_were_asked_for(tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study).assign(limit="cpu")
    assert "#bytes" in written(tmp_path / "with", study, frame).internal_links()
    calls = written(tmp_path / "without", study, frame.drop(columns="requested_bytes"))
    assert "The CPU limits" in calls.text
    assert "#bytes" not in calls.internal_links()
    assert calls.internal_links() <= calls.places()


def test_each_table_has_a_caption_and_headers_and_each_plot_a_text(page: Page) -> None:
    assert page.count("table") == page.count("caption") > 5
    assert all(attributes.get("scope") for tag, attributes in page.elements if tag == "th")
    plots = [attributes for _, attributes in page.elements if attributes.get("class") == "plot"]
    assert len(plots) == 6
    assert all(plot["role"] == "img" and "MiB/s at 4k" in (plot["aria-label"] or "") for plot in plots[:4])


def test_failures_are_counted_and_shown_with_reason_and_console(page: Page) -> None:
    assert "4 of 144 repetitions gave no result: 4 failed." in page.text
    assert Facts("F2FS, random write, request size 1k, seeds 1, 2 and 3", f"failed: {REASON}").within(page.text)
    assert "</script><b>device is too small\ncell: mkfs.f2fs" in page.text


def test_swallowed_writes_and_damage_are_flagged(page: Page) -> None:
    assert Facts("In 2 cells, less than half of the bytes").within(page.text)
    assert "The checker found damage in images that FAT16 left behind." in page.text
    assert "Contains a free cluster (1284). Assuming EOF." in page.text
    assert "1 damaged, 47 clean" in page.text


def test_every_key_can_be_found(page: Page) -> None:
    hints = {attributes.get("title") for tag, attributes in page.elements if tag == "td"}
    assert set(made_up_frame(made_up_study())["key"]) <= hints
    assert "flashbed run choose-fs" in page.text


def test_what_has_not_run_yet_is_listed(tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study)
    thin = written(tmp_path, study, frame[frame["seed"] == 1]).text
    assert "2 failed" not in thin
    assert Facts("97 of 144 repetitions", "1 failed and 96 missing").within(thin)
    assert "Planned, and not run yet: 48 cells" in thin
    table = pandas.read_csv(tmp_path / "results.csv")
    assert (table["outcome"] == "missing").sum() == 96


def test_one_seed_is_a_caution(tmp_path: Path) -> None:
    study = replace(made_up_study(), seeds=(1,))
    frame = made_up_frame(study)
    text = written(tmp_path, study, frame).text
    assert "Each cell was run with one seed" in text
    assert "a spread needs more seeds" in text


def test_other_results_change_the_answer(tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study)
    frame["filesystem"] = frame["filesystem"].replace({"f2fs": "ext2:block=4k", "ext2:block=4k": "f2fs"})
    text = written(tmp_path, study, frame).text
    assert "ext2 is fastest for sequential write and random write" in text


def test_a_study_that_asks_nothing_and_draws_nothing_has_a_report(tmp_path: Path) -> None:
    study = replace(made_up_study(), answer=None, figures=(), tables=())
    page = written(tmp_path, study, made_up_frame(study))
    assert "Nothing is compared here: the results are in results.csv." in page.text
    assert "figures" not in {attributes.get("id") for _, attributes in page.elements}
    assert (tmp_path / "report.html").stat().st_size < 1_000_000  # without the library that draws


def test_a_study_in_which_everything_failed_has_a_report(tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study)[[*study.axes, "seed", "outcome", "reason", "key"]].assign(outcome="timed out")
    text = written(tmp_path, study, frame).text
    assert "144 of 144 repetitions gave no result: 144 timed out." in text
    assert "For random write, nothing was measured." in text
    assert "Nothing to draw: no repetition gave a result." in text


def test_a_study_without_axes_has_a_report(tmp_path: Path) -> None:
    study = replace(made_up_study(), axes={}, answer=None, figures=(), tables=(), claims=(), seeds=(1,))
    frame = pandas.DataFrame([{"seed": 1, "outcome": "failed", "reason": "mkfs", "key": "k" * 64}])
    assert "the only cell, seed 1: failed: mkfs" in written(tmp_path, study, frame).text


# --- exports --------------------------------------------------------------------------------------------------------


def test_csv_and_parquet_hold_the_same_exact_numbers(folder: Path) -> None:
    frame = made_up_frame(made_up_study())
    from_csv = pandas.read_csv(folder / "results.csv")
    from_parquet = pandas.read_parquet(folder / "results.parquet")
    assert list(from_csv.columns) == list(from_parquet.columns)
    assert list(from_csv.columns[:8]) == [
        "filesystem", "pattern", "request", "seed", "outcome", "reason", "key", "check"
    ]  # fmt: skip
    for table in (from_csv, from_parquet):
        bandwidths = table.set_index("key")["bandwidth"].sort_index()
        assert bandwidths.equals(frame.set_index("key")["bandwidth"].sort_index())


def test_json_has_nothing_but_json_in_it(folder: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    text = (folder / "results.json").read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=refuse)
    assert document["outcomes"] == {"measured": 140, "failed": 4}
    assert document["answer"]["groups"][3]["winner"] == "f2fs"
    assert len(document["repetitions"]) == 144
    failed = next(r for r in document["repetitions"] if r["outcome"] == "failed")
    assert failed["metrics"]["bandwidth"] is None
    assert failed["check"] is None
    reading = next(r for r in document["repetitions"] if r["pattern"] == "read")
    assert reading["metrics"]["write_amplification"] is None


# --- names and evidence ---------------------------------------------------------------------------------------------


class Library:
    """Profiles with titles."""

    def filesystem(self, selector: str) -> Any:
        titles = {"ext2": "ext2", "nilfs2": "NILFS2, without its cleaner", "odd": "A file system that nobody can name"}
        return type("Profile", (), {"title": titles[selector.partition(":")[0]]})

    medium = filesystem


def test_names_come_from_titles_and_stay_apart() -> None:
    axes = {"filesystem": ["ext2", "ext2:block=1k", "nilfs2", "odd:x=1"], "medium": ["ext2:a=1,b=2", "ext2:a=1,b=3"]}
    library: Any = Library()
    assert list(names_of(library, axes)["medium"].values()) == ["ext2 (b=2)", "ext2 (b=3)"]
    assert names_of(library, axes)["filesystem"] == {
        "ext2": "ext2 (defaults)",
        "ext2:block=1k": "ext2 (block=1k)",
        "nilfs2": "NILFS2",
        "odd:x=1": "odd",
    }


def test_consoles_lose_terminal_sequences_and_keep_text() -> None:
    assert without_controls("\x1b[1;31mError\x1b[0m: \x1b]0;title\x07bad\x00 \x1b(Bünd\tso\n") == "Error: bad ünd\tso\n"


def test_the_manifest_is_flat_and_readable() -> None:
    medium = {"erase_ns": 3_500_000, "list": [1, 2], "deep": {"on": True, "none": None}}
    manifest = Manifest({"kernel": "6.1"}, coverage=[LineCoverage("linux 1a2b", 0, 0)], profiles={"medium": medium})
    assert manifest_rows(manifest) == [
        ("", [("kernel", "6.1"), ("changed lines", changed_lines(*manifest.coverage))]),
        ("medium", [("erase_ns", "3500000 (3.50 ms)"), ("list", "1, 2"), ("deep.on", "yes"), ("deep.none", "–")]),
    ]


def test_bytes_that_nobody_told_are_not_judged(tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study).drop(columns=["requested_bytes"])
    page = written(tmp_path, study, frame)
    assert "reached the medium" not in page.text
    assert "Did the bytes reach the medium?" not in page.text
