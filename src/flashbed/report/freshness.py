# SPDX-License-Identifier: Apache-2.0
"""Whether a report on disk still says what would be written now, told without drawing anything; if not, it is written.

A digest of all that goes in stands in the head of report.html. pandas and jinja2 are imported only to draw a report:
with every result cached a run should end at once. Of 144 repetitions the digest takes 10 ms, and drawing 450 ms.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashbed.report import folder
from flashbed.result import columns

if TYPE_CHECKING:
    from flashbed.guest_output.request_log import RequestLog
    from flashbed.result.columns import ResultRow
    from flashbed.study.loading import Study

_NOT_INPUTS = ("path", "library", "kernels")
"""Of a study: where it lies; the library, whose profiles are read one by one; kernels, which the keys of rows have."""
_CODE = (".py", ".toml", ".j2", ".css", ".js")
"""Of the package's files; a wheel's _data is what cells are made of, and is in the keys."""


def bring_up_to_date(
    study: Study,
    rows: Sequence[ResultRow],
    manifest: Mapping[str, Any],
    out_dir: Path,
    consoles: Mapping[str, Sequence[str]] | None = None,
    logs: Mapping[str, Callable[[], RequestLog]] | None = None,
    elsewhere: Sequence[ResultRow] = (),
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
    if not folder.is_current(out_dir, digest):
        from flashbed.report.model import report_of
        from flashbed.report.writer import write_report

        if owner:
            folder.check(out_dir, owner)
            folder.begin(out_dir, owner)
        write_report(report_of(study, rows, manifest, consoles, logs, elsewhere, left_out), out_dir, digest)
        if owner:
            folder.end(out_dir, owner)
    return out_dir / folder.REPORT


def inputs_digest(
    study: Study,
    rows: Iterable[ResultRow],
    manifest: Mapping[str, Any],
    consoles: Mapping[str, Sequence[str]] | None = None,
    elsewhere: Iterable[ResultRow] = (),
    left_out: Sequence[str] = (),
) -> str:
    """A digest of everything that a report depends on, the program that writes it included.

    Rows may come in any order, and 1 is 1.0.
    """
    said = {name: value for name, value in vars(study).items() if name not in _NOT_INPUTS}
    profiles = study.library.texts({**{kind: (value,) for kind, value in study.fixed.items()}, **study.axes})
    inputs = [said, profiles, sorted(map(_row, rows)), manifest, sorted((consoles or {}).items())]
    inputs += [sorted(map(_row, elsewhere)), list(left_out), _program()]
    canonical = json.dumps(inputs, default=_plain, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _row(row: ResultRow) -> str:
    metrics = {name: repr(float(value)) for name, value in row.metrics.items()}
    held = columns.values(row, columns.COLUMNS)
    return json.dumps([row.combination, held, metrics, dict(row.counted)], sort_keys=True)


def _plain(value: Any) -> Any:
    """What json does not know: models, mappings, sets in their order; anything else by its text."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, frozenset):
        return sorted(value)
    return dict(value) if isinstance(value, Mapping) else str(value)


@cache
def _program() -> list[str]:
    """Return what decides how a report looks and is no input of a study: the lab's code, and libraries' versions."""
    libraries = ("plotly", "pandas", "pyarrow", "jinja2")
    return [_code(Path(__file__).parents[1]), *(f"{name} {_version(name)}" for name in libraries)]


def _code(package: Path) -> str:
    """Return a digest of the code of all rooms, with what they read beside it."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.suffix in _CODE and not path.is_relative_to(package / "_data"):
            name = path.relative_to(package).as_posix()
            digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
