# SPDX-License-Identifier: Apache-2.0
"""The limit of a phase stands beside its figure, by the bytes of that phase and not by those of the whole run."""

from __future__ import annotations

from typing import Any

from flashbed.report.model import Report
from flashbed.report.tables import study_tables
from tests.support.made_up_papers import paper
from tests.support.tabled import report_of


def report(name: str, limit: str, **metrics: float) -> Report:
    study = paper(name)
    cells = [(cell, seed) for cell in study.combinations() for seed in study.seeds]
    rows: list[dict[str, Any]] = [
        {**cell, "seed": seed, "outcome": "measured", "reason": "", "key": "k", "limit": limit, **metrics}
        for cell, seed in cells
    ]
    return report_of(study, rows)


def notes(report_: Report, title: str, place: int) -> set[str]:
    [table] = [table for table in study_tables(report_) if title in table.caption]
    return {line for row in table.rows for line in row.cells[place].note.splitlines() if line.startswith("limit")}


METRICS = {
    **dict.fromkeys(("char_output", "block_output", "rewrite", "char_input", "block_input", "random_seeks"), 2.0),
    "block_output_reached_percent": 93.0,
    "rewrite_reached_percent": 97.0,
    "block_input_reached_percent": 8.7,
    "random_seeks_reached_percent": 94.0,
}


def test_a_phase_that_memory_made_says_so_in_a_cell_that_the_bus_limits() -> None:
    report_ = report("kim2007-processes", "bus", **METRICS)
    reading = "Rates of reading and seeking, caches kept"
    assert notes(report_, reading, 1) == {"limit: memory"}  # 31.7 MiB/s of a card whose slot carries 3.3
    assert notes(report_, reading, 2) == {"limit: bus"}


def test_a_phase_that_reached_the_medium_does_not_bear_what_memory_did_to_others() -> None:
    report_ = report("kim2007-processes", "memory", **METRICS)
    assert notes(report_, "Rates of writing, caches kept", 1) == set()
    assert notes(report_, "Rates of reading and seeking, caches kept", 1) == {"limit: memory"}


def test_a_share_of_bytes_has_no_limit_below_it() -> None:
    report_ = report("kim2007-processes", "bus", **METRICS)
    assert notes(report_, "the medium moved, caches dropped", 0) == set()


def test_where_a_file_system_compresses_memory_alone_is_not_blamed() -> None:
    report_ = report("lee2013", "memory", write_s=1.0, read_s=1.0, write_reached_percent=3.0, read_reached_percent=9.0)
    by_name = {name: list(report_.results.combinations({"filesystem": (name,)})) for name in ("jffs2", "yaffs2")}
    assert report_.keeper(by_name["jffs2"]) == "memory or compression"
    assert report_.keeper(by_name["yaffs2"]) == "memory"
    assert report_.keeper([]) == "memory"
