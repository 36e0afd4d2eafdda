# SPDX-License-Identifier: Apache-2.0
"""Read a set of results, as a report exports it: REPORT, or REPORT@AXIS=VALUE for a part of one.

REPORT is the directory of a report, its results.json, or a pack, which has such a file and the options of its kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flashbed.common import own_file
from flashbed.common.errors import InputError
from flashbed.common.tomlfile import nearest
from flashbed.guest_output.assessment import Assessment, Status
from flashbed.replay import pack_file
from flashbed.replay.pack_file import Pack
from flashbed.result import columns
from flashbed.result.columns import RESULTS_JSON
from flashbed.result.metrics import Metric

COMPARED = (
    f"`flashbed compare` reads a report's folder, its {RESULTS_JSON}, a pack, or a folder of several report folders"
)
Place = tuple[tuple[str, str], ...]
"""The place of a cell: axes and their values, in the order of the axes' names."""

OUTCOME_COLUMN, CHECK_COLUMN = "outcome", "check"
CLEAN = ""
"""The output of a file system's checker that finds nothing. None stands for no check."""

DURABLE_COLUMN = "durable"


@dataclass(frozen=True)
class StoredRepetition:
    """One seed of a cell, as results.json has it. `texts` and `assessments` have the compared columns by name.

    A ResultRow does not fit: a file has the columns of the version that wrote it, and a column may be no field of a
    row.
    """

    metrics: Mapping[str, float]
    counted: Mapping[str, int]
    texts: Mapping[str, str | None]
    assessments: Mapping[str, Assessment]

    @property
    def is_measured(self) -> bool:
        return self.texts[OUTCOME_COLUMN] == Status.MEASURED


@dataclass(frozen=True)
class ResultSet:
    """Cells by their place, each with its repetitions by seed."""

    name: str
    study: str
    metrics: Mapping[str, Metric]
    """The metrics by name."""
    headline: tuple[str, ...]
    """The metrics that the study asks about."""
    inputs: Mapping[str, Any]
    fixed: Mapping[str, str]
    """The value of each axis on which all cells are the same."""
    cells: Mapping[Place, Mapping[int, StoredRepetition]] = field(repr=False)
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """The options of each kernel, by the set's name for the kernel. Only packs have them."""


def read_all(text: str) -> dict[str, ResultSet]:
    """Return the sets at a place, by the name of the directory of each; "" if the place itself is a set. Raises
    InputError.
    """
    place, part = _split(text)
    path = Path(place)
    if pack_file.is_pack(path):
        return {"": _of_pack(pack_file.open_pack(path), text, part)}
    if path.is_file():
        return {"": _read(path, text, part)}
    if not path.is_dir():
        raise InputError(f"{place}: no such file or folder; {COMPARED}")
    if (path / RESULTS_JSON).is_file():
        return {"": _read(path / RESULTS_JSON, text, part)}
    files = {str(file.parent.relative_to(path)): file for file in sorted(path.rglob(RESULTS_JSON))}
    if not files:
        raise InputError(f"{place}: there is no {RESULTS_JSON} in it; `flashbed report STUDY --out {place}` writes one")
    return {name: _read(file, f"{text}: {name}", part) for name, file in files.items()}


def pairs(a: str, b: str) -> tuple[dict[str, ResultSet], dict[str, ResultSet]]:
    """Return the sets at two places, by names that both may have. Given one report and several, pick the report of the
    same study. Raises InputError, also if none or more than one is of that study.
    """
    of_a, of_b = read_all(a), read_all(b)
    if ("" in of_a) == ("" in of_b):
        return of_a, of_b
    if "" in of_a:
        return of_a, _of_study(of_a[""].study, of_b, b, a)
    return _of_study(of_b[""].study, of_a, a, b), of_b


def _of_study(study: str, several: Mapping[str, ResultSet], place: str, of: str) -> dict[str, ResultSet]:
    matching = {name: result_set for name, result_set in several.items() if result_set.study == study}
    if len(matching) == 1:
        return {"": next(iter(matching.values()))}
    has = f"several of {study} ({', '.join(matching)})" if matching else f"none of {study}"
    raise InputError(
        f"{place}: is a folder of reports with {has}, and {of} is one report of {study}; name the folder of one report"
    )


def _split(text: str) -> tuple[str, str]:
    """Return a path, and the part that is wanted of the set there. Both may contain an @. The path is the longest that
    exists; if none does, all before the first @.
    """
    ends = [len(text), *(at for at in range(len(text) - 1, 0, -1) if text[at] == "@")]
    end = next((end for end in ends if Path(text[:end]).exists()), ends[-1])
    return text[:end], text[end + 1 :]


def _read(path: Path, name: str, part: str) -> ResultSet:
    try:
        return _parsed(own_file.read(path), path, name, part)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _of_pack(pack: Pack, name: str, part: str) -> ResultSet:
    result_set = _parsed(pack.read(f"{pack_file.REPORT_FOLDER}/{RESULTS_JSON}"), pack.path, name, part)
    kernels = dict.fromkeys(recipe.kernel for recipe in pack.recipes)
    return replace(result_set, options={pack.called(kernel): pack.options(kernel) for kernel in kernels})


def _parsed(text: bytes, path: Path, name: str, part: str) -> ResultSet:
    try:
        document = pack_file.parsed_json(text)
        return _of(document, name, _wanted(part, name, document["study"]["axes"]))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: is not a set of results, or is damaged; {COMPARED}") from None


def _wanted(part: str, name: str, axes: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the values of a text such as "kernel=6.1,filesystem=ext4", by axis. A value may contain commas, as that of
    a kernel with two patches does. It ends where it is a value of its axis.
    """
    selection: dict[str, str] = {}
    last = ""
    for word in filter(None, part.split(",")):
        axis, equals, value = word.partition("=")
        if last in axes and selection[last] not in axes[last] and axis not in axes:
            selection[last] += f",{word}"
            continue
        if not equals:
            raise InputError(f"{name}: write REPORT@AXIS=VALUE, such as reports/quick@filesystem=ext2")
        selection[axis] = value
        last = axis
    return selection


def _of(document: Mapping[str, Any], name: str, selection: Mapping[str, str]) -> ResultSet:
    study = document["study"]
    axes: Mapping[str, list[str]] = study["axes"]
    for axis, value in selection.items():
        if axis not in axes:
            raise InputError(f"{name}: {axis} is no axis of this study{nearest(axis, axes)}")
        if value not in axes[axis]:
            raise InputError(f"{name}: {axis} has no value {value}{nearest(value, axes[axis])}")
    cells: dict[Place, dict[int, StoredRepetition]] = {}
    for row in document["repetitions"]:
        if row[OUTCOME_COLUMN] != Status.MISSING and all(row[axis] == value for axis, value in selection.items()):
            if not (type(row["seed"]) is int and all(isinstance(row[axis], str) for axis in axes)):
                raise TypeError("a cell has values of text, and a seed that is a number")
            place = tuple((axis, row[axis]) for axis in sorted(axes) if axis not in selection)
            cells.setdefault(place, {})[row["seed"]] = _repetition(row)
    headline = dict.fromkeys(answer["metric"] for answer in document["answers"])
    fixed = {**study["fixed"], **selection}
    metrics = _metrics(document["metrics"])
    return ResultSet(name, study["name"], metrics, tuple(headline), document["manifest"], fixed, cells)


def _metrics(tables: Mapping[str, Any]) -> dict[str, Metric]:
    metrics = {name: Metric(name, table["title"], table["unit"], table["better"]) for name, table in tables.items()}
    for metric in metrics.values():
        if not (isinstance(metric.title, str) and metric.better in ("higher", "lower", None)):
            raise TypeError(f"{metric.name} is no metric")
    return metrics


def _repetition(row: Mapping[str, Any]) -> StoredRepetition:
    figures = {name: float(value) for name, value in row["metrics"].items() if value is not None}
    texts = columns.compared_texts(row)
    if not all(value is None or isinstance(value, str) for value in texts.values()):
        raise TypeError("a column of text has something else")
    return StoredRepetition(figures, row.get("counted", {}), texts, columns.compared_assessments(row))
