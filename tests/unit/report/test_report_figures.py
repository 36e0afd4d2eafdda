# SPDX-License-Identifier: Apache-2.0
"""The report's figures and tables: panels, points, marks, and what a figure lacks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flashbed.report.figures import drawings
from flashbed.report.tables import study_tables
from flashbed.study.format import Figure, Table
from tests.support.facts import Facts
from tests.support.made_up_results import (
    REASON,
    made_up_frame,
    made_up_study,
    rows_of,
)
from tests.support.tabled import report_of


def test_figures_have_a_panel_for_each_second_distinction() -> None:
    study = made_up_study()
    reading, writing, latency, cost = drawings(report_of(study, rows_of(made_up_frame(study))))
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
        Facts("1 of 24 cells", "1 failed", REASON, "F2FS, random write, request size 1k"),
        Facts("1 of 24 cells", "F2FS, sequential write, request size 64k (2 of 3)"),
    ]
    assert not reading.gaps


def test_what_a_figure_lacks_is_summed_up_and_folded() -> None:
    study = made_up_study()
    frame = made_up_frame(study)
    begun = frame[(frame["pattern"] == "write") | (frame["request"] == "1k") & (frame["seed"] < 3)]
    reading, writing, latency, cost = drawings(report_of(study, rows_of(begun)))
    # Two patterns of three file systems at four sizes; of these only 1k has run, with two seeds of three.
    absent, thin = reading.gaps
    assert absent.text == Facts(
        "18 of 24 cells",
        "18 not run",
        "FAT16, sequential read, request size 4k",
        "FAT16, sequential read, request size 16k",
        "FAT16, sequential read, request size 64k",
    )
    assert (absent.folded, len(absent.rest)) == ("15 more cells", 15)
    assert absent.rest[0] == "FAT16, random read, request size 4k: not run"
    assert Facts("fewer seeds", "6 of 24 cells", "FAT16, sequential read, request").within(thin.text)
    # F2FS failed at 1k with both seeds that ran; the third has not run.
    assert f"(9 not run; 1 failed: {REASON} and not run)" in writing.gaps[0].text
    # Names have only what distinguishes the cells of a figure
    assert "such as FAT16, request size 4k; " in latency.gaps[0].text
    assert [gap.text for gap in cost.gaps] == [Facts("all 3 cells", "3 not run", "FAT16; ext2; F2FS")]
    assert [gap.rest for gap in cost.gaps] == [[]]


def test_a_number_that_only_one_metric_lacks_is_told() -> None:
    study = made_up_study()
    frame = made_up_frame(study)
    frame.loc[frame["request"] == "4k", "latency_p99_us"] = float("nan")
    latency = drawings(report_of(study, rows_of(frame)))[2]
    assert [gap.text for gap in latency.gaps] == [
        Facts(
            "3 of 12 cells",
            "3 measured without latency_p99_us",
            "FAT16, request size 4k",
            "ext2, request size 4k",
            "F2FS, request size 4k",
        )
    ]


def test_a_line_never_runs_back() -> None:
    study = made_up_study()
    axes = {**study.axes, "request": ("64k", "1k", "16k", "4k")}
    study = replace(study, axes=axes, figures=(study.figures[0], replace_kind(study.figures[0], "bar")))
    line, bar = drawings(report_of(study, rows_of(made_up_frame(study))))
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
    drawing = drawings(report_of(study, rows))[0].data()
    f2fs = drawing["panels"][0]["series"][2]
    assert (f2fs["y"], f2fs["above"], f2fs["below"]) == ([None, 2.0, None, None], [0, 2.0, 0, 0], [0, 1.0, 0, 0])
    assert f2fs["text"][1] == "F2FS: 2.00 MiB/s (1.00 to 4.00, 3 seeds)"


def test_tables_mark_the_best_failures_and_thin_cells() -> None:
    study = made_up_study()
    bandwidth, longest = study_tables(report_of(study, rows_of(made_up_frame(study))))
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


def test_a_table_of_several_metrics_has_columns_for_each() -> None:
    reading: dict[str, tuple[str, ...]] = {"pattern": ("read",)}
    small, metrics = {**reading, "request": ("4k",)}, ("bandwidth", "iops")
    tables = (
        Table(title="Small requests", rows=("filesystem",), metric=metrics, where=small),
        Table(title="All", rows=("filesystem",), columns=("request",), metric=metrics, where=reading),
    )
    study = replace(made_up_study(), tables=tables)
    alone, both = study_tables(report_of(study, rows_of(made_up_frame(study))))
    assert list(alone.columns) == ["Bandwidth (MiB/s)", "Requests per second (requests/s)"]
    assert len(both.columns) == 2 * len(study.axes["request"])
    assert both.columns[0] == "Bandwidth (MiB/s), 1k"
    for row in alone.rows:
        bandwidth, iops = (float(cell.text.replace(",", "")) for cell in row.cells)
        assert iops == pytest.approx(bandwidth * 256, rel=0.02)  # requests of 4 KiB
