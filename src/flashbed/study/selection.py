# SPDX-License-Identifier: Apache-2.0
"""Which combinations of a study's axes there are, and which of them a selection means.

The one place where an axis or a metric that a study names is looked up. Must not know profiles.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from flashbed.common.errors import InputError, several
from flashbed.common.toml_lines import Keys
from flashbed.common.tomlfile import Problem, TomlFile, nearest
from flashbed.profiles.library import Kind
from flashbed.result.metrics import METRICS
from flashbed.study.format import (
    STACK,
    StudyFile,
    Where,
)

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


def full_selection(study: StudyFile, selection: Where, at: Keys, problems: list[Problem]) -> Where:
    """`selection` with its values in full: "fat16" stands for every "fat16:..." on the axis."""
    full: Where = {}
    for axis, values in selection.items():
        if not known_axis(study, axis, (*at, axis), problems):
            continue
        wanted: list[str] = []
        for value in values:
            found = selected(axis, value, study.axes[axis])
            if not found:
                known = nearest(value, study.axes[axis])
                problems.append(Problem((*at, axis), f'"{value}" is not on the axis "{axis}"{known}'))
            wanted += found
        if not values:
            problems.append(Problem((*at, axis), "has no values"))
        full[axis] = tuple(value for value in study.axes[axis] if value in wanted)
    return full


def selected(axis: str, value: str, values: Sequence[str]) -> list[str]:
    """The values of an axis that a word of the study means: itself, or each profile of that name."""
    return [found for found in values if found == value or (axis in PROFILES and found.partition(":")[0] == value)]


def matches(cell: Mapping[str, str], selection: Where) -> bool:
    """Whether a cell is among those that `selection`, with its values in full, names."""
    return all(cell[axis] in values for axis, values in selection.items())


def known_axis(study: StudyFile, name: str, at: Keys, problems: list[Problem]) -> bool:
    """Whether a name is an axis; a problem is added if not."""
    if name in study.axes:
        return True
    fixed = name in STACK or name in study.workload
    why = "is fixed in this study, not an axis" if fixed else f"is no axis of this study{nearest(name, study.axes)}"
    problems.append(Problem(at, f'"{name}" {why}'))
    return False


def known_metric(name: str, at: Keys, problems: list[Problem]) -> None:
    """Adds a problem for a name that is no metric."""
    if name not in METRICS:
        problems.append(Problem(at, f'no metric "{name}"{nearest(name, METRICS)}'))


def skip_hint(study: StudyFile, pair: Mapping[str, str]) -> str:
    varied = [f'{axis} = "{value}"' for axis, value in pair.items() if axis in study.axes]
    if not varied:
        return "change one of the two"
    return f"change one of the two, or leave the combination out: skip = [{{ {', '.join(varied)} }}]"


def raise_all(file: TomlFile, problems: Iterable[Problem]) -> None:
    """Raises InputError with all problems, if there are any."""
    lines = [file.told(problem) for problem in problems]
    if lines:
        raise InputError(several(lines))
