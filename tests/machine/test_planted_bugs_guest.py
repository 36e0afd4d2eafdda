# SPDX-License-Identifier: Apache-2.0
"""Power cuts find the two planted bugs that take no build; without them they find nothing. `make planted-bugs` plants
all.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faults.planted import bugs
from faults.planted.bugs import Bug, Workshop
from flashbed.guest_output.power_cuts import CutOutcome
from pages import planted_bugs
from pages.planted_bugs import Searched

CUTS = 4
FOUND = {"append-early": CutOutcome.LOST, "update-no-file": CutOutcome.UNREADABLE}
CHEAPEST = [bug for bug in bugs.declared() if bug.writer in FOUND]


def searched(bug: Bug, folder: Path) -> Searched:
    planted = Workshop(folder).planted(bug)
    return planted_bugs.search(replace(planted, cell=replace(planted.cell, power_cuts=CUTS)))


@pytest.mark.parametrize("bug", CHEAPEST, ids=lambda bug: bug.writer)
def test_a_planted_bug_is_found(bug: Bug, tmp_path: Path) -> None:
    found = searched(bug, tmp_path).found
    assert found is not None
    assert found.outcome is FOUND[bug.writer]
    assert searched(bug.control, tmp_path) == Searched(CUTS, None)
