# SPDX-License-Identifier: Apache-2.0
"""A report's directory: which files it has, made from which inputs, and to which study they belong.

A record beside the report names its study and has the digest of each written file. So a run never overwrites a file
that belongs to another study or to the user, or that the user has changed. The head of report.html has a digest of the
report's inputs (updating.py).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from flashbed.common import atomic, own_file
from flashbed.common.digest import digest_file
from flashbed.common.errors import InputError
from flashbed.result.columns import RESULTS_JSON
from flashbed.study.loading import SHIPPED

REPORT_PAGE = "report.html"
EXPORTS = ("results.csv", "results.parquet", RESULTS_JSON)
RECORD = ".flashbed.json"
MOST_RECORD_BYTES = 1 << 20
REPORT_FILES = (*EXPORTS, REPORT_PAGE)
INPUTS_MARK = '<meta name="flashbed-inputs"'
_HEAD_BYTES = 2048


def owner(folder: Path, study: Path, *, shipped: bool) -> str:
    """Return the name of a study in a directory's record: its file's path from there, so that both can be moved
    together.
    """
    return f"{SHIPPED}{study.stem}" if shipped else os.path.relpath(os.path.realpath(study), os.path.realpath(folder))


def check(folder: Path, study_name: str) -> None:
    """Raise InputError if a report of the study `study_name` (see owner()) would overwrite what is not its own."""
    record = _record(folder)
    theirs = record.get("study", study_name)
    if theirs != study_name and (theirs.startswith(SHIPPED) or (folder / theirs).is_file()):
        name = f"the shipped study {theirs.removeprefix(SHIPPED)}" if theirs.startswith(SHIPPED) else theirs
        raise InputError(f"{folder}: has the report of another study, {name}; name another folder with --out")
    if record.get("unfinished") or (not record and has_report(folder)):
        return
    written = record.get("files", {})
    for path in (folder / name for name in REPORT_FILES):
        if path.exists() and (not path.is_file() or digest_file(path) != written.get(path.name)):
            raise InputError(
                f"{path}: was not written by flashbed, or was changed since, and the report would be written over it; "
                "move it away, or name another folder with --out"
            )


def begin(folder: Path, study_name: str) -> None:
    """Record that the files are being written: if that is interrupted, all of them still belong to the study."""
    _note(folder, {"study": study_name, "unfinished": True})


def end(folder: Path, study_name: str) -> None:
    """Record the digests of the files."""
    _note(folder, {"study": study_name, "files": {name: digest_file(folder / name) for name in REPORT_FILES}})


def digest_mark(digest: str) -> str:
    """Return the element of the report's head that has the digest."""
    return f'{INPUTS_MARK} content="{digest}">'


def is_current(folder: Path, digest: str) -> bool:
    """True if the report and all exports are there, made from inputs with this digest."""
    if not all((folder / name).is_file() for name in EXPORTS):
        return False
    try:
        with own_file.opened(folder / REPORT_PAGE) as file:
            return digest_mark(digest).encode() in file.read(_HEAD_BYTES)
    except FileNotFoundError:
        return False


def has_report(folder: Path) -> bool:
    """True if there is a report of any inputs."""
    try:
        with own_file.opened(folder / REPORT_PAGE) as file:
            return INPUTS_MARK.encode() in file.read(_HEAD_BYTES)
    except OSError:
        return False


def _note(folder: Path, record: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    atomic.write(folder / RECORD, f"{json.dumps(record, indent=1)}\n".encode())


def _record(folder: Path) -> dict[str, Any]:
    """Return the record; empty if there is none, or if it is damaged."""
    try:
        record = json.loads(own_file.read(folder / RECORD, MOST_RECORD_BYTES).decode())
        fine = isinstance(record["study"], str) and isinstance(record.get("files", {}), dict)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return dict(record) if fine else {}
