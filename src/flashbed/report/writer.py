# SPDX-License-Identifier: Apache-2.0
"""Writes a study's report and exports into a folder, each file whole or not at all.

Must not know what is in them. report.html comes last: it says from which inputs all were made.
"""

from __future__ import annotations

from pathlib import Path

from flashbed.common import atomic
from flashbed.report import export
from flashbed.report.folder import REPORT
from flashbed.report.html import render
from flashbed.report.model import Report


def write_report(report: Report, out_dir: Path, digest: str) -> None:
    """Writes report.html and the exports. `digest` is that of all that went into the report (freshness.py)."""
    table = export.frame_of(report.results)
    out_dir.mkdir(parents=True, exist_ok=True)
    atomic.write(out_dir / "results.csv", export.csv_bytes(table))
    atomic.write(out_dir / "results.parquet", export.parquet_bytes(table))
    atomic.write(out_dir / "results.json", export.json_bytes(report))
    atomic.write(out_dir / REPORT, render(report, digest, f"flashbed run {report.study.name}").encode())
