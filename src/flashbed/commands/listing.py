# SPDX-License-Identifier: Apache-2.0
"""What there is: studies, profiles, results, one repetition in full. Gathers text for the commands; changes nothing.

`build_image` alone does work: it asks the image room for the guest of all shipped file systems.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashbed import image
from flashbed.common import own_file, paths
from flashbed.common.errors import FlashbedError, InputError
from flashbed.common.tomlfile import nearest
from flashbed.execution import inputs
from flashbed.execution.run import find_study, open_store
from flashbed.execution.scheduler import failure_folder
from flashbed.image import emulator, lockfile, pins, toolchain
from flashbed.medium import parameter_list
from flashbed.profiles import kernel_choice
from flashbed.profiles.library import FOLDERS, Kind, Library, profile_schema
from flashbed.result import evaluation
from flashbed.result.result import Result
from flashbed.study.loading import load_study, study_schema

Rows = list[tuple[str, ...]]
SHOWN_RESULTS = 20


@dataclass(frozen=True)
class Shown:
    """A repetition from the store, or the last failed attempt at one."""

    folder: Path
    result: Result

    def names(self) -> list[str]:
        """The artefacts, by name."""
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file())

    def read(self, name: str) -> bytes:
        """An artefact. Raises InputError if there is none of that name."""
        if name not in self.names():
            raise InputError(f"{self.folder}: no file {name}{nearest(name, self.names())}")
        return (self.folder / name).read_bytes()

    def describe(self) -> str:
        """Everything but the raw artefacts, for a person."""
        result, measurement = self.result, self.result.measurement
        lines = [f"key      {result.key}", f"outcome  {result.outcome}"]
        lines += [f"reason   {result.reason}"] * bool(result.reason)
        lines.append(f"check    {_checked(result.check)}")
        lines += [f"mounted  {measurement.mounted}"] * bool(measurement.mounted)
        for name, table in (
            ("coordinates", result.coordinates),
            ("metrics", measurement.metrics),
            ("medium", measurement.medium),
            ("cell", result.cell),
            ("environment", result.environment),
        ):
            lines += ["", f"{name}:", _indented(json.dumps(table, indent=2))]
        if not result.is_measured:
            console = self.read("console.log").decode(errors="replace").splitlines()
            lines += ["", "end of the console:", *(f"  {line}" for line in console[-30:])]
        lines += ["", f"files in {self.folder}:", *(f"  {name}" for name in self.names())]
        return "\n".join(lines)


def everything() -> Iterator[tuple[str, Sequence[str], Rows]]:
    """Title, columns and rows of each table that `flashbed list` prints."""
    files = sorted(paths.studies().glob("*.toml"))
    yield "Studies", ("name", "title", "cells"), [_study_row(file) for file in files]
    library = Library((paths.profiles(),))
    for kind in FOLDERS:
        yield f"Profiles: {kind}", ("name", "title"), [(n, library.title(kind, n)) for n in library.names(kind)]
    store = open_store()
    keys = store.keys()
    found = [stored.result for key in keys[:SHOWN_RESULTS] if (stored := store.get(key)) is not None]
    title = f"Results: {len(keys)} in {store.root}" + (
        f", the first {SHOWN_RESULTS}" if len(keys) > SHOWN_RESULTS else ""
    )
    yield (
        title,
        ("key", "cell", "seed"),
        [(result["key"][:12], " ".join(result["coordinates"].values()), str(result["seed"])) for result in found],
    )


def repetition(prefix: str) -> Shown:
    """The repetition whose key starts with `prefix`. Raises InputError if there is none, or several."""
    store = open_store()
    try:
        found = store.find(prefix)
    except InputError:
        if (failed := _failed(prefix.strip().lower())) is None:
            raise
        return failed
    return Shown(found.folder, evaluation.read(found.result, found.folder))


def _failed(prefix: str) -> Shown | None:
    """The last failed attempt at a repetition. Raises InputError if there are several, or if it is damaged."""
    found = sorted(failure_folder("").glob(f"{prefix}*/result.json")) if prefix.isalnum() else []
    if not found:
        return None
    folder = found[0].parent
    if len(found) > 1:
        keys = ", ".join(file.parent.name[: len(prefix) + 8] for file in found[:5]) + (" ..." if len(found) > 5 else "")
        raise InputError(f'"{prefix}" is the start of {len(found)} keys of failed attempts ({keys}); give more digits')
    try:
        return Shown(folder, evaluation.read(json.loads(own_file.read(found[0])), folder))
    except (OSError, ValueError, RecursionError, InputError):
        why = f"damaged; remove {folder}, the next run tries the repetition again"
        raise InputError(f"{found[0]}: {why}") from None


def schema(kind: str) -> dict[str, Any]:
    """The JSON schema of a study or of a kind of profile. Raises InputError for any other word."""
    if kind == "study":
        return study_schema()
    known: dict[str, Kind] = {name: name for name in FOLDERS}
    if kind not in known:
        raise InputError(f"no schema {kind!r}{nearest(kind, ['study', *known])}")
    if kind == "medium":
        return parameter_list.schema(image.media_tool().parameters)
    return profile_schema(known[kind])


def check_kernel(version: str) -> None:
    """Before anything is asked of Debian, which would answer in apt's words. Raises InputError."""
    try:
        kernel_choice.check_offered(version)
    except kernel_choice.KernelProblem as problem:
        raise InputError(f"--kernel: {problem}") from None


def build_image(version: str) -> Rows:
    """Builds the guest with all that this kernel's may have; the names and digests of its parts."""
    built = image.build(version, inputs.sets_of_guests(version), thorough=True)
    return [
        ("emulator", f"QEMU {emulator.VERSION}, {emulator.program()}"),
        ("kernel", f"{built.kernel.package_version}, {built.kernel.image}"),
        *sorted(built.digests.items()),
    ]


def is_built(version: str) -> bool:
    """Whether nothing would be left for `build_image` to fetch. Builds nothing."""
    try:
        return paths.cache_root().is_dir() and bool(
            image.build(version, inputs.sets_of_guests(version), only_built=True)
        )
    except FlashbedError:
        return False


def write_lock(study: str | None) -> str:
    """Writes the lock of a study, or of the repository's own; what came of it, in a line. Raises InputError for one of
    the repository's own studies: they have that lock.
    """
    found = inputs.lock_shipped() if study is None else inputs.lock_study(load_study(_of_the_user(find_study(study))))
    lockfile.write(found)
    files = {file.name for asked in found.requests.values() for files in asked.values() for file in files}
    return (
        f"{found.path}: {len(files)} files of Debian {found.suite}, {len(found.profiles)} profiles, the lab's sources"
    )


def _of_the_user(file: Path) -> Path:
    if os.path.realpath(file.parent) == os.path.realpath(paths.studies()):
        raise InputError(
            f"{file}: its lock is {pins.shipped_path()}, as of all studies there; `flashbed image lock` writes it"
        )
    return file


def update_packages() -> str:
    """Forgets which versions of packages were taken, and moves the repository's lock to those of today; or fails, and
    leaves both as they were.
    """
    pins.choose(inputs.without_packages())
    archive = image.open_archive()
    with archive.without_versions(), archive.of(toolchain.HOST).without_versions():
        return write_lock(None)


def _study_row(file: Path) -> tuple[str, ...]:
    study = load_study(file)
    return file.stem, study.title, f"{sum(1 for _ in study.combinations())} x {len(study.seeds)} seeds"


def _checked(verdict: str | None) -> str:
    return "not checked" if verdict is None else verdict or "clean"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
