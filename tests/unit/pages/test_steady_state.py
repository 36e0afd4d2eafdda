# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of random overwrites in steady state, by hand on round numbers, and that it can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.steady_state import LEAST_BUSY, Steady, checks

NUMBERS = {
    "planes": 8,
    "dies": 16,
    "pages_per_block": 250,
    "program_ns": 200_000,
    "read_ns": 30_000,
    "read_upper_ns": 50_000,
    "erase_ns": 3_000_000,
}

STEADY = Steady(
    NUMBERS,
    pages=1000,
    duration_ns=20_000_000,
    counters={
        "flash_programmed_pages": 6000,
        "flash_read_pages": 5000,
        "flash_program_ns": 200_000 * 800,
        "flash_read_ns": 40_000 * 625,
        "flash_erase_ns": 3_000_000 * 3,
    },
)
"""Six programs and five reads per page; 7.5 pages per program."""


def test_a_page_costs_a_die_its_programs_reads_and_erases() -> None:
    """(6 x 200 + 5 x 40 + 6 / 250 x 3,000) / 8 us; 16 dies."""
    assert STEADY.full_ns == pytest.approx((1_200_000 + 200_000 + 72_000) / 8)
    assert STEADY.at_most == pytest.approx(16 / 184e-6)
    assert STEADY.pages_a_program == pytest.approx(7.5)


def test_the_rate_is_what_busy_dies_do() -> None:
    """194 ms of 16 dies in 20 ms: 60.6 %; 50,000 pages per second, each 194 us of a die."""
    assert STEADY.busy_ns == 194_000_000
    assert STEADY.busy == pytest.approx(0.60625)
    assert STEADY.rate == pytest.approx(50_000)
    assert STEADY.rate == pytest.approx(16 * STEADY.busy / (STEADY.busy_ns / STEADY.pages / 1e9))


@pytest.mark.parametrize(
    ("duration_ns", "good"),
    [
        (20_000_000, [True, False, False]),
        (16_000_000, [True, True, True]),
        (11_000_000, [False, True, False]),
    ],
)
def test_idle_dies_and_rates_beyond_them_are_faults(duration_ns: int, good: list[bool]) -> None:
    """50,000, 62,500 and 90,909 pages per second, and 60,000 of the whole medium."""
    steady = replace(STEADY, duration_ns=duration_ns)
    assert (steady.busy >= LEAST_BUSY) == good[1]
    assert [row.good for row in checks("a medium", steady, 60_000)] == good
