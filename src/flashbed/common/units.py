# SPDX-License-Identifier: Apache-2.0
"""Parse and format sizes and durations ("2G", "16k", "20us"). The lab computes in integers of bytes and of ns.

Prefixes of sizes are binary in either case: "1k" = "1K" = "1KiB" = 1024 bytes. Must not know what is measured.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

LARGEST_INT64 = 2**63 - 1
"""The largest size, duration and other whole number of files, the kernel and the models: all have 64 bits."""

KIB, MIB = 1 << 10, 1 << 20
"""Bytes."""

SECTOR_BYTES = 512
"""The unit in which Linux counts the content of block devices, and the smallest request with direct I/O."""

_SIZE = re.compile(r"(\d{1,30})\s*([kKmMgGtT]?)(?:i?[bB])?", re.ASCII)
_DURATION = re.compile(r"(\d{1,30})\s*(ns|us|ms|s)", re.ASCII)
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def parse_size(text: str) -> int:
    """Return the bytes of a size such as "512", "4k", "10M" or "2GiB". Raises ValueError with a message for
    the user.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'"{text[:60]}" is not a size; write a whole number with k, M, G or T, such as "16k" or "2G"')
    size = int(match[1]) * _BYTES[match[2].lower()]
    if size > LARGEST_INT64:
        raise ValueError(f"{text.strip()} is too large; a size is at most {LARGEST_INT64} bytes")
    return size


def by_size(values: Sequence[str]) -> Sequence[str]:
    """Return the values sorted by size if all are sizes; else unchanged."""
    numbers = sizes(values)
    return [value for _, value in sorted(zip(numbers, values, strict=True))] if numbers else values


def sizes(values: Iterable[str]) -> list[int]:
    """Return the bytes of each value; [] if a value is not a size."""
    try:
        return [parse_size(value) for value in values]
    except ValueError:
        return []


def format_size(size_bytes: int) -> str:
    """Return the shortest exact text of a size: 16384 -> "16k", 1000 -> "1000". Raises ValueError for a
    negative size.
    """
    if size_bytes < 0:
        raise ValueError(f"a size cannot be negative: {size_bytes}")
    for prefix, factor in (("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)):
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{prefix}"
    return str(size_bytes)


def describe_size(size_bytes: int) -> str:
    """Return a size for a message: exact if round ("2G"), else bytes with an approximation ("1.95 GiB")."""
    exact = format_size(size_bytes)
    if len(exact) <= 6:
        return exact
    return f"{size_bytes} bytes ({rough_size(size_bytes)})"


def parse_duration_ns(text: str) -> int:
    """Return the nanoseconds of a duration such as "120ns", "20us", "5ms" or "2s". Raises ValueError with a message."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'"{text[:60]}" is not a duration; write a whole number with ns, us, ms or s, such as "20us"')
    duration = int(match[1]) * _NANOSECONDS[match[2]]
    if duration > LARGEST_INT64:
        raise ValueError(f"{text.strip()} is too long; a duration is at most {LARGEST_INT64} ns")
    return duration


def meaning(text: str) -> int | tuple[str, int] | str:
    """Return what a text stands for: the bytes of a size, ("ns", nanoseconds) for a duration, else the text itself."""
    with suppress(ValueError):
        return parse_size(text)
    with suppress(ValueError):
        return "ns", parse_duration_ns(text)
    return text


def rough_size(size: float) -> str:
    """Return an approximate size of three digits or more, such as the free space of a disk: "1.50 KiB", "72.8 GiB"."""
    value, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    decimals = 0 if unit == "bytes" else 2 if value < 9.995 else 1
    return f"{value:.{decimals}f} {unit}"
