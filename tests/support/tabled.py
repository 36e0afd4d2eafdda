# SPDX-License-Identifier: Apache-2.0
"""Results of made-up tables, for tests. A row is a dict by column, as a data frame or text has it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from flashbed.analysis import Results
from flashbed.analysis import study_results as analysis_results
from flashbed.guest_output import limit
from flashbed.guest_output.assessment import Assessment, State, Status
from flashbed.guest_output.durability import Durability
from flashbed.guest_output.steadiness import Settling, Steadiness
from flashbed.guest_output.wear import Freshness
from flashbed.report import model, updating
from flashbed.report.inputs import Logs, Manifest, ReportInputs
from flashbed.report.model import Report
from flashbed.result.columns import COUNTED, Combination, ResultRow, names
from flashbed.study.format import SYSTEM
from flashbed.study.loading import Study

Tabled = Mapping[str, Any]

_VERDICTS = {"durable": Durability, "steady": Steadiness, "settled": Settling, "fresh": Freshness}


_Kind = TypeVar("_Kind", bound=Assessment)


def assessed(kind: type[_Kind], text: str) -> _Kind:
    """Return the assessment that a table shows as `text`."""
    state, _, reason = text.partition(": ")
    return kind(State(state), reason)


def row_of(tabled: Tabled, axes: Iterable[str]) -> ResultRow:
    """Return the row. Values that are None or NaN are left out."""
    present = {name: value for name, value in tabled.items() if value is not None and value == value}
    held = {name: present[name] for name in names() if name in present}
    held |= {name: assessed(kind, held[name]) for name, kind in _VERDICTS.items() if name in held}
    held["outcome"] = Status(held["outcome"])
    numbers = {name: value for name, value in present.items() if name not in {*axes, *held} and math.isfinite(value)}
    counted = {name.removeprefix(COUNTED): int(value) for name, value in numbers.items() if name.startswith(COUNTED)}
    metrics = {name: float(value) for name, value in numbers.items() if not name.startswith(COUNTED)}
    return ResultRow(tuple(str(present[axis]) for axis in axes), metrics=metrics, counted=counted, **held)


def results_of(
    axes: Mapping[str, Sequence[object]],
    rows: Iterable[Tabled],
    planned: Iterable[tuple[Combination, int]] = (),
) -> Results:
    return analysis_results.results_of(axes, [row_of(row, list(axes)) for row in rows], planned)


def rows_of_study(study: Study, rows: Iterable[Tabled]) -> list[ResultRow]:
    """Return the rows, with what follows from the parameters of their cells."""
    return [_completed(row_of(row, list(study.axes)), study) for row in rows]


def _completed(row: ResultRow, study: Study) -> ResultRow:
    parameters = {**study.fixed, **study.workload, **dict(zip(study.axes, row.combination, strict=True))}
    compresses = bool(study.library.filesystem(parameters.get("filesystem", "ext2")).compresses)
    in_memory = row.is_measured and limit.is_swallowed(row.metrics, limit.direction_of(parameters))
    return replace(row, limit=row.limit or ("memory" if in_memory else ""), compresses=compresses)


def _elsewhere(study: Study, rows: Iterable[Tabled]) -> list[ResultRow]:
    return [row_of(row, [SYSTEM, *study.axes]) for row in rows]


def _inputs(
    study: Study,
    rows: Iterable[Tabled],
    manifest: Manifest | None = None,
    consoles: Mapping[str, Sequence[str]] | None = None,
    elsewhere: Iterable[Tabled] = (),
    *,
    logs: Logs | None = None,
    left_out: Sequence[str] = (),
) -> ReportInputs:
    table, there = rows_of_study(study, rows), _elsewhere(study, elsewhere)
    return ReportInputs(study, table, manifest or Manifest(), consoles or {}, logs or {}, there, left_out)


def report_of(study: Study, rows: Iterable[Tabled], **more: Any) -> Report:
    return model.report_of(_inputs(study, rows, **more))


def bring_up_to_date(
    study: Study,
    rows: Iterable[Tabled],
    manifest: Manifest,
    folder: Path,
    consoles: Mapping[str, Sequence[str]] | None = None,
    *,
    owner: str = "",
    **more: Any,
) -> Path:
    inputs = _inputs(study, rows, manifest, consoles, **more)
    return updating.bring_up_to_date(inputs, model.report_of(inputs), folder, owner)


def inputs_digest(study: Study, rows: Iterable[Tabled], manifest: Manifest, *more: Any) -> str:
    return updating.inputs_digest(_inputs(study, rows, manifest, *more))
