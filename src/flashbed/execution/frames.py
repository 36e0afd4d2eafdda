# SPDX-License-Identifier: Apache-2.0
"""Return results and requests as data frames, for notebooks and scripts: the functions of `import flashbed`.

The callers write Python, so an argument of a wrong type gets a clear message too. Must not know how anything is
measured.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas

from flashbed.common.errors import InputError
from flashbed.common.tomlfile import shown
from flashbed.execution import run
from flashbed.guest_output import request_log
from flashbed.result import columns
from flashbed.result.columns import ResultRow
from flashbed.result.metrics import METRICS
from flashbed.result.store import open_store
from flashbed.study.loading import find_study, load_study

_WHOLE, _NUMBER = re.compile(r"-?[0-9]{1,18}"), re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")
_TRUTHS = {"true": True, "false": False}
_REQUEST = {
    "operation": "object",
    "begun_ns": "int64",
    "done_ns": "int64",
    "offset_bytes": "Int64",
    "length_bytes": "int64",
}
"""The columns of requests, and their types; a flush has no address (NA)."""


def results(study: object) -> pandas.DataFrame:
    """Return the stored results of a study, a row for each repetition. `study` is a file or a name, as for the
    commands. Raises InputError.
    """
    if not isinstance(study, str | os.PathLike) or not (name := os.fspath(study)) or not isinstance(name, str):
        raise InputError(
            f'results({_shown_repr(study)}): wants the name of a study or its file, such as results("quick")'
        )
    read = load_study(find_study(name))
    return _frame(run.rows(run.stored(read)), read.axes)


def _frame(rows: Sequence[ResultRow], axes: Mapping[str, Sequence[str]]) -> pandas.DataFrame:
    """Return the rows as a frame, with the axes first. An axis of numbers has a numeric type; one of true and false is
    boolean. A frame without rows has all columns that a row may have.
    """
    of_rows = columns.columns_of(rows)
    frame = pandas.DataFrame(
        {
            **dict(zip(axes, row.combination, strict=True)),
            **columns.values(row, of_rows),
            **row.metrics,
            **{columns.COUNTED + name: count for name, count in row.counted.items()},
        }
        for row in rows
    )
    if not rows:
        frame = pandas.DataFrame({name: [] for name in (*axes, *columns.names())}, dtype="object")
        frame = frame.assign(seed=frame["seed"].astype("int64"))
        frame = frame.join(pandas.DataFrame({name: [] for name in METRICS if name not in frame}, dtype="float64"))
    for axis, values in axes.items():
        dtype, read = _type_of(values)
        frame[axis] = frame[axis].map(read).astype(dtype)
    return frame


def _type_of(values: Sequence[str]) -> tuple[Any, Callable[[str], object]]:
    """Return the type of an axis, and the function that parses its values."""
    if all(_WHOLE.fullmatch(value) for value in values):
        return "int64", int
    if all(_NUMBER.fullmatch(value) for value in values):
        return "float64", float
    return ("bool", _TRUTHS.__getitem__) if set(values) <= _TRUTHS.keys() else ("object", str)


def requests(key: object) -> pandas.DataFrame:
    """Return the requests of the repetition whose key starts with `key`, a row for each request in order of arrival:
    operation, begun_ns and done_ns since the measurement began, offset_bytes, length_bytes.

    Raises InputError if there is no such repetition, or if it kept no log.
    """
    if not isinstance(key, str):
        raise InputError(
            f"requests({_shown_repr(key)}): wants the key of a repetition as a text; the column key of results() has it"
        )
    stored = open_store().find(key)
    try:
        log = request_log.read(stored.folder / "out")
    except (FileNotFoundError, ValueError):
        raise InputError(
            f"{key}: kept no log of its requests; a [[trace]] in the study makes the cells that it shows keep one"
        ) from None
    return pandas.DataFrame(map(asdict, log.requests), columns=list(_REQUEST)).astype(_REQUEST)


def _shown_repr(value: object) -> str:
    return shown(repr(value))
