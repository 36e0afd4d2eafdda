# SPDX-License-Identifier: Apache-2.0
"""What a device went through before a cell: the words that a study has for it, and what is written for each.

The whole device counts, also the part that a cell does not show. conditioning.py does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Condition = Literal["fresh", "full", "worn", "used"]

_FILL = ("--pattern", "sequential", "--request-bytes", "131072")
_OVERWRITE = ("--pattern", "random", "--request-bytes", "65536", "--passes", "1", "--seed", "1")

STEPS: Mapping[Condition, tuple[tuple[str, ...], ...]] = {
    "fresh": (),
    "full": (_FILL,),
    "worn": (_FILL, _OVERWRITE),
    "used": (_FILL, _OVERWRITE),
}
"""What is written to the whole device, in flashbed-replay's words; part of a cell's key. 64 KiB at random: on a
page-mapped device its pages are scattered as those of 4 KiB are, and a log-block device merges a group for each request
without losing half of its life to it."""

SURVIVES_MKFS: tuple[Condition, ...] = ("used",)
"""Conditions of which mkfs discards nothing: it is not given the command. So each address still holds data for the
device, as after long use of a file system that does not discard what it frees."""

MEANINGS: Mapping[Condition, str] = {
    "fresh": "never written",
    "full": "written in order once",
    "worn": "written in order once, then as much again at random in 64 KiB",
    "used": "written in order once, then as much again at random in 64 KiB, and mkfs could discard none of it",
}
"""For people: what was done to the whole device before the file system was made on what is shown."""
