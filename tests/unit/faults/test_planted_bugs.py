# SPDX-License-Identifier: Apache-2.0
"""The planted bugs: their patches apply, their cells are in the studies, and the table says what was found."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from faults.planted import bugs
from faults.planted.bugs import Bug
from flashbed.common import paths
from flashbed.guest_output.power_cuts import Cut, CutOutcome
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from pages import planted_bugs
from pages.planted_bugs import Row, Searched

DECLARED = bugs.declared()
LICENCES = {"fs": "GPL-2.0-only", "media": "GPL-2.0-only OR MIT", "emulator": "GPL-2.0-or-later"}


def test_there_are_ten_bugs_and_four_below_the_program() -> None:
    assert len(DECLARED) >= 10
    assert sum(bug.layer != "program" for bug in DECLARED) >= 4
    assert any(bug.is_of_kernel for bug in DECLARED)
    assert len({bug.title for bug in DECLARED}) == len(DECLARED)


def test_each_patch_is_planted() -> None:
    files = {bug.patch_file for bug in DECLARED if bug.patch_file}
    assert files == set((bugs.FOLDER / "patches").glob("*.patch"))


@pytest.mark.parametrize("bug", [bug for bug in DECLARED if bug.patch], ids=lambda bug: bug.patch)
def test_a_patch_says_what_it_does_and_applies(bug: Bug, tmp_path: Path) -> None:
    assert bug.patch_file is not None
    head, _, changes = bug.patch_file.read_text().partition("\ndiff ")
    (folder,) = {match[1] for match in re.finditer(r"^--- a/(\w+)/", changes, re.MULTILINE)}
    assert head.endswith(f"SPDX-License-Identifier: {LICENCES[folder]}\n")
    assert len(head.split()) > 12
    if not bug.is_of_kernel:
        copy = bugs.patched(bug.patch_file, tmp_path / "copy")
        compared = subprocess.run(["diff", "-rq", paths.data_root() / folder, copy / folder], capture_output=True)
        assert compared.stdout.count(b" differ\n") == 1


@pytest.mark.parametrize("bug", [*DECLARED, *(bug.control for bug in DECLARED)], ids=lambda bug: bug.title)
def test_the_cell_of_a_bug_is_in_its_study(bug: Bug) -> None:
    cells = plan(load_study(bugs.FOLDER / f"{bug.study}.toml"))
    wanted = {"medium": bug.medium, "filesystem": bug.filesystem, "writer": bug.writer}
    (cell,) = (cell for cell in cells if wanted.items() <= cell.coordinates.items())
    assert cell.power_cuts >= 20


def test_a_control_has_no_bug_and_is_shared() -> None:
    assert all(not bug.control.patch and bug.control.control == bug.control for bug in DECLARED)
    assert len({bug.control for bug in DECLARED}) < len(DECLARED)
    assert all(bug.patch or bug.control.writer != bug.writer for bug in DECLARED)


def test_the_table_says_what_was_found() -> None:
    note = "error: /app/writer check append 40: acknowledged 14, has 13 rows"
    cut = Cut(moment_ns=5, outcome=CutOutcome.LOST, acknowledged=14, recovery_s=0.1, note=note)
    bug = DECLARED[0]
    good, missed = Row(bug, Searched(3, cut), Searched(30, None)), Row(bug, Searched(30, None), Searched(2, cut))
    assert good.is_good
    assert not missed.is_good
    _, _, *lines = planted_bugs.bugs_table([good, missed]).splitlines()
    assert lines[0].endswith(f"| 3 | {CutOutcome.LOST}: acknowledged 14, has 13 rows | 0 of 30 |")
    assert "| not found | found by cut 2: " in lines[1]


def test_the_page_has_a_place_for_the_table() -> None:
    page = "before\n<!-- planted-bugs -->\n\nold\n\n<!-- /planted-bugs -->\nafter\n"
    assert planted_bugs.renewed(page, "new\n") == page.replace("old", "new")
    with pytest.raises(ValueError, match="no place"):
        planted_bugs.renewed("nothing", "new\n")


def test_the_page_has_a_row_for_each_bug() -> None:
    page = planted_bugs.PAGE.read_text()
    assert [bug.title for bug in DECLARED if f" | {bug.title} | " not in page] == []
