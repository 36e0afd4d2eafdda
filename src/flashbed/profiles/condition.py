# SPDX-License-Identifier: Apache-2.0
"""What a device and its file system went through before a cell: the words that a study has for it, and what is written
for each.

The whole device counts, also the part that a cell does not show. conditioning.py writes to it on the host; the files of
an aged file system are made in the guest, by guest/age.c.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, Literal

from flashbed.common.tomlfile import Problem

Condition = Literal["fresh", "full", "worn", "used", "aged"]

_FILL = ("--pattern", "sequential", "--request-bytes", "131072")
_OVERWRITE = ("--pattern", "random", "--request-bytes", "65536", "--passes", "1", "--seed", "1")

STEPS: Mapping[Condition, tuple[tuple[str, ...], ...]] = {
    "fresh": (),
    "full": (_FILL,),
    "worn": (_FILL, _OVERWRITE),
    "used": (_FILL, _OVERWRITE),
    "aged": (_FILL, _OVERWRITE),
}
"""What is written to the whole device, if it is flash behind a controller, in flashbed-replay's words; part of a cell's
key. 64 KiB at random: on a page-mapped device its pages are scattered as those of 4 KiB are, and a log-block device
merges a group for each request without losing half of its life to it."""

AGED: Final = "aged"
"""The condition whose file system is used, too: files are made, deleted and overwritten after mkfs."""

SURVIVES_MKFS: tuple[Condition, ...] = ("used", AGED)
"""Conditions of which mkfs discards nothing: it is not given the command. So each address still holds data for the
device, as after long use of a file system that does not discard what it frees."""

MEANINGS: Mapping[Condition, str] = {
    "fresh": "never written",
    "full": "written in order once",
    "worn": "written in order once, then as much again at random in 64 KiB",
    "used": "written in order once, then as much again at random in 64 KiB, and mkfs could discard none of it",
    "aged": "written in order once, then as much again at random in 64 KiB, and mkfs could discard none of it",
}
"""For people: what was done to the whole device before the file system was made on what is shown."""


def condition_problems(kind: str, condition: Condition, given: Collection[str]) -> Iterator[Problem]:
    """What a medium of that kind cannot be, and keys among the `given` ones that the condition has no use for."""
    if condition not in ("fresh", AGED) and kind != "flash":
        yield Problem(("condition",), f'is of kind = "flash" only; a medium of kind "{kind}" is "fresh" or "aged"')
    for name in ("aged_fill_percent", "aged_passes"):
        if name in given and condition != AGED:
            yield Problem((name,), 'means nothing without condition = "aged"; set that, or leave this out')
