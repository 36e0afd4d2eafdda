# SPDX-License-Identifier: Apache-2.0
"""A slice of a study has the study's cells and keys. Claims that need other cells are listed and not judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.study.loading import Study, load_study
from flashbed.study.plan import cell_inputs, plan
from flashbed.study.slicing import folder_name, narrowed
from tests.support.facts import Facts
from tests.support.samples import write_study

PARTS = """
[[claim]]
text     = "ext2 reads faster."
where    = { pattern = "read" }
metric   = "bandwidth"
compare  = [{ filesystem = "ext2" }, { filesystem = "fat16" }]
relation = ">"

[[claim]]
text     = "ext2 is faster at anything."
metric   = "bandwidth"
compare  = [{ filesystem = "ext2" }, { filesystem = "fat16" }]
relation = ">"

[[table]]
title   = "Written"
where   = { pattern = "write" }
rows    = "filesystem"
columns = "request"
metric  = "bandwidth"

[[table]]
title   = "Read"
where   = { pattern = "read" }
rows    = "filesystem"
columns = "request"
metric  = "bandwidth"
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    file = write_study(tmp_path)
    file.write_text(file.read_text() + PARTS)
    return load_study(file)


def test_cells_are_those_of_the_study(study: Study) -> None:
    part = narrowed(study, {"pattern": ["read"], "filesystem": ["fat16"]})
    assert list(part.combinations()) == [
        {"filesystem": "fat16:cluster=32k", "pattern": "read", "request": request} for request in ("4k", "64k")
    ]
    whole = {json.dumps(cell_inputs(cell), sort_keys=True) for cell in plan(study)}
    assert {json.dumps(cell_inputs(cell), sort_keys=True) for cell in plan(part)} < whole


def test_values_of_one_axis_add_up_in_the_studys_order(study: Study) -> None:
    part = narrowed(study, {"request": ["64k", "4k"], "filesystem": ["ext2"]})
    assert part.axes["request"] == ("4k", "64k")
    assert part.axes["filesystem"] == ("ext2:block=4k",)


def test_what_lacks_cells_is_left_out_and_told(study: Study) -> None:
    part = narrowed(study, {"pattern": ["read"]})
    assert [claim.text for claim in part.claims] == ["ext2 reads faster."]
    assert "Read" in [table.title for table in part.tables]
    assert "Written" not in [table.title for table in part.tables]
    assert part.answer == study.answer
    assert Facts("4 of 8 cells", "pattern read", "Left out", "1 figure", "1 table", "1 claim").within(part.slice_note)
    assert "\n" not in part.slice_note


def test_nothing_is_compared_with_itself(study: Study) -> None:
    part = narrowed(study, {"filesystem": ["ext2"]})
    assert part.answer is None
    assert not part.claims
    assert "the answer, 2 claims" in part.slice_note


def test_no_selection_is_the_study_itself(study: Study) -> None:
    assert narrowed(study, {}) is study
    assert study.slice_note == ""


def test_a_slice_without_cells_is_told(study: Study) -> None:
    holes = replace(study, skip=({"filesystem": ("ext2:block=4k",), "pattern": ("read",)},))
    with pytest.raises(InputError, match="leaves out every cell with all of these"):
        narrowed(holes, {"filesystem": ["ext2"], "pattern": ["read"]})


def test_its_report_has_a_folder_of_its_own() -> None:
    assert folder_name("quick", {}) == "quick"
    assert folder_name("quick", {"filesystem": ["fat16:cluster=16k", "ext2"], "request": ["4k"]}) == (
        "quick_filesystem=fat16_cluster=16k+ext2_request=4k"
    )


@pytest.mark.parametrize("name", sorted(file.stem for file in paths.studies().glob("*.toml")))
def test_every_shipped_study_can_be_cut_along_each_axis(name: str) -> None:
    study = load_study(paths.studies() / f"{name}.toml")
    for axis, values in study.axes.items():
        part = narrowed(study, {axis: [values[0]]})
        assert {cell[axis] for cell in part.combinations()} == set(part.axes[axis])
