# SPDX-License-Identifier: Apache-2.0
"""Opens a report in headless Chromium as a reader would, presses its buttons, and looks at what is drawn.

Nothing may go wrong in the browser's console, and the page may ask for nothing outside itself.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashbed.analysis.lines import MOST_ANSWER_LINES
from flashbed.report.figures import drawings
from flashbed.study.relation import Verdict
from tests.e2e.browser import (
    CHROMIUM,
    CLOSED,
    EDGES,
    LOOK,
    OPEN,
    PICTURE,
    PRINTED,
    broken,
    printed,
    visit,
    without_scripts,
)
from tests.support.made_up_papers import PAPERS, metrics_of, paper, paper_report, paper_rows, widened
from tests.support.made_up_results import MANIFEST, traced_report, traced_study
from tests.support.tabled import bring_up_to_date, report_of

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; `apt-get install chromium` brings it")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return traced_report(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def page_facts(report: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    facts, console = visit(report, tmp_path_factory.mktemp("browser"))
    assert console == []
    assert facts["troubles"] == []
    return facts


def test_every_figure_is_drawn(page_facts: dict[str, Any]) -> None:
    drawn = {figure["title"]: figure for figure in page_facts["first"]}
    assert [figure["title"] for figure in page_facts["first"]] == [
        *(figure.title for figure in traced_study().figures),
        *(trace.title for trace in traced_study().request_figures),
    ]
    # 3 file systems at 4 request sizes in each panel, less the one that failed with each seed.
    assert drawn["Reading"]["marks"] == [12, 12]
    assert drawn["Reading"]["lines"] == 6
    assert drawn["Writing"]["marks"] == [12, 11]
    assert drawn["How long the slowest requests take"]["marks"] == [12]
    assert drawn["What 4 KiB requests cost the flash"]["marks"] == [3]
    assert drawn["Where the requests lie"]["marks"] == [20, 20]
    assert all(figure["whiskers"] == sum(figure["marks"]) for figure in page_facts["first"][:4])


def test_axes_have_real_labels_and_units(page_facts: dict[str, Any]) -> None:
    reading, writing, latency, cost, requests = page_facts["first"]
    assert reading["ticks"] == writing["ticks"] == latency["ticks"] == ["1k", "4k", "16k", "64k"]
    assert cost["ticks"] == ["FAT16", "ext2", "F2FS"]
    assert reading["yTitle"] == "Bandwidth (MiB/s)"
    assert latency["yTitle"] == "99th percentile latency (ms)"
    assert requests["yTitle"] == "Address (MiB)"


def test_a_file_system_has_one_colour_everywhere(page_facts: dict[str, Any]) -> None:
    colours = [set(figure["colours"]) for figure in page_facts["first"][:4]]
    assert all(len(colours_of_page) == 3 and colours_of_page == colours[0] for colours_of_page in colours)
    assert len(set(page_facts["first"][3]["colours"])) == 3


def test_a_logarithmic_axis_draws_dots_for_bars(page_facts: dict[str, Any]) -> None:
    assert [figure["marks"] for figure in page_facts["log"]] == [figure["marks"] for figure in page_facts["first"]]
    assert page_facts["again"] == page_facts["first"]


def test_the_legend_hides_a_file_system_in_all_panels(page_facts: dict[str, Any]) -> None:
    assert [figure["marks"] for figure in page_facts["hidden"]] == [[8, 8], [8, 7], [8], [3], [20, 20]]


def test_paper_has_every_figure(page_facts: dict[str, Any]) -> None:
    assert [figure["marks"] for figure in page_facts["paper"]] == [figure["marks"] for figure in page_facts["first"]]


def test_each_claim_shows_its_verdict_and_its_numbers(page_facts: dict[str, Any]) -> None:
    assert [claim["verdict"] for claim in page_facts["claims"]] == [
        "holds", "cannot be decided", "within the model's error", "does not hold", "undecided", "holds"
    ]  # fmt: skip
    # Two against one at 4 sizes, a chain of three at 3; 3 steps and a whole in 4 patterns; a mean; 4 loads; 4 sizes.
    assert [claim["rows"] for claim in page_facts["claims"]] == [8, 6, 16, 1, 4, 4]
    assert len({claim["ground"] for claim in page_facts["claims"]}) == 4
    assert all(claim["height"] > 80 for claim in page_facts["claims"])


def test_what_was_measured_elsewhere_has_a_table_of_its_own(page_facts: dict[str, Any]) -> None:
    assert page_facts["elsewhere"] == ["Linux"] * 4 + ["Windows XP"] * 4


def test_no_button_sends_data_away(page_facts: dict[str, Any]) -> None:
    tools = {tool for figure in page_facts["first"] for tool in figure["tools"]}
    assert tools == {"Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes", "Download plot as a PNG"}


def test_tables_sort(page_facts: dict[str, Any]) -> None:
    assert page_facts["sorted"] == ["1", "3"]


def test_dark_colours_differ_and_paper_is_light(page_facts: dict[str, Any], report: Path, tmp_path: Path) -> None:
    dark, console = visit(report, tmp_path, 1280, "--blink-settings=preferredColorScheme=0")
    assert console == dark["troubles"] == []
    assert dark["first"][0]["colours"] != page_facts["first"][0]["colours"]
    assert dark["paper"][0]["colours"] == page_facts["first"][0]["colours"]


def test_nothing_sticks_out_of_a_narrow_window(report: Path, tmp_path: Path) -> None:
    narrow, console = visit(report, tmp_path, 500)
    assert console == narrow["troubles"] == []
    page, window = narrow["width"]
    assert page <= window
    assert [figure["marks"] for figure in narrow["first"]] == [[12, 12], [12, 11], [12], [3], [20, 20]]


@pytest.mark.parametrize("width", [1300, 500])
def test_a_field_opens_what_stands_behind_it_without_javascript(report: Path, tmp_path: Path, width: int) -> None:
    facts, console = visit(without_scripts(report, tmp_path), tmp_path, width, script=OPEN)
    assert console == []
    assert (facts["before"], facts["opened"]) == (0, ["load-1-4"])
    assert facts["sentence"].startswith("For random write, F2FS is 4.0 times as fast as ext2")
    assert facts["cells"] == 12  # three file systems at four sizes
    assert facts["figures"] == ["Writing"]
    assert facts["inside"]
    assert facts["width"][0] <= facts["width"][1]
    assert len(set(facts["grounds"])) == 3
    assert facts["numbers"] == len(traced_study().figures) + len(traced_study().request_figures)


def test_the_pressed_field_is_marked_until_its_row_is_closed(report: Path, tmp_path: Path) -> None:
    """Three file systems: the fields 0 to 2 open the first row, 3 to 5 the second."""
    facts, console = visit(report, tmp_path, script=CLOSED)
    assert console == facts["troubles"] == []
    assert (facts["first"]["open"], facts["first"]["expanded"], facts["first"]["outlined"]) == (0, [], [])
    for name, place in [("pressed", 1), ("beside", 2)]:
        assert (facts[name]["open"], facts[name]["expanded"], facts[name]["outlined"]) == (1, [place], [place])
    for name, place in [("escaped", 2), ("twice", 1), ("link", 4)]:
        assert (facts[name]["open"], facts[name]["expanded"], facts[name]["focused"]) == (0, [], place)


def test_all_text_ends_at_one_right_edge(report: Path, tmp_path: Path) -> None:
    facts, _ = visit(without_scripts(report, tmp_path), tmp_path, 1300, script=EDGES)
    assert len(facts["edges"]) > 5
    assert len(set(facts["edges"])) == 1


def test_the_first_screen_is_the_picture(report: Path, tmp_path: Path) -> None:
    facts, _ = visit(without_scripts(report, tmp_path), tmp_path, 1300, script=OPEN)
    assert facts["top"] < 450  # of 1000 pixels


def on_a_phone(report: Path, folder: Path, script: str) -> Any:
    """Return what `script` returns in the page, 390 pixels wide: in a frame, as no window is narrower than 500."""
    inner = folder / "inner.html"
    page_script = f"""<script>const look = () => {{ {script} }};
      addEventListener("load", () => parent.postMessage(look(), "*"));</script></body>"""
    page = report.read_text(encoding="utf-8")
    inner.write_text(re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL).replace("</body>", page_script))
    frame = folder / "frame.html"
    frame.write_text(
        """<title>A phone</title><body><script>addEventListener("message", (event) => {
        const out = document.createElement("pre");
        out.id = "seen";
        out.textContent = JSON.stringify({ told: event.data, troubles: [] });
        document.body.append(out); });</script>
        <iframe src="inner.html" width="390" height="800" style="border: 0"></iframe></body>"""
    )
    return visit(frame, folder, 1000, script="")[0]["told"]


def test_what_a_field_opens_fits_on_a_phone(tmp_path: Path) -> None:
    """With the longest words that say what limits a cell."""
    study = paper("quick")
    page = bring_up_to_date(study, widened(paper_rows(study), metrics_of(study)), MANIFEST, tmp_path)
    parts = on_a_phone(
        page,
        tmp_path,
        """
      document.head.append(Object.assign(document.createElement("style"), {
        textContent: ".matrix tr.opened, .matrix tr.opened > td { display: block }" }));
      return [...document.querySelectorAll(".matrix .scroll")].map((part) => [part.scrollWidth, part.clientWidth]);""",
    )
    assert len(parts) == 8
    assert [part for part in parts if part[0] > part[1]] == []


def test_no_key_is_broken(tmp_path: Path) -> None:
    study = paper("quick")
    page = bring_up_to_date(study, widened(paper_rows(study), metrics_of(study)), MANIFEST, tmp_path)
    bare = without_scripts(page, tmp_path)
    bare.write_text(bare.read_text().replace("<details", "<details open"))
    facts, _ = visit(bare, tmp_path, 1100, script=broken("#repetitions td"))
    assert facts["broken"] == []


def test_nothing_sticks_out_of_a_phone(tmp_path: Path) -> None:
    study = paper("kim2007")  # five long names are compared
    facts = on_a_phone(
        paper_report(study, tmp_path),
        tmp_path,
        """
      const fields = [...document.querySelectorAll(".matrix tr.load td a")];
      const ends = fields.map((field) => field.getBoundingClientRect().right);
      return [document.documentElement.scrollWidth, innerWidth, ...ends];""",
    )
    page_px, window_px, *fields = facts
    assert window_px == 390
    assert page_px <= window_px
    assert len(fields) > 4
    assert max(fields) <= 390


def test_paper_has_the_sentence_of_every_load(report: Path, tmp_path: Path) -> None:
    """The rules for paper, put to the screen."""
    bare = without_scripts(report, tmp_path)
    bare.write_text(bare.read_text().replace("@media print", "@media all"))
    facts, _ = visit(bare, tmp_path, 1000, script=PRINTED)
    assert [sentence.partition(",")[0] for sentence in facts["sentences"]] == [
        "For sequential read", "For random read", "For sequential write", "For random write"
    ]  # fmt: skip
    assert (facts["tables"], facts["close"], facts["fields"]) == (0, 0, 12)


def test_paper_is_upright_and_its_type_can_be_read(report: Path, tmp_path: Path) -> None:
    assert {(round(width), round(height)) for width, height in printed(report, tmp_path)} == {(595, 842)}  # A4
    bare = without_scripts(report, tmp_path)
    text = bare.read_text().replace("@media print", "@media all")
    bare.write_text(text.replace('<details class="printed"', '<details open class="printed"'))
    facts, _ = visit(bare, tmp_path, 1000, script=PRINTED)
    assert facts["type"] >= 7.5 * 96 / 72


@pytest.mark.parametrize("name", PAPERS)
def test_the_reports_after_papers_open_whole(name: str, tmp_path: Path) -> None:
    """With cells that failed and cells that have not run: what can be drawn is, and what cannot is summed up."""
    study = paper(name)
    study = replace(study, seeds=study.seeds[:2])  # tables of fewer rows
    expected = drawings(report_of(study, paper_rows(study)))
    facts, console = visit(paper_report(study, tmp_path), tmp_path, 1300, script=LOOK)
    assert console == facts["troubles"] == []
    assert facts["titles"] == [
        *(figure.title for figure in study.figures),
        *(figure.title for figure in study.request_figures),
    ]
    assert [len(plots) for plots in facts["marks"]] == [
        *(len(drawing.drawn_panels) for drawing in expected),
        *([4] * len(study.request_figures)),
    ]
    assert all(all(plots) for plots in facts["marks"]), "a plot is empty"
    # What has no number at all is told in words.
    assert facts["empty"] == sum(not panel.has_points for drawing in expected for panel in drawing.panels)
    assert all(plots == [20] * 4 for plots in facts["marks"][len(study.figures) :])
    order = list(Verdict)
    assert len(facts["verdicts"]) == facts["claims"] == len(study.claims)
    assert facts["verdicts"] == sorted(facts["verdicts"], key=order.index)
    assert len(set(facts["verdicts"])) > 1
    assert facts["matrices"] == len(study.choices) + 1
    assert 0 < facts["lines"] <= MOST_ANSWER_LINES
    assert len(facts["fields"]) > 4
    assert all(facts["fields"])
    assert facts["sideways"] == [], "a table scrolls sideways"
    assert facts["unfolded"] == 0
    assert max(facts["captions"]) < 700  # characters; a wall of names was thousands
    assert facts["width"][0] <= facts["width"][1]


@pytest.mark.parametrize("name", ["quick", "logger", "kim2007-processes"])
def test_the_widest_tables_do_not_scroll_sideways(name: str, tmp_path: Path) -> None:
    """These shipped studies have the most columns; the numbers are long, and headers have marks for sorting."""
    study = paper(name)
    rows = widened(paper_rows(study), metrics_of(study))
    facts, _ = visit(bring_up_to_date(study, rows, MANIFEST, tmp_path), tmp_path, 1300, script=LOOK)
    assert facts["troubles"] == facts["sideways"] == []
    assert facts["width"][0] <= facts["width"][1]


@pytest.mark.parametrize("name", ["ftl", "lifetime"])
def test_no_word_of_a_crowded_picture_is_broken(name: str, tmp_path: Path) -> None:
    """Eight and ten columns at 1300 pixels."""
    study = paper(name)
    page = bring_up_to_date(study, paper_rows(study), MANIFEST, tmp_path)
    facts, _ = visit(without_scripts(page, tmp_path), tmp_path, 1300, script=broken(PICTURE))
    assert facts["columns"] >= 9  # of the first picture, and the load's
    assert facts["broken"] == []
