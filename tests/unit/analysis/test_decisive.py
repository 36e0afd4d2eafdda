# SPDX-License-Identifier: Apache-2.0
"""Figures that memory, a transient or the CPU made decide nothing; what a comparison makes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from flashbed.analysis import (
    Load,
    Results,
    Words,
    compare,
    doubt_of,
    doubts,
    lines,
    sentence,
    unsteady_cells,
)
from flashbed.analysis.answer import doubt_words
from flashbed.analysis.decisive import LostInCuts, ReachedShare
from flashbed.guest_output.assessment import State, Status
from flashbed.guest_output.durability import Durability
from flashbed.guest_output.limit import Limit
from flashbed.guest_output.steadiness import Steadiness
from flashbed.result.columns import ResultRow
from tests.support.facts import Facts
from tests.support.samples import shipped
from tests.support.tabled import assessed, results_of


def repetition(limit: Limit = "medium", steady: str = "", **metrics: float) -> ResultRow:
    return ResultRow(("a",), 1, Status.MEASURED, metrics=metrics, limit=limit, steady=assessed(Steadiness, steady))


def kind(row: ResultRow, metric: str) -> str:
    doubt = doubt_of(row, metric)
    return doubt.kind if doubt else ""


# --- one repetition -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "steady", "expected"),
    [
        ("medium", "", ""),
        ("bus", "steady", ""),
        ("load", "steady", ""),
        ("memory", "steady", "memory"),
        ("memory", "not steady: 30 % slower in the second half", "memory"),
        ("medium", "not steady: 30 % slower in the second half", "not steady"),
        ("cpu", "not steady: it rises", "not steady"),
        ("cpu", "", "CPU"),
    ],
)
def test_columns_of_the_results_table_tell(limit: Limit, steady: str, expected: str) -> None:
    row = repetition(limit, steady, bandwidth=1.0, latency_p99_us=1.0)
    assert kind(row, "bandwidth") == kind(row, "latency_p99_us") == expected


def test_a_stack_that_lost_data_in_power_cuts_wins_nothing_but_their_count() -> None:
    cuts = {"cuts": 30.0, "cuts_survived": 27.0, "cuts_lost": 2.0, "cuts_unreadable": 0.0, "cuts_refused": 1.0}
    row = replace(repetition(), metrics={"bandwidth": 1.0, "wear_mean": 1.0, **cuts})
    assert kind(row, "bandwidth") == kind(row, "wear_mean") == "not durable"
    assert kind(row, "cuts_survived") == ""
    doubt = doubt_of(row, "bandwidth")
    assert doubt is not None
    assert doubt.facts == LostInCuts(lost=3, cuts=30)
    assert doubt_words(doubt) == Facts("3 of 30")
    unharmed = replace(row, metrics={**row.metrics, "cuts_lost": 0.0, "cuts_refused": 0.0})
    assert kind(unharmed, "bandwidth") == ""
    flushed_less = replace(unharmed, durable=Durability(State.NOT_KNOWN, "1 flush for 2 commits"))
    assert kind(flushed_less, "bandwidth") == "commits not known"
    assert kind(flushed_less, "cuts_survived") == ""


def test_the_reason_is_told() -> None:
    doubt = doubt_of(repetition(steady="not steady: it rises"), "bandwidth")
    assert doubt
    assert doubt_words(doubt) == "its rate was not steady (it rises)"
    assert doubt.bars
    cpu = doubt_of(repetition("cpu"), "bandwidth")
    assert cpu
    assert (doubt_words(cpu), cpu.bars) == ("the CPU decides", False)


def test_a_phase_has_its_own_bytes() -> None:
    # The measurement as a whole reached the medium, but only 8 % of the seeks did
    row = repetition(
        "medium", block_output=5.0, block_output_reached_percent=101.0, random_seeks=9.0,
        random_seeks_cpu_percent=99.0, random_seeks_reached_percent=8.4, write_amplification=2.0,
    )  # fmt: skip
    assert kind(row, "block_output") == ""
    assert kind(row, "random_seeks") == kind(row, "random_seeks_cpu_percent") == "memory"
    doubt = doubt_of(row, "random_seeks")
    assert doubt
    assert doubt.facts == ReachedShare(8.4)
    assert doubt_words(doubt) == Facts("only 8 %")


def test_three_quarters_of_a_phase_are_enough_and_half_is_not() -> None:
    # If memory answers all reads of a rewrite, the half that it writes still reaches the medium
    assert kind(repetition(rewrite=1.0, rewrite_reached_percent=50.0), "rewrite") == "memory"
    assert kind(repetition(read_s=1.0, read_reached_percent=74.9), "read_s") == "memory"
    assert kind(repetition(read_s=1.0, read_reached_percent=75.0), "read_s") == ""
    # The memory of the cell as a whole says nothing about a phase that has its own bytes
    assert kind(repetition("memory", write_bandwidth=1.0, write_reached_percent=100.0), "write_bandwidth") == ""


def test_a_write_cache_is_told_and_bars_nothing() -> None:
    """The platters of this drive would need 1.34 times the run for the data, so the rate is 1.34 times theirs."""
    row = repetition(bandwidth=110.0, platters_percent=134.0, medium_written_bytes=1e7)
    doubt = doubt_of(row, "bandwidth")
    assert doubt
    assert (doubt.kind, doubt.bars) == ("write cache", False)
    assert kind(row, "medium_written_bytes") == ""
    assert kind(repetition(bandwidth=98.0, platters_percent=133.0), "bandwidth") == ""
    assert kind(repetition("memory", bandwidth=300.0, platters_percent=400.0), "bandwidth") == "memory"


def test_what_is_no_speed_is_not_doubted() -> None:
    row = repetition("memory", "not steady: it rises", mount_s=1.0, write_amplification=1.0, write_reached_percent=9.0)
    assert kind(row, "mount_s") == kind(row, "write_amplification") == ""


def test_a_number_of_calls_is_no_time() -> None:
    row = repetition("memory", "not steady: it rises", flush_calls=9.0, flush_mean_us=1.0, commit_mean_us=1.0)
    assert kind(row, "flush_calls") == ""
    assert kind(row, "flush_mean_us") == kind(row, "commit_mean_us") == "memory"


def test_the_response_times_of_all_nfs_calls_are_judged_alike() -> None:
    row = repetition("memory", "not steady: it rises", commit_call_us=1.0, write_call_us=1.0)
    assert kind(row, "commit_call_us") == kind(row, "write_call_us")


# --- cells ----------------------------------------------------------------------------------------------------------

AXES = {"medium": ("disk", "card", "chip"), "pattern": ("randread",)}


def results(*cells: tuple[str, float, str]) -> Results:
    """Return results from medium, bandwidth and limit."""
    rows: list[dict[str, Any]] = [
        {"medium": name, "pattern": "randread", "seed": 1, "outcome": "measured", "reason": "", "key": "k"}
        | {"bandwidth": value, "limit": limit}
        for name, value, limit in cells
    ]
    return results_of({**AXES, "medium": tuple(name for name, *_ in cells)}, rows)


def answered(results_: Results) -> tuple[list[str], list[str]]:
    """Return the lines and the sentences."""
    comparison = compare(results_, ("medium",), ("pattern",), "bandwidth", True, doubts(results_, "bandwidth"))
    words = Words(results_.axes)
    loads = [Load(comparison, group) for group in comparison.groups]
    return lines(loads, words), [sentence(comparison, group, words) for group in comparison.groups]


def test_half_of_the_seeds_decide_for_the_cell() -> None:
    def kind_of(*limits: str) -> str:
        rows = [
            {"medium": "disk", "pattern": "randread", "seed": seed, "outcome": "measured", "reason": "", "key": "k"}
            | {"bandwidth": 1.0, "limit": limit}
            for seed, limit in enumerate(limits, start=1)
        ]
        by_cell = doubts(results_of(AXES, rows), "bandwidth")
        return by_cell["disk", "randread"].kind if by_cell else ""

    assert kind_of("memory", "medium", "medium") == ""
    assert kind_of("memory", "medium") == "memory"
    assert kind_of("cpu", "memory", "memory", "cpu") == "memory"
    assert kind_of("cpu", "cpu", "cpu", "memory") == "CPU"


def test_a_transient_takes_more_than_half_of_the_seeds() -> None:
    def kind_of(*seeds: tuple[str, str]) -> tuple[str, int]:
        rows = [
            {"medium": "disk", "pattern": "randread", "seed": seed, "outcome": "measured", "reason": "", "key": "k"}
            | {"bandwidth": 1.0, "limit": limit, "steady": steady}
            for seed, (limit, steady) in enumerate(seeds, start=1)
        ]
        measured = results_of(AXES, rows)
        by_cell = doubts(measured, "bandwidth")
        return (by_cell["disk", "randread"].kind if by_cell else "", len(unsteady_cells(measured)))

    even, rising = ("medium", "steady"), ("medium", "not steady: it rises")
    assert kind_of(rising) == kind_of(rising, rising, even) == ("not steady", 1)
    assert kind_of(rising, even) == kind_of(rising, even, even) == ("", 0)
    # Other doubts of those seeds remain
    assert kind_of(("cpu", "not steady: it rises"), ("cpu", "steady"), even) == ("CPU", 0)
    assert kind_of(("memory", "steady"), rising) == ("memory", 0)


def test_what_was_too_fast_to_be_measured_was_memory() -> None:
    """bonnie++ prints no rate for a phase that memory answers at once."""
    rows = [
        {"medium": "disk", "pattern": "randread", "seed": 1, "outcome": "measured", "reason": "", "key": "k"}
        | {"block_input_reached_percent": 0.0, "block_output": 5.0, "block_output_reached_percent": 100.0}
    ]
    results_ = results_of(AXES, rows)
    assert [doubt.kind for doubt in doubts(results_, "block_input").values()] == ["memory"]
    assert doubts(results_, "block_output") == doubts(results_, "flush_p99_us") == {}


def test_a_disk_in_memory_is_not_recommended() -> None:
    """890 against 100: the lead is that of RAM."""
    results_ = results(("disk", 890.0, "memory"), ("card", 100.0, "medium"))
    assert [*answered(results_)] == [
        [Facts("Not decided: memory", "everywhere")],
        [Facts("random read", "not decided: memory", "Only card")],
    ]


def test_the_others_are_compared_and_nobody_is_called_best() -> None:
    results_ = results(("disk", 890.0, "memory"), ("card", 100.0, "medium"), ("chip", 50.0, "medium"))
    assert [*answered(results_)] == [
        [Facts("Not decided: memory", "everywhere")],
        [Facts("random read", "card is 2.0 times as fast as chip", "Not decided: disk", "memory")],
    ]


def test_where_the_cpu_decides_the_order_still_holds() -> None:
    results_ = results(("disk", 200.0, "cpu"), ("card", 100.0, "medium"))
    # The picture greys the value, so the words do not recommend it either: they say that the CPU decides
    assert answered(results_)[0] == [
        Facts("The CPU decides", "on this board disk is fastest", "2.0 times as fast as card")
    ]


def test_fewer_bytes_may_be_compression() -> None:
    rows = [
        {"filesystem": name, "seed": 1, "outcome": "measured", "reason": "", "key": "k"}
        | {"write_s": 1.0, "write_reached_percent": 3.0, "bandwidth": 1.0, "limit": "memory"}
        for name in ("small", "large")
    ]
    results_ = results_of({"filesystem": ("small", "large")}, rows)
    compressing = [replace(row, compresses=row.combination == ("small",)) for row in results_.repetitions]
    results_ = replace(results_, repetitions=compressing)
    kinds = {cell: doubt.kind for cell, doubt in doubts(results_, "write_s").items()}
    assert kinds == {("small",): "memory or compression", ("large",): "memory"}
    assert doubt_words(doubts(results_, "bandwidth")["small",]) == Facts("memory or compression kept most")


def test_profiles_tell_which_file_systems_compress() -> None:
    library = shipped()
    compresses = {
        name: library.filesystem(name).compresses for name in ("jffs2", "jffs2:compression=none", "ubifs", "ext2")
    }
    assert compresses == {"jffs2": True, "jffs2:compression=none": False, "ubifs": True, "ext2": False}


@pytest.mark.parametrize(("waits", "expected"), [(True, ["memory"]), (False, [])])
def test_a_latency_without_its_flush_is_memorys(waits: bool, expected: list[str]) -> None:
    row = {"filesystem": "a", "seed": 1, "outcome": "measured", "reason": "", "key": "k", "limit": "medium"}
    results_ = results_of({"filesystem": ("a",)}, [{**row, "latency_p99_us": 7.6, "bandwidth": 142.9}])
    rows = [replace(row, waits_for_memory=waits) for row in results_.repetitions]
    results_ = replace(results_, repetitions=rows)
    assert [doubt.kind for doubt in doubts(results_, "latency_p99_us").values()] == expected
    assert doubts(results_, "bandwidth") == {}


def test_a_metric_that_nothing_tells_is_named() -> None:
    results_ = results_of({"filesystem": ("a", "b")}, [
        {"filesystem": name, "seed": 1, "outcome": "measured", "reason": "", "key": "k", "bandwidth": 1.0}
        for name in ("a", "b")
    ])  # fmt: skip
    comparison = compare(results_, ("filesystem",), (), "block_output", True)
    words = Words(results_.axes)
    loads = [Load(comparison, group) for group in comparison.groups]
    assert lines(loads, words) == ["No result has a figure for block output."]
    assert sentence(comparison, comparison.groups[0], words) == "No result has a figure for it."
