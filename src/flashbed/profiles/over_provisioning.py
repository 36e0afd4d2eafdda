# SPDX-License-Identifier: Apache-2.0
"""How much flash a medium has beyond its capacity, and whether devices have so much.

A device needs some to collect into; the more it has, the less it moves. Drives for loads that mostly read have 7 to 14
%, those for loads that write more 28 % (Kingston, "Understanding SSD over-provisioning", kingston.com).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LEAST_PERCENT, MOST_PERCENT = 2.0, 30.0
"""Of the capacity: outside of this, a profile is hardly of a device that one can buy."""


@dataclass(frozen=True)
class Flash:
    """A device's flash, bad blocks, reserves and an SLC cache included, and what it offers of that, bytes."""

    raw_bytes: int
    capacity_bytes: int

    @property
    def over_provisioning_percent(self) -> float:
        """Flash beyond the capacity, % of the capacity."""
        return 100.0 * (self.raw_bytes - self.capacity_bytes) / self.capacity_bytes

    @property
    def caution(self) -> str:
        """Why a device with so much flash is unlikely, and which keys to change; "" for a usual one."""
        percent = self.over_provisioning_percent
        if LEAST_PERCENT <= percent <= MOST_PERCENT:
            return ""
        usual = f"{LEAST_PERCENT:.0f} to {MOST_PERCENT:.0f} %"
        what = "hardly ever collects" if percent > MOST_PERCENT else "moves pages with nearly every write"
        return (
            f"over-provisioning of {percent:.3g} %, where devices have {usual}: it {what}. "
            "Change blocks_per_die along with capacity_bytes, or show less of the device with used_bytes"
        )


def flash_of(medium: Any) -> Flash | None:
    """What a medium of the library has of flash; None for one that has no translation layer, or no known geometry."""
    if getattr(medium, "kind", "") != "flash":
        return None
    numbers = medium.parameters
    raw = 1
    for name in ("dies", "blocks_per_die", "pages_per_block", "page_bytes"):
        if type(numbers.get(name)) is not int:
            return None
        raw *= numbers[name]
    return Flash(raw, medium.capacity_bytes)
