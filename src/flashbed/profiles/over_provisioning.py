# SPDX-License-Identifier: Apache-2.0
"""Compute the over-provisioning of a medium, and caution if no device has that much or that little.

Garbage collection needs spare flash; the more there is, the fewer pages move. Drives for read-mostly loads have 7 to 14
%, drives for loads with more writes 28 % (Kingston, "Understanding SSD over-provisioning", kingston.com).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from flashbed.profiles.profile import Medium

LEAST_PERCENT, MOST_PERCENT = 2.0, 30.0
"""In percent of the capacity. Outside of this range, hardly any device on the market fits the profile."""


@dataclass(frozen=True)
class Flash:
    """Bytes of a device's flash, with bad blocks, reserves and an SLC cache, and bytes of its capacity."""

    raw_bytes: int
    capacity_bytes: int

    @property
    def over_provisioning_percent(self) -> float:
        """Return the flash beyond the capacity, in percent of the capacity."""
        return 100.0 * (self.raw_bytes - self.capacity_bytes) / self.capacity_bytes

    @property
    def caution(self) -> str:
        """Return why so much flash is implausible and which keys to change; "" if it is plausible."""
        percent = self.over_provisioning_percent
        if LEAST_PERCENT <= percent <= MOST_PERCENT:
            return ""
        usual = f"{LEAST_PERCENT:.0f} to {MOST_PERCENT:.0f} %"
        effect = "hardly ever collects" if percent > MOST_PERCENT else "moves pages with nearly every write"
        return (
            f"over-provisioning of {percent:.3g} %, where devices have {usual}: it {effect}. "
            "Change blocks_per_die along with capacity_bytes, or show less of the device with used_bytes"
        )


def flash_of(medium: Medium) -> Flash | None:
    """Return the flash of a medium; None if it has no translation layer or no known geometry."""
    if medium.kind != "flash":
        return None
    numbers = medium.numbers()
    geometry = [numbers.get(name) for name in ("dies", "blocks_per_die", "pages_per_block", "page_bytes")]
    if None in geometry:
        return None
    return Flash(prod(filter(None, geometry)), medium.capacity_bytes)
