# SPDX-License-Identifier: Apache-2.0
"""For how long the modelled link of a guest was sending, by what had passed at two moments (`link_at` of guest/nfs)."""

from __future__ import annotations

AROUND_FRAME_BYTES = 24
"""Preamble 8, check sum 4, gap 12 (IEEE 802.3), which the kernel does not count: the guest tells netem."""

_RECEIVED, _SENT, _COLUMNS = 0, 8, 16
"""Columns of /proc/net/dev: bytes, with packets behind; and how many there are."""


def busy_ns(before: str, after: str) -> float:
    """The time that frames took on the wire, ns: of the two directions the busier one's. Raises ValueError."""
    (mbit, began), (_, ended) = _read(before), _read(after)
    passed = [last - first for first, last in zip(began, ended, strict=True)]
    on_wire = (passed[column] + AROUND_FRAME_BYTES * passed[column + 1] for column in (_RECEIVED, _SENT))
    return max(on_wire) * 8e3 / mbit


def _read(noted: str) -> tuple[int, list[int]]:
    """The link's speed in Mbit/s, and the counters of its end at the server."""
    speed, _, counters = noted.partition("\n")
    _, _, mbit = speed.partition("mbit ")
    _, _, numbers = counters.partition(":")
    found = [int(number) for number in numbers.split()]
    if len(found) != _COLUMNS:
        raise ValueError(f"{len(found)} counters of a link's end")
    return int(mbit), found
