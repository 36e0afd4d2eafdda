# SPDX-License-Identifier: Apache-2.0
"""List the combinations of a study's axes, and match selections against them. Must not know profiles."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from flashbed.profiles.library import Kind
from flashbed.study.format import StudyFile, Where

PROFILES: tuple[Kind, ...] = ("board", "medium", "translation", "filesystem", "scheduler")
"""The axes whose values are names of profiles."""


def combinations(axes: Mapping[str, Sequence[str]], skip: Sequence[Where]) -> Iterator[dict[str, str]]:
    """Yield every combination of the axes' values that `skip` does not name. The last axis changes fastest."""
    plain_skip = tuple(tuple((axis, tuple(values)) for axis, values in entry.items()) for entry in skip)
    for values in _left(tuple((axis, tuple(values)) for axis, values in axes.items()), plain_skip):
        yield dict(zip(axes, values, strict=True))


_Choice = tuple[tuple[str, tuple[str, ...]], ...]
"""Names with values: all axes, or an entry of skip."""


@lru_cache(maxsize=8)
def _left(axes: _Choice, skip: tuple[_Choice, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the values of each remaining combination. It is cached, because every claim, figure and table asks
    for it.
    """
    names, entries = [name for name, _ in axes], [dict(entry) for entry in skip]
    cells = (dict(zip(names, values, strict=True)) for values in product(*(values for _, values in axes)))
    return tuple(tuple(cell.values()) for cell in cells if not any(matches(cell, entry) for entry in entries))


def selected(axis: str, value: str, values: Sequence[str]) -> list[str]:
    """Return the values of an axis that a word of the study means: the value itself, or each profile of that name."""
    return [
        candidate
        for candidate in values
        if candidate == value or (axis in PROFILES and candidate.partition(":")[0] == value)
    ]


def matches(cell: Mapping[str, str], selection: Where) -> bool:
    """Return True if `selection`, with full values, names the cell."""
    return all(cell[axis] in values for axis, values in selection.items())


def skip_hint(study: StudyFile, pair: Mapping[str, str]) -> str:
    """Return advice on two values that do not go together."""
    varied = [f'{axis} = "{value}"' for axis, value in pair.items() if axis in study.axes]
    if not varied:
        return "change one of the two"
    return f"change one of the two, or leave the combination out: skip = [{{ {', '.join(varied)} }}]"
