# SPDX-License-Identifier: Apache-2.0
"""The first part of docs/accuracy.md: shipped profiles against measured devices of their class, by themselves and in
a guest. Must not know how a row is run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import device_guests
import device_replays
import model_error
from checks import Bench
from device_rows import NEEDS_A_REASON, NEVER, WIDE, DeviceRow, load
from page_text import table

GUESTS = "### In the guest"
"""Above the rows that a guest's kernel has a part in."""

GUESTS_MAY_DIFFER = 0.03
"""By so much a row of a guest may differ from the page: another package of the kernel takes other paths."""

PERCENT = (NEEDS_A_REASON - 1) * 100

TEXT = f"""\
The shipped profiles, nothing taken away, against what was published of real devices of their class. *Ratio* is the
model's figure over the nearest of the published ones, so 1 anywhere between the least and the largest of them: devices
of one class differ by more than a model may be off. *Each* is the model's rate over each published one, the least and
the largest, above 1 where the model is faster: what to expect of another device of the class. Behind a range stands
how many figures it is of. A row that is off by more than {PERCENT:.0f} % says why below the tables, and none may be
off by more than {NEVER:g} times: then `make accuracy` fails. A row is *fitted* where a number of the profile was set
by that very figure: it shows that the profile does what it was set to, and is no evidence. A row is *wide* where the
published figures are more than {WIDE:g} times apart: few models would miss it. The figures and what is run for each
are in `pages/devices.toml`.
They were chosen by what was published, not by what the models meet. Many come from people who ran iozone, fio,
CrystalDiskMark or flashbench on a device of theirs, so the second digit of a row says nothing.
"""

ALONE = """\
### Alone
`flashbed-replay` puts the requests to a new medium as large as its profile says: no kernel and no CPU is in it. The
same on every host.
"""


@dataclass(frozen=True)
class Devices:
    """What is compared with published figures, as text."""

    page: str
    """The part of docs/accuracy.md."""
    error: str
    """The file that model_error.py writes."""
    faults: Sequence[str]


def write(bench: Bench, folder: Path) -> Devices:
    """Runs all rows. Works in `folder` as well as with the bench."""
    rows = load()
    alone, guests = ([row for row in rows if (row.kind == "replay") == is_alone] for is_alone in (True, False))
    found, package = device_guests.figures(guests, folder)
    found |= {row.name: device_replays.figure(bench, row) for row in alone}
    return told(rows, found, package)


def told(rows: Sequence[DeviceRow], found: Mapping[str, float], package: str) -> Devices:
    """What is told of the rows, by what the models do, each in its row's unit; `package` is the guests' kernel's."""
    alone, guests = ([row for row in rows if (row.kind == "replay") == is_alone] for is_alone in (True, False))
    faults = [f"{row.name}: {fault}" for row in rows for fault in row.faults(found[row.name])]
    number = dict(zip((row.name for row in alone + guests), itertools.count(1), strict=False))
    parts = [
        f"## Like the device\n{TEXT}\n{counts(rows, found)}",
        f"{ALONE}\n{_table(alone, found, number)}",
        f"{GUESTS}\n{_guest_text(package)}\n{_table(guests, found, number)}",
        "### Why rows are off\n" + "".join(_reasons(alone + guests, found, number)),
        "### Sources of the rows\n" + "".join(f"{number[row.name]}. {row.source}\n" for row in alone + guests),
    ]
    return Devices("\n".join(parts), model_error.text(rows, found), faults)


def _guest_text(package: str) -> str:
    return (
        "A cell of a study, or the kernel's own speed test on a raw chip, on a shipped board: the whole path of a "
        "request is in it. The kernel's code is in these figures, so another package of it moves them a little; a test "
        f"allows {GUESTS_MAY_DIFFER:.0%}.\n\nThese are of the kernel from {package}.\n"
    )


def _table(rows: Sequence[DeviceRow], found: Mapping[str, float], number: Mapping[str, int]) -> str:
    lines = [
        [
            str(number[row.name]),
            row.medium,
            row.what,
            row.unit,
            row.measured,
            figure(found[row.name]),
            f"{row.ratio(found[row.name]):.2f}{', fitted' if row.fitted else ''}{', wide' if row.is_wide else ''}",
            _each(row, found[row.name]),
        ]
        for row in rows
    ]
    return table(["row", "medium", "what", "unit", "measured", "model", "ratio", "each"], lines, left=(1, 2, 3))


def _each(row: DeviceRow, found: float) -> str:
    """The least and the largest ratio to a published rate; nothing where the figure is a limit."""
    if row.unit == "ms at most":
        return ""
    low, high = (f"{ratio:.2f}" for ratio in (min(row.rates(found)), max(row.rates(found))))
    return low if low == high else f"{low} to {high}"


def counts(rows: Sequence[DeviceRow], found: Mapping[str, float]) -> str:
    """How many rows, by the nearest figure, and how many figures, each by itself, the model is close to."""
    counted = [row for row in rows if not row.fitted]
    nearest = [row.off(found[row.name]) for row in counted]
    each = [max(rate, 1 / rate) for row in counted if row.unit != "ms at most" for rate in row.rates(found[row.name])]

    def told(off: Sequence[float]) -> str:
        near, twice = (sum(factor <= limit for factor in off) for limit in (NEEDS_A_REASON, 2))
        return f"of {len(off)} {near} are within {PERCENT:.0f} % and {twice} within a factor of 2"

    return (
        f"Without the fitted ones, by the nearest published figure: {told(nearest)}. By each published figure: "
        f"{told(each)}.\n"
    )


def _reasons(rows: Sequence[DeviceRow], found: Mapping[str, float], number: Mapping[str, int]) -> Iterator[str]:
    said = [f"- Row {number[row.name]}: {row.why}\n" for row in rows if row.why and row.is_off(found[row.name])]
    return iter(said or ["None is.\n"])


def figure(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def differences(page: str, now: str) -> list[str]:
    """Where a page is not what would be written now; rows of guests may differ by GUESTS_MAY_DIFFER."""
    old, new = page.splitlines(), now.splitlines()
    if len(old) != len(new):
        return [f"it has {len(old)} lines and would have {len(new)}"]
    in_guests, found = False, []
    for before, after in zip(old, new, strict=True):
        if before.startswith("#"):
            in_guests = before == GUESTS
        if before != after and not (in_guests and _alike(before, after)):
            found.append(f"it says {before!r} and would say {after!r}")
    return found


def _alike(before: str, after: str) -> bool:
    """Whether two lines say the same but for the model's figure and the name of the kernel's package."""
    if "linux-source-" in before and "linux-source-" in after:
        return True
    old, new = (line.strip("| ").split(" | ") for line in (before, after))
    if len(old) != 8 or old[:5] != new[:5]:
        return False
    values = [float(cells[5].replace(",", "")) for cells in (old, new)]
    # Each may be rounded by half a step of the last digit that is printed
    return math.isclose(*values, rel_tol=GUESTS_MAY_DIFFER + 0.01)
