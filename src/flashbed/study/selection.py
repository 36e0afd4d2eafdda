# SPDX-License-Identifier: Apache-2.0
"""Which combinations of a study's axes there are, and which of them a selection means. Must not know profiles."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from flashbed.profiles.library import Kind
from flashbed.study.format import StudyFile, Where

PROFILES: tuple[Kind, ...] = ("board", "medium", "translation", "filesystem", "scheduler")
"""The axes whose values are names of profiles."""


def combinations(axes: Mapping[str, Sequence[str]], skip: Sequence[Where]) -> Iterator[dict[str, str]]:
    """Every combination of the axes' values but those that `skip` names; the last axis changes fastest."""
    plain_skip = tuple(tuple((axis, tuple(values)) for axis, values in entry.items()) for entry in skip)
    for values in _left(tuple((axis, tuple(values)) for axis, values in axes.items()), plain_skip):
        yield dict(zip(axes, values, strict=True))


_Choice = tuple[tuple[str, tuple[str, ...]], ...]
"""Axes, or an entry of skip: names with values."""


@lru_cache(maxsize=8)
def _left(axes: _Choice, skip: tuple[_Choice, ...]) -> tuple[tuple[str, ...], ...]:
    """The values of each combination that is not left out. Every claim, figure and table of a study asks for them."""
    names, entries = [name for name, _ in axes], [dict(entry) for entry in skip]
    cells = (dict(zip(names, values, strict=True)) for values in product(*(values for _, values in axes)))
    return tuple(tuple(cell.values()) for cell in cells if not any(matches(cell, entry) for entry in entries))


def selected(axis: str, value: str, values: Sequence[str]) -> list[str]:
    """The values of an axis that a word of the study means: itself, or each profile of that name."""
    return [found for found in values if found == value or (axis in PROFILES and found.partition(":")[0] == value)]


def matches(cell: Mapping[str, str], selection: Where) -> bool:
    """Whether a cell is among those that `selection`, with its values in full, names."""
    return all(cell[axis] in values for axis, values in selection.items())


def skip_hint(study: StudyFile, pair: Mapping[str, str]) -> str:
    """Return what to do about two values that do not go together."""
    varied = [f'{axis} = "{value}"' for axis, value in pair.items() if axis in study.axes]
    if not varied:
        return "change one of the two"
    return f"change one of the two, or leave the combination out: skip = [{{ {', '.join(varied)} }}]"
