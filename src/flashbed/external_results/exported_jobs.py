# SPDX-License-Identifier: Apache-2.0
"""Export a study's jobs for other computers: a directory with fio's job files, scripts that run them, and a manifest.

The manifest says which directory is for which medium and file system; the person who runs the jobs prepares these. Must
not know how results are read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from flashbed.common.errors import InputError, host_refusal
from flashbed.common.tomlfile import TomlFile
from flashbed.study import host_commands
from flashbed.study.format import STACK
from flashbed.study.loading import Study
from flashbed.study.plan import Cell, plan
from flashbed.workload.fio.pattern import is_portable, portable_jobs

JOBS_MANIFEST = "flashbed-jobs.json"
JOBS_FORMAT = 2
PREPARED_BY_HAND = ("medium", "filesystem", "translation")
"""The parts of the stack that a person prepares on the other computer. The rest is that computer's own."""

LONGEST_JOB_NAME = 180
"""The most bytes of a job's name before its digest. File systems take 255 bytes for a name with its suffix."""

JOB_SCRIPTS = {"run.sh": "\n", "run.cmd": "\r\n"}
"""The scripts, with the line ends of their systems."""


@dataclass(frozen=True)
class PortableJob:
    """A cell with one seed, to be run on another computer."""

    folder: str
    """The directory: one for each combination of medium, file system and other varied parts of the stack."""
    name: str
    """The name with a digest. Jobs of the same name are the same job."""
    coordinates: Mapping[str, str]
    seed: int
    files: Mapping[str, bytes]

    def described(self) -> dict[str, Any]:
        """Return the job's entry in the manifest."""
        return {"folder": self.folder, "name": self.name, "coordinates": dict(self.coordinates), "seed": self.seed}


def jobs(study: Study) -> Iterator[PortableJob]:
    """Yield all jobs of a study that any fio can run, in order. Raises InputError if the study's tool is not fio."""
    if study.tool != "fio":
        raise InputError(f"{study.path}: its tool is {study.tool}; only the jobs of fio can be run elsewhere")
    folders: dict[tuple[str, ...], str] = {}
    for cell in plan(study):
        stack = tuple(cell.coordinates[axis] for axis in study.axes if axis in STACK)
        folder = folders.setdefault(stack, f"{len(folders) + 1:02d}")
        parameters = cell.workload.parameters
        if not is_portable(parameters):
            continue
        digest = _digest(study, cell)
        values = [value for axis, value in cell.coordinates.items() if axis not in STACK]
        name_parts = "-".join([*values, f"seed{cell.seed}"])
        plain = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name_parts)
        name = f"{plain.encode()[:LONGEST_JOB_NAME].decode(errors='ignore')}-{digest}"
        yield PortableJob(folder, name, cell.coordinates, cell.seed, portable_jobs(parameters, cell.seed, name))


def left_out(study: Study) -> int:
    """Return how many repetitions of a fio study have no job because only the lab's fio can run them."""
    return sum(not is_portable(cell.workload.parameters) for cell in plan(study))


def _digest(study: Study, cell: Cell) -> str:
    """Return the digest of a job: what runs, on which stack, as which cell. If the study changes any of it, it is
    another job.
    """
    prepared = {name: value for name, value in {**study.fixed, **cell.coordinates}.items() if name in PREPARED_BY_HAND}
    carried_out = portable_jobs(cell.workload.parameters, cell.seed, "job")
    texts = {kind: text.decode() for kind, text in carried_out.items()}
    document = json.dumps([dict(cell.coordinates), prepared, cell.seed, texts], sort_keys=True)
    return hashlib.sha256(document.encode()).hexdigest()[:12]


def export(study: Study, folder: Path) -> tuple[int, int]:
    """Write the jobs of a study or of a slice. Return the numbers of jobs and of directories.

    Raises InputError if `folder` is not empty, or if a user's job runs commands that are not allowed; HostResourceError
    if the host refuses.
    """
    _check_values(study)
    host_commands.check_jobs(study)
    portable_jobs = list(jobs(study))
    if not portable_jobs:
        raise InputError(f'{study.path}: no job is left: flush = "close" needs the lab\'s own fio')
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already; name a new folder, so that results of two exports are not mixed")
    manifest = {
        "format": JOBS_FORMAT,
        "study": study.name,
        "title": study.title,
        "jobs": [job.described() for job in portable_jobs],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for job in portable_jobs:
            place = folder / job.folder / "jobs"
            place.mkdir(parents=True, exist_ok=True)
            for kind, text in job.files.items():
                (place / f"{job.name}.{kind}.fio").write_bytes(text)
        for script, line_end in JOB_SCRIPTS.items():
            (folder / script).write_bytes(_shipped(script).replace("\n", line_end).encode())
        (folder / "README.txt").write_bytes(_readme(study, portable_jobs).replace("\n", "\r\n").encode())
        (folder / JOBS_MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise host_refusal(folder, error) from None
    return len(portable_jobs), len({job.folder for job in portable_jobs})


def _check_values(study: Study) -> None:
    """Raise InputError for a value that fio would expand in a job file. In the lab it stays in a variable, which fio
    expands once.
    """
    for axis, values in study.axes.items():
        for index, value in enumerate(values if study.job and axis not in STACK else ()):
            if "${" in value or not value.isprintable():
                raise TomlFile.read(study.path).error(
                    ("axes", axis, index),
                    "cannot be put into a job for other computers: it has ${ or characters that cannot be printed",
                )


def _readme(study: Study, portable_jobs: Sequence[PortableJob]) -> str:
    stacks = {
        job.folder: ", ".join(f"{axis} {value}" for axis, value in job.coordinates.items() if axis in STACK)
        for job in portable_jobs
    }
    fixed = ", ".join(f"{axis} {value}" for axis, value in study.fixed.items() if axis in ("medium", "filesystem"))
    lines = [f"  {folder}: {stack or 'the one stack of the study'}" for folder, stack in stacks.items()]
    return _shipped("README.txt").format(
        title=study.title, study=_as_argument(study), folders="\n".join(lines), fixed=fixed or "nothing"
    )


def _as_argument(study: Study) -> str:
    """Return the study as the command line names it."""
    return study.name if study.is_shipped else study.path.name


def _shipped(name: str) -> str:
    return files("flashbed.external_results").joinpath(name).read_text(encoding="utf-8")
