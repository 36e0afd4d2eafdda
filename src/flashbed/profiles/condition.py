# SPDX-License-Identifier: Apache-2.0
"""The conditions of a device and its file system before a cell: their names in a study, and the writes that make each.

A condition covers the whole device, also the part that a cell does not show. conditioning.py writes it on the host;
guest/age.c makes the files of an aged file system in the guest.
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
"""The writes to the whole device, as arguments of flashbed-replay. They are for flash behind a controller, and part of
a cell's key.

Random writes have 64 KiB: a page-mapped device scatters its pages as with 4 KiB, and a log-block device, which merges a
group for each request, does not lose half of its life.
"""

NEVER_WRITTEN: Final = "fresh"
"""The condition of a device as from the factory. A result is fresh for another reason (guest_output/wear.py)."""

AGED: Final = "aged"
"""The condition whose file system is used, too: after mkfs, files are made, deleted and overwritten."""

SURVIVES_MKFS: tuple[Condition, ...] = ("used", AGED)
"""The conditions in which mkfs discards nothing: the guest turns discards off while it runs. Each address still holds
data for the device, as after long use of a file system that does not discard freed blocks.
"""

_WORN = "written in order once, then as much again at random in 64 KiB"
_USED = f"{_WORN}, and mkfs could discard none of it"

MEANINGS: Mapping[Condition, str] = {
    "fresh": "never written",
    "full": "written in order once",
    "worn": _WORN,
    "used": _USED,
    "aged": _USED,
}
"""A description of each condition for people: what was written to the whole device before mkfs."""


def condition_problems(kind: str, condition: Condition, set_keys: Collection[str]) -> Iterator[Problem]:
    """Yield a problem if a medium of that kind cannot be in this condition, and one for each of the `set_keys` that the
    condition does not use.
    """
    if condition not in (NEVER_WRITTEN, AGED) and kind != "flash":
        yield Problem(("condition",), f'is of kind = "flash" only; a medium of kind "{kind}" is "fresh" or "aged"')
    for name in ("aged_fill_percent", "aged_passes"):
        if name in set_keys and condition != AGED:
            yield Problem((name,), 'means nothing without condition = "aged"; set that, or leave this out')
