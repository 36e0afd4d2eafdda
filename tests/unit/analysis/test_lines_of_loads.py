# SPDX-License-Identifier: Apache-2.0
"""A line on one load: how sure a lead is, what decides it, and over what it is a mean."""

from __future__ import annotations

from collections.abc import Mapping

from flashbed.analysis import Load, Words, compare, doubts, lines, sentence
from tests.support.facts import Facts
from tests.support.tabled import results_of


def one_load(a: tuple[float, ...], b: tuple[float, ...], limit: str = "medium") -> tuple[str, str]:
    """Return the line and the sentence of a load, from the bandwidths of each seed; `limit` is that of a."""
    rows = [
        {"filesystem": name, "pattern": "read", "seed": seed, "outcome": "measured", "reason": "", "key": "k"}
        | {"bandwidth": value, "limit": limit_}
        for name, values, limit_ in (("a", a, limit), ("b", b, "medium"))
        for seed, value in enumerate(values, start=1)
    ]
    results = results_of({"filesystem": ("a", "b"), "pattern": ("read",)}, rows)
    comparison = compare(results, ("filesystem",), ("pattern",), "bandwidth", True, doubts(results, "bandwidth"))
    words = Words(results.axes)
    [line] = lines([Load(comparison, group) for group in comparison.groups], words)
    return line, sentence(comparison, comparison.groups[0], words)


def test_a_lead_of_a_size_that_the_seeds_do_not_tell_says_so() -> None:
    """1.24 : 1.22 and 25.1 : 1.22: the median of the two ratios, 11, is the lead of neither seed."""
    assert [*one_load((1.24, 25.1), (1.22, 1.22))] == [
        Facts("a is fastest", "1.02 to 21 times as fast as b", "seeds do not tell"),
        Facts("sequential read", "a is 1.02 to 21 times as fast as b", "seeds do not tell"),
    ]
    # 2.0 and 2.5 are 1.25 times apart: the line has both, and the size counts as known
    assert one_load((10.0, 10.0), (5.0, 4.0))[0] == "a is fastest: 2.0 to 2.5 times as fast as b."


def test_what_the_cpu_decides_is_not_recommended() -> None:
    line, text = one_load((20.0,), (10.0,), "cpu")
    assert line == Facts("The CPU decides", "on this board a is fastest", "2.0 times as fast as b")
    assert text == Facts("sequential read", "a is 2.0 times as fast as b", "The CPU decides", "this board")
    assert one_load((10.0,), (10.0,), "cpu")[0] == "The CPU decides, and nothing is best there."
    # If the CPU decides only for the value behind, the best figure is the medium's and is recommended
    assert one_load((10.0,), (20.0,), "cpu")[0] == "b is fastest: 2.0 times as fast as a."


def test_each_reason_stands_beside_its_loads() -> None:
    steady = {"read": ("", "medium"), "write": ("not steady: it falls", "medium"), "randread": ("", "memory")}
    rows = [
        {"filesystem": name, "pattern": pattern, "seed": 1, "outcome": "measured", "reason": "", "key": "k"}
        | {"bandwidth": 1.0, "steady": said_of, "limit": limit}
        for pattern, (said_of, limit) in steady.items()
        for name in "ab"
    ]
    results = results_of({"filesystem": ("a", "b"), "pattern": tuple(steady)}, rows)
    comparison = compare(results, ("filesystem",), ("pattern",), "bandwidth", True, doubts(results, "bandwidth"))
    assert lines([Load(comparison, group) for group in comparison.groups], Words(results.axes))[1] == Facts(
        "Not decided", "no steady rate, for sequential write", "memory, for random read"
    )


def test_nothing_is_left_to_flush_of_what_goes_past_the_page_cache() -> None:
    words = Words({"pattern": ("write",)})
    direct = {"pattern": "write", "flush": "none", "direct": "true"}
    assert words.places(direct) == "sequential write, past the page cache"
    assert words.places(direct | {"direct": "false"}) == "sequential write, not flushed, through the page cache"
    assert words.places(direct | {"flush": "fsync"}) == "sequential write, flushed at the end, past the page cache"


def averaged(table: Mapping[tuple[str, str], tuple[float, float]]) -> list[str]:
    """Return lines by pattern alone, from a bandwidth of a and b by pattern and file size: means over the sizes."""
    rows = [
        {"pattern": pattern, "file": size, "filesystem": name, "seed": 1, "outcome": "measured"}
        | {"reason": "", "key": "k", "bandwidth": value}
        for (pattern, size), values in table.items()
        for name, value in zip("ab", values, strict=True)
    ]
    axes = {axis: tuple(dict.fromkeys(at[place] for at in table)) for place, axis in enumerate(("pattern", "file"))}
    results = results_of({"filesystem": ("a", "b"), **axes}, rows)
    comparison = compare(results, ("filesystem",), ("pattern",), "bandwidth", True)
    return lines([Load(comparison, group) for group in comparison.groups], Words(results.axes))


def test_a_load_of_one_size_among_means_names_it() -> None:
    """ "For random write" alone would include the large file, which nobody measured."""
    both = {("write", "10M"): (30.0, 10.0), ("write", "100M"): (30.0, 10.0)}
    assert averaged(both | {("randwrite", "10M"): (10.0, 30.0)}) == [
        "a is fastest for sequential write: 3.0 times as fast as b.",
        Facts("b is fastest", "random write, file size 10M", "3.0 times as fast as a"),
    ]
    assert averaged(both | {("randwrite", "10M"): (30.0, 10.0)}) == ["a is fastest throughout: 3.0 times as fast as b."]


def test_what_is_no_speed_is_higher_by_percent() -> None:
    rows = [
        {"filesystem": name, "seed": 1, "outcome": "measured", "reason": "", "key": "k", "flush_mean_us": value}
        for name, value in (("a", 100.0), ("b", 107.0))
    ]
    results = results_of({"filesystem": ("a", "b")}, rows)
    comparison = compare(results, ("filesystem",), (), "flush_mean_us", False)
    assert lines([Load(comparison, group) for group in comparison.groups], Words(results.axes)) == [
        Facts("a has the lowest mean time of a flush", "b is 7 % higher")
    ]
