# SPDX-License-Identifier: Apache-2.0
"""Find where the difference of a cell begins: bytes, flushes, requests, medium, code or moments.

Counters that are the same on both sides narrow it down. Knows the counters' layers, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flashbed.comparing.chance import relative_change
from flashbed.result.metrics import CPU_LAYER, FLUSHES, LAYERS


@dataclass(frozen=True)
class Cause:
    """The first layer that differs, and how."""

    layer: str
    """The layer in a word, as docs/compare.md lists it."""
    explanation: str
    """A clause for people."""
    moved: Mapping[str, float]
    """The change of each layer as a share of 1; 0 if the layer is the same."""

    @property
    def sentence(self) -> str:
        """Return the layer and its explanation."""
        return f"{self.layer}: {self.explanation}"


def cause(pairs: Iterable[tuple[Mapping[str, int], Mapping[str, int]]]) -> Cause:
    """Return the cause for a cell that differs. `pairs` has the counters of A and B for each seed."""
    both = [(of_a, of_b) for of_a, of_b in pairs if of_a and of_b]
    if not both:
        return Cause("not told", "one of the reports has no counters; write it anew", {})
    known = {layer: names for layer, names in LAYERS.items() if any(name in both[0][0] for name in names)}
    other = {layer for layer, names in known.items() if any(a.get(n) != b.get(n) for a, b in both for n in names)}
    moved = {layer: _moved(both, names) if layer in other else 0.0 for layer, names in known.items()}
    return Cause(*_explained(other, moved.get(FLUSHES, 0.0)), moved)


def _moved(both: Iterable[tuple[Mapping[str, int], Mapping[str, int]]], names: Iterable[str]) -> float:
    rows = [(sum(a.get(name, 0) for name in names), sum(b.get(name, 0) for name in names)) for a, b in both]
    before, after = (sum(side) for side in zip(*rows, strict=True))
    return relative_change(before, after)


def _explained(other: set[str], flushes: float) -> tuple[str, str]:
    """Return the first of the `other` layers, and its explanation; `flushes` is the change of the flushes."""
    flushed = f"the medium is told to flush {'more' if flushes > 0 else 'less'} often"
    if "bytes" in other or ("pages" in other and "requests" in other):
        return "bytes", f"other data reach the medium{f', and {flushed}' if FLUSHES in other else ''}"
    if FLUSHES in other:
        return FLUSHES, f"{flushed}, with the same bytes"
    if "requests" in other:
        return "requests", "the same bytes come in other requests"
    if "pages" in other or "erases" in other:
        return "medium", "it gets the same requests and bytes, and programs or erases otherwise"
    if CPU_LAYER in other:
        return "code", "the medium gets the same requests and bytes; the CPU works for another time"
    return "moments", "the same CPU time, requests and bytes at other times"
