# SPDX-License-Identifier: Apache-2.0
"""Run the rows of pages/devices.toml that need no guest: flashbed-replay sends requests to a shipped profile.

The medium is new and has the size and all parameters of its profile. Must not know the expected figures.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pages.checks import LIBRARY, Bench, Request
from pages.device_rows import DeviceRow

SEED = 1

PREPARING_BYTES = 1 << 20
"""The size of the requests that write a span before it is measured."""


@dataclass(frozen=True)
class Preparation:
    """The writes to a new medium before a measurement. Numbers that do not matter are 0."""

    medium: str
    before: str
    """nothing; file: the span in order; full: the medium in order; worn in: the medium in order, and then at random."""
    span: int = 0
    request: int = 0
    passes: int = 0

    @classmethod
    def of(cls, medium: str, load: Mapping[str, Any]) -> Preparation:
        """Return the preparation of a load."""
        before = load.get("before", "file")
        if before == "file":
            return cls(medium, before, span=_span(medium, load))
        if before == "worn in":
            return cls(medium, before, request=load["request"], passes=load.get("passes", 1))
        if before not in ("full", "nothing"):
            raise ValueError(f"before = {before!r}")
        return cls(medium, before)

    def prepare(self, bench: Bench) -> None:
        bench.start(LIBRARY.medium(self.medium))
        if self.before == "file":
            bench.go_on([("write", at, PREPARING_BYTES) for at in range(0, self.span, PREPARING_BYTES)])
        if self.before in ("full", "worn in"):
            bench.go_on_with("--pattern", "sequential", "--request-bytes", str(PREPARING_BYTES))
        if self.before == "worn in":
            passes = ("--passes", str(self.passes), "--seed", str(SEED))
            bench.go_on_with("--pattern", "random", "--request-bytes", str(self.request), *passes)


def figures(bench: Bench, rows: Sequence[DeviceRow]) -> dict[str, float]:
    """Return the models' figures by the row's name, each in its row's unit.

    Loads with the same preparation share it.
    """
    alike: dict[Preparation, list[tuple[DeviceRow, Mapping[str, Any]]]] = {}
    for row in rows:
        for load in _loads(row):
            alike.setdefault(Preparation.of(row.medium, load), []).append((row, load))
    measured: dict[str, dict[str, float]] = {}
    for preparation, loads in alike.items():
        preparation.prepare(bench)
        for row, load in loads:
            measured.setdefault(row.name, {})[json.dumps(load)] = _measure(bench, row, load)
    return {row.name: _figure([measured[row.name][json.dumps(load)] for load in _loads(row)]) for row in rows}


def _loads(row: DeviceRow) -> Sequence[Mapping[str, Any]]:
    """Return the load of a row, and the load that its figure is a multiple of, if there is one."""
    against = row.run.get("against")
    return [row.run] if against is None else [row.run, {**row.run, **against}]


def _figure(results: Sequence[float]) -> float:
    return results[0] if len(results) == 1 else results[0] / results[1]


def _span(medium: str, load: Mapping[str, Any]) -> int:
    size = LIBRARY.medium(medium).numbers()["capacity_bytes"]
    span: int = load.get("span", size)
    return min(span, size)


def _measure(bench: Bench, row: DeviceRow, load: Mapping[str, Any]) -> float:
    """Return the result of a run on the medium in its present state."""
    numbers = LIBRARY.medium(row.medium).numbers()
    requests = list(_requests(load, _span(row.medium, load), numbers["capacity_bytes"]))
    warm = load.get("warm", 0)
    # Linux never gives a device more than its queue holds
    times = bench.times(requests, min(load.get("depth", 1), numbers["queue_depth"]))
    return _in_unit(row.unit, requests[warm:], times[warm:])


def _requests(load: Mapping[str, Any], span: int, size: int) -> Iterator[Request]:
    op, length = load["op"], load["request"]
    requests = load.get("requests")
    offsets = _offsets(load, span, length, requests)
    begin = (size - span) // length * length if load.get("where") == "end" else 0
    for offset in offsets:
        yield op, begin + offset, length
        if load.get("flush"):
            yield "sync", 0, 0


def _offsets(load: Mapping[str, Any], span: int, length: int, requests: int | None) -> Sequence[int]:
    """Return offsets in order; or each once, shuffled, as iozone and fio do; or alternating between several areas, as
    flashbench does.
    """
    chance, order = random.Random(SEED), load["order"]
    if "area" in load:
        steps = list(range(0, load["area"], length))
        if order == "random":
            chance.shuffle(steps)
        return [place * load["area"] + step for step in steps for place in range(load["places"])]
    blocks = span // length
    if order == "sequential":
        return [block * length for block in range(min(blocks, requests or blocks))]
    if order != "random":
        raise ValueError(f"order = {order!r}")
    return [block * length for block in chance.sample(range(blocks), min(blocks, requests or blocks))]


def _in_unit(unit: str, requests: Sequence[Request], times: Sequence[tuple[int, int]]) -> float:
    counted = [request for request in requests if request[0] != "sync"]
    took_s = (max(done for _, done in times) - times[0][0]) / 1e9
    done_bytes = sum(length for _, _, length in counted)
    longest_ms = max(done - submitted for submitted, done in times) / 1e6
    return {
        "MB/s": done_bytes / took_s / 1e6,
        "MiB/s": done_bytes / took_s / 2**20,
        "KiB/s": done_bytes / took_s / 2**10,
        "IOPS": len(counted) / took_s,
        "us": took_s / len(counted) * 1e6,
        "ms": took_s / len(counted) * 1e3,
        "s": took_s,
        "ms at most": longest_ms,
        "times": done_bytes / took_s,
    }[unit]
