# SPDX-License-Identifier: Apache-2.0
"""A report's folder: which files it has, of which inputs, and whose they are.

A record beside the report names its study and has the digest of each file as it was written, so that nothing is written
over that is another study's, a person's own or changed by one. The head of report.html has a digest of the report's
inputs (freshness.py).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from flashbed.common import atomic, own_file
from flashbed.common.digest import digest_file
from flashbed.common.errors import InputError
from flashbed.study.loading import SHIPPED

REPORT = "report.html"
JSON = "results.json"
EXPORTS = ("results.csv", "results.parquet", JSON)
RECORD = ".flashbed.json"
MOST_RECORD_BYTES = 1 << 20
FILES = (*EXPORTS, REPORT)
MARK = '<meta name="flashbed-inputs"'
_HEAD_BYTES = 2048


def owner(folder: Path, study: Path, *, shipped: bool) -> str:
    """How a folder's record names a study: by its file's path from there, so that both can be moved together."""
    return f"{SHIPPED}{study.stem}" if shipped else os.path.relpath(os.path.realpath(study), os.path.realpath(folder))


def check(folder: Path, mine: str) -> None:
    """Raises InputError if a report of the study `mine` (see owner()) would be written over what is not its own."""
    record = _record(folder)
    theirs = record.get("study", mine)
    if theirs != mine and (theirs.startswith(SHIPPED) or (folder / theirs).is_file()):
        name = f"the shipped study {theirs.removeprefix(SHIPPED)}" if theirs.startswith(SHIPPED) else theirs
        raise InputError(f"{folder}: has the report of another study, {name}; name another folder with --out")
    if record.get("unfinished") or (not record and has_report(folder)):
        return
    written = record.get("files", {})
    for path in (folder / name for name in FILES):
        if path.exists() and (not path.is_file() or digest_file(path) != written.get(path.name)):
            raise InputError(
                f"{path}: was not written by flashbed, or was changed since, and the report would be written over it; "
                "move it away, or name another folder with --out"
            )


def begin(folder: Path, mine: str) -> None:
    """Notes that the files are being written: if that is cut short, all of them are still ours."""
    _note(folder, {"study": mine, "unfinished": True})


def end(folder: Path, mine: str) -> None:
    """Notes the files as they are."""
    _note(folder, {"study": mine, "files": {name: digest_file(folder / name) for name in FILES}})


def digest_mark(digest: str) -> str:
    """How the digest stands in the report's head."""
    return f'{MARK} content="{digest}">'


def is_current(folder: Path, digest: str) -> bool:
    """Whether the report and all exports are there, made from inputs with this digest."""
    if not all((folder / name).is_file() for name in EXPORTS):
        return False
    try:
        with own_file.opened(folder / REPORT) as file:
            return digest_mark(digest).encode() in file.read(_HEAD_BYTES)
    except FileNotFoundError:
        return False


def has_report(folder: Path) -> bool:
    """Whether there is a report of whatever inputs."""
    try:
        with own_file.opened(folder / REPORT) as file:
            return MARK.encode() in file.read(_HEAD_BYTES)
    except OSError:
        return False


def _note(folder: Path, record: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    atomic.write(folder / RECORD, f"{json.dumps(record, indent=1)}\n".encode())


def _record(folder: Path) -> dict[str, Any]:
    """Empty if there is none, or if it is damaged."""
    try:
        record = json.loads(own_file.read(folder / RECORD, MOST_RECORD_BYTES).decode())
        fine = isinstance(record["study"], str) and isinstance(record.get("files", {}), dict)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return dict(record) if fine else {}
