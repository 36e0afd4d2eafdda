# SPDX-License-Identifier: Apache-2.0
"""Compare the write amplification of the page-mapped layer under uniform random writes with the literature.

T pages in full blocks of b pages, U of them valid, alpha = T / U, V = b / alpha valid pages per block. The formulas are
from the papers that are named; the code is our own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from pages.checks import CLOSE, Bench, Row, plain
from pages.page_text import table

BLOCKS, PAGES, RESERVE, PAGE_BYTES = 2048, 64, 4, 2048

OVER_PROVISIONING = (0.07, 0.10, 0.15, 0.20, 0.28, 0.40, 0.60)
POLICIES = (1, 2, 10)
SETTLE, COUNTED = 3, 10
"""How often the medium is overwritten before and during the measurement. With random collection, one overwrite differs
by up to 2 % from the next.
"""


def in_order_of_age(alpha: float) -> float:
    """Return 1 / (1 - u) with u = exp(-alpha (1 - u)), for blocks that are collected in the order in which they were
    filled.

    Desnoyers 2012, eq. 4, which uses Lambert's W. Xiang and Kurkoski 2011 have the same formula. It is also the limit
    of greedy collection for large blocks.
    """
    u = 0.5
    for _ in range(1000):
        u = math.exp(-alpha * (1 - u))
    return 1 / (1 - u)


def greedy(alpha: float, pages: int) -> float:
    """Return the write amplification of greedy collection for a block size in pages: Desnoyers 2012, eq. 12."""
    k = 1 + 1 / (2 * pages)
    return in_order_of_age(k * alpha) / k


def shares(rate: float, valid: float, pages: int, choices: int) -> list[float]:
    """Return the share of blocks with i valid pages, from the balance of flows, if `rate` blocks are collected per
    written page.

    Blocks lose a page, and go from i to i - 1, at the rate i x_i / V. As many blocks with fewer than i pages are
    collected. Blocks without a stale page are not collected.
    """
    x = [0.0] * (pages + 1)
    x[pages] = rate * valid / pages
    others, above = 1 - x[pages], 0.0
    for i in range(pages - 1, 0, -1):
        low, high = 0.0, max(0.0, others - above)
        for _ in range(50):
            middle = (low + high) / 2
            if i * middle / valid < rate * (1 - ((above + middle) / others) ** choices):
                low = middle
            else:
                high = middle
        x[i] = low
        above += low
    return x


def best_of(choices: int, valid: float, pages: int) -> float:
    """Return the write amplification if the best of several randomly drawn blocks is collected.

    This is the mean field of Van Houdt 2013 and of Li, Lee and Lui 2013 in its steady state, for many blocks.
    """
    low, high = 1e-9, 1.0
    for _ in range(50):
        rate = (low + high) / 2
        if sum(i * share for i, share in enumerate(shares(rate, valid, pages, choices))) < valid:
            low = rate
        else:
            high = rate
    return rate * pages


MANY = 10_000
"""A number of choices that is as good as greedy collection."""


def capacity_pages(over_provisioning: float) -> int:
    return int(BLOCKS * PAGES / (1 + over_provisioning))


def valid_pages(over_provisioning: float) -> float:
    """Return the valid pages per block when a block must be collected. The reserve is free then, and one block is half
    full of moved pages.
    """
    return (capacity_pages(over_provisioning) - PAGES / 2) / (BLOCKS - RESERVE - 1)


def measure(bench: Bench, over_provisioning: float, **policy: int | str) -> float:
    """Return the programmed pages per written page, in the steady state."""
    bench.start_with(
        {
            "kind": "flash",
            "capacity_bytes": capacity_pages(over_provisioning) * PAGE_BYTES,
            "queue_depth": 1,
            "command_ns": 1000,
            "link_ps_per_byte": 0,
            "page_bytes": PAGE_BYTES,
            "pages_per_block": PAGES,
            "blocks_per_die": BLOCKS,
            "dies": 1,
            "channels": 1,
            "read_ns": 25_000,
            "program_ns": 200_000,
            "erase_ns": 1_500_000,
            "bus_ps_per_byte": 0,
            "gc_reserve_blocks": RESERVE,
            **policy,
        }
    )
    at_random = ("--pattern", "random", "--request-bytes", str(PAGE_BYTES))
    bench.go_on_with("--pattern", "sequential")
    bench.go_on_with(*at_random, "--passes", str(SETTLE), "--seed", "1")
    result = bench.measure_with(*at_random, "--passes", str(COUNTED), "--seed", "2")
    assert result.write_amplification is not None
    return result.write_amplification


def signed(figure: float, expected: float) -> str:
    return f"{(figure / expected - 1) * 100:+.2f} %"


def greedily(bench: Bench) -> tuple[str, list[Row]]:
    """Compare greedy collection with three computations."""
    lines, rows = [], []
    for over in OVER_PROVISIONING:
        alpha = PAGES / valid_pages(over)
        measured = measure(bench, over)
        name = f"greedy, {over:.0%} over-provisioning"
        flows = Row("flash", name, best_of(MANY, valid_pages(over), PAGES), "mean field", measured, CLOSE)
        paper = Row("flash", name, greedy(alpha, PAGES), "Desnoyers 2012, eq. 12", measured, CLOSE)
        nominal = greedy(BLOCKS * PAGES / capacity_pages(over), PAGES)
        cells = [f"{over:.0%}", plain(measured)]
        for expected in (flows.expected, paper.expected, nominal, in_order_of_age(alpha)):
            cells += [plain(expected), signed(measured, expected)]
        lines.append(cells)
        rows += [flows, paper]
    titles = ["over-provisioning", "model", "mean field", "off by", "eq. 12", "off by"]
    titles += ["eq. 12, all blocks", "off by", "eq. 4", "off by"]
    return table(titles, lines), rows


def by_choice(bench: Bench) -> Iterator[Row]:
    """Compare the collection of the best of a few randomly drawn blocks with the mean field."""
    for over in OVER_PROVISIONING[1::2]:
        for choices in POLICIES:
            expected = best_of(choices, valid_pages(over), PAGES)
            measured = measure(bench, over, gc_policy="d-choices", gc_choices=choices)
            name = f"best of {choices}, {over:.0%} over-provisioning"
            yield Row("flash", name, expected, "mean field", measured, CLOSE)


GREEDY_TEXT = f"""\
The figures are the pages that are programmed per page written. Each write is one page at a random place of a die of
{BLOCKS} blocks of {PAGES} pages. The medium is overwritten {SETTLE} times before the measurement and {COUNTED} times
during it. The model must be within 1 % of two independent computations:

- the mean field of Van Houdt ("A mean field model for a class of garbage collection algorithms in flash-based SSDs",
  2013) and of Li, Lee and Lui ("Stochastic modeling of large-scale solid-state storage systems", 2013), solved for
  greedy collection;
- equation 12 of Desnoyers ("Analytic modeling of SSD write performance", 2012): A(alpha) = B(k alpha) / k with
  k = 1 + 1 / (2 b) for blocks of b pages.

In both, alpha counts full blocks only. The {RESERVE} blocks that are kept free and the block that is being filled are
left out, because they hold nothing that could be stale.

The last columns show the error of two simpler computations. *Eq. 12, all blocks* takes alpha over all blocks, as a data
sheet gives it. It is too low, most of all where the free blocks are a large share of the spare ones. *Eq. 4* is
B(alpha) = 1 / (1 - u) with u = exp(-alpha (1 - u)); Xiang and Kurkoski have the same formula ("An improved analytic
expression for write amplification in NAND flash", 2011). It is exact for collection in order of age, and for large
blocks. Greedy collection does better on blocks of few pages, because it picks those that have lost more pages by
chance. Bux and Iliadis compute this effect with a Markov chain ("Performance of greedy garbage collection in
flash-based solid-state drives", 2010)."""

CHOICES_TEXT = """\
Collection takes the best of d blocks that are drawn at random. Blocks without a stale page are not drawn. The expected
figure comes from the same mean field, and the model must be within 1 % of it."""
