# SPDX-License-Identifier: Apache-2.0
"""Writes a study's report and exports into a folder, each file whole or not at all.

Must not know what is in them. report.html comes last: it says from which inputs all were made.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashbed.report import export
from flashbed.report.freshness import REPORT, inputs_digest, is_current
from flashbed.report.html import render
from flashbed.report.model import report_of

if TYPE_CHECKING:
    import pandas

    from flashbed.study import Study


def write_report(
    study: Study,
    frame: pandas.DataFrame,
    manifest: Mapping[str, Any],
    out_dir: Path,
    *,
    checks: Mapping[str, str | None] | None = None,
    consoles: Mapping[str, Sequence[str]] | None = None,
    command: str | None = None,
) -> Path:
    """Writes report.html and the exports, unless those on disk were made from the same inputs. Returns the report's
    path.

    `checks` and `consoles` are by key: what the file system's checker said ("" is clean, None is not checked), if the
    frame has no column `check` that tells it, and the last lines of the console. `command` is what a reader types to
    get
    the same results.
    """
    rows: list[dict[str, Any]] = frame.to_dict("records")  # type: ignore[assignment]  # columns are texts
    for row in rows:
        if checks and row["key"] in checks:
            row["check"] = checks[row["key"]]
    digest = inputs_digest(study, rows, manifest, consoles)
    path = out_dir / REPORT
    if is_current(out_dir, digest):
        return path
    report = report_of(study, rows, manifest, consoles)
    table = export.frame_of(report.results)
    out_dir.mkdir(parents=True, exist_ok=True)
    _write_whole(out_dir / "results.csv", export.csv_bytes(table))
    _write_whole(out_dir / "results.parquet", export.parquet_bytes(table))
    _write_whole(out_dir / "results.json", export.json_bytes(report))
    _write_whole(path, render(report, digest, command or f"flashbed run {study.name}").encode())
    return path


def _write_whole(path: Path, content: bytes) -> None:
    """A reader sees the old file or the new one, never a part."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
