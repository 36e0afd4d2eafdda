# SPDX-License-Identifier: Apache-2.0
"""Compare made-up tables of cells and put the results into sentences, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flashbed.analysis import Comparison, Load, Results, Words, compare, lines, sentence
from flashbed.analysis.words import metric_of
from tests.support.tabled import results_of

AXES = {"filesystem": ("a", "b", "c"), "pattern": ("read", "randwrite"), "request": ("4k", "64k")}


def row(filesystem: str, pattern: str, request: str, seed: int, **more: Any) -> dict[str, Any]:
    cell = {"filesystem": filesystem, "pattern": pattern, "request": request, "seed": seed}
    return {**cell, "outcome": "measured", "reason": "", "key": "k", **more}


def table(
    numbers: Mapping[str, Mapping[str, Iterable[float]]], pattern: str = "randwrite", metric: str = "bandwidth"
) -> Results:
    """Return results of one pattern from {file system: {request: a number for each seed}}."""
    rows = [
        row(filesystem, pattern, request, seed, **{metric: value})
        for filesystem, requests in numbers.items()
        for request, values in requests.items()
        for seed, value in enumerate(values, start=1)
    ]
    axes = {**AXES, "filesystem": tuple(numbers), "pattern": (pattern,)}
    return results_of(axes, rows)


def sentences_of(results: Results, metric: str = "bandwidth", by: tuple[str, ...] = ("pattern",)) -> list[str]:
    comparison, words = answered(results, metric, by)
    return [sentence(comparison, group, words) for group in comparison.groups]


def answered(
    results: Results, metric: str = "bandwidth", by: tuple[str, ...] = ("pattern",)
) -> tuple[Comparison, Words]:
    higher_is_better = metric_of(metric).better != "lower"
    return compare(results, ("filesystem",), by, metric, higher_is_better), Words(results.axes)


def in_lines(comparison: Comparison, words: Words) -> list[str]:
    return lines([Load(comparison, group) for group in comparison.groups], words)
