# SPDX-License-Identifier: Apache-2.0
"""Names for people, from the titles of the profiles: "F2FS" for "f2fs", "ext2 (block=1k)" where there is another ext2;
and what stands behind a name, for the legend.

Knows that profiles have titles and studies labels, and none of the names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flashbed.analysis import Words
from flashbed.study.format import STACK, Label, Labels

if TYPE_CHECKING:
    from flashbed.profiles.library import Library

LONGEST = 24
"""Characters; a longer title is a description, and the study's own word serves better as a name."""


PROFILES = ("medium", "filesystem")
"""Axes whose values are profiles with titles that serve as names."""


def names_of(library: Library | None, axes: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Display names by axis and value, for the axes whose values are profiles with a name in their title."""
    if library is None:
        return {}
    names = {}
    for axis in PROFILES:
        if axis in axes:
            look_up = getattr(library, axis)
            names[axis] = _unique({value: _short(look_up(value).title, value) for value in axes[axis]})
    return names


def words_of(library: Library | None, axes: Mapping[str, Sequence[str]], labels: Labels) -> Words:
    """The words of a report: what the study calls its axes and values goes before the titles of profiles."""
    said = {
        axis: {value: label.name if isinstance(label, Label) else label for value, label in values.items()}
        for axis, values in labels.values.items()
    }
    return Words(axes, names_of(library, axes), labels.axes, said)


def legend(library: Library | None, words: Words, labels: Labels) -> list[tuple[str, str]]:
    """What short names stand for: the study's own explanation, else the profile's title and how the study names it."""
    told = {}
    for axis, values in words.axes.items():
        for value in values:
            name, label = words.value(axis, value), labels.values.get(axis, {}).get(value)
            if isinstance(label, Label) and label.meaning:
                told[name] = label.meaning
            elif axis in PROFILES and library is not None and (label is not None or ":" in value):
                told[name] = f"{getattr(library, axis)(value).title} ({value})"
    return [(name, meaning) for name, meaning in told.items() if meaning.partition(" (")[0] != name or ":" in meaning]


def fixed(library: Library | None, words: Words, axis: str, value: str) -> str:
    """A value that is the same in every cell: of a profile its title, and how the study names it."""
    word = words.value(axis, value)
    if library is None or axis not in STACK or word != value.partition(":")[0]:
        return word
    look_up = getattr(library, axis, None)  # a kernel is no profile
    title = getattr(look_up(value), "title", "") if look_up else ""
    return f"{title} ({value})" if title else word


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
    # Two profiles may begin their titles alike: then their own names tell them apart.
    return {value: name if list(told.values()).count(name) == 1 else value for value, name in told.items()}


def _options(selector: str) -> list[str]:
    return [option.strip() for option in selector.partition(":")[2].split(",") if option]
