# SPDX-License-Identifier: Apache-2.0
"""Verdicts that consider the models' error, against values computed by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from flashbed.analysis import Words, judge
from flashbed.analysis.claim_words import error_words, evidence, summary
from flashbed.analysis.model_error import (
    CPU_FACTOR,
    OTHER_DEVICE,
    SAME_LOAD,
    ErrorLeft,
    Source,
    SourceOf,
    left_over,
    load_of,
    model_error,
    of_medium,
    sources,
)
from flashbed.result.columns import Combination
from tests.support.claim_samples import a_against_b, claim, ratios, results
from tests.support.facts import Facts
from tests.support.tabled import results_of

STICK = Source("stick", "sequential write", 2.0)
RANDOM = Source("stick", "random write", 1.5)
DISK = Source("disk", "sequential write", 1.1)
CPU = Source("board", "", 3.5, is_too_fast=True)


def by_first(**source_of: Source | None) -> SourceOf:
    """Return a function that names the source of a cell by its file system."""
    return lambda cell, metric: source_of[cell[0]]


def errors(a: Source | None, b: Source | None, metric: str = "bandwidth") -> ErrorLeft:
    left = left_over([(("a",), 1.0), (("b",), -1.0)], metric, by_first(a=a, b=b))
    assert left is not None
    return left


# --- what is left of the errors --------------------------------------------------------------------------------------


def test_an_error_that_both_sides_have_cancels_but_for_3_percent() -> None:
    left = errors(STICK, STICK)
    assert left.below == left.above == pytest.approx(1.03)
    assert left.sources == ()
    assert errors(None, None).above == pytest.approx(SAME_LOAD) == pytest.approx(1.03)


def test_two_media_have_an_error_each() -> None:
    # ln 2 = 0.693147, ln 1.1 = 0.095310, ln 1.03 = 0.029559: the root of their squares' sum, 0.490411, is 0.700294
    left = errors(STICK, DISK)
    assert left.above == left.below == pytest.approx(2.01434, abs=1e-5)
    assert left.sources == (STICK, DISK)


def test_one_medium_has_an_error_for_each_kind_of_load() -> None:
    # ln 1.5 = 0.405465; with ln 2 and ln 1.03 the root is 0.803575
    assert errors(RANDOM, STICK).above == pytest.approx(2.23351, abs=1e-5)


def test_a_cpu_is_too_fast_and_never_too_slow() -> None:
    # ln 3.5 = 1.252763, with ln 1.03 1.253112, which is 3.50122 times: a's real rate is lower, a's real time longer
    rate, time = errors(CPU, None), errors(CPU, None, "runtime_s")
    assert rate.below == pytest.approx(3.50122, abs=1e-5)
    assert rate.above == pytest.approx(1.03)
    assert (time.below, time.above) == (rate.above, rate.below)
    assert errors(None, CPU).above == pytest.approx(3.50122, abs=1e-5)


def test_a_ratio_of_ratios_has_what_does_not_cancel_of_four_cells() -> None:
    # (a random : b sequential) : (a sequential : b sequential): random is left above, sequential below
    cells: list[tuple[Combination, float]] = [(("r",), 1.0), (("s",), -1.0), (("s",), -1.0), (("s",), 1.0)]
    left = left_over(cells, "bandwidth", by_first(r=RANDOM, s=STICK))
    assert left is not None
    assert left.above == pytest.approx(2.23351, abs=1e-5)


def test_what_is_counted_has_no_error_of_speed() -> None:
    for metric in ("medium_requests", "medium_written_bytes", "block_output_erases", "mount_s", "cpu_percent"):
        assert left_over([(("a",), 1.0)], metric, by_first(a=STICK)) is None


# --- verdicts --------------------------------------------------------------------------------------------------------

ONE_MEDIUM, TWO_MEDIA = by_first(a=STICK, b=STICK), by_first(a=STICK, b=DISK)


@pytest.mark.parametrize(
    ("ratio", "relation", "by", "source_of", "expected"),
    [
        # One medium, one kind of load: the band begins at 1.01; 0.99 * 1.03 is 1.0197, and 0.97 * 1.03 is 0.9991
        (0.99, ">", "", ONE_MEDIUM, "within the model's error"),
        (0.97, ">", "", ONE_MEDIUM, "does not hold"),
        (1.02, ">", "", ONE_MEDIUM, "within the model's error"),  # 1.02 / 1.03 is 0.990
        (1.05, ">", "", ONE_MEDIUM, "holds"),  # 1.05 / 1.03 is 1.019
        # The medium's factor of 2 cancels: 0.7 against 2 stays refuted
        (0.7, ">>", "", ONE_MEDIUM, "does not hold"),
        (2.1, ">>", "", ONE_MEDIUM, "holds"),  # 2.1 / 1.03 is 2.04
        (2.02, "=", "no large difference", ONE_MEDIUM, "within the model's error"),  # 2.02 / 1.03 is 1.96
        # Equality that holds is left alone: its band of 1 % is narrower than the error that is left
        (1.0, "=", "no difference", ONE_MEDIUM, "holds"),
        (1.02, "=", "no difference", ONE_MEDIUM, "within the model's error"),
        (0.995, ">=", "", ONE_MEDIUM, "holds"),
        # Equal to the last digit: no error of a model makes a difference
        (1.0, ">", "", ONE_MEDIUM, "does not hold"),
        # Two media, 2.014 times: 0.52 * 2.014 is 1.047, 0.5 * 2.014 is 1.007.
        (0.52, ">", "", TWO_MEDIA, "within the model's error"),
        (0.5, ">", "", TWO_MEDIA, "does not hold"),
        (2.0, ">", "", TWO_MEDIA, "within the model's error"),  # 2 / 2.014 is 0.993
        (2.04, ">", "", TWO_MEDIA, "holds"),  # 1.0128
        (1.28, "=", "about", TWO_MEDIA, "within the model's error"),
        (1.0, "=", "about", TWO_MEDIA, "within the model's error"),
        (2.3, "=", "about", TWO_MEDIA, "does not hold"),  # 2.3 / 2.014 is 1.142, above 1.1
        # The CPU makes a too fast: the real a is even further behind
        (0.9, ">", "", by_first(a=CPU, b=STICK), "within the model's error"),
        (0.9, ">", "", by_first(a=CPU, b=None), "does not hold"),
        (3.0, ">", "", by_first(a=CPU, b=None), "within the model's error"),
        (3.6, ">", "", by_first(a=CPU, b=None), "holds"),  # 3.6 / 3.50122 is 1.0282
    ],
)
def test_the_margin_is_held_against_the_error(
    ratio: float, relation: str, by: str, source_of: SourceOf, expected: str
) -> None:
    assert judge(a_against_b(relation, by), ratios(ratio), source_of).verdict == expected


def test_seeds_that_disagree_come_before_the_error_and_no_error_makes_or_breaks_a_count() -> None:
    assert judge(a_against_b(">", "at least 20 %"), ratios(1.25, 1.19), TWO_MEDIA).verdict == "undecided"
    assert judge(a_against_b("=", "within 0 %"), ratios(1.01), TWO_MEDIA).verdict == "does not hold"
    assert judge(a_against_b("=", "within 0 %"), ratios(1.0), TWO_MEDIA).verdict == "holds"
    assert judge(a_against_b(), ratios(0.99)).verdict == "does not hold"  # imported results: no model


def test_the_whole_interval_of_the_seeds_is_widened() -> None:
    # The band begins at 3. With an error of 1.3, 2.2 to 2.4 becomes 1.69 to 3.12; 2.2 to 2.25 ends at 2.93
    error_of = by_first(a=Source("disk", "sequential write", 1.3), b=None)
    claim_ = a_against_b(">", "at least 3 times")
    assert judge(claim_, ratios(2.2, 2.4), error_of).verdict == "within the model's error"
    assert judge(claim_, ratios(2.2, 2.25), error_of).verdict == "does not hold"


def test_one_case_that_is_refuted_decides_and_one_within_the_error_opens() -> None:
    def a_and_b(*values: float) -> Any:
        sizes = dict(zip(("4k", "16k", "64k"), values, strict=False))
        return results({"a": {size: [number] for size, number in sizes.items()}, "b": {size: [1.0] for size in sizes}})

    def verdict(*values: float, cells: str = "every") -> str:
        return judge(a_against_b(cells=cells), a_and_b(*values), ONE_MEDIUM).verdict

    assert verdict(1.5, 0.99) == "within the model's error"
    assert verdict(1.5, 0.99, 0.5) == "does not hold"
    assert verdict(1.5, 0.99, 0.5, cells="most") == "within the model's error"
    assert verdict(1.5, 1.5, 0.5, cells="most") == "holds"


def test_in_a_mean_of_four_cells_each_error_counts_by_its_part() -> None:
    # Two loads on each of two media, the mean of their ratios: each source has the exponent 1/2. With factors of 2,
    # 1.5, 1.1 and 1.0 the root of 0.25 * (0.480453 + 0.164402 + 0.009084) + 0.000874 is 0.405410: 1.49992 times.
    by_cell = {
        ("a", "4k"): RANDOM,
        ("a", "64k"): STICK,
        ("b", "4k"): DISK,
        ("b", "64k"): Source("disk", "random write", 1.0),
    }
    data = results({"a": {"4k": [2.0], "64k": [0.8]}, "b": {"4k": [1.0], "64k": [1.0]}})

    def source_of(cell: Combination, metric: str) -> Source:
        return by_cell[cell[0], cell[2]]

    (finding,) = judge(a_against_b("=", "about", cells="average"), data, source_of).findings
    assert finding.error is not None
    assert finding.error.above == pytest.approx(1.49992, abs=1e-5)
    assert finding.verdict == "within the model's error"  # sqrt(1.6) is 1.265; 1.265 / 1.5 is below 1.1


def test_a_mean_of_times_weighs_each_error_by_its_time() -> None:
    # 9 s random and 1 s sequential: exponents 0.9 and 0.1 on a's side; b is exact
    rows = [
        {"filesystem": name, "file": file, "seed": 1, "outcome": "measured", "reason": "", "key": "k", "write_s": s}
        for name, file, s in (("a", "1M", 9.0), ("a", "16M", 1.0), ("b", "1M", 1.0), ("b", "16M", 1.0))
    ]
    results_ = results_of({"filesystem": ("a", "b"), "file": ("1M", "16M")}, rows)
    by_cell = {("a", "1M"): RANDOM, ("a", "16M"): STICK}
    claim_ = a_against_b("<", metric="write_s", cells="average", average="time")
    (finding,) = judge(claim_, results_, lambda cell, metric: by_cell.get((cell[0], cell[1]))).findings
    by_hand = math.sqrt((0.9 * math.log(1.5)) ** 2 + (0.1 * math.log(2)) ** 2 + math.log(1.03) ** 2)
    assert finding.error is not None
    assert finding.error.above == pytest.approx(math.exp(by_hand)) == pytest.approx(1.45153, abs=1e-5)


# --- which error a cell has ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counted", "pattern", "request_", "expected"),
    [
        ({}, "read", "4k", "sequential read"),
        ({}, "randwrite", "4k", "random write"),
        ({"host_writes": 2500, "host_written_bytes": 2500 * 4096}, "randwrite", "1k", "random write"),
        # The page cache has sorted them into 20 requests of 512 KiB
        ({"host_writes": 20, "host_written_bytes": 20 << 19}, "randwrite", "1k", "sequential write"),
        ({"host_writes": 160, "host_written_bytes": 10 << 20}, "randwrite", "64k", "random write"),
        ({"host_writes": 900, "host_written_bytes": 900 * 4096, "host_flushes": 300}, "write", "4k", "flush"),
        ({"host_writes": 900, "host_written_bytes": 900 * 4096, "host_flushes": 2}, "write", "4k", "sequential write"),
        ({"host_reads": 80, "host_read_bytes": 10 << 20, "host_writes": 1, "host_written_bytes": 4096}, "", "",
         "sequential read"),
        ({"host_reads": 800, "host_read_bytes": 800 * 4096, "host_writes": 1, "host_written_bytes": 4096}, "", "",
         "random read"),
        ({"flash_programmed_pages": 9, "flash_read_pages": 4}, "randwrite", "4k", "sequential write"),
        ({"flash_programmed_pages": 0, "flash_read_pages": 4}, "randread", "4k", "sequential read"),
    ],
)  # fmt: skip
def test_the_kind_of_load_is_what_the_medium_saw(
    counted: dict[str, int], pattern: str, request_: str, expected: str
) -> None:
    assert load_of(counted, {"pattern": pattern, "request": request_}) == expected


def test_a_medium_has_the_error_of_its_class() -> None:
    error_of = model_error("usb-stick-2g", "sequential write")
    assert error_of is not None
    assert of_medium("usb-stick-2g:used_bytes=1G", "sequential write") == Source(
        "usb-stick-2g", "sequential write", error_of.factor
    )
    assert of_medium("null-2g", "random read") is None
    # No figure was published of random reads of CF cards: a factor of 2, as for any other device of a class
    assert model_error("cf-2g", "random read") is None
    assert of_medium("cf-2g", "random read") == Source("cf-2g", "random read", OTHER_DEVICE)


def source_of_one(metric: str, **columns: Any) -> Source | None:
    row = {"medium": "usb-stick-2g:used_bytes=1G", "seed": 1, "outcome": "measured", "reason": "", "key": "k"}
    results_ = results_of({"medium": (str(row["medium"]),)}, [{**row, metric: 1.0, **columns}])
    named = sources(results_, {"board": "arm64-1000:mips=500", "pattern": "randread", "request": "4k"})
    return named(("usb-stick-2g:used_bytes=1G",), metric)


def test_what_limits_a_cell_says_whose_error_it_has() -> None:
    stick = of_medium("usb-stick-2g", "random read")
    assert source_of_one("bandwidth", limit="medium") == source_of_one("bandwidth", limit="bus") == stick
    cpu = Source("arm64-1000", "", CPU_FACTOR, is_too_fast=True)
    assert source_of_one("bandwidth", limit="cpu") == source_of_one("bandwidth", limit="memory") == cpu
    assert source_of_one("bandwidth", limit="link") is None
    # A phase has its own load, and its own doubt about memory
    written = of_medium("usb-stick-2g", "sequential write")
    assert source_of_one("block_output", limit="medium", block_output_reached_percent=99.0) == written
    assert source_of_one("block_output", limit="medium", block_output_reached_percent=9.0) == cpu


# --- in words --------------------------------------------------------------------------------------------------------


def in_words(ratio: float, source_of: Callable[[Combination, str], Source | None]) -> tuple[str, str]:
    judged = judge(a_against_b(), ratios(ratio), source_of)
    return evidence(judged, Words({"filesystem": ("a", "b")})), error_words(judged)


def test_what_the_error_leaves_open_is_told_with_whose_it_is() -> None:
    assert [*in_words(0.99, ONE_MEDIUM)] == [
        Facts("a against b", "0.99 times", "one seed", "at least 1.01"),
        Facts("error cancels but for 3 %", "0.96 to 1.02 times"),
    ]
    assert in_words(0.6, TWO_MEDIA)[1] == Facts(
        "0.30 to 1.21 times",
        "stick is up to 2 times off in sequential writes",
        "disk is up to 1.1 times off in sequential writes",
    )
    assert in_words(0.9, by_first(a=None, b=CPU))[1] == Facts("0.87 to 3.2 times", "CPU of board", "3.5 times too fast")
    assert in_words(0.5, ONE_MEDIUM)[1] == ""  # the claim does not hold, and no error changes that


def test_the_words_on_a_refuted_claim_explain_figures_that_the_error_leaves_open() -> None:
    claim_ = a_against_b(why={"does not hold": "b keeps a map."})
    assert judge(claim_, ratios(0.99), ONE_MEDIUM).why == "b keeps a map."
    assert judge(claim_, ratios(1.02), ONE_MEDIUM).why == ""  # the figures support the claim
    own = a_against_b(why={"does not hold": "b keeps a map.", "within the model's error": "A hair's breadth."})
    assert judge(own, ratios(0.99), ONE_MEDIUM).why == "A hair's breadth."


def test_the_summary_counts_what_is_within_the_error() -> None:
    judged = [judge(a_against_b(), ratios(ratio), ONE_MEDIUM) for ratio in (0.99, 2.0)]
    assert summary(judged) == "Of 2 claims, 1 holds and 1 is within the model's error."
    assert judge(claim(value=100, relation=">"), ratios(10.0), ONE_MEDIUM).verdict == "does not hold"
