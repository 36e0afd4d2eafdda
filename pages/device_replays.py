# SPDX-License-Identifier: Apache-2.0
"""Run the rows of pages/devices.toml that need no guest: flashbed-replay sends requests to a shipped profile.

The medium is new and has the size and all parameters of its profile. Must not know the expected figures.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pages.checks import LIBRARY, Bench, Request
from pages.device_rows import DeviceRow

SEED = 1

PREPARING_BYTES = 1 << 20
"""The size of the requests that write a span before it is measured."""


def figure(bench: Bench, row: DeviceRow) -> float:
    """Return the model's figure in the row's unit."""
    result = _measure(bench, row, row.run)
    if "against" not in row.run:
        return result
    return result / _measure(bench, row, {**row.run, **row.run["against"]})


def _measure(bench: Bench, row: DeviceRow, load: Mapping[str, Any]) -> float:
    """Return the result of a run on a new medium."""
    medium = LIBRARY.medium(row.medium)
    size = medium.numbers()["capacity_bytes"]
    span = min(load.get("span", size), size)
    bench.start(medium)
    _prepare(bench, load, span)
    requests = list(_requests(load, span, size))
    warm = load.get("warm", 0)
    # Linux never gives a device more than its queue holds
    times = bench.times(requests, min(load.get("depth", 1), medium.numbers()["queue_depth"]))
    return _in_unit(row.unit, requests[warm:], times[warm:])


def _prepare(bench: Bench, load: Mapping[str, Any], span: int) -> None:
    """Write the medium before the measurement: nothing, the measured file, or everything; and, if asked for, random
    writes on top.
    """
    before = load.get("before", "file")
    if before == "file":
        bench.times([("write", at, PREPARING_BYTES) for at in range(0, span, PREPARING_BYTES)], 1)
    elif before in ("full", "worn in"):
        bench.go_on_with("--pattern", "sequential", "--request-bytes", str(PREPARING_BYTES))
        if before == "worn in":
            passes = ("--passes", str(load.get("passes", 1)), "--seed", str(SEED))
            bench.go_on_with("--pattern", "random", "--request-bytes", str(load["request"]), *passes)
    elif before != "nothing":
        raise ValueError(f"before = {before!r}")


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
