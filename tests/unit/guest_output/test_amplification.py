# SPDX-License-Identifier: Apache-2.0
"""Whether write amplification was the same in both halves of a run."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from flashbed.analysis.decisive import doubt_of
from flashbed.guest_output.assessment import State, Status
from flashbed.guest_output.steadiness import (
    PROGRAMMED_NOTES,
    Series,
    Settling,
    programmed,
    series,
    settling,
)
from flashbed.report.trust import Trust
from flashbed.result.columns import ResultRow
from tests.support.facts import Facts

SECOND = 10**9


def guest(pages_at: Callable[[float], float], seconds: int = 20, notes: int = 80) -> dict[str, bytes]:
    """Return the files of a guest that measured from second 100 on. 7 pages had been programmed by then."""
    moments = [(place * seconds / notes) for place in range(-4, notes + 4)]
    notes_of_pages = b"".join(
        struct.pack("<2Q", int((100 + at) * SECOND), 7 + int(pages_at(max(at, 0.0)))) for at in moments
    )
    idle = "now at {} nsecs\n .idle_sleeptime: 1 nsecs\n .iowait_sleeptime: 0 nsecs\n"
    return {
        PROGRAMMED_NOTES: notes_of_pages,
        "idle.before": idle.format(100 * SECOND).encode(),
        "idle.measured": idle.format((100 + seconds) * SECOND).encode(),
        "counters.before": b"/sys/block/mblk0/medium/flash_programmed_pages:7\n",
        "counters.measured": f"/sys/block/mblk0/medium/flash_programmed_pages:{7 + int(pages_at(seconds))}\n".encode(),
    }


def load(bytes_at: Callable[[float], float], seconds: float = 20) -> list[Series]:
    progress = series([(seconds * place / 100, bytes_at(seconds * place / 100)) for place in range(101)])
    assert progress
    return [progress]


def evenly(at: float) -> float:
    return 1e6 * at


def first_blocks(at: float) -> float:
    """Return the pages of a load that also writes 3,000 pages for its files' first blocks, within 8 s."""
    return 500 * at + 3000 * min(at, 8) / 8


def test_writes_at_the_beginning_only_have_not_settled() -> None:
    # 8,000 pages in the first half, 5,000 in the second
    settled = settling(programmed(guest(first_blocks)), load(evenly))
    assert [settled.state, settled.reason] == ["not settled", Facts("write amplification falls by 38 %")]
    # In six times the time 3,000 pages are a tenth of the first half
    longer = guest(first_blocks, seconds=120)
    assert settling(programmed(longer), load(evenly, 120)) == Settling(State.SETTLED)


def test_a_load_that_slows_down_has_settled_if_its_flash_does_too() -> None:
    def slower(at: float) -> float:
        return 500 * min(at, 10) + 200 * max(at - 10, 0)

    assert settling(programmed(guest(slower)), load(lambda at: 4096 * slower(at))) == Settling(State.SETTLED)
    assert settling(programmed(guest(slower)), load(evenly)).text.startswith(
        "not settled: write amplification falls by 60 %"
    )


def test_few_large_steps_tell_nothing() -> None:
    """Three merges of 4,000 pages in 20 s: two of them in one half, and one in the other."""
    steps = guest(lambda at: 100 * at + 4000 * sum(at >= moment for moment in (3, 9, 15)))
    assert not settling(programmed(steps), load(evenly))


def test_nothing_is_told_without_notes_or_a_load() -> None:
    out = guest(evenly)
    assert programmed({name: data for name, data in out.items() if name != PROGRAMMED_NOTES}) is None
    assert not settling(None, load(evenly))
    assert not settling(programmed(out), [])
    assert not settling(programmed(out), load(evenly, 17))  # the load does not run during the whole measurement


def test_torn_notes_are_told() -> None:
    with pytest.raises(ValueError, match=r"programmed\.bin is not a row of entries"):
        programmed({**guest(evenly), PROGRAMMED_NOTES: b"1234567"})


def test_write_amplification_that_has_not_settled_decides_nothing() -> None:
    settled = Settling(State.NOT_SETTLED, "write amplification falls by 38 % from its first half to its second")
    row = ResultRow(
        (), 1, Status.MEASURED, metrics={"total_write_amplification": 3.4, "bandwidth": 1.0}, settled=settled
    )
    doubt = doubt_of(row, "total_write_amplification")
    assert doubt is not None
    assert doubt.bars
    assert doubt.facts == settled
    assert doubt_of(row, "bandwidth") is None


def test_a_claim_says_how_many_of_its_cells_have_not_settled() -> None:
    trust = Trust(4, {"not settled": 3})
    assert trust.short == "3 of 4 not settled"
    assert trust.sentence == Facts("4 cells compared", "another write amplification in 3")
