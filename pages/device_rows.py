# SPDX-License-Identifier: Apache-2.0
"""Read pages/devices.toml: published figures of real devices, and the measurement on the model of their class.

Must not know how a measurement is run.
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
from flashbed.profiles.library import Selector

FILE = Path(__file__).resolve().parent / "devices.toml"

PROFILES = paths.profiles() / "media"

UNITS = ("MB/s", "MiB/s", "KiB/s", "IOPS", "us", "ms", "s", "ms at most", "times")

NEEDS_A_REASON = 1.3
"""A row that is off by more than this factor must give a reason."""

NEVER = 2.0
"""No row may be off by more than this factor, except rows of another single device."""

WIDE = 3.0
"""If the largest published figure is at least this many times the smallest, the row proves little."""

LOADS = ("random read", "random write", "sequential read", "sequential write", "flush")
"""The kinds of load for which the model's error is stated."""

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
    """Published figures of devices of a class, and the same measurement on the model."""

    kind: str
    """replay: the model alone; guest: a cell, through a kernel; chip: a test of the kernel's on a raw chip."""
    medium: str
    what: str
    low: float
    high: float
    """The smallest and the largest published figure; the same if there is only one."""
    published: tuple[float, ...]
    """All published figures."""
    unit: str
    source: str
    fitted: bool
    """True if a number of the profile was set by this figure. The row shows that the figure is met, and is no evidence.
    """
    why: str
    """The reason why the model is off by more than NEEDS_A_REASON."""
    run: Mapping[str, Any]
    device: str = ""
    """The measured device, if the row is of a single device that its profile does not describe."""
    device_class: str = ""
    """The device's class, if no shipped profile is of it. The nearest profile is compared, and the model's error of a
    class leaves the row out.
    """
    held_out: bool = False
    """True if no profile names the device or the source, so that the profile's author did not use the figure."""

    @property
    def name(self) -> str:
        """Return the name of the row, which is unique."""
        return f"{self.medium}: {self.device}: {self.what}" if self.device else f"{self.medium}: {self.what}"

    @property
    def kept_back(self) -> bool:
        """True for half of the held-out rows, chosen by a hash of the name. They judge a finished model."""
        return self.held_out and hashlib.sha256(self.name.encode()).digest()[0] >= 0x80

    @property
    def profile(self) -> str:
        """Return the name of the medium's profile, without the keys that the row changes."""
        return Selector.name_of(self.medium)

    @property
    def figures(self) -> int:
        """Return the number of published figures."""
        return len(self.published)

    @property
    def load(self) -> str | None:
        """Return one of LOADS; None if the figure is no rate of a load, but a limit or a comparison of rates."""
        if self.unit in ("times", "ms at most"):
            return None
        if self.kind != "replay":
            return self.run.get("load")
        return "flush" if self.run.get("flush") else f"{self.run['order']} {self.run['op']}"

    def rates(self, found: float) -> list[float]:
        """Return the ratio of the model's rate to each published one. Above 1 the model is faster, in any unit."""
        return [figure / found if self.unit in _LESS_IS_FASTER else found / figure for figure in self.published]

    @property
    def measured(self) -> str:
        low, high = (f"{figure:,.10g}" for figure in (self.low, self.high))
        if self.unit == "ms at most":
            return high
        return low if low == high else f"{low} to {high} ({self.figures})"

    @property
    def is_wide(self) -> bool:
        """True if the published figures differ so much that hardly any model would miss their range."""
        return self.high > WIDE * self.low > 0

    def ratio(self, figure: float) -> float:
        """Return the model's figure as a multiple of the nearest published one; 1 within their range."""
        nearest = min(max(figure, self.low), self.high)
        return figure / nearest

    def off(self, figure: float) -> float:
        """Return the factor by which the model is off, in either direction."""
        ratio = self.ratio(figure)
        return max(ratio, 1 / ratio) if ratio else float("inf")

    def is_off(self, figure: float) -> bool:
        """True if the row must give a reason."""
        return self.off(figure) > NEEDS_A_REASON

    def faults(self, figure: float) -> list[str]:
        """Return the problems of the row, in words; none if it is good.

        A kept-back row has no problems: a complaint would draw attention to it while a model changes.
        """
        if self.kept_back:
            return []
        if self.off(figure) > NEVER and not self.device:
            return [f"{self.off(figure):.2f} times off: none may be by more than {NEVER:g}"]
        if self.is_off(figure) and not self.why:
            return [f"{self.off(figure):.2f} times off, and does not say why"]
        return []


def load(file: Path = FILE, profiles: Path = PROFILES) -> list[DeviceRow]:
    """Return all rows in the file's order. Raises ValueError, which names row and key.

    `profiles` is the directory of the media profiles. Their text decides which rows are held out.
    """
    tables = tomllib.loads(file.read_text())
    if unknown := sorted(set(tables) - set(_OWN)):
        raise ValueError(f"{file.name}: unknown tables {', '.join(unknown)}")
    cited = "\n".join(path.read_text() for path in sorted(profiles.glob("*.toml"))).lower()
    rows = [_row(file.name, kind, entry, cited) for kind in _OWN for entry in tables.get(kind, [])]
    names = [row.name for row in rows]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{file.name}: two rows are called {twice[0]!r}")
    return rows


def _row(file: str, kind: str, row: Mapping[str, Any], cited: str) -> DeviceRow:
    where = f"{file}: {kind}, {row.get('medium', '?')}, {row.get('what', '?')}"
    if unknown := sorted(set(row) - _COMMON - _OWN[kind]):
        raise ValueError(f"{where}: unknown keys {', '.join(unknown)}")
    if missing := sorted({"medium", "what", "measured", "unit", "source"} - set(row)):
        raise ValueError(f"{where}: has no {', '.join(missing)}")
    if row.get("load", LOADS[0]) not in LOADS:
        raise ValueError(f"{where}: load {row['load']!r}, not one of {', '.join(LOADS)}")
    if row["unit"] not in UNITS:
        raise ValueError(f"{where}: unit {row['unit']!r}, not one of {', '.join(UNITS)}")
    device, site = row.get("device", ""), row.get("site", "")
    if bool(device) != bool(site) or site not in row["source"] or ("class" in row and not device):
        raise ValueError(f"{where}: device, site and class: a device has a site, which is a part of its source")
    figures = _figures(row["measured"])
    low = 0.0 if row["unit"] == "ms at most" else min(figures)
    run = {key: _bytes(key, value) for key, value in row.items() if key in _OWN[kind]}
    return DeviceRow(
        kind=kind,
        medium=row["medium"],
        what=row["what"],
        low=low,
        high=max(figures),
        published=tuple(figures),
        unit=row["unit"],
        source=row["source"],
        fitted=row.get("fitted", False),
        why=row.get("why", ""),
        run=run,
        device=device,
        device_class=row.get("class", ""),
        held_out=bool(device) and not any(word.lower() in cited for word in (device, site)),
    )


def _figures(published: float | list[float]) -> list[float]:
    figures = [float(figure) for figure in (published if isinstance(published, list) else [published])]
    if not figures or min(figures) <= 0:
        raise ValueError(f"measured = {published}: figures above 0 are wanted")
    return figures


def _bytes(key: str, value: Any) -> Any:
    return parse_size(value) if key in ("request", "span", "area") else value
