# SPDX-License-Identifier: Apache-2.0
"""pages/devices.toml: published figures of real devices, and what is run on the model of their class to compare.

Must not know how anything is run.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashbed.common import paths
from flashbed.common.units import parse_size

FILE = Path(__file__).resolve().parent / "devices.toml"

PROFILES = paths.profiles() / "media"

UNITS = ("MB/s", "MiB/s", "KiB/s", "IOPS", "us", "ms", "s", "ms at most", "times")

NEEDS_A_REASON = 1.3
"""A row that is farther off than this says why."""

NEVER = 2.0
"""No row may be farther off than this, but for those of one other device."""

WIDE = 3.0
"""The largest over the least published figure from where on a row judges little."""

LOADS = ("random read", "random write", "sequential read", "sequential write", "flush")
"""Kinds of load that the model's error is told for."""

_LESS_IS_FASTER = ("us", "ms", "s")

_COMMON = {"medium", "what", "measured", "unit", "source", "fitted", "why", "device", "site", "class"}
_OWN = {
    "replay": {
        "op",
        "order",
        "request",
        "depth",
        "span",
        "requests",
        "warm",
        "before",
        "places",
        "area",
        "passes",
        "where",
        "flush",
        "against",
    },
    "guest": {"board", "filesystem", "workload", "metric", "scheduler", "load"},
    "chip": {"board", "test", "load"},
}


@dataclass(frozen=True)
class DeviceRow:
    """What was measured of devices of a class, and how the model is asked the same."""

    kind: str
    """replay: the model by itself; guest: a cell, through a kernel; chip: a test of the kernel's on a raw chip."""
    medium: str
    what: str
    low: float
    high: float
    """The least and the largest figure that was published of such devices; the same where there is one."""
    published: tuple[float, ...]
    """All figures that were published."""
    unit: str
    source: str
    fitted: bool
    """A number of the profile was set by this figure: the row shows that it is met, and is no evidence."""
    why: str
    """Why the model is farther off than NEEDS_A_REASON."""
    run: Mapping[str, Any]
    device: str = ""
    """The one device that was measured, if the row is of a device that its profile does not describe."""
    device_class: str = ""
    """The device's class, if no shipped profile is of it: the nearest profile is compared, and the model's error of a
    class leaves the row out."""
    held_out: bool = False
    """No profile names the device or the source: whoever wrote the profile did not go by the figure."""

    @property
    def name(self) -> str:
        """No two rows have the same."""
        return f"{self.medium}: {self.device}: {self.what}" if self.device else f"{self.medium}: {self.what}"

    @property
    def kept_back(self) -> bool:
        """True for half of the held-out rows, chosen by a hash of the name: they judge a model that is finished."""
        return self.held_out and hashlib.sha256(self.name.encode()).digest()[0] >= 0x80

    @property
    def profile(self) -> str:
        """The medium's profile, without the keys that a row changes."""
        return self.medium.partition(":")[0]

    @property
    def figures(self) -> int:
        """The number of published figures."""
        return len(self.published)

    @property
    def load(self) -> str | None:
        """One of LOADS; None if the figure is not the rate of a load, as a limit or a comparison of two rates."""
        if self.unit in ("times", "ms at most"):
            return None
        if self.kind != "replay":
            return self.run.get("load")
        return "flush" if self.run.get("flush") else f"{self.run['order']} {self.run['op']}"

    def rates(self, found: float) -> list[float]:
        """The model's rate over each published one: above 1 the model is faster, whatever the unit."""
        return [figure / found if self.unit in _LESS_IS_FASTER else found / figure for figure in self.published]

    @property
    def measured(self) -> str:
        low, high = (f"{figure:,.10g}" for figure in (self.low, self.high))
        if self.unit == "ms at most":
            return high
        return low if low == high else f"{low} to {high} ({self.figures})"

    @property
    def is_wide(self) -> bool:
        """Whether the published figures lie so far apart that hardly any model would miss them."""
        return self.high > WIDE * self.low > 0

    def ratio(self, found: float) -> float:
        """The model's figure as a multiple of the nearest that was published: 1 within their range."""
        nearest = min(max(found, self.low), self.high)
        return found / nearest

    def off(self, found: float) -> float:
        """By what factor the model is off, whichever way."""
        ratio = self.ratio(found)
        return max(ratio, 1 / ratio) if ratio else float("inf")

    def is_off(self, found: float) -> bool:
        """Whether the row owes a reason."""
        return self.off(found) > NEEDS_A_REASON

    def faults(self, found: float) -> list[str]:
        """What is wrong with the row, in words; nothing if it is good.

        A row that is kept back has no faults: a complaint would have somebody look at it while a model changes.
        """
        if self.kept_back:
            return []
        if self.off(found) > NEVER and not self.device:
            return [f"{self.off(found):.2f} times off: none may be by more than {NEVER:g}"]
        if self.is_off(found) and not self.why:
            return [f"{self.off(found):.2f} times off, and does not say why"]
        return []


def load(file: Path = FILE, profiles: Path = PROFILES) -> list[DeviceRow]:
    """All rows, in the file's order. Raises ValueError, which names row and key.

    `profiles` is the directory of the media profiles whose text decides which rows are held out.
    """
    tables = tomllib.loads(file.read_text())
    if unknown := sorted(set(tables) - set(_OWN)):
        raise ValueError(f"{file.name}: unknown tables {', '.join(unknown)}")
    cited = "\n".join(path.read_text() for path in sorted(profiles.glob("*.toml"))).lower()
    rows = [_row(file.name, kind, said, cited) for kind in _OWN for said in tables.get(kind, [])]
    names = [row.name for row in rows]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{file.name}: two rows are called {twice[0]!r}")
    return rows


def _row(file: str, kind: str, said: Mapping[str, Any], cited: str) -> DeviceRow:
    where = f"{file}: {kind}, {said.get('medium', '?')}, {said.get('what', '?')}"
    if unknown := sorted(set(said) - _COMMON - _OWN[kind]):
        raise ValueError(f"{where}: unknown keys {', '.join(unknown)}")
    if missing := sorted({"medium", "what", "measured", "unit", "source"} - set(said)):
        raise ValueError(f"{where}: has no {', '.join(missing)}")
    if said.get("load", LOADS[0]) not in LOADS:
        raise ValueError(f"{where}: load {said['load']!r}, not one of {', '.join(LOADS)}")
    if said["unit"] not in UNITS:
        raise ValueError(f"{where}: unit {said['unit']!r}, not one of {', '.join(UNITS)}")
    device, site = said.get("device", ""), said.get("site", "")
    if bool(device) != bool(site) or site not in said["source"] or ("class" in said and not device):
        raise ValueError(f"{where}: device, site and class: a device has a site, which is a part of its source")
    figures = _figures(said["measured"])
    low = 0.0 if said["unit"] == "ms at most" else min(figures)
    run = {key: _bytes(key, value) for key, value in said.items() if key in _OWN[kind]}
    return DeviceRow(
        kind=kind,
        medium=said["medium"],
        what=said["what"],
        low=low,
        high=max(figures),
        published=tuple(figures),
        unit=said["unit"],
        source=said["source"],
        fitted=said.get("fitted", False),
        why=said.get("why", ""),
        run=run,
        device=device,
        device_class=said.get("class", ""),
        held_out=bool(device) and not any(word.lower() in cited for word in (device, site)),
    )


def _figures(said: float | list[float]) -> list[float]:
    figures = [float(figure) for figure in (said if isinstance(said, list) else [said])]
    if not figures or min(figures) <= 0:
        raise ValueError(f"measured = {said}: figures above 0 are wanted")
    return figures


def _bytes(key: str, value: Any) -> Any:
    return parse_size(value) if key in ("request", "span", "area") else value
