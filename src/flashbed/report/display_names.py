# SPDX-License-Identifier: Apache-2.0
"""Make names for people from the titles of the profiles: "F2FS" for "f2fs", "ext2 (block=1k)" if there is another ext2;
and the legend of the names.

Knows that profiles have titles and studies have labels. Must not know any of the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from flashbed.analysis import Words
from flashbed.profiles.library import Selector
from flashbed.study.format import STACK, Label, Labels

if TYPE_CHECKING:
    from flashbed.profiles.library import Library

LONGEST = 24
"""The most characters of a name; a longer title is a description, and the study's own word is the better name."""


TITLED_AXES = ("medium", "filesystem")
"""Axes whose values are profiles with titles that serve as names."""


def names_of(library: Library | None, axes: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Return display names by axis and value, for the axes whose values are profiles with a name in their title."""
    if library is None:
        return {}
    names = {}
    for axis in TITLED_AXES:
        if axis in axes:
            look_up = getattr(library, axis)
            names[axis] = _unique({value: _short(look_up(value).title, value) for value in axes[axis]})
    return names


def words_of(
    library: Library | None, axes: Mapping[str, Sequence[str]], labels: Labels, cells: Sequence[Sequence[str]] = ()
) -> Words:
    """Return the words of a report: the study's own names of axes and values go before the titles of profiles. `cells`
    are the combinations of values that the study has.
    """
    value_labels = {
        axis: {value: label.name if isinstance(label, Label) else label for value, label in values.items()}
        for axis, values in labels.values.items()
    }
    in_words = {
        axis: {value: label.in_words for value, label in values.items() if isinstance(label, Label) and label.in_words}
        for axis, values in labels.values.items()
    }
    return Words(axes, names_of(library, axes), labels.axes, value_labels, in_words, leaders(list(axes), cells))


def leaders(axes: Sequence[str], cells: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return, for each axis that says no more than an earlier one, that axis: each value of one goes with a single
    value of the other in all cells. Axes of the stack are never left out.
    """
    leader_of: dict[str, str] = {}
    for later, axis in enumerate(axes):
        if axis in STACK:
            continue
        for earlier, leader in enumerate(axes[:later]):
            pairs = {(cell[earlier], cell[later]) for cell in cells}
            if len(pairs) > 1 and len(dict(pairs)) == len({value for _, value in pairs}) == len(pairs):
                leader_of.setdefault(axis, leader_of.get(leader, leader))
    return leader_of


def legend(
    library: Library | None, words: Words, labels: Labels, cells: Sequence[Sequence[str]] = ()
) -> list[tuple[str, str]]:
    """Return the meaning of short names: the study's own explanation, else the profile's title and how the study names
    it. A value that others follow has those too.
    """
    meanings = {}
    for axis, values in words.axes.items():
        for value in values:
            name, label = words.value(axis, value), labels.values.get(axis, {}).get(value)
            if isinstance(label, Label) and label.meaning:
                if label.meaning != name:
                    meanings[name] = label.meaning
            elif axis in TITLED_AXES and library is not None:
                title, options = getattr(library, axis)(value).title, Selector.options_of(value)
                if options or (label is not None and title != name):
                    meanings[name] = f"{title} ({value})"
    for name, others in _followed(words, cells):
        meanings[name] = "; ".join(filter(None, (meanings.get(name), f"with {words.places(others)}")))
    return list(meanings.items())


def _followed(words: Words, cells: Iterable[Sequence[str]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of each value that others follow, and those by axis."""
    axes = list(words.axes)
    for leader in dict.fromkeys(words.leaders.values()):
        for cell in {cell[axes.index(leader)]: cell for cell in cells}.values():
            coordinates = dict(zip(axes, cell, strict=True))
            yield (
                words.value(leader, coordinates[leader]),
                {axis: coordinates[axis] for axis in axes if words.leaders.get(axis) == leader},
            )


def fixed(library: Library | None, words: Words, axis: str, value: str) -> str:
    """Return a value that is the same in every cell; of a profile its title, and how the study names it."""
    word = words.value(axis, value)
    if library is None or axis not in STACK or word != Selector.name_of(value):
        return word
    look_up = getattr(library, axis, None)  # a kernel is no profile
    title = getattr(look_up(value), "title", "") if look_up else ""
    return f"{title} ({value})" if title else word


def _short(title: str, selector: str) -> str:
    """Return the title up to its first explanation, if that is short; else the name of the profile."""
    name = re.split(r"[,:(]", title)[0].strip()
    return name if 0 < len(name) <= LONGEST else Selector.name_of(selector)


def _unique(names: Mapping[str, str]) -> dict[str, str]:
    """Return names; those that several values share get the options that distinguish the values."""
    unique = {}
    for value, name in names.items():
        options = {selector: Selector.options_of(selector) for selector, shared in names.items() if shared == name}
        common = set.intersection(*map(set, options.values()))
        telling = ",".join(option for option in options[value] if option not in common)
        unique[value] = f"{name} ({telling or 'defaults'})" if len(options) > 1 else name
    # Two profiles may begin their titles alike: then their own names distinguish them
    return {value: name if list(unique.values()).count(name) == 1 else value for value, name in unique.items()}
