# SPDX-License-Identifier: Apache-2.0
"""What fio measured elsewhere: read from a folder of exported jobs, kept under a system's name, given to the report.

Each file must be of the job that it is named after, and that job of the study as it is now; so nothing foreign gets in.
Must not know how jobs are written into files.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from flashbed import paths
from flashbed.elsewhere.jobs import FORMAT, MANIFEST, Job, jobs
from flashbed.errors import InputError, host_refusal
from flashbed.study import Study
from flashbed.study_format import SYSTEM
from flashbed.tomlfile import nearest
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fio import Fio, section_names

Rows = list[dict[str, Any]]
"""As rows of the results table, with a column for the system; outcome is always "measured", and there is no key."""

ROWS = "rows.json"
LONGEST_NAME = 200
"""Of the folder for a system's results, letters."""


def take_in(study: Study, folder: Path, system: str) -> tuple[int, int]:
    """Keeps the results in a folder of exported jobs as those of `system`, in place of what was kept under that name.

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
                f"{folder / MANIFEST}: {study.name} has no job {entry['name']} any more: it was changed after the "
                "export; export it again, or import into the study as it was"
            )
        if file.is_file():
            rows.append(_row(job, file, system))
            found.append(file)
    if not found:
        raise InputError(f"{folder}: no results; run the jobs first (README.txt there says how)")
    _keep(study, system, rows, found)
    return len(found), len(manifest["jobs"])


def kept(study: Study) -> Rows:
    """The rows of all systems whose results of this study were imported, by system; those of its present cells only."""
    home = _home(study)
    if not home.is_dir():
        return []
    cells = {tuple(cell.items()) for cell in study.combinations()}
    rows = []
    for folder in sorted(path for path in home.iterdir() if path.name[0] != "." and (path / ROWS).is_file()):
        try:
            read = json.loads((folder / ROWS).read_text(encoding="utf-8"))
            rows += [
                row
                for row in read
                if row["seed"] in study.seeds and tuple((axis, row.get(axis)) for axis in study.axes) in cells
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{folder / ROWS}: cannot be read: {error}; import {unquote(folder.name)} again, or remove {folder}"
            ) from None
    order = {name: place for place, name in enumerate(study.systems)}
    return sorted(rows, key=lambda row: (order.get(row[SYSTEM], len(order)), row[SYSTEM]))


def _folder_name(system: str) -> str:
    """Of the folder with its results; what begins with a dot there is under way."""
    name = quote(system, safe=" ")
    return f"%2E{name[1:]}" if name.startswith(".") else name


def _home(study: Study) -> Path:
    return paths.cache_root() / "elsewhere" / study.name


def _manifest(study: Study, folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        form, name, entries = manifest["format"], manifest["study"], manifest["jobs"]
        fine = all(isinstance(entry[key], str) for entry in entries for key in ("folder", "name"))
    except FileNotFoundError:
        raise InputError(
            f"{folder}: no exported jobs here ({MANIFEST} is missing); `flashbed export` makes them"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    if form != FORMAT or not fine or any("/" in entry["name"] or "/" in entry["folder"] for entry in entries):
        raise InputError(f"{path}: not of a format that this flashbed knows ({FORMAT}); export the jobs again")
    if name != study.name:
        raise InputError(f"{path}: these are the jobs of the study {name}, not of {study.name}")
    return dict(manifest)


def _row(job: Job, file: Path, system: str) -> dict[str, Any]:
    """A file as a row. Raises InputError, with the file's name, for what is not fio's JSON of just this job."""
    try:
        data = file.read_bytes()
        metrics = Fio().metrics({"fio.json": data})
        document = json.loads(data)
        names = {str(one["jobname"]) for one in document["jobs"]}
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from None
    except WorkloadOutputError as error:
        raise InputError(
            f"{file}: {str(error).removeprefix('fio.json').lstrip(' :')}; remove it, and run the job again"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"{file}: not what fio writes with --output-format=json; remove it, and run the job again"
        ) from None
    expected = section_names(job.files["measure"])
    if names != expected:
        raise InputError(
            f"{file}: is of another job ({', '.join(sorted(names)) or 'none'}, not {', '.join(sorted(expected))}); "
            "remove it, and run the job again"
        )
    about = {"seed": job.seed, "outcome": "measured", "reason": "", "key": "", "fio": document.get("fio version", "")}
    return {SYSTEM: system, **job.coordinates, **about, "metrics": metrics}


def _keep(study: Study, system: str, rows: Rows, found: list[Path]) -> None:
    """The rows and fio's own files, whole or not at all."""
    home = _home(study)
    place = home / _folder_name(system)
    try:
        home.mkdir(parents=True, exist_ok=True)
        new, old = (Path(tempfile.mkdtemp(dir=home, prefix=f".{what}-")) for what in ("new", "old"))
        for file in found:
            shutil.copy(file, new / file.name)
        (new / ROWS).write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        if place.exists():
            place.rename(old)  # an empty folder may be renamed over
        new.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise host_refusal(home, error) from None


def table_rows(rows: Rows) -> Iterator[dict[str, Any]]:
    """As the results table has them, metrics in columns."""
    for row in rows:
        plain = {name: value for name, value in row.items() if name not in ("metrics", "fio")}
        yield {**plain, **row["metrics"]}
