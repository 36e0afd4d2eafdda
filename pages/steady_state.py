# SPDX-License-Identifier: Apache-2.0
"""Compare random overwrites of a whole page-mapped medium in steady state with the rate that its dies allow.

A page of the host costs a die, at write amplification A with c pages copied by collection and for the map, U pages
programmed and read at a time, and blocks of B pages erased U at a time:

    T = A / U tPROG + c / U tR + A / (U B) tBERS

So a medium of D dies overwrites at most D / T pages per second, if each program unit is full and no die is ever idle.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pages.checks import EXACT, LIBRARY, Bench, Row, plain
from pages.page_text import table

MEDIA = ("nvme-960pro-class", "emmc-64g")

LEAST_BUSY = 0.7
"""The smallest allowed share of the time for which dies are busy."""

SMALLER = 16
"""The measured media have blocks of this many times fewer pages, which are erased in this many times less time. Shares
of the blocks, such as the reserve, do not change; nor does the share of the map that the controller holds. Fewer blocks
instead would make the reserve smaller.
"""

SCALED = ("pages_per_block", "erase_ns", "capacity_bytes", "map_cache_bytes", "map_update_bytes")

REQUEST_BYTES = 4096

WHOLE = {"nvme-960pro-class": 64_086, "emmc-64g": 2_084}
"""Pages per second that the whole media overwrite, measured in the same way, once: it takes minutes."""

SCALE_ERROR = 0.12
"""The allowed relative error of a medium's rate that comes from its scale."""


@dataclass(frozen=True)
class Steady:
    """The second overwrite of a whole medium. Times are in ns."""

    numbers: Mapping[str, int]
    """The parameters of the scaled medium."""
    pages: int
    """The pages that the host wrote."""
    duration_ns: int
    counters: Mapping[str, int]

    @property
    def amplification(self) -> float:
        """Return the programmed pages per page of the host, including pages of the map."""
        return self.counters["flash_programmed_pages"] / self.pages

    @property
    def reads(self) -> float:
        """Return the read pages per page of the host, by collection and for the map."""
        return self.counters["flash_read_pages"] / self.pages

    @property
    def read_ns(self) -> float:
        """Return the time of a read of the array: the mean of the pages that share cells, read equally often."""
        times = [self.numbers[key] for key in ("read_ns", "read_middle_ns", "read_upper_ns") if key in self.numbers]
        return math.fsum(times) / len(times)

    @property
    def full_ns(self) -> float:
        """Return T, the time of a die per page of the host, if each operation uses all planes."""
        n = self.numbers
        programs = self.amplification * n["program_ns"]
        erases = self.amplification / n["pages_per_block"] * n["erase_ns"]
        return (programs + self.reads * self.read_ns + erases) / n["planes"]

    @property
    def busy_ns(self) -> int:
        """Return the busy time of all dies together."""
        return sum(self.counters[f"flash_{operation}_ns"] for operation in ("read", "program", "erase"))

    @property
    def pages_a_program(self) -> float:
        return self.counters["flash_programmed_pages"] * self.numbers["program_ns"] / self.counters["flash_program_ns"]

    @property
    def at_most(self) -> float:
        """Return the pages of the host per second if all dies are always busy with full program units."""
        return self.numbers["dies"] / self.full_ns * 1e9

    @property
    def rate(self) -> float:
        return self.pages / self.duration_ns * 1e9

    @property
    def busy(self) -> float:
        """Return the mean share of the time for which dies are busy."""
        return self.busy_ns / self.duration_ns / self.numbers["dies"]


def overwritten(bench: Bench, name: str) -> Steady:
    """Fill the medium in order, and overwrite it at random twice with a full queue. Return the second overwrite."""
    medium = LIBRARY.medium(name)
    numbers = medium.numbers()
    changed = {key: numbers[key] // SMALLER for key in SCALED if key in numbers}
    bench.start(medium, **changed)
    bench.go_on_with("--pattern", "sequential", "--request-bytes", str(1 << 20))
    depth = ("--queue-depth", str(numbers["queue_depth"]), "--request-bytes", str(REQUEST_BYTES))
    bench.go_on_with("--pattern", "random", *depth, "--seed", "1")
    second = bench.measure_with("--pattern", "random", *depth, "--seed", "2")
    written = second.counters["host_written_bytes"] // numbers["page_bytes"]
    return Steady({**numbers, **changed}, written, second.duration_ns, second.counters)


def checks(name: str, steady: Steady, whole: float) -> Iterator[Row]:
    """Check that no medium is faster than its dies, that its dies are busy, and that its rate is near that of the whole
    medium, `whole` pages per second.
    """
    yield Row(name, "writes/s beyond what dies allow", 0, "dies", max(0.0, steady.rate - steady.at_most), EXACT)
    yield Row(name, "share of the time that dies idle too long", 0, "dies", max(0.0, LEAST_BUSY - steady.busy), EXACT)
    yield Row(name, "writes/s beside the whole medium's", whole, "the whole medium", steady.rate, SCALE_ERROR)


def overwrites(bench: Bench) -> tuple[str, list[Row]]:
    """Return the section, with a row per medium."""
    lines: list[list[str]] = []
    rows: list[Row] = []
    for name in MEDIA:
        steady = overwritten(bench, name)
        rows += checks(name, steady, WHOLE[name])
        lines.append(
            [
                name,
                plain(steady.amplification),
                plain(steady.reads),
                f"{steady.full_ns / 1e3:,.0f}",
                str(steady.numbers["dies"]),
                f"{steady.at_most:,.0f}",
                f"{steady.pages_a_program:.2f} of {steady.numbers['planes']}",
                f"{steady.busy_ns / steady.pages / 1e3:,.0f}",
                f"{steady.busy:.0%}",
                f"{steady.rate:,.0f}",
                f"{WHOLE[name]:,}",
            ]
        )
    titles = ["medium", "A", "r", "T, us", "dies", "writes/s at most", "pages a program", "die time a write, us"]
    return table([*titles, "dies busy", "writes/s", "of the whole medium"], lines), rows


TEXT = f"""\
The load overwrites the whole medium at random, 4 KiB at a time, with a full queue. The medium was filled in order and
overwritten once before; all figures are of the second overwrite. A page of the host costs a die

    T = (A tPROG + r tR + A / B tBERS) / U

A is the number of pages that are programmed for it, and r the number of pages that are read. Both include the pages of
garbage collection and of the map. A program unit has U pages, a block B. A and r are measured; the times are the
profile's.

*Writes/s at most* is the number of dies over T: the rate if every operation used all planes and no die ever idled. The
measured rate is lower for two reasons. Program units and reads are not always full, so the *die time a write* is longer
than T; and dies wait. The measured rate is the number of dies, times the share of the time for which they are busy,
over the die time a write. The check fails if a medium is faster than its dies allow, or if they are busy for less than
{LEAST_BUSY:.0%} of the time.

To save time, the media have blocks of 1/{SMALLER} of the pages, which are erased in 1/{SMALLER} of the time. The
capacity and the controller's memory for the map shrink by the same factor. All shares stay the same. The last column
has the rates of the whole media, measured once. Beyond an error of {SCALE_ERROR:.0%} the check fails."""
