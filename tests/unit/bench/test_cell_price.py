# SPDX-License-Identifier: Apache-2.0
"""bench/cell_price.py derives the cost of a cell's phases from the emulator's notes."""

from __future__ import annotations

import pytest

from bench import cell_price

NOTES = """\
medium 40000000 1000000000
format 41000000 1100000000
prepare 60000000 1500000000
measure 70000000 1600000000
scheduler 70500000 1650000000
sync 100000000 2600000000
end 101000000 2700000000
"""


def test_a_phase_lasts_until_the_next_one_begins() -> None:
    phases = dict(cell_price.phases(NOTES))
    assert {phase: round(spent.cpu_s, 6) for phase, spent in phases.items()} == {
        "boot": 1.0,
        "mkfs": 0.5,
        "prepare": 0.1,
        "measure": 1.0,
        "end": 0.1,
    }
    assert [spent.instructions for spent in phases.values()] == [40_000_000, 20_000_000, 10_000_000, 30_000_000, 10**6]


def test_a_step_that_comes_again_ended_a_phase_at_its_first_time() -> None:
    again = NOTES.replace("scheduler", "measure")
    assert dict(cell_price.phases(again)) == dict(cell_price.phases(NOTES))


def test_a_cell_that_failed_has_the_phases_that_it_came_to() -> None:
    """The event that ended it does not count as a phase that it never began."""
    failed = "medium 40 1\nstep prepare failed with exit status 1 60 2\nend 70 3\n"
    assert [phase for phase, _ in cell_price.phases(failed)] == ["boot"]


def test_a_line_that_is_none_of_the_emulators_is_refused() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        dict(cell_price.phases("medium\n"))
