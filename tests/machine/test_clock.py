# SPDX-License-Identifier: Apache-2.0
"""The guest's clock: instructions take what the board says, and a CPU that is busy without executing anything is
interrupted as one that executes.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.machine import raw_chip
from tests.support.fixture_types import NewChip
from tests.support.guest_rig import NO_MOUNT, boot

INSTRUCTIONS = 1_000_000
BUSY_NS = 1_000_000
CLOCK_NS = 16
"""What the guest's counter of 62.5 MHz tells apart."""

TICK_NS = 1000
"""Less than the kernel's tick takes: 2.4 us at 1000 MIPS."""

Stretch = tuple[int, int, int]
"""What a stretch took alone, what with a timer in its midst, and how late that came; ns."""

Stretches = Callable[[int], tuple[Sequence[Stretch], Sequence[Stretch]]]


@pytest.fixture
def stretches(new_chip: NewChip, tmp_path: Path) -> Stretches:
    """Return a function that measures stretches of a counted loop, and of the same time by the hint."""

    def make(mips: int) -> tuple[Sequence[Stretch], Sequence[Stretch]]:
        rig = new_chip("slc-nand-64m", tmp_path / str(mips), board=f"arm64-1000:mips={mips}")
        works = {"loop": INSTRUCTIONS, "hint": INSTRUCTIONS * 1000 // mips}
        script = "cp /job/busy /tmp\nchmod +x /tmp/busy\n"
        script += "".join(f"/tmp/busy {work} {amount} >/out/{work}\n" for work, amount in works.items())
        program = {"busy": raw_chip.own_program("busy")}
        files = boot(rig, beside=program, format=script, mount=NO_MOUNT).files
        loop, hint = ([_stretch(line) for line in files[name].decode().splitlines()] for name in works)
        return loop, hint

    return make


def _stretch(line: str) -> Stretch:
    alone, interrupted, late = map(int, line.split())
    return alone, interrupted, late


@pytest.mark.parametrize("mips", [267, 889, 1000, 2830])
def test_a_million_instructions_take_what_the_board_says(stretches: Stretches, mips: int) -> None:
    """The kernel's tick comes in the midst of some; the shortest is without."""
    loop, hint = stretches(mips)
    by_hand = INSTRUCTIONS * 1000 / mips
    assert abs(min(alone for alone, _, _ in loop) / by_hand - 1) < 0.001
    # Two looks at the clock, some 50 instructions, lie around it
    assert -CLOCK_NS <= min(alone for alone, _, _ in hint) - by_hand < 100_000 / mips + CLOCK_NS


def _by_the_timer(stretches: Sequence[Stretch]) -> float:
    """Return the least time that the timer added, ns. In a quarter of all stretches the kernel's own tick comes in
    between. If a stretch has a tick while it runs alone, it is left out; the least one has none with the timer either.
    """
    shortest = min(alone for alone, _, _ in stretches)
    return min(with_timer - alone for alone, with_timer, _ in stretches if alone - shortest < TICK_NS)


def test_a_timer_in_the_midst_of_a_busy_stretch_comes_as_in_a_loop(stretches: Stretches) -> None:
    """The hint's stretch does not hold interrupts up, and what is left of it is done after them."""
    loop, hint = stretches(1000)
    lates = [sorted(late for _, _, late in lates_of_run) for lates_of_run in (loop, hint)]
    assert all(0 < late < 20_000 for lates_of_run in lates for late in lates_of_run)
    assert abs(statistics.median(lates[0]) - statistics.median(lates[1])) <= CLOCK_NS
    took, looped = map(_by_the_timer, (hint, loop))
    assert abs(took - looped) <= 3 * CLOCK_NS
    assert min(with_timer for _, with_timer, _ in hint) > BUSY_NS
