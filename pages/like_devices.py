# SPDX-License-Identifier: Apache-2.0
"""The first part of docs/generated/accuracy.md: compare shipped profiles with measured devices of their class, alone
and in a guest. Must not know how a row is run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages import device_guests, device_replays, model_error
from pages.checks import Bench
from pages.device_rows import NEEDS_A_REASON, NEVER, WIDE, DeviceRow, load
from pages.page_text import table

GUESTS = "### In the guest"
"""The heading above the rows in which a guest's kernel takes part."""

GUEST = "guest"
"""The mark, in the tables of other devices, of a row in which a guest's kernel takes part."""

GUESTS_MAY_DIFFER = 0.03
"""The relative difference that a row of a guest may have from the page, because another kernel package takes other
paths.
"""

PERCENT = (NEEDS_A_REASON - 1) * 100

TEXT = f"""\
This part compares the shipped profiles, with nothing taken away, with published figures of real devices of their class.

- *Measured* is the published figure. Of several figures it is the smallest and the largest, with their number in
  brackets.
- *Ratio* is the model's figure over the nearest published figure. It is 1 anywhere between the smallest and the largest
  published figure, because devices of one class differ by more than a model may be off.
- *Each* is the model's rate over each published rate, the smallest and the largest of these ratios. Above 1 the model
  is faster. It shows what to expect of another device of the class.
- A row is *fitted* if a number of the profile was set by that very figure. The row shows that the profile does what it
  was set to, and is no evidence.
- A row is *wide* if the published figures are more than {WIDE:g} times apart. Few models would miss such a range.

If a row is off by more than {PERCENT:.0f} %, the reason is below the tables. If a row of the first two tables is off by
more than {NEVER:g} times, `make accuracy` fails. `pages/devices.toml` has the figures, and the measurement of each row.
Rows were chosen by what was published, not by what the models meet. Many figures come from people who ran iozone, fio,
CrystalDiskMark or flashbench on a device of theirs, so the second digit of a row says nothing.
"""

COUNTS = f"""\
### How many are close
*Rows, by the nearest* counts each row once, by the published figure that is nearest to the model's. *Figures, one by
one* counts each published figure by itself, and shows what to expect of another device. Both counts leave out fitted
rows. The second also leaves out limits ("ms at most"). Close means within {PERCENT:.0f} %.
"""

OTHERS = f"""\
### Other devices, each by itself
Each row compares a device that no profile describes with the nearest profile. *Faster* is the model's rate over the
published rate; above 1 the model is faster. A row here may be off by any factor. A row is *held out* while no profile
names its source or its device, so that no number of a profile can have been chosen by it. If no profile is of the
device's class, the class follows in brackets, and the package's `analysis/model_error.toml` leaves the row out. *Run*
is "alone" if no kernel took part, else "{GUEST}".
"""

KEPT_BACK = """\
### Kept back
This table has half of the held-out rows, chosen by a hash of their names. Nobody may use them to change a model, and
`make accuracy` complains of none of them. If you change a model, look at the tables above, and at this table when the
model is finished.
"""

ALONE = """\
### Alone
`flashbed-replay` sends the requests to a new medium as large as its profile says. No kernel and no CPU takes part. The
figures are the same on every host.
"""


@dataclass(frozen=True)
class Devices:
    """The comparison with published figures, as text."""

    page: str
    """The part of docs/generated/accuracy.md."""
    error: str
    """The content of the file that model_error.py writes."""
    faults: Sequence[str]


ALL_ROWS = "all"


def write(bench: Bench, folder: Path) -> Devices:
    """Run all rows, with files in `folder` and on the bench, and return the text."""
    rows = load()
    alone, guests = ([row for row in rows if (row.kind == "replay") == is_alone] for is_alone in (True, False))
    figures, package = device_guests.figures(guests, folder)
    figures |= device_replays.figures(bench, alone)
    return told(rows, figures, package)


def told(rows: Sequence[DeviceRow], figures: Mapping[str, float], package: str) -> Devices:
    """Return the text about the rows from the models' figures, each in its row's unit. `package` is that of the guests'
    kernel.
    """
    alone = [row for row in rows if not row.device and row.kind == "replay"]
    guests = [row for row in rows if not row.device and row.kind != "replay"]
    others = [row for row in rows if row.device and not row.kept_back]
    kept_back = [row for row in rows if row.kept_back]
    printed = alone + guests + others + kept_back
    faults = [f"{row.name}: {fault}" for row in rows for fault in row.faults(figures[row.name])]
    number = {row.name: place for place, row in enumerate(printed, 1)}
    parts = [
        f"## Like the device\n{TEXT}",
        f"{COUNTS}\n{counts(rows, figures)}",
        f"{ALONE}\n{_table(alone, figures, number)}",
        f"{GUESTS}\n{_guest_text(package)}\n{_table(guests, figures, number)}",
        f"{OTHERS}\n{_others_table(others, figures, number)}",
        f"{KEPT_BACK}\n{_others_table(kept_back, figures, number)}",
        "### Why rows are off\n" + "".join(_reasons(printed, figures, number)),
        "### Sources of the rows\n" + "".join(f"{number[row.name]}. {row.source}\n" for row in printed),
    ]
    return Devices("\n".join(parts), model_error.text(rows, figures), faults)


def _guest_text(package: str) -> str:
    return (
        "Each row is a cell of a study, or the kernel's own speed test on a raw chip, on a shipped board. The figures "
        "include the whole path of a request. The kernel's code is part of it, so another package of the kernel moves "
        f"them a little; a test allows {GUESTS_MAY_DIFFER:.0%}.\n\nThese figures are of the kernel from {package}.\n"
    )


def _table(rows: Sequence[DeviceRow], figures: Mapping[str, float], number: Mapping[str, int]) -> str:
    lines = [
        [
            str(number[row.name]),
            row.medium,
            row.what,
            row.unit,
            row.measured,
            figure(figures[row.name]),
            f"{row.ratio(figures[row.name]):.2f}{', fitted' if row.fitted else ''}{', wide' if row.is_wide else ''}",
            _each(row, figures[row.name]),
        ]
        for row in rows
    ]
    return table(["row", "medium", "what", "unit", "measured", "model", "ratio", "each"], lines, left=(1, 2, 3))


def _each(row: DeviceRow, figure_of_model: float) -> str:
    """Return the smallest and the largest ratio to a published rate; "" if the figure is a limit."""
    if row.unit == "ms at most":
        return ""
    rates = row.rates(figure_of_model)
    low, high = (f"{ratio:.2f}" if ratio > 0.1 else f"{ratio:.1g}" for ratio in (min(rates), max(rates)))
    return low if low == high else f"{low} to {high}"


def _others_table(rows: Sequence[DeviceRow], figures: Mapping[str, float], number: Mapping[str, int]) -> str:
    lines = [
        [
            str(number[row.name]),
            row.medium,
            f"{row.device} ({row.device_class})" if row.device_class else row.device,
            row.what,
            "alone" if row.kind == "replay" else GUEST,
            row.unit,
            row.measured,
            figure(figures[row.name]),
            _each(row, figures[row.name]),
            "held out" if row.held_out else "",
        ]
        for row in rows
    ]
    titles = ["row", "nearest profile", "device", "what", "run", "unit", "measured", "model", "faster", "source"]
    return table(titles, lines, left=(1, 2, 3, 4, 5, 9))


def counts(rows: Sequence[DeviceRow], figures: Mapping[str, float]) -> str:
    """Return a table with the number of rows and of single figures to which the model is close. A row counts by its
    nearest figure.
    """
    sets: dict[str, Callable[[DeviceRow], bool]] = {
        ALL_ROWS: lambda row: True,
        "of the profile's class": lambda row: not row.device,
        "of another device": lambda row: bool(row.device),
        "held out, not kept back": lambda row: row.held_out and not row.kept_back,
        "held out, kept back": lambda row: row.kept_back,
    }
    lines = []
    for title, belongs in sets.items():
        counted = [row for row in rows if not row.fitted and belongs(row)]
        nearest = [row.off(figures[row.name]) for row in counted]
        rates = [rate for row in counted if row.unit != "ms at most" for rate in row.rates(figures[row.name])]
        lines.append([title, *_close(nearest), *_close([max(rate, 1 / rate) for rate in rates])])
    close = [f"within {PERCENT:.0f} %", "within a factor of 2", "beyond 3"]
    return table(["which", "rows, by the nearest", *close, "figures, one by one", *close], lines)


def _close(off: Sequence[float]) -> list[str]:
    """Return the number of ratios, and how many are close, within a factor of 2, and beyond a factor of 3."""
    near, twice, thrice = (sum(factor <= limit for factor in off) for limit in (NEEDS_A_REASON, 2, 3))
    return [str(len(off)), str(near), str(twice), str(len(off) - thrice)]


def _reasons(rows: Sequence[DeviceRow], figures: Mapping[str, float], number: Mapping[str, int]) -> Iterator[str]:
    reasons = [f"- Row {number[row.name]}: {row.why}\n" for row in rows if row.why and row.is_off(figures[row.name])]
    return iter(reasons or ["None is.\n"])


def figure(value: float) -> str:
    """Return a number with three digits, or with all digits before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def differences(page: str, now: str) -> list[str]:
    """Return the differences between a page and its new content. Rows of guests may differ by GUESTS_MAY_DIFFER."""
    old, new = page.splitlines(), now.splitlines()
    if len(old) != len(new):
        return [f"it has {len(old)} lines and would have {len(new)}"]
    in_guests, lines = False, []
    for before, after in zip(old, new, strict=True):
        if before.startswith("#"):
            in_guests = before == GUESTS
        of_guest = in_guests or f" | {GUEST} | " in before
        if before != after and not (of_guest and _alike(before, after)):
            lines.append(f"it says {before!r} and would say {after!r}")
    return lines


def _alike(before: str, after: str) -> bool:
    """True if two lines differ at most in the model's figure and in the name of the kernel's package."""
    if "linux-source-" in before and "linux-source-" in after:
        return True
    old, new = (line.strip("| ").split(" | ") for line in (before, after))
    model = 7 if GUEST in old else 5
    if len(old) != len(new) or len(old) <= model or old[:model] != new[:model]:
        return False
    values = [float(cells[model].replace(",", "")) for cells in (old, new)]
    # Each may be rounded by half a step of the last digit that is printed
    return math.isclose(*values, rel_tol=GUESTS_MAY_DIFFER + 0.01)
