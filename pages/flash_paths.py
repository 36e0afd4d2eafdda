# SPDX-License-Identifier: Apache-2.0
"""Compare flash operations and sequential rates with arithmetic: the times of array, channel and link."""

from __future__ import annotations

from collections.abc import Iterator

from pages.checks import CLOSE, EXACT, Bench, Row, media

FLASH_ALONE: dict[str, int | str] = {
    "ftl": "page",
    "blocks_per_group": 1,
    "log_blocks": 0,
    "write_buffer_bytes": 0,
    "planes": 1,
    "cache_operations": 0,
    "suspend_ns": 0,
    "read_ahead_bytes": 0,
    "slc_cache_bytes": 0,
    "one_shot": 0,
    "shared_logs": 0,
    "short_write_bytes": 0,
    "merge_step_pages": 0,
    "write_command_ns": 0,
    "write_lanes": 0,
}
"""Parameters of flash without anything that overlaps its operations or changes them into others."""


NOTHING = 1e-9
"""The time of a part that takes none, so that it is never the slowest."""


def alone(bench: Bench) -> dict[str, int | str]:
    names = {parameter.name for parameter in bench.tool.parameters}
    return {name: value for name, value in FLASH_ALONE.items() if name in names}


def operations(bench: Bench) -> Iterator[Row]:
    """Compare single page operations of flash, to the nanosecond. The first page of a block is a lower page."""
    for name, medium, p in media("flash"):
        page = p["page_bytes"]
        bus, link = up(page * p["bus_ps_per_byte"]), up(page * p["link_ps_per_byte"])
        by_hand = {
            "write a page": (p["command_ns"] + link + bus + p["program_ns"], "command + link + channel + program"),
            "read it": (p["command_ns"] + p["read_ns"] + bus + link, "command + array + channel + link"),
            "read a page never written": (p["command_ns"] + link, "command + link"),
            "discard it": (p["command_ns"], "command"),
        }
        requests = [("write", 0, page), ("read", 0, page), ("read", 8 * page, page), ("trim", 0, page)]
        times, _ = bench.play(medium, requests, **alone(bench))
        for (operation, (expected, source)), (submitted, done) in zip(by_hand.items(), times, strict=True):
            yield Row(name, f"{operation}, ns", expected, source, done - submitted, EXACT)


def up(ps: int) -> int:
    """Return picoseconds as nanoseconds, rounded up."""
    return -(-ps // 1000)


def mean_ns(p: dict[str, int], operation: str) -> float:
    """Return the mean over the pages that share cells: lower, middle and upper ones, as many as a cell has bits."""
    names = [("",), ("", "_upper"), ("", "_middle", "_upper")][p.get("bits_per_cell", 1) - 1]
    times = [p.get(f"{operation}{name}_ns") or p[f"{operation}_ns"] for name in names]
    return sum(times) / len(times)


def part_rates(p: dict[str, int], operation: str) -> dict[str, float]:
    """Return the rate in MB/s that each part alone allows for an operation on all dies."""
    bus_ns = p["page_bytes"] * p["bus_ps_per_byte"] / 1e3
    return {
        "link": 1e6 / (p["link_ps_per_byte"] or NOTHING),
        "channels": 1e6 * p["channels"] / (p["bus_ps_per_byte"] or NOTHING),
        "dies": 1e3 * p["dies"] * p["page_bytes"] / (bus_ns + mean_ns(p, operation)),
    }


def sequential(bench: Bench) -> Iterator[Row]:
    """Compare the sequential rates of flash, in one large request, with the rate of its slowest part."""
    for name, medium, p in media("flash"):
        size = min(64 << 20, p["capacity_bytes"] // 4)
        requests = [("write", 0, size), ("read", 0, size)]
        times, _ = bench.play(medium, requests, **alone(bench), command_ns=0)
        for op, (submitted, done) in zip(("program", "read"), times, strict=True):
            rates = part_rates(p, op)
            slowest = min(rates, key=rates.__getitem__)
            label = f"{'write' if op == 'program' else op} {size >> 20} MiB, MB/s"
            yield Row(name, label, rates[slowest], slowest, size / (done - submitted) * 1e3, CLOSE)
