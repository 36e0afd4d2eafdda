# SPDX-License-Identifier: Apache-2.0
"""Whether a report on disk still says what would be written now, told without drawing anything; if not, it is written.

A digest of all that goes in stands in the head of report.html. Must not import pandas, jinja2 or plotly unless a report
is drawn: with every result cached, a run should end at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashbed.common import own_file

if TYPE_CHECKING:
    from flashbed.guest_output.request_log import RequestLog
    from flashbed.study.loading import Study

REPORT = "report.html"
JSON = "results.json"
EXPORTS = ("results.csv", "results.parquet", JSON)
MARK = '<meta name="flashbed-inputs"'
_HEAD_BYTES = 2048
_NOT_INPUTS = ("path", "library", "kernels")


def bring_up_to_date(
    study: Study,
    rows: Sequence[Mapping[str, Any]],
    manifest: Mapping[str, Any],
    out_dir: Path,
    consoles: Mapping[str, Sequence[str]] | None = None,
    logs: Mapping[str, Callable[[], RequestLog]] | None = None,
    elsewhere: Sequence[Mapping[str, Any]] = (),
    left_out: Sequence[str] = (),
    owner: str = "",
) -> Path:
    """Writes report.html and the exports, unless those on disk were made from the same inputs. Returns the report's
    path.

    `consoles` is by key: the last lines of the console; so is `logs`: what reads the log of a repetition whose requests
    are drawn. A key stands for what it reads. `elsewhere` are rows that other systems measured,
    `left_out` says what of theirs is not among them. `owner` names the study to a folder's record (folder.py); raises
    InputError if something else than its report would be written over.
    """
    digest = inputs_digest(study, rows, manifest, consoles, elsewhere, left_out)
    if not is_current(out_dir, digest):
        from flashbed.report import folder
        from flashbed.report.model import report_of
        from flashbed.report.writer import write_report

        if owner:
            folder.check(out_dir, owner)
            folder.begin(out_dir, owner)
        write_report(report_of(study, rows, manifest, consoles, logs, elsewhere, left_out), out_dir, digest)
        if owner:
            folder.end(out_dir, owner)
    return out_dir / REPORT


def inputs_digest(
    study: Study,
    rows: Iterable[Mapping[str, Any]],
    manifest: Mapping[str, Any],
    consoles: Mapping[str, Sequence[str]] | None = None,
    elsewhere: Iterable[Mapping[str, Any]] = (),
    left_out: Sequence[str] = (),
) -> str:
    """A digest of everything that a report depends on, the program that writes it included.

    Rows may come in any order, from a data frame or from anywhere else: absent, None and NaN are the same, 1 is 1.0.
    """
    said = {name: value for name, value in vars(study).items() if name not in _NOT_INPUTS}
    inputs = [said, sorted(map(_row, rows)), manifest, sorted((consoles or {}).items()), _program()]
    inputs += [sorted(map(_row, elsewhere)), list(left_out)]
    canonical = json.dumps(inputs, default=_plain, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def digest_mark(digest: str) -> str:
    """How the digest stands in the report's head."""
    return f'{MARK} content="{digest}">'


def is_current(out_dir: Path, digest: str) -> bool:
    """Whether the report and all exports are there, made from inputs with this digest."""
    if not all((out_dir / name).is_file() for name in EXPORTS):
        return False
    try:
        with own_file.opened(out_dir / REPORT) as file:
            return digest_mark(digest).encode() in file.read(_HEAD_BYTES)
    except FileNotFoundError:
        return False


def has_report(out_dir: Path) -> bool:
    """Whether there is a report of whatever inputs."""
    try:
        with own_file.opened(out_dir / REPORT) as file:
            return MARK.encode() in file.read(_HEAD_BYTES)
    except OSError:
        return False


def _row(row: Mapping[str, Any]) -> str:
    present = {name: value for name, value in row.items() if value is not None and value == value}
    told = {name: value if isinstance(value, str) else repr(float(value)) for name, value in present.items()}
    return json.dumps(told, sort_keys=True)


def _plain(value: Any) -> Any:
    """What json does not know: models, mappings, sets in their order; anything else by its text."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, frozenset):
        return sorted(value)
    return dict(value) if isinstance(value, Mapping) else str(value)


@cache
def _program() -> list[str]:
    """The code and the libraries that decide how a report looks."""
    here = Path(__file__).parent
    files = [
        *here.iterdir(),
        *(here.parent / "analysis").iterdir(),
        here.parent / "guest_output/limit.py",
        here.parent / "guest_output/steadiness.py",
        here.parent / "common/metrics.py",
        here.parent / "common/metrics.toml",
        here.parent / "study/relation.py",
        here.parent / "profiles/translation.py",
    ]
    code = hashlib.sha256()
    for file in sorted(file for file in files if file.is_file()):
        code.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return [code.hexdigest(), *(f"{name} {_version(name)}" for name in ("plotly", "pandas", "pyarrow", "jinja2"))]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
