# SPDX-License-Identifier: Apache-2.0
"""Check whether the report on disk is up to date, without drawing anything; if it is not, write it.

A digest of the report's inputs is in the head of report.html. pandas and jinja2 are imported only to draw a report:
with every result cached a run should end at once. Of 144 repetitions the digest takes 10 ms, and drawing 450 ms. The
digest of the appliance, which is a plugin, takes 10 ms more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashbed.common import atomic, plugins
from flashbed.common.digest import digest_code
from flashbed.report import folder
from flashbed.report.inputs import ReportInputs
from flashbed.result import columns
from flashbed.result.columns import RESULTS_JSON

if TYPE_CHECKING:
    from flashbed.report.model import Report
    from flashbed.result.columns import ResultRow

_NOT_INPUTS = ("path", "library", "kernels")
"""Fields of a study that are no inputs of a report: its path; the library, whose profiles are digested one by one;
kernels, which are in the keys of rows.
"""


def bring_up_to_date(inputs: ReportInputs, report: Report, out_dir: Path, owner: str = "") -> Path:
    """Write report.html and the exports, unless those on disk were made from the same inputs. Return the report's path.

    `report` is that of the inputs. `owner` names the study in the folder's record (folder.py). Raises InputError if a
    file would be overwritten that is not of this study's report.
    """
    digest = inputs_digest(inputs)
    if not folder.is_current(out_dir, digest):
        if owner:
            folder.check(out_dir, owner)
            folder.begin(out_dir, owner)
        _write(report, out_dir, digest)
        if owner:
            folder.end(out_dir, owner)
    return out_dir / folder.REPORT_PAGE


def _write(report: Report, out_dir: Path, digest: str) -> None:
    """Write the exports, then report.html, which has the digest of the inputs of all. Each file is whole or absent."""
    from flashbed.report import export
    from flashbed.report.html import render

    table = export.frame_of(report.results)
    out_dir.mkdir(parents=True, exist_ok=True)
    atomic.write(out_dir / "results.csv", export.csv_bytes(table))
    atomic.write(out_dir / "results.parquet", export.parquet_bytes(table))
    atomic.write(out_dir / RESULTS_JSON, export.json_bytes(report))
    atomic.write(out_dir / folder.REPORT_PAGE, render(report, digest, f"flashbed run {report.study.name}").encode())


def inputs_digest(inputs: ReportInputs) -> str:
    """Return a digest of everything that a report depends on, including the program that writes it.

    The order of rows does not matter, and 1 is 1.0.
    """
    study = inputs.study
    study_keys = {name: value for name, value in vars(study).items() if name not in _NOT_INPUTS}
    profiles = study.library.texts({**{kind: (value,) for kind, value in study.fixed.items()}, **study.axes})
    parts: list[Any] = [study_keys, profiles, sorted(map(_row, inputs.rows)), vars(inputs.manifest)]
    parts += [sorted(inputs.consoles.items()), sorted(map(_row, inputs.elsewhere)), list(inputs.left_out), _program()]
    canonical = json.dumps(parts, default=_plain, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _row(row: ResultRow) -> str:
    metrics = {name: repr(float(value)) for name, value in row.metrics.items()}
    held = columns.values(row, columns.COLUMNS)
    calls = asdict(row.calls) if row.calls else None
    return json.dumps([row.combination, held, metrics, dict(row.counted), calls], sort_keys=True)


def _plain(value: Any) -> Any:
    """Return a value that json cannot encode as one that it can: models and mappings as dicts, sets as sorted lists,
    anything else as its text.
    """
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, frozenset):
        return sorted(value)
    return dict(value) if isinstance(value, Mapping) else str(value)


@cache
def _program() -> list[str]:
    """Return what decides how a report looks and is no input of a study: the code of the lab and of plugins, and the
    versions of libraries.
    """
    libraries = ("plotly", "pandas", "pyarrow", "jinja2")
    return [digest_code(), *plugins.digests(), *(f"{name} {_version(name)}" for name in libraries)]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
