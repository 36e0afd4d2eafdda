# SPDX-License-Identifier: Apache-2.0
"""Where the difference of a cell begins: in the code, in the flushes, in the requests, in the bytes, in the medium.

A figure's change is narrowed down by what was counted and is the same. Knows the counters' layers, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flashbed.comparing.chance import relative_change
from flashbed.result.metrics import CPU_LAYER, FLUSHES, LAYERS


@dataclass(frozen=True)
class Cause:
    """`sentence` says where it begins; `moved` has the change of each layer, a share of 1, 0 where it is the same."""

    sentence: str
    moved: Mapping[str, float]

    @property
    def layer(self) -> str:
        """Where it begins, in a word."""
        return self.sentence.partition(":")[0]


def cause(pairs: Iterable[tuple[Mapping[str, int], Mapping[str, int]]]) -> Cause:
    """Of a cell of which something differs; a pair of counters for each seed."""
    both = [(mine, its) for mine, its in pairs if mine and its]
    if not both:
        return Cause("not told: one of the reports has no counters; write it anew", {})
    known = {layer: names for layer, names in LAYERS.items() if any(name in both[0][0] for name in names)}
    other = {layer for layer, names in known.items() if any(a.get(n) != b.get(n) for a, b in both for n in names)}
    moved = {layer: _moved(both, names) if layer in other else 0.0 for layer, names in known.items()}
    return Cause(_sentence(other, moved.get(FLUSHES, 0.0)), moved)


def _moved(both: Iterable[tuple[Mapping[str, int], Mapping[str, int]]], names: Iterable[str]) -> float:
    rows = [(sum(a.get(name, 0) for name in names), sum(b.get(name, 0) for name in names)) for a, b in both]
    before, after = (sum(side) for side in zip(*rows, strict=True))
    return relative_change(before, after)


def _sentence(other: set[str], flushes: float) -> str:
    flushed = f"the medium is told to flush {'more' if flushes > 0 else 'less'} often"
    if "bytes" in other or ("pages" in other and "requests" in other):
        return f"bytes: other data reach the medium{f', and {flushed}' if FLUSHES in other else ''}"
    if FLUSHES in other:
        return f"flushes: {flushed}, with the same bytes"
    if "requests" in other:
        return "requests: the same bytes come in other requests"
    if "pages" in other or "erases" in other:
        return "medium: it gets the same requests and bytes, and programs or erases otherwise"
    if CPU_LAYER in other:
        return "code: the medium gets the same requests and bytes; the CPU works for another time"
    return "moments: the same CPU time, requests and bytes at other times"
