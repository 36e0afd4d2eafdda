# SPDX-License-Identifier: Apache-2.0
"""docs/time.md tells what `make bench` prints of several CPUs. What of it is virtual time is the same on every host, so
the page is held to it to the last digit.
"""

from __future__ import annotations

import re

import pytest

from bench import several_cpus
from tests.support import bare_metal
from tests.support.bare_metal import LOCKS, Machine
from tests.support.repository import REPOSITORY

PAGE = (REPOSITORY / "docs/time.md").read_text()
LONG = pytest.mark.long
LOCK_COLUMNS = ("test and set", "ticket", "queue (MCS)", "queue, plain accesses", "queue, free")


def row(begins: str) -> list[str]:
    """Return the cells of a table's row after its first cell."""
    match = re.search(rf"^\| {re.escape(begins)} ?\|(.*)\|$", PAGE, re.MULTILINE)
    assert match is not None, begins
    return [cell.strip() for cell in match[1].split("|")]


def test_the_page_has_the_columns_that_are_looked_at() -> None:
    assert row("") == ["1 CPU", "2", "8", "32", "120"]
    assert row("CPUs") == list(LOCK_COLUMNS)


@pytest.mark.parametrize(
    ("column", "cpus"), [(0, 1), (1, 2), (2, 8), pytest.param(3, 32, marks=LONG), pytest.param(4, 120, marks=LONG)]
)
def test_cpus_are_as_even_as_the_page_tells(column: int, cpus: int) -> None:
    assert (
        row("a million instructions on each CPU, farthest from 1 ms")[column]
        == f"{several_cpus.farthest_off(cpus, cpus):.3f} %"
    )
    if cpus > 1:
        assert row("the same while the others sleep")[column] == f"{several_cpus.farthest_off(cpus, 1):.3f} %"
    turn = bare_metal.ns_per_turn(Machine(cpus, slice=several_cpus.SLICE), "queue", 1000, 0, 2_000_000)
    assert row("a queue lock held for 1000 instructions, ns a turn")[column] == f"{turn:.0f}"


@pytest.mark.parametrize("cpus", [4, 8, pytest.param(24, marks=LONG), pytest.param(48, marks=LONG)])
def test_locks_scale_as_the_page_tells(cpus: int) -> None:
    printed = several_cpus.scaling(cpus, several_cpus.of_one_cpu(1_000_000), 1_000_000)
    expected = [*(priced for priced, _ in printed.values()), printed["queue"][1]]
    assert list(printed) == list(LOCKS)
    assert row(str(cpus)) == [f"{turns:.2f}" for turns in expected]
