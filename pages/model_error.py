# SPDX-License-Identifier: Apache-2.0
"""Write the models' error by class of medium and kind of load, from the rows of pages/devices.toml.

The file is part of the package. Verdicts and reports read it there (flashbed/analysis/model_error.py).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from pages.device_rows import LOADS, DeviceRow
from pages.page_text import REPOSITORY

FILE = REPOSITORY / "src/flashbed/analysis/model_error.toml"

CLASSES = {
    "raw-nand": ("slc-nand-64m", "slc-nand-256m", "mlc-nand"),
    "usb-stick": ("usb-stick-2g",),
    "sd-card": ("sd-poor", "sd-poor-merging", "sd-good"),
    "compact-flash": ("cf-2g",),
    "emmc": ("emmc-32g-tlc", "emmc-64g"),
    "nvme": ("nvme-960pro-class",),
    "disk": ("hdd-25-4200-ide-4g", "hdd-25-5400-ide-4g", "hdd-35-7200-320g"),
}
"""Media whose devices were measured alike. Software layers and the medium without time are no devices."""

OF_TEN = 9
"""The number of figures, of every ten, for which the stated error holds."""

HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# How far the models are from published figures of real devices. Written by `make accuracy`; do not edit.
#
# A table is a class of medium. `media` are the shipped profiles of the class; a profile of the user's own has none.
# A table below it is a kind of load: the requests that reach the medium, not the calls of a program. "flush" is a
# write that is flushed by itself. A kind without a table was compared with no published figure: nothing is known.
#
# factor   the stated error: 9 of 10 published figures (all, if there are fewer than 10) are at most this many times
#          above or below the model. It is the error for another device of the same class, and so has in it how much
#          devices of a class differ from each other.
# lowest   the least ratio of the model's rate to a published rate; above 1 the model is faster
# highest  the largest
# figures  the number of published figures, without those that a number of the profile was set by. One or two tell of
#          these devices only: another of the class may be off by about 2 whatever the factor says.
#
# The error is of a rate. Where both sides of a comparison put the same kind of load on the same medium, most of it is
# on both sides, and their ratio is better known than either. Where the kinds differ, as random writes against
# sequential ones, each side has its own.
#
# Left out are devices of a class that no shipped profile has. docs/generated/accuracy.md compares each of them by
# itself:
"""


def head(rows: Sequence[DeviceRow]) -> str:
    """Return the comment above the tables. It ends with the devices that belong to no class."""
    others = sorted({f"#   {row.device} ({row.device_class})\n" for row in rows if row.device_class})
    return HEAD + "".join(others or ["#   none\n"])


def text(rows: Sequence[DeviceRow], figures: Mapping[str, float]) -> str:
    """Return the content of the file from the rows and the models' figures by row name, each in its row's unit.

    Held-out rows count, kept back or not, because the error is that of a finished model.
    """
    parts = [head(rows)]
    for name, media in CLASSES.items():
        parts.append(f"\n[{name}]\nmedia = [{', '.join(map(_quoted, media))}]\n")
        for load in LOADS:
            rates = [
                rate
                for row in rows
                if row.profile in media and row.load == load and not (row.fitted or row.device_class)
                for rate in row.rates(figures[row.name])
            ]
            if rates:
                parts.append(f'\n[{name}."{load}"]\n' + _error(rates))
    return "".join(parts)


def _quoted(word: str) -> str:
    return f'"{word}"'


def _error(rates: Sequence[float]) -> str:
    return (
        f"factor = {_digits(stated(rates))}\n"
        f"lowest = {_digits(min(rates))}\n"
        f"highest = {_digits(max(rates))}\n"
        f"figures = {len(rates)}\n"
    )


def stated(rates: Sequence[float]) -> float:
    """Return the factor within which OF_TEN of ten rates lie; all rates if there are fewer than ten."""
    off = sorted(max(rate, 1 / rate) for rate in rates)
    return off[math.ceil(len(off) * OF_TEN / 10) - 1]


def _digits(value: float) -> str:
    """Return a number with three digits. A float needs a point in TOML."""
    return f"{float(f'{value:.3g}')}"


def differences(before: str, now: str, may_differ: float) -> list[str]:
    """Return the differences between the file and its new content. Ratios may differ by `may_differ`."""
    old, new = (_flat(tomllib.loads(content)) for content in (before, now))
    if before.partition("\n[")[0] != now.partition("\n[")[0] or set(old) != set(new):
        return ["it has another head, or other classes and loads"]
    return [f"{key} is {old[key]} and would be {new[key]}" for key in old if not _alike(old[key], new[key], may_differ)]


def _flat(tables: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, table in tables.items():
        for key, value in table.items():
            if isinstance(value, dict):
                flat |= {f"{name}, {key}, {figure}": number for figure, number in value.items()}
            else:
                flat[f"{name}, {key}"] = value
    return flat


def _alike(before: Any, now: Any, may_differ: float) -> bool:
    if isinstance(before, float) and isinstance(now, float):
        return math.isclose(before, now, rel_tol=may_differ)
    return bool(before == now)
