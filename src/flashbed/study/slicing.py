# SPDX-License-Identifier: Apache-2.0
"""Restrict a study to the cells with some values of some axes, without editing its file.

The cells keep their keys, so the whole study finds the results of a slice. A claim that needs cells outside is not
judged: on some of its cells it would be another claim. Must not know how cells are run or shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from flashbed.common.errors import InputError
from flashbed.common.tomlfile import nearest
from flashbed.study.format import SYSTEM, Answer, Claim, Where, matches, selected
from flashbed.study.loading import Study


def narrowed(study: Study, where: Mapping[str, Sequence[str]]) -> Study:
    """Return the study with only the cells that have, on each axis in `where`, one of the given values. A profile's
    bare name stands for it with any options. If `where` is empty, return the study itself.

    Raises InputError for an axis or a value that the study lacks, or if no cell remains.
    """
    if not where:
        return study
    study = study.without_defaults()
    axes = {**study.axes, **{axis: _values(study, axis, chosen_values) for axis, chosen_values in where.items()}}
    part = replace(study, axes=axes)
    cells = list(part.combinations())
    if not cells:
        raise InputError(f"--where: {study.name} leaves out every cell with all of these values; choose others")
    all_cells = list(study.combinations())
    asks = study.answer is not None and _compares(study.answer, cells)
    kept = {
        "choices": tuple(choice for choice in study.choices if _compares(choice, cells)),
        "figures": tuple(figure for figure in study.figures if _among(cells, figure.where)),
        "tables": tuple(table for table in study.tables if _among(cells, table.where)),
        "request_figures": tuple(figure for figure in study.request_figures if _among(cells, figure.where)),
        "claims": tuple(claim for claim in study.claims if _same_cells(claim, cells, all_cells)),
    }
    missing = {name.removesuffix("s"): len(getattr(study, name)) - len(remaining) for name, remaining in kept.items()}
    conditions = "; ".join(f"{axis} {' or '.join(axes[axis])}" for axis in where)
    lacks = ["the answer"] * (study.answer is not None and not asks)
    lacks += [f"{number} {name}{'s' * (number > 1)}" for name, number in missing.items() if number]
    note = f"A slice, {len(cells)} of {len(all_cells)} cells: {conditions}."
    if lacks:
        note += f" Left out, for they need other cells too: {', '.join(lacks)}."
    part = replace(part, answer=study.answer if asks else None, slice_note=note, **kept)  # type: ignore[arg-type]
    return part.with_defaults(answer=study.answer is None)


def folder_name(study: str, where: Mapping[str, Sequence[str]]) -> str:
    """Return the directory name of a slice's report, different from the whole study's."""
    parts = [study, *(f"{axis}={'+'.join(values)}" for axis, values in where.items())]
    return "".join(letter if letter.isalnum() or letter in "-_.=+" else "_" for letter in ",".join(parts))


def _values(study: Study, axis: str, selected_texts: Iterable[str]) -> tuple[str, ...]:
    if axis not in study.axes:
        raise InputError(f'--where: "{axis}" is no axis of {study.name}{nearest(axis, study.axes)}')
    chosen_values = set()
    for value in selected_texts:
        matching = selected(axis, value, study.axes[axis])
        if not matching:
            raise InputError(f'--where: "{value}" is not on the axis "{axis}"{nearest(value, study.axes[axis])}')
        chosen_values |= set(matching)
    return tuple(value for value in study.axes[axis] if value in chosen_values)


def _among(cells: Iterable[Mapping[str, str]], where: Where) -> list[Mapping[str, str]]:
    """Return the cells that a selection names. The system of an imported result is in none of the lab's own cells."""
    own = {axis: values for axis, values in where.items() if axis != SYSTEM}
    return [cell for cell in cells if matches(cell, own)]


def _compares(answer: Answer, cells: Sequence[Mapping[str, str]]) -> bool:
    return len({tuple(cell[axis] for axis in answer.compare) for cell in _among(cells, answer.where)}) > 1


def _same_cells(claim: Claim, cells: Sequence[Mapping[str, str]], whole: Sequence[Mapping[str, str]]) -> bool:
    """Return True if the slice has all cells that the claim needs."""
    return all(
        len(_among(_among(cells, claim.where), side)) == len(_among(_among(whole, claim.where), side))
        for side in (claim.compare or [{}])
    )
