# SPDX-License-Identifier: Apache-2.0
"""List studies, profiles and results, and describe one repetition. Returns text for the commands; changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashbed.common import own_file, paths
from flashbed.common.errors import InputError
from flashbed.common.page import Rows
from flashbed.common.tomlfile import nearest
from flashbed.execution.scheduler import failure_folder
from flashbed.image import hosttools
from flashbed.medium import parameter_list
from flashbed.profiles.library import FOLDERS, Library, ProfileKind, profile_schema
from flashbed.result import evaluation
from flashbed.result.result import Result
from flashbed.result.store import open_store
from flashbed.study.loading import load_study, study_schema
from flashbed.study.ready_loads import shipped_loads

SHOWN_RESULTS = 20


@dataclass(frozen=True)
class Shown:
    """A repetition from the store, or the last failed attempt at one."""

    folder: Path
    result: Result

    def names(self) -> list[str]:
        """Return the names of the artefacts."""
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file())

    def read(self, name: str) -> bytes:
        """Return an artefact. Raises InputError if there is none of that name."""
        if name not in self.names():
            raise InputError(f"{self.folder}: no file {name}{nearest(name, self.names())}")
        return (self.folder / name).read_bytes()

    def describe(self) -> str:
        """Return a description for people, without the artefacts."""
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
    """Yield title, columns and rows of each table of `flashbed list`."""
    files = sorted(paths.studies().glob("*.toml"))
    yield "Studies", ("name", "title", "cells"), [_study_row(file) for file in files]
    yield "Loads", ("name", "title"), [(name, load.title) for name, load in shipped_loads().items()]
    library = Library((paths.profiles(),))
    for kind in FOLDERS:
        yield f"Profiles: {kind}", ("name", "title"), [(n, library.title(kind, n)) for n in library.names(kind)]
    store = open_store()
    keys = store.keys()
    results = [stored.result for key in keys[:SHOWN_RESULTS] if (stored := store.get(key)) is not None]
    title = f"Results: {len(keys)} in {store.root}" + (
        f", the first {SHOWN_RESULTS}" if len(keys) > SHOWN_RESULTS else ""
    )
    yield (
        title,
        ("key", "cell", "seed"),
        [(result.key[:12], " ".join(result.coordinates.values()), str(result.seed)) for result in results],
    )


def repetition(prefix: str) -> Shown:
    """Return the repetition whose key starts with `prefix`. Raises InputError if there is none, or several."""
    store = open_store()
    try:
        stored = store.find(prefix)
    except InputError:
        if (failed := _failed(prefix.strip().lower())) is None:
            raise
        return failed
    return Shown(stored.folder, evaluation.with_measurement(stored.result, stored.folder))


def _failed(prefix: str) -> Shown | None:
    """Return the last failed attempt at a repetition; None if there is none. Raises InputError if several keys match,
    or if it is damaged.
    """
    attempts = sorted(failure_folder("").glob(f"{prefix}*/result.json")) if prefix.isalnum() else []
    if not attempts:
        return None
    folder = attempts[0].parent
    if len(attempts) > 1:
        keys = ", ".join(file.parent.name[: len(prefix) + 8] for file in attempts[:5]) + (
            " ..." if len(attempts) > 5 else ""
        )
        raise InputError(
            f'"{prefix}" is the start of {len(attempts)} keys of failed attempts ({keys}); give more digits'
        )
    try:
        result = Result.from_json(json.loads(own_file.read(attempts[0])))
    except (OSError, ValueError, RecursionError, InputError):
        why = f"damaged; remove {folder}, the next run tries the repetition again"
        raise InputError(f"{attempts[0]}: {why}") from None
    return Shown(folder, evaluation.with_measurement(result, folder))


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON schema of a study or of a kind of profile. Raises InputError for an unknown kind."""
    if kind == "study":
        return study_schema()
    known: dict[str, ProfileKind] = {name: name for name in FOLDERS}
    if kind not in known:
        raise InputError(f"no schema {kind!r}{nearest(kind, ['study', *known])}")
    if kind == "medium":
        return parameter_list.schema(hosttools.media_tool().parameters)
    return profile_schema(known[kind])


def _study_row(file: Path) -> tuple[str, ...]:
    study = load_study(file)
    return file.stem, study.title, f"{sum(1 for _ in study.combinations())} x {len(study.seeds)} seeds"


def _checked(verdict: str | None) -> str:
    return "not checked" if verdict is None else verdict or "clean"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
