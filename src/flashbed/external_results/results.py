# SPDX-License-Identifier: Apache-2.0
"""What fio measured elsewhere: read from a folder of exported jobs, kept under a system's name, given to the report.

Each file must be of the job that it is named after, and that job of the study as it is now; so nothing foreign gets in.
What is kept has the name of its job, which has the job's digest in it: if the study is changed, what is of other jobs
is left out and named. Two studies whose files have the same name have a folder each. Must not know how jobs are written
into files.
"""

from __future__ import annotations

import glob
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from flashbed.common import own_file, paths
from flashbed.common.digest import digest_bytes
from flashbed.common.errors import InputError, host_refusal
from flashbed.common.tomlfile import nearest, shown
from flashbed.external_results.jobs import FORMAT, MANIFEST, PortableJob, jobs
from flashbed.result.columns import ResultRow
from flashbed.result.result import MEASURED
from flashbed.study.format import SYSTEM
from flashbed.study.loading import Study
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fio.jobs import OUTPUT, section_names
from flashbed.workload.fio.output import metrics_of, read_json

Rows = list[dict[str, Any]]
"""One a result: the system, the job's name, its coordinates and seed, fio's version, and the metrics."""

ROWS = "rows.json"
LONGEST_NAME = 200
"""Of the folder for a system's results, letters."""
OWNER = "study.json"
"""Says of which study the results beside it are, by the path of its file."""
SHIPPED = "flashbed:"
"""Before the name of a shipped study, in place of a path."""


@dataclass(frozen=True)
class Kept:
    """What is kept of a study that is still of its jobs; and in sentences, what is not shown, and why."""

    rows: Rows
    left_out: Sequence[str] = ()


def take_in(study: Study, folder: Path, system: str) -> tuple[int, int]:
    """Keeps the results in a folder of exported jobs as those of `system`, in place of what was kept under that name of
    the same jobs; results of other jobs stay.

    How many there are, and of how many jobs. Raises InputError for a folder or a file that does not fit.
    """
    if not system.strip() or not system.isprintable():
        raise InputError('--as: give the system a name that can be printed, such as --as "Windows XP"')
    if len(_folder_name(system)) > LONGEST_NAME:
        raise InputError(f'--as: "{system[:40]}..." is too long for the name of a system')
    if study.systems and system not in study.systems:
        raise InputError(f'--as: "{system}" is not among the systems of {study.path}{nearest(system, study.systems)}')
    manifest = _manifest(study, folder)
    now = {job.name: job for job in jobs(study)}
    rows, found = [], []
    for entry in manifest["jobs"]:
        file = folder / entry["folder"] / "results" / f"{entry['name']}.json"
        job = now.get(entry["name"])
        if job is None:
            raise InputError(
                f"{folder / MANIFEST}: {study.name} has no job {shown(entry['name'], 120)} any more: it was "
                "changed after the export; export it again, or import into the study as it was"
            )
        if own_file.is_file(file):
            rows.append(_row(job, file, system))
            found.append(file)
    if not found:
        raise InputError(f"{folder}: no results; run the jobs first (README.txt there says how)")
    _keep(study, system, rows, found, {entry["name"] for entry in manifest["jobs"]})
    return len(found), len(manifest["jobs"])


def kept(study: Study) -> Kept:
    """What was imported into this study: the rows of its present jobs, by system."""
    home = _home(study)
    rows, left_out = [], []
    now: set[str] | None = None
    for folder in _systems(home):
        now = _names(study) if now is None else now
        read = _read(folder)
        fitting = [row for row in read if row["job"] in now]
        # Of a slice nobody expects more than its own cells
        others = len(read) - len(fitting) if not study.slice_note else 0
        rows += fitting
        if others:
            left_out.append(
                f"{_count(others)} of {unquote(folder.name)} {'is' if others == 1 else 'are'} left out: of jobs that "
                "the study does not have now (it was changed after the import)."
            )
    left_out += _lost_sight_of(study)
    order = {name: place for place, name in enumerate(study.systems)}
    return Kept(sorted(rows, key=lambda row: (order.get(row[SYSTEM], len(order)), row[SYSTEM])), left_out)


def _count(results: int) -> str:
    return f"{results} imported result{'s' * (results > 1)}"


def _names(study: Study) -> set[str]:
    return {job.name for job in jobs(study)} if study.tool == "fio" else set()


def _systems(home: Path) -> list[Path]:
    """The folders of all systems of a study."""
    if not home.is_dir():
        return []
    return sorted(path for path in home.iterdir() if path.name[0] != "." and (path / ROWS).is_file())


def _read(folder: Path) -> Rows:
    """Raises InputError for what is damaged."""
    try:
        rows = json.loads((folder / ROWS).read_text(encoding="utf-8"))
        for row in rows:
            if not all(isinstance(row[name], kind) for name, kind in _SHAPE.items()):
                raise ValueError("not of the shape that an import writes")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{folder / ROWS}: cannot be read: {error}; import {unquote(folder.name)} again, or remove {folder}"
        ) from None
    return list(rows)


_SHAPE = {SYSTEM: str, "job": str, "coordinates": dict, "seed": int, "metrics": dict}


def _lost_sight_of(study: Study) -> list[str]:
    """What may be this study's and cannot be told to be: kept by a flashbed that did not note of which jobs it is, or
    for a study of the same name that is gone (its file may have been moved here).
    """
    told = []
    here = {path.name for path in _systems(_home(study))}
    homes = [_all_homes() / study.name, *sorted(_all_homes().glob(f"{glob.escape(study.name)}-????????????"))]
    for home in homes:
        names = ", ".join(unquote(path.name) for path in _systems(home) if path.name not in here)
        owner = _noted_owner(home)
        if names and owner is None:
            told.append(
                f"Results of {names}, imported by an older flashbed, are left out: nothing says of which jobs they "
                f"are. Import them again, or remove {home}."
            )
        elif names and owner and home != _home(study) and not _is_there(owner):
            told.append(
                f"Results of {names} were imported into {owner}, which is gone. If it was moved here, import them "
                f"again; else remove {home}."
            )
    return told


def _noted_owner(home: Path) -> str | None:
    try:
        return str(json.loads((home / OWNER).read_text(encoding="utf-8"))["study"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_there(owner: str) -> bool:
    return owner.startswith(SHIPPED) or Path(owner).is_file()


def _all_homes() -> Path:
    return paths.cache_root() / "elsewhere"


def _folder_name(system: str) -> str:
    """Of the folder with its results; what begins with a dot there is under way."""
    name = quote(system, safe=" ")
    return f"%2E{name[1:]}" if name.startswith(".") else name


def _home(study: Study) -> Path:
    """A study is known by its file: two of one name have nothing to do with each other."""
    return _all_homes() / f"{study.name}-{digest_bytes(_owner(study).encode())[:12]}"


def _owner(study: Study) -> str:
    """A shipped study is the same wherever flashbed is installed."""
    return f"{SHIPPED}{study.name}" if study.path.parent == paths.studies() else str(study.path.resolve())


def _manifest(study: Study, folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(own_file.read(path).decode())
        form, name, entries = manifest["format"], manifest["study"], manifest["jobs"]
        fine = isinstance(entries, list) and all(
            _is_plain(entry[key]) for entry in entries for key in ("folder", "name")
        )
        fine = fine and len({entry["name"] for entry in entries}) == len(entries)
    except FileNotFoundError:
        raise InputError(
            f"{folder}: no exported jobs here ({MANIFEST} is missing); `flashbed export` makes them"
        ) from None
    except KeyError as error:
        raise InputError(f"{path}: has no {error}; export the jobs again") from None
    except RecursionError:
        raise InputError(f"{path}: cannot be read: nested too deeply; export the jobs again") from None
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path}: cannot be read: {shown(error, 200)}") from None
    if form != FORMAT or not fine:
        raise InputError(f"{path}: not of a format that this flashbed knows ({FORMAT}); export the jobs again")
    if name != study.name:
        raise InputError(f"{path}: these are the jobs of the study {shown(name)}, not of {study.name}")
    return dict(manifest)


def _is_plain(name: object) -> bool:
    """Whether it can be a name within a folder."""
    return isinstance(name, str) and name not in ("", ".", "..") and "/" not in name and "\0" not in name


def _row(job: PortableJob, file: Path, system: str) -> dict[str, Any]:
    """A file as a row. Raises InputError, with the file's name, for what is not fio's JSON of just this job."""
    try:
        data = own_file.read(file)
        document = read_json(data)
        metrics = metrics_of({OUTPUT: data}, OUTPUT)
        names = {str(one["jobname"]) for one in document["jobs"]}
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from None
    except WorkloadOutputError as error:
        raise InputError(
            f"{file}: {str(error).removeprefix('fio.json').lstrip(' :')}; remove it, and run the job again"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise InputError(
            f"{file}: not what fio writes with --output-format=json; remove it, and run the job again"
        ) from None
    expected = section_names(job.files["measure"])
    if names != expected:
        raise InputError(
            f"{file}: is of another job ({', '.join(sorted(names)) or 'none'}, not {', '.join(sorted(expected))}); "
            "remove it, and run the job again"
        )
    about = {"seed": job.seed, "fio": document.get("fio version", ""), "metrics": metrics}
    return {SYSTEM: system, "job": job.name, "coordinates": dict(job.coordinates), **about}


def _keep(study: Study, system: str, rows: Rows, found: list[Path], jobs_there: set[str]) -> None:
    """The rows and fio's own files, whole or not at all; with what is there of jobs that the folder does not have."""
    home = _home(study)
    place = home / _folder_name(system)
    try:
        home.mkdir(parents=True, exist_ok=True)
        new, old = (Path(tempfile.mkdtemp(dir=home, prefix=f".{what}-")) for what in ("new", "old"))
        (home / OWNER).write_text(json.dumps({"study": _owner(study)}) + "\n", encoding="utf-8")
        if (place / ROWS).is_file():
            others = [row for row in _read(place) if row["job"] not in jobs_there]
            rows = [*others, *rows]
            found = [*(place / f"{row['job']}.json" for row in others), *found]
        for file in found:
            shutil.copy(file, new / file.name)
        (new / ROWS).write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        if place.exists():
            place.rename(old)  # an empty folder may be renamed over
        new.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise host_refusal(home, error) from None


def table_rows(rows: Rows, axes: Sequence[str]) -> Iterator[ResultRow]:
    """As the results table has them; the system is the first axis."""
    for row in rows:
        metrics = {name: float(value) for name, value in row["metrics"].items() if isfinite(value)}
        combination = (row[SYSTEM], *(row["coordinates"][axis] for axis in axes))
        yield ResultRow(combination, row["seed"], MEASURED, metrics=metrics)
