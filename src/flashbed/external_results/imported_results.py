# SPDX-License-Identifier: Apache-2.0
"""Import fio's results from a directory of exported jobs, keep them under a system's name, and return them for the
report.

Each file must belong to the job that it is named after, and that job to the study as it is now; nothing else is
accepted. A kept result is named after its job, with the job's digest. If the study changes, results of other jobs are
left out and reported. Studies whose files have the same name have separate directories. Must not know how jobs are
written into files.
"""

from __future__ import annotations

import glob
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from flashbed.common import own_file, paths
from flashbed.common.digest import digest_bytes
from flashbed.common.errors import InputError, host_refusal
from flashbed.common.tomlfile import nearest, shown
from flashbed.external_results.exported_jobs import JOBS_FORMAT, JOBS_MANIFEST, PortableJob, jobs
from flashbed.guest_output.assessment import Status
from flashbed.result.columns import ResultRow
from flashbed.study.loading import SHIPPED, Study
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fio.jobs import OUTPUT, section_names
from flashbed.workload.fio.output import metrics_of, read_json

ROWS = "rows.json"
LONGEST_SYSTEM_NAME = 200
"""The most letters in the name of a system."""
OWNER = "study.json"
"""The file that says to which study the results belong, by the path of the study's file."""


@dataclass(frozen=True)
class ImportedResult:
    """What fio measured in one job on another system."""

    system: str
    job: str
    """The job's name, with its digest."""
    coordinates: Mapping[str, str]
    seed: int
    fio: str
    """fio's version; "" if an older flashbed imported the result."""
    metrics: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return the result's entry in ROWS."""
        return asdict(self)

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> ImportedResult:
        """Return the result of an entry. Raises ValueError, KeyError or TypeError if it is none."""
        kinds = {"system": str, "job": str, "coordinates": dict, "seed": int, "metrics": dict}
        if not all(isinstance(entry[name], kind) for name, kind in kinds.items()):
            raise ValueError("not of the shape that an import writes")
        metrics = {name: float(value) for name, value in entry["metrics"].items() if isfinite(value)}
        return cls(**{name: entry[name] for name in kinds} | {"fio": entry.get("fio", ""), "metrics": metrics})


@dataclass(frozen=True)
class Kept:
    """The kept results of a study that belong to its present jobs, and sentences on what is not shown and why."""

    results: Sequence[ImportedResult]
    left_out: Sequence[str] = ()


def take_in(study: Study, folder: Path, system: str) -> tuple[int, int]:
    """Import the results in a directory of exported jobs as those of `system`. They replace earlier results of the same
    jobs; results of other jobs stay.

    Return the number of results and of jobs. Raises InputError if the directory or a file does not fit.
    """
    if not system.strip() or not system.isprintable():
        raise InputError('--as: give the system a name that can be printed, such as --as "Windows XP"')
    if len(_folder_name(system)) > LONGEST_SYSTEM_NAME:
        raise InputError(f'--as: "{system[:40]}..." is too long for the name of a system')
    if study.systems and system not in study.systems:
        raise InputError(f'--as: "{system}" is not among the systems of {study.path}{nearest(system, study.systems)}')
    manifest = _manifest(study, folder)
    now = {job.name: job for job in jobs(study)}
    results, files = [], []
    for entry in manifest["jobs"]:
        file = folder / entry["folder"] / "results" / f"{entry['name']}.json"
        job = now.get(entry["name"])
        if job is None:
            raise InputError(
                f"{folder / JOBS_MANIFEST}: {study.name} has no job {shown(entry['name'], 120)} any more: it was "
                "changed after the export; export it again, or import into the old version of the study"
            )
        if own_file.is_file(file):
            results.append(_imported(job, file, system))
            files.append(file)
    if not files:
        raise InputError(f"{folder}: no results; run the jobs first (README.txt there says how)")
    _keep(study, system, results, files, {entry["name"] for entry in manifest["jobs"]})
    return len(files), len(manifest["jobs"])


def kept(study: Study) -> Kept:
    """Return the imported results of the study's present jobs, by system."""
    home = _home(study)
    results: list[ImportedResult] = []
    left_out = []
    now: set[str] | None = None
    for folder in _systems(home):
        now = _names(study) if now is None else now
        read = _read(folder)
        fitting = [result for result in read if result.job in now]
        # A slice does not expect results of cells outside it
        others = len(read) - len(fitting) if not study.slice_note else 0
        results += fitting
        if others:
            left_out.append(
                f"{_count(others)} of {unquote(folder.name)} {'is' if others == 1 else 'are'} left out: of jobs that "
                "the study does not have now (it was changed after the import)."
            )
    left_out += _lost_sight_of(study)
    order = {name: place for place, name in enumerate(study.systems)}
    return Kept(sorted(results, key=lambda result: (order.get(result.system, len(order)), result.system)), left_out)


def _count(results: int) -> str:
    return f"{results} imported result{'s' * (results > 1)}"


def _names(study: Study) -> set[str]:
    return {job.name for job in jobs(study)} if study.tool == "fio" else set()


def _systems(home: Path) -> list[Path]:
    """Return the directories of all systems of a study."""
    if not home.is_dir():
        return []
    return sorted(path for path in home.iterdir() if path.name[0] != "." and (path / ROWS).is_file())


def _read(folder: Path) -> list[ImportedResult]:
    """Return the results of a system. Raises InputError if they are damaged."""
    try:
        entries = json.loads((folder / ROWS).read_text(encoding="utf-8"))
        return [ImportedResult.from_json(entry) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{folder / ROWS}: cannot be read: {error}; import {unquote(folder.name)} again, or remove {folder}"
        ) from None


def _lost_sight_of(study: Study) -> list[str]:
    """Return sentences on results that may belong to this study, but cannot be assigned: those of an older flashbed,
    which did not note their jobs, and those of a study of the same name that is gone (its file may have been moved
    here).
    """
    sentences = []
    present = {path.name for path in _systems(_home(study))}
    homes = [_all_homes() / study.name, *sorted(_all_homes().glob(f"{glob.escape(study.name)}-????????????"))]
    for home in homes:
        names = ", ".join(unquote(path.name) for path in _systems(home) if path.name not in present)
        owner = _noted_owner(home)
        if names and owner is None:
            sentences.append(
                f"Results of {names}, imported by an older flashbed, are left out: nothing says of which jobs they "
                f"are. Import them again, or remove {home}."
            )
        elif names and owner and home != _home(study) and not _is_there(owner):
            sentences.append(
                f"Results of {names} were imported into {owner}, which is gone. If it was moved here, import them "
                f"again; else remove {home}."
            )
    return sentences


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
    """Return the name of a system's directory. A name with a leading dot is an unfinished import."""
    name = quote(system, safe=" ")
    return f"%2E{name[1:]}" if name.startswith(".") else name


def _home(study: Study) -> Path:
    """Return the directory of a study's results. A study is known by its file: two of the same name are unrelated."""
    return _all_homes() / f"{study.name}-{digest_bytes(_owner(study).encode())[:12]}"


def _owner(study: Study) -> str:
    """Return the owner's name of a study. A shipped study has the same name wherever flashbed is installed."""
    return f"{SHIPPED}{study.name}" if study.is_shipped else str(study.path.resolve())


def _manifest(study: Study, folder: Path) -> dict[str, Any]:
    path = folder / JOBS_MANIFEST
    try:
        manifest = json.loads(own_file.read(path).decode())
        form, name, entries = manifest["format"], manifest["study"], manifest["jobs"]
        fine = isinstance(entries, list) and all(
            _is_plain(entry[key]) for entry in entries for key in ("folder", "name")
        )
        fine = fine and len({entry["name"] for entry in entries}) == len(entries)
    except FileNotFoundError:
        raise InputError(
            f"{folder}: no exported jobs here ({JOBS_MANIFEST} is missing); `flashbed export` makes them"
        ) from None
    except KeyError as error:
        raise InputError(f"{path}: has no {error}; export the jobs again") from None
    except RecursionError:
        raise InputError(f"{path}: cannot be read: nested too deeply; export the jobs again") from None
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path}: cannot be read: {shown(error, 200)}") from None
    if form != JOBS_FORMAT or not fine:
        raise InputError(f"{path}: not of a format that this flashbed knows ({JOBS_FORMAT}); export the jobs again")
    if name != study.name:
        raise InputError(f"{path}: these are the jobs of the study {shown(name)}, not of {study.name}")
    return dict(manifest)


def _is_plain(name: object) -> bool:
    """Return True if `name` can be a file name in a directory."""
    return isinstance(name, str) and name not in ("", ".", "..") and "/" not in name and "\0" not in name


def _imported(job: PortableJob, file: Path, system: str) -> ImportedResult:
    """Return the result in a file. Raises InputError, with its name, if it is not fio's JSON of exactly this job."""
    try:
        data = own_file.read(file)
        document = read_json(data)
        metrics = metrics_of({OUTPUT: data}, OUTPUT)
        names = {str(job_document["jobname"]) for job_document in document["jobs"]}
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from None
    except WorkloadOutputError as error:
        raise InputError(f"{file}: {error.problem}; remove it, and run the job again") from None
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
    version = document.get("fio version", "")
    return ImportedResult(system, job.name, dict(job.coordinates), job.seed, version, metrics)


def _keep(
    study: Study, system: str, results: Sequence[ImportedResult], files: list[Path], jobs_there: set[str]
) -> None:
    """Replace the results and fio's own files atomically. Keep those of jobs that are not in `jobs_there`."""
    home = _home(study)
    place = home / _folder_name(system)
    try:
        home.mkdir(parents=True, exist_ok=True)
        new, old = (Path(tempfile.mkdtemp(dir=home, prefix=f".{purpose}-")) for purpose in ("new", "old"))
        (home / OWNER).write_text(json.dumps({"study": _owner(study)}) + "\n", encoding="utf-8")
        if (place / ROWS).is_file():
            others = [result for result in _read(place) if result.job not in jobs_there]
            results = [*others, *results]
            files = [*(place / f"{result.job}.json" for result in others), *files]
        for file in files:
            shutil.copy(file, new / file.name)
        (new / ROWS).write_text(
            json.dumps([result.to_json() for result in results], indent=1, sort_keys=True) + "\n", encoding="utf-8"
        )
        if place.exists():
            place.rename(old)  # rename() may replace an empty directory
        new.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise host_refusal(home, error) from None


def table_rows(results: Iterable[ImportedResult], axes: Sequence[str]) -> Iterator[ResultRow]:
    """Yield the rows of the results table. The system is the first axis."""
    for result in results:
        combination = (result.system, *(result.coordinates[axis] for axis in axes))
        yield ResultRow(combination, result.seed, Status.MEASURED, metrics=result.metrics)
