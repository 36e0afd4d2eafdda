# SPDX-License-Identifier: Apache-2.0
"""Names for people, from the titles of the profiles: "F2FS" for "f2fs", "ext2 (block=1k)" where there is another ext2.

Knows that profiles have titles, and none of the names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashbed.library import Library

LONGEST = 24
"""Characters; a longer title is a description, and the study's own word serves better as a name."""


def names_of(library: Library | None, axes: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Display names by axis and value, for the axes whose values are profiles with a name in their title."""
    if library is None:
        return {}
    names = {}
    for axis, look_up in (("filesystem", library.filesystem), ("medium", library.medium)):
        if axis in axes:
            names[axis] = _unique({value: _short(look_up(value).title, value) for value in axes[axis]})
    return names


def _short(title: str, selector: str) -> str:
    """The title up to its first explanation, if that is short."""
    name = re.split(r"[,:(]", title)[0].strip()
    return name if 0 < len(name) <= LONGEST else selector.partition(":")[0]


def _unique(names: Mapping[str, str]) -> dict[str, str]:
    """Names that several values share, with the options that tell the values apart."""
    told = {}
    for value, name in names.items():
        options = {other: _options(other) for other, shared in names.items() if shared == name}
        common = set.intersection(*map(set, options.values()))
        telling = ",".join(option for option in options[value] if option not in common)
        told[value] = f"{name} ({telling or 'defaults'})" if len(options) > 1 else name
    return told


def _options(selector: str) -> list[str]:
    return [option.strip() for option in selector.partition(":")[2].split(",") if option]
