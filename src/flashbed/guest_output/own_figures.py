# SPDX-License-Identifier: Apache-2.0
"""Read the figures that a program reports of itself: lines `name value` in a file of /out.

A figure is the metric `own.NAME`. Its name says its unit and direction, as in rows_per_s. Must not know the program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import Literal, NamedTuple

from flashbed.common import foreign

FIGURES = "figures"
"""The file of /out."""

OWN_PREFIX = "own."
"""The prefix of the metrics."""

MOST_OWN_FIGURES = 200
"""The most figures of a run."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}", re.ASCII)


class Meaning(NamedTuple):
    """The unit and the better direction of a figure; None if neither is better."""

    unit: str
    better: Literal["higher", "lower"] | None


_RATE = "_per_s"
_MEANINGS = {
    _RATE: Meaning("per s", "higher"),
    "_mib_s": Meaning("MiB/s", "higher"),
    "_us": Meaning("us", "lower"),
    "_ms": Meaning("ms", "lower"),
    "_s": Meaning("s", "lower"),
    "_bytes": Meaning("bytes", "lower"),
    "_percent": Meaning("%", None),
    "_errors": Meaning("", "lower"),
    "_lost": Meaning("", "lower"),
}
"""By the end of a figure's name; the first that fits counts."""


def is_name(metric: str) -> bool:
    """Return True if `metric` is the name of a program's own figure: own.NAME."""
    return metric.startswith(OWN_PREFIX) and _NAME.fullmatch(metric.removeprefix(OWN_PREFIX)) is not None


def meaning(metric: str) -> Meaning:
    """Return the unit and the direction of a figure, by the end of its name."""
    return _MEANINGS.get(_end(metric), Meaning("", None))


def title(metric: str) -> str:
    """Return the name of a figure for people, without its unit."""
    end = _end(metric) if meaning(metric).unit else ""
    words = metric.removeprefix(OWN_PREFIX).removesuffix(end).replace("_", " ")
    return f"Rate of {words}" if end == _RATE else words.capitalize()


def _end(metric: str) -> str:
    return next((end for end in _MEANINGS if metric.endswith(end)), "")


def hint(metric: str) -> str:
    """Return the end of a message about a metric without a direction; "" if it is no figure of a program."""
    directed = ", ".join(ending for ending, meaning_ in _MEANINGS.items() if meaning_.better)
    return f"; figures with these ends of their names have one: {directed}" if is_name(metric) else ""


def reported_figures(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return the figures by metric; {} if the program reports none. Raises ValueError for a line that is none."""
    own: dict[str, float] = {}
    for number, line in enumerate(out.get(FIGURES, b"").decode(errors="replace").splitlines(), start=1):
        if not line.strip():
            continue
        name, value = _figure(line)
        if value is None or not is_name(f"{OWN_PREFIX}{name}"):
            shown = foreign.line(line, 60)
            raise ValueError(f'{FIGURES}:{number}: "{shown}" is no figure: a name of a-z, 0-9 and _, and a number')
        if f"{OWN_PREFIX}{name}" in own:
            raise ValueError(f"{FIGURES}:{number}: {name} is there twice")
        own[f"{OWN_PREFIX}{name}"] = value
        if len(own) > MOST_OWN_FIGURES:
            raise ValueError(f"{FIGURES}: has more than {MOST_OWN_FIGURES} figures")
    return own


def _figure(line: str) -> tuple[str, float | None]:
    """Return the name and the number of a line; None if it has no finite number."""
    name, _, text = line.strip().partition(" ")
    try:
        value = float(text)
    except ValueError:
        return name, None
    return name, value if isfinite(value) else None
