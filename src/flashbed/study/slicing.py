# SPDX-License-Identifier: Apache-2.0
"""A slice of a study: only the cells with some values of some axes, without an edit of its file.

The cells keep their keys, so what a slice measured is there for the whole study. A claim that rests on cells outside is
not judged, for on some of its cells alone it would be another claim. Must not know how cells are run or shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from flashbed.common.errors import InputError
from flashbed.common.tomlfile import nearest
from flashbed.profiles.library import FOLDERS
from flashbed.study.format import SYSTEM, Answer, Claim, Where
from flashbed.study.loading import Study
from flashbed.study.selection import matches


def narrowed(study: Study, where: Mapping[str, Sequence[str]]) -> Study:
    """The study with only the cells that have one of the values asked for on each axis in `where`; a profile's bare
    name stands for whatever options. The study itself, if `where` is empty.

    Raises InputError for an axis or a value that the study has not, or if no cell is left.
    """
    if not where:
        return study
    study = study.without_defaults()
    axes = {**study.axes, **{axis: _values(study, axis, asked) for axis, asked in where.items()}}
    part = replace(study, axes=axes)
    cells = list(part.combinations())
    if not cells:
        raise InputError(f"--where: {study.name} leaves out every cell with all of these")
    whole = list(study.combinations())
    asks = study.answer is not None and _compares(study.answer, cells)
    kept = {
        "choices": tuple(choice for choice in study.choices if _compares(choice, cells)),
        "figures": tuple(figure for figure in study.figures if _among(cells, figure.where)),
        "tables": tuple(table for table in study.tables if _among(cells, table.where)),
        "traces": tuple(trace for trace in study.traces if _among(cells, trace.where)),
        "claims": tuple(claim for claim in study.claims if _same_cells(claim, cells, whole)),
    }
    missing = {name.removesuffix("s"): len(getattr(study, name)) - len(left) for name, left in kept.items()}
    said = "; ".join(f"{axis} {' or '.join(axes[axis])}" for axis in where)
    lacks = ["the answer"] * (study.answer is not None and not asks)
    lacks += [f"{number} {name}{'s' * (number > 1)}" for name, number in missing.items() if number]
    note = f"A slice, {len(cells)} of {len(whole)} cells: {said}."
    if lacks:
        note += f" Left out, for they need other cells too: {', '.join(lacks)}."
    part = replace(part, answer=study.answer if asks else None, slice_note=note, **kept)  # type: ignore[arg-type]
    return part.with_defaults(answer=study.answer is None)


def folder_name(study: str, where: Mapping[str, Sequence[str]]) -> str:
    """A folder's name for the report of a slice, so that it does not take the place of the whole study's."""
    words = [study, *(f"{axis}={'+'.join(values)}" for axis, values in where.items())]
    return "".join(letter if letter.isalnum() or letter in "-_.=+" else "_" for letter in ",".join(words))


def _values(study: Study, axis: str, asked: Iterable[str]) -> tuple[str, ...]:
    if axis not in study.axes:
        raise InputError(f'--where: "{axis}" is no axis of {study.name}{nearest(axis, study.axes)}')
    wanted = set()
    for value in asked:
        found = [one for one in study.axes[axis] if value in (one, one.partition(":")[0] if axis in FOLDERS else one)]
        if not found:
            raise InputError(f'--where: "{value}" is not on the axis "{axis}"{nearest(value, study.axes[axis])}')
        wanted |= set(found)
    return tuple(value for value in study.axes[axis] if value in wanted)


def _among(cells: Iterable[Mapping[str, str]], where: Where) -> list[Mapping[str, str]]:
    """The cells that a selection names; the system of an imported result is in none of the lab's own cells."""
    own = {axis: values for axis, values in where.items() if axis != SYSTEM}
    return [cell for cell in cells if matches(cell, own)]


def _compares(answer: Answer, cells: Sequence[Mapping[str, str]]) -> bool:
    return len({tuple(cell[axis] for axis in answer.compare) for cell in _among(cells, answer.where)}) > 1


def _same_cells(claim: Claim, cells: Sequence[Mapping[str, str]], whole: Sequence[Mapping[str, str]]) -> bool:
    """Whether the slice has all cells that the claim rests on."""
    return all(
        len(_among(_among(cells, claim.where), side)) == len(_among(_among(whole, claim.where), side))
        for side in (claim.compare or [{}])
    )
