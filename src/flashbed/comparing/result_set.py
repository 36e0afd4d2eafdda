# SPDX-License-Identifier: Apache-2.0
"""A set of results, as a report exports it: REPORT, or REPORT@AXIS=VALUE for a part of one.

REPORT is the folder of a report, its results.json, or a pack, which has such a file and the kernels' options beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flashbed.common import own_file
from flashbed.common.errors import InputError
from flashbed.common.tomlfile import nearest
from flashbed.replay import pack_file
from flashbed.replay.pack_file import Pack
from flashbed.result import columns
from flashbed.result.metrics import Metric

FILE = "results.json"
COMPARED = f"the folder of a report, its {FILE}, a pack, or a folder with several of such folders"
MOST_OPTIONS = 10
"""Options of a kernel that are told; of more the rest is counted."""

Place = tuple[tuple[str, str], ...]
"""A cell: axes and their values, in the order of the axes' names."""

OUTCOME, CHECK = "outcome", "check"
NOT_RUN = "missing"
"""The outcome of a repetition that a report expects and that was not run: a set does not have it."""

CLEAN = ""
"""What a file system's checker says that finds nothing; None where there was no check."""

DURABLE = "durable"


@dataclass(frozen=True)
class StoredRepetition:
    """What one seed of a cell gave: its figures, what was counted, what was told."""

    figures: Mapping[str, float]
    counted: Mapping[str, int]
    told: Mapping[str, str | None]

    @property
    def measured(self) -> bool:
        return self.told[OUTCOME] == "measured"


@dataclass(frozen=True)
class ResultSet:
    """Cells by their place, each with its repetitions by seed."""

    name: str
    study: str
    metrics: Mapping[str, Metric]
    """The figures by name."""
    headline: tuple[str, ...]
    """The figures that the study asks about."""
    inputs: Mapping[str, Any]
    fixed: Mapping[str, str]
    """What all cells have in common, by axis."""
    cells: Mapping[Place, Mapping[int, StoredRepetition]] = field(repr=False)
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """What each kernel was configured with, by what the set calls the kernel; of packs only."""


def read_all(text: str) -> dict[str, ResultSet]:
    """The sets at a place, by the name of the folder that each lies in; "" where the place itself is one. Raises
    InputError.
    """
    place, part = _split(text)
    path = Path(place)
    if pack_file.is_pack(path):
        return {"": _of_pack(pack_file.open_pack(path), text, part)}
    if path.is_file():
        return {"": _read(path, text, part)}
    if not path.is_dir():
        raise InputError(f"{place}: no such file or folder; {COMPARED} can be compared")
    if (path / FILE).is_file():
        return {"": _read(path / FILE, text, part)}
    found = {str(file.parent.relative_to(path)): file for file in sorted(path.rglob(FILE))}
    if not found:
        raise InputError(f"{place}: there is no {FILE} in it; `flashbed report STUDY --out {place}` writes one")
    return {name: _read(file, f"{text}: {name}", part) for name, file in found.items()}


def pairs(a: str, b: str) -> tuple[dict[str, ResultSet], dict[str, ResultSet]]:
    """The sets at two places, each by the name that it has in both. One report is held to that of its study among
    several. Raises InputError, also where that is none or more than one.
    """
    mine, its = read_all(a), read_all(b)
    if ("" in mine) == ("" in its):
        return mine, its
    if "" in mine:
        return mine, _of_study(mine[""].study, its, b, a)
    return _of_study(its[""].study, mine, a, b), its


def _of_study(study: str, several: Mapping[str, ResultSet], place: str, of: str) -> dict[str, ResultSet]:
    found = {name: one for name, one in several.items() if one.study == study}
    if len(found) == 1:
        return {"": next(iter(found.values()))}
    has = f"several of {study} ({', '.join(found)})" if found else f"none of {study}"
    raise InputError(
        f"{place}: is a folder of reports with {has}, and {of} is one report of {study}; name the folder of one report"
    )


def _split(text: str) -> tuple[str, str]:
    """A path, and what is wanted of what lies there. Both may have an @ in them: the longest path that there is counts,
    else all in front of the first @.
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
    its = _parsed(pack.read(f"{pack_file.REPORT}/{FILE}"), pack.path, name, part)
    kernels = dict.fromkeys(one.kernel for one in pack.recipes)
    return replace(its, options={pack.called(kernel): pack.options(kernel) for kernel in kernels})


def _parsed(text: bytes, path: Path, name: str, part: str) -> ResultSet:
    try:
        said = pack_file.parsed_json(text)
        return _of(said, name, _wanted(part, name, said["study"]["axes"]))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: is no set of results, or a damaged one; {COMPARED} can be compared") from None


def _wanted(part: str, name: str, axes: Mapping[str, list[str]]) -> dict[str, str]:
    """Of "kernel=6.1,filesystem=ext4". A value may have a comma in it, as a kernel with two patches has: it goes on
    until it is one of its axis.
    """
    found: dict[str, str] = {}
    last = ""
    for word in filter(None, part.split(",")):
        axis, equals, value = word.partition("=")
        if last in axes and found[last] not in axes[last] and axis not in axes:
            found[last] += f",{word}"
            continue
        if not equals:
            raise InputError(f"{name}: write REPORT@AXIS=VALUE, such as reports/quick@filesystem=ext2")
        found[axis] = value
        last = axis
    return found


def _of(said: Mapping[str, Any], name: str, wanted: Mapping[str, str]) -> ResultSet:
    study = said["study"]
    axes: Mapping[str, list[str]] = study["axes"]
    for axis, value in wanted.items():
        if axis not in axes:
            raise InputError(f"{name}: {axis} is no axis of this study{nearest(axis, axes)}")
        if value not in axes[axis]:
            raise InputError(f"{name}: {axis} has no value {value}{nearest(value, axes[axis])}")
    cells: dict[Place, dict[int, StoredRepetition]] = {}
    for row in said["repetitions"]:
        if row[OUTCOME] != NOT_RUN and all(row[axis] == value for axis, value in wanted.items()):
            if not (type(row["seed"]) is int and all(isinstance(row[axis], str) for axis in axes)):
                raise TypeError("a cell has values of text, and a seed that is a number")
            place = tuple((axis, row[axis]) for axis in sorted(axes) if axis not in wanted)
            cells.setdefault(place, {})[row["seed"]] = _repetition(row)
    headline = dict.fromkeys(answer["metric"] for answer in said["answers"])
    fixed = {**study["fixed"], **wanted}
    return ResultSet(name, study["name"], _metrics(said["metrics"]), tuple(headline), said["manifest"], fixed, cells)


def _metrics(said: Mapping[str, Any]) -> dict[str, Metric]:
    metrics = {name: Metric(name, told["title"], told["unit"], told["better"]) for name, told in said.items()}
    for metric in metrics.values():
        if not (isinstance(metric.title, str) and metric.better in ("higher", "lower", None)):
            raise TypeError(f"{metric.name} is no metric")
    return metrics


def _repetition(row: Mapping[str, Any]) -> StoredRepetition:
    figures = {name: float(value) for name, value in row["metrics"].items() if value is not None}
    told = columns.compared_of(row)
    if not all(value is None or isinstance(value, str) for value in told.values()):
        raise TypeError("what a repetition says is no text")
    return StoredRepetition(figures, row.get("counted", {}), told)


def other_inputs(a: ResultSet, b: ResultSet) -> Iterator[str]:
    """What the two sets were not measured with alike, a sentence each."""
    for axis in sorted({**a.fixed, **b.fixed}):
        mine, its = a.fixed.get(axis), b.fixed.get(axis)
        if mine != its and mine is not None and its is not None:
            yield f"{axis}: {mine} / {its}"
    for name in dict.fromkeys([*a.inputs, *b.inputs]):
        yield from _other(name, a.inputs.get(name), b.inputs.get(name))
    for kernel in a.options:
        if kernel in b.options:
            yield from _other_options(kernel, a.options[kernel], b.options[kernel])


def _other_options(kernel: str, mine: Mapping[str, str], its: Mapping[str, str]) -> Iterator[str]:
    differ = [name for name in sorted({**mine, **its}) if mine.get(name) != its.get(name)]
    for name in differ[:MOST_OPTIONS]:
        yield f"{kernel}, {name}: {mine.get(name, 'not set')} / {its.get(name, 'not set')}"
    if differ[MOST_OPTIONS:]:
        yield f"{kernel}: {len(differ) - MOST_OPTIONS} more options"


def _other(name: str, mine: Any, its: Any) -> Iterator[str]:
    if mine == its:
        return
    if isinstance(mine, Mapping) and isinstance(its, Mapping):
        for key in dict.fromkeys([*mine, *its]):
            yield from _other(f"{name}, {key}", mine.get(key), its.get(key))
    elif mine is None or its is None:
        yield f"{name}: only in {'B' if mine is None else 'A'}"
    else:
        yield f"{name}: {_short(mine)} / {_short(its)}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:12]}..."
