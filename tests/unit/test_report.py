# SPDX-License-Identifier: Apache-2.0
"""The report's files: what stands in them, that they repeat to the byte, that they are written whole or not at all."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas
import pytest
from made_up_results import (
    CONSOLE,
    MANIFEST,
    REASON,
    made_up_elsewhere,
    made_up_frame,
    made_up_report,
    made_up_study,
    rows_of,
)

from flashbed.report import writer
from flashbed.report.claims import overview
from flashbed.report.evidence import manifest_rows
from flashbed.report.figures import drawings
from flashbed.report.freshness import EXPORTS, bring_up_to_date, inputs_digest, is_current
from flashbed.report.model import report_of
from flashbed.report.names import names_of
from flashbed.report.plain_text import plain_text
from flashbed.report.tables import study_tables
from flashbed.study.format import Figure, Table
from flashbed.study.loading import Study

FILES = ("report.html", *EXPORTS)


class Page(HTMLParser):
    """The text of a page without scripts and styles, its elements, and what each table has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._silent = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.text += data

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.elements)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up_report(tmp_path_factory.mktemp("report")).parent


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def written(folder: Path, study: Study, frame: pandas.DataFrame) -> Page:
    return Page(bring_up_to_date(study, rows_of(frame), MANIFEST, folder).read_text(encoding="utf-8"))


# --- the page -------------------------------------------------------------------------------------------------------


def test_the_answer_stands_before_figures_tables_and_evidence(page: Page) -> None:
    parts = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert parts == ["answer", "claims", "figures", "tables", "elsewhere", "evidence", "again"]
    assert "F2FS is fastest for sequential write and random write" in page.text
    # ext2's writes of 64k stayed in memory, so that two of the three sizes that F2FS has are compared.
    assert re.search(
        r"For random write, F2FS is 4\.0 times as fast as ext2 \([\d.]+ to [\d.]+ over 2 request", page.text
    )
    assert "F2FS has no result at request size 1k and in the others memory kept most of the bytes" in page.text


def test_claims_stand_with_verdict_evidence_and_the_papers_figures(page: Page) -> None:
    assert "Of 6 claims, 3 hold, 1 does not hold, 1 is undecided and 1 cannot be decided." in page.text
    assert (
        "There is nothing to go by for F2FS against ext2 at request size 1k (failed: mkfs.f2fs: exit status 255)."
        in page.text
    )
    assert "Invalid in the paper: 1,078,400,404 K/s (an impossible rate)." in page.text
    assert "The paper's own figures, where they are valid, bear the claim out." in page.text
    assert "where at least 1.25 is asked. The paper's own figures bear the claim out." in page.text.replace("\xa0", " ")
    # ext2's writes of 64k, sequential and random, in a claim about four sizes and four patterns.
    assert "Of the 16 cells compared, memory kept the bytes in 2" in page.text
    classes = [attributes.get("class") for tag, attributes in page.elements if tag == "li"]
    assert [name for name in classes if name and name.startswith("claim ")] == [
        "claim good", "claim quiet", "claim good", "claim bad", "claim warn", "claim good"
    ]  # fmt: skip


def test_the_claims_stand_in_one_table_by_verdict_with_both_figures() -> None:
    study = made_up_study()
    report = report_of(study, rows_of(made_up_frame(study)), {}, elsewhere=made_up_elsewhere())
    table = overview(report, report.judgements())
    told = [(row.heads[0].text.partition(".")[0], row.heads[0].link, row.cells[0].text) for row in table.rows]
    assert told == [
        ("1", "#claim-1", "holds"), ("3", "#claim-3", "holds"), ("6", "#claim-6", "holds"),
        ("4", "#claim-4", "does not hold"), ("5", "#claim-5", "undecided"), ("2", "#claim-2", "cannot be decided"),
    ]  # fmt: skip
    by_number = {number: [cell.text for cell in row.cells] for (number, *_), row in zip(told, table.rows, strict=True)}
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


def test_other_real_times_make_a_report_stale() -> None:
    study, rows = made_up_study(), rows_of(made_up_frame(made_up_study()))
    elsewhere = made_up_elsewhere()
    before = inputs_digest(study, rows, MANIFEST, {}, elsewhere)
    elsewhere[0]["bandwidth"] += 1e-9
    assert before != inputs_digest(study, rows, MANIFEST, {}, elsewhere) != inputs_digest(study, rows, MANIFEST)


def test_a_claim_about_a_system_that_is_not_imported_says_so(tmp_path: Path) -> None:
    study = made_up_study()
    text = written(tmp_path, study, made_up_frame(study)).text
    assert "Not decided: no results of Linux and Windows XP are imported (flashbed export, flashbed import)." in text


def test_the_page_asks_for_nothing_outside_itself(page: Page) -> None:
    links = [value for _, attributes in page.elements for name, value in attributes.items() if name in ("src", "href")]
    assert all(link in EXPORTS or (link or "").startswith("#") for link in links)
    policies = [attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes]
    assert policies
    assert (policies[0] or "").startswith("default-src 'none'")


def test_links_within_the_page_lead_somewhere(page: Page) -> None:
    names = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = {(attributes.get("href") or "") for tag, attributes in page.elements if tag == "a"}
    assert {link[1:] for link in links if link.startswith("#")} <= names


def test_each_table_has_a_caption_and_headers_and_each_plot_a_text(page: Page) -> None:
    assert page.count("table") == page.count("caption") > 5
    assert all(attributes.get("scope") for tag, attributes in page.elements if tag == "th")
    plots = [attributes for _, attributes in page.elements if attributes.get("class") == "plot"]
    assert len(plots) == 6
    assert all(plot["role"] == "img" and "MiB/s at 4k" in (plot["aria-label"] or "") for plot in plots[:4])


def test_failures_are_counted_and_shown_with_reason_and_console(page: Page) -> None:
    assert "4 of 144 repetitions gave no result: 4 failed." in page.text
    assert f"F2FS, random write, request size 1k, seeds 1, 2 and 3: failed: {REASON}" in page.text
    assert "Error: </script><b>device is too small\ncell: mkfs.f2fs: exit status 255" in page.text


def test_swallowed_writes_and_damage_are_flagged(page: Page) -> None:
    assert "In 2 cells, less than half of the bytes asked for reached the medium" in page.text
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
    assert "97 of 144 repetitions gave no result: 1 failed and 96 missing." in thin
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
    assert "This study asks for no comparison" in page.text
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


# --- the same bytes again -------------------------------------------------------------------------------------------


def test_the_same_results_give_the_same_bytes_in_any_order(folder: Path, tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study).sample(frac=1, random_state=3)
    consoles = dict.fromkeys(frame.loc[frame["outcome"] != "measured", "key"], CONSOLE)
    bring_up_to_date(study, rows_of(frame), MANIFEST, tmp_path, consoles, elsewhere=made_up_elsewhere())
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_rows_without_what_was_not_measured_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study)
    consoles = dict.fromkeys(frame.loc[frame["outcome"] != "measured", "key"], CONSOLE)
    rows = [{name: value for name, value in row.items() if value == value} for row in rows_of(frame)]
    measured = [row for row in rows if row["outcome"] == "measured"]
    for row in measured:  # a run's rows have whole numbers where a frame has 1.0
        row["requested_bytes"] = int(row["requested_bytes"])
    bring_up_to_date(study, rows, MANIFEST, tmp_path, consoles, elsewhere=made_up_elsewhere())
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_another_process_with_other_hashes_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    code = "import sys, pathlib; from made_up_results import made_up_report; made_up_report(pathlib.Path(sys.argv[1]))"
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": paths, "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=environment)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_a_current_report_is_left_alone(folder: Path) -> None:
    before = {name: (folder / name).stat() for name in FILES}
    made_up_report(folder)
    after = {name: (folder / name).stat() for name in FILES}
    assert {name: (stat.st_mtime_ns, stat.st_ino) for name, stat in before.items()} == {
        name: (stat.st_mtime_ns, stat.st_ino) for name, stat in after.items()
    }


def changes() -> Iterator[Any]:
    study = made_up_study()
    rows = rows_of(made_up_frame(study))
    other = [dict(row) for row in rows]
    other[0]["bandwidth"] += 1e-9
    yield pytest.param(study, other, MANIFEST, id="a number")
    yield pytest.param(study, rows[1:], MANIFEST, id="a repetition less")
    yield pytest.param(study, rows, {**MANIFEST, "kernel": "6.1.193"}, id="the manifest")
    yield pytest.param(replace(study, question="Why?"), rows, MANIFEST, id="the study")
    yield pytest.param(replace(study, figures=study.figures[:1]), rows, MANIFEST, id="a figure less")


@pytest.mark.parametrize(("study", "rows", "manifest"), list(changes()))
def test_other_inputs_make_a_report_stale(study: Study, rows: list[dict[str, Any]], manifest: dict[str, Any]) -> None:
    same = made_up_study()
    assert inputs_digest(study, rows, manifest) != inputs_digest(same, rows_of(made_up_frame(same)), MANIFEST)


def test_a_missing_export_makes_a_report_stale(tmp_path: Path) -> None:
    made_up_report(tmp_path)
    (tmp_path / "results.json").unlink()
    made_up_report(tmp_path)
    assert (tmp_path / "results.json").is_file()
    assert not is_current(tmp_path / "nowhere", "0")


def test_the_digest_is_the_same_for_rows_and_for_their_frame() -> None:
    study = made_up_study()
    rows = [
        {"filesystem": "f2fs", "seed": 1, "outcome": "measured", "reason": "", "key": "a", "check": "", "iops": 3},
        {"filesystem": "f2fs", "seed": 2, "outcome": "failed", "reason": "x", "key": "b", "check": None},
    ]
    assert inputs_digest(study, rows, {}) == inputs_digest(study, rows_of(pandas.DataFrame(rows)), {})


def test_freshness_is_told_without_heavy_imports() -> None:
    code = "import sys, flashbed.report.freshness; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"pandas", "numpy", "jinja2", "plotly"} & set(done.stdout.split())


def test_a_failure_leaves_the_old_report_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = made_up_report(tmp_path).read_bytes()

    def broken(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", broken)
    study = made_up_study()
    with pytest.raises(OSError, match="no space"):
        bring_up_to_date(study, rows_of(made_up_frame(study)), {"kernel": "other"}, tmp_path)
    assert (tmp_path / "report.html").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


def test_the_report_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    write_whole = writer.write_whole

    def watched(path: Path, content: bytes) -> None:
        order.append(path.name)
        write_whole(path, content)

    monkeypatch.setattr(writer, "write_whole", watched)
    made_up_report(tmp_path)
    assert order[-1] == "report.html"
    assert sorted(order) == sorted(FILES)


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
        found = table.set_index("key")["bandwidth"].sort_index()
        assert found.equals(frame.set_index("key")["bandwidth"].sort_index())


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


# --- figures and tables ---------------------------------------------------------------------------------------------


def test_figures_have_a_panel_for_each_second_distinction() -> None:
    study = made_up_study()
    reading, writing, latency, cost = drawings(report_of(study, rows_of(made_up_frame(study)), {}))
    assert [panel.title for panel in reading.panels] == ["sequential read", "random read"]
    assert [series.label for series in reading.panels[0].series] == ["FAT16", "ext2", "F2FS"]
    assert reading.data()["x"] == {
        "title": "Request size",
        "type": "log",
        "values": [1024, 4096, 16384, 65536],
        "labels": ["1k", "4k", "16k", "64k"],
    }
    assert writing.data()["x"]["type"] == "category"
    assert (latency.y_title, cost.y_title) == ("99th percentile latency (ms)", "Write amplification")
    assert reading.same_scale
    assert not writing.same_scale
    slots = [dict(drawing.legend) for drawing in (reading, writing, latency)]
    assert slots[0] == slots[1] == slots[2]
    assert cost.colour_by_x == [slots[0][name] for name in ("FAT16", "ext2", "F2FS")]
    assert [gap.text for gap in writing.gaps] == [
        f"Without a result: 1 of 24 cells (1 failed: {REASON}): F2FS, random write, request size 1k.",
        "From fewer seeds than planned: 1 of 24 cells: F2FS, sequential write, request size 64k (2 of 3).",
    ]
    assert not reading.gaps


def test_what_a_figure_lacks_is_summed_up_and_folded() -> None:
    study = made_up_study()
    frame = made_up_frame(study)
    begun = frame[(frame["pattern"] == "write") | (frame["request"] == "1k") & (frame["seed"] < 3)]
    reading, writing, latency, cost = drawings(report_of(study, rows_of(begun), {}))
    # Two patterns of three file systems at four sizes; of these only 1k has run, with two seeds of three.
    absent, thin = reading.gaps
    assert absent.text == (
        "Without a result: 18 of 24 cells (18 not run): such as FAT16, sequential read, request size 4k; "
        "FAT16, sequential read, request size 16k; FAT16, sequential read, request size 64k."
    )
    assert (absent.folded, len(absent.rest)) == ("15 more cells", 15)
    assert absent.rest[0] == "FAT16, random read, request size 4k: not run"
    assert thin.text.startswith("From fewer seeds than planned: 6 of 24 cells: such as FAT16, sequential read, request")
    # F2FS failed at 1k with both seeds that ran; the third has not run.
    assert f"(9 not run; 1 failed: {REASON} and not run)" in writing.gaps[0].text
    # Names say only what tells the cells of a figure apart.
    assert "such as FAT16, request size 4k; " in latency.gaps[0].text
    assert [(gap.text, gap.rest) for gap in cost.gaps] == [
        ("Without a result: all 3 cells (3 not run): FAT16; ext2; F2FS.", [])
    ]


def test_a_number_that_only_one_metric_lacks_is_told() -> None:
    study = made_up_study()
    frame = made_up_frame(study)
    frame.loc[frame["request"] == "4k", "latency_p99_us"] = float("nan")
    latency = drawings(report_of(study, rows_of(frame), {}))[2]
    assert [gap.text for gap in latency.gaps] == [
        "Without a result: 3 of 12 cells (3 measured without latency_p99_us): FAT16, request size 4k; "
        "ext2, request size 4k; F2FS, request size 4k."
    ]


def test_a_line_never_runs_back() -> None:
    study = made_up_study()
    axes = {**study.axes, "request": ("64k", "1k", "16k", "4k")}
    study = replace(study, axes=axes, figures=(study.figures[0], replace_kind(study.figures[0], "bar")))
    line, bar = drawings(report_of(study, rows_of(made_up_frame(study)), {}))
    assert list(line.x_values) == ["1k", "4k", "16k", "64k"]
    assert list(bar.x_values) == ["64k", "1k", "16k", "4k"]


def replace_kind(figure: Figure, kind: str) -> Figure:
    return figure.model_copy(update={"kind": kind})


def test_points_are_medians_and_whiskers_reach_the_extremes() -> None:
    study = made_up_study()
    rows = [
        {"filesystem": "f2fs", "pattern": "read", "request": "4k", "seed": seed, "outcome": "measured",
         "reason": "", "key": f"{seed}", "bandwidth": value}
        for seed, value in enumerate((4.0, 1.0, 2.0), start=1)
    ]  # fmt: skip
    drawing = drawings(report_of(study, rows, {}))[0].data()
    f2fs = drawing["panels"][0]["series"][2]
    assert (f2fs["y"], f2fs["above"], f2fs["below"]) == ([None, 2.0, None, None], [0, 2.0, 0, 0], [0, 1.0, 0, 0])
    assert f2fs["text"][1] == "F2FS: 2.00 MiB/s (1.00 to 4.00, 3 seeds)"


def test_tables_mark_the_best_failures_and_thin_cells() -> None:
    study = made_up_study()
    bandwidth, longest = study_tables(report_of(study, rows_of(made_up_frame(study)), {}))
    assert bandwidth.columns == ["FAT16", "ext2", "F2FS"]
    assert [(head.text, head.rows) for head in bandwidth.rows[0].heads] == [("sequential read", 4), ("1k", 1)]
    assert [head.text for head in bandwidth.rows[1].heads] == ["4k"]
    tones = {
        tuple(head.text for head in row.heads)[-1]: [cell.tone for cell in row.cells] for row in bandwidth.rows[12:]
    }
    assert tones == {
        "1k": ["", "best", "bad"],
        "4k": ["", "", "best"],
        "16k": ["", "", "best"],
        "64k": ["", "", "best"],
    }
    assert bandwidth.rows[12].cells[2].text == "failed"
    assert bandwidth.rows[11].cells[2].note.endswith("2 of 3 seeds")
    assert (longest.over, longest.columns) == ("Request size", ["1k", "4k", "16k", "64k"])
    assert longest.note.startswith("Longest latency (s)")


# --- names and evidence ---------------------------------------------------------------------------------------------


class Library:
    """Titles as profiles have them."""

    def filesystem(self, selector: str) -> Any:
        titles = {"ext2": "ext2", "nilfs2": "NILFS2, without its cleaner", "odd": "A file system that nobody can name"}
        return type("Profile", (), {"title": titles[selector.partition(":")[0]]})

    medium = filesystem


def test_names_come_from_titles_and_stay_apart() -> None:
    axes = {"filesystem": ["ext2", "ext2:block=1k", "nilfs2", "odd:x=1"], "medium": ["ext2:a=1,b=2", "ext2:a=1,b=3"]}
    assert list(names_of(Library(), axes)["medium"].values()) == ["ext2 (b=2)", "ext2 (b=3)"]  # type: ignore[arg-type]
    assert names_of(Library(), axes)["filesystem"] == {  # type: ignore[arg-type]
        "ext2": "ext2 (defaults)",
        "ext2:block=1k": "ext2 (block=1k)",
        "nilfs2": "NILFS2",
        "odd:x=1": "odd",
    }


def test_consoles_lose_terminal_sequences_and_keep_text() -> None:
    assert plain_text("\x1b[1;31mError\x1b[0m: \x1b]0;title\x07bad\x00 \x1b(Bünd\tso\n") == "Error: bad ünd\tso\n"


def test_the_manifest_is_flat_and_readable() -> None:
    manifest = {"kernel": "6.1", "list": [1, 2], "medium": {"erase_ns": 3_500_000, "deep": {"on": True, "none": None}}}
    assert manifest_rows(manifest) == [
        ("", [("kernel", "6.1"), ("list", "1, 2")]),
        ("medium", [("erase_ns", "3500000 (3.50 ms)"), ("deep.on", "yes"), ("deep.none", "–")]),
    ]


def test_bytes_that_nobody_told_are_not_judged(tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study).drop(columns=["requested_bytes"])
    page = written(tmp_path, study, frame)
    assert "reached the medium" not in page.text
    assert "Did the bytes reach the medium?" not in page.text


def test_a_table_of_several_metrics_has_columns_for_each() -> None:
    reading: dict[str, tuple[str, ...]] = {"pattern": ("read",)}
    small, metrics = {**reading, "request": ("4k",)}, ("bandwidth", "iops")
    tables = (
        Table(title="Small requests", rows=("filesystem",), metric=metrics, where=small),
        Table(title="All", rows=("filesystem",), columns=("request",), metric=metrics, where=reading),
    )
    study = replace(made_up_study(), tables=tables)
    alone, both = study_tables(report_of(study, rows_of(made_up_frame(study)), {}))
    assert list(alone.columns) == ["Bandwidth (MiB/s)", "Requests per second (requests/s)"]
    assert len(both.columns) == 2 * len(study.axes["request"])
    assert both.columns[0] == "Bandwidth (MiB/s), 1k"
    for row in alone.rows:
        bandwidth, iops = (float(cell.text.replace(",", "")) for cell in row.cells)
        assert iops == pytest.approx(bandwidth * 256, rel=0.02)  # requests of 4 KiB
