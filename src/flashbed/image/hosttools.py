# SPDX-License-Identifier: Apache-2.0
"""Build the media core's host programs, fbmedia and flashbed-replay, with the host's own compiler, and call them.

The lab uses them by command line and JSON only. Must not know a medium's parameters.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from flashbed.common import paths, programs
from flashbed.common.errors import HostResourceError, InputError, no_room
from flashbed.common.progress import stage
from flashbed.image import stores
from flashbed.image.cache import Cache, digest_tree
from flashbed.image.command import DISK_FULL, of_host, run

PROGRAMS = ("fbmedia", "flashbed-replay")


@dataclass(frozen=True)
class Parameter:
    """A parameter of the media core, as fbmedia describes it. It has `values`, or a range from `min` to `max`."""

    name: str
    kinds: Sequence[str]
    """The kinds of media that have it."""
    meaning: str
    default: int | str | None
    """None: it must be given."""
    values: Sequence[str] = ()
    min: int = 0
    max: int = 0


@dataclass(frozen=True)
class Counter:
    """A counter of the media core, as fbmedia describes it."""

    name: str
    kinds: Sequence[str]
    """The kinds of media that have it."""
    unit: str
    meaning: str


@dataclass(frozen=True)
class Inspection:
    """The state of a medium, as fbmedia prints it."""

    fault: str | None
    """Why the state is damaged; None if it is not."""
    content_bytes: int
    """The size of the content's file."""
    counters: Mapping[str, int]
    """The counters over the medium's whole life, by name."""
    wear: Mapping[str, Any]
    """Numbers about the wear of flash, by name; empty for a medium without flash."""
    power: Mapping[str, Any]
    """Numbers about power cuts, by name."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Inspection:
        """Return the inspection of fbmedia's document, which has more fields."""
        return cls(**{field.name: document[field.name] for field in fields(cls)} | {"wear": document["wear"] or {}})


@dataclass(frozen=True)
class Replay:
    """The result of flashbed-replay."""

    duration_ns: int
    """The virtual time that the requests took."""
    write_amplification: float | None
    """Bytes programmed per byte written; None if there is no such ratio."""
    operations: Mapping[str, Mapping[str, Any]]
    """Numbers about the requests of each operation, such as "write"."""
    counters: Mapping[str, int]
    """The medium's counters over the replay, by name."""
    cut: Mapping[str, int] | None
    """Numbers about the power cut, by name; None if there was none."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Replay:
        """Return the result of flashbed-replay's document, which has more fields."""
        return cls(**{field.name: document[field.name] for field in fields(cls)})


class MediaTool:
    """The programs fbmedia and flashbed-replay, with a method for each use."""

    def __init__(self, program: Path, replay_program: Path, build_digest: str) -> None:
        """Keep the paths of both programs. Another build may give other answers: `build_digest` identifies it."""
        self.build_digest = build_digest
        self.program = program
        self.replay_program = replay_program
        self._digests: dict[tuple[str, ...], str] = {}

    @cached_property
    def parameters(self) -> list[Parameter]:
        """Return every parameter of the core."""
        return [Parameter(**described) for described in self._json("params")]

    @cached_property
    def counters(self) -> list[Counter]:
        """Return every counter of the core."""
        return [Counter(**described) for described in self._json("counters")]

    def create(self, state: Path, parameters: Mapping[str, int | str]) -> None:
        """Write the state of a new medium. Raises InputError with fbmedia's message if it refuses a parameter."""
        self._run(self.program, "create", "--state", state, *_words(parameters))

    def create_content(self, state: Path, data: Path) -> None:
        """Write the content of a new medium: zeros, or erased pages with the factory's bad-block marks."""
        self._run(self.program, "content", "--state", state, "--data", data)

    def inspect(self, state: Path, parameters: Mapping[str, int | str] | None = None) -> Inspection:
        """Return the state of a medium.

        Raises HostResourceError with fbmedia's message if the file is no medium, or if it has other parameters.
        """
        return Inspection.from_json(self._json("inspect", "--state", state, *_words(parameters or {})))

    def digest(self, parameters: Mapping[str, int | str]) -> str:
        """Return the digest of a medium's parameters, 16 hex digits. Raises InputError if fbmedia refuses one."""
        words = tuple(_words(parameters))
        if words not in self._digests:
            self._digests[words] = self._run(self.program, "digest", *words).strip()
        return self._digests[words]

    def age(self, state: Path, days: int) -> None:
        """Let days pass while a medium is switched off. Raises InputError if they are too many."""
        self._run(self.program, "age", "--state", state, "--days", str(days))

    def replay(self, medium: Path | Mapping[str, int | str], *arguments: str | Path) -> Replay:
        """Run flashbed-replay on a medium with this state, or on a new one with these parameters, and return its
        result. `arguments` are without --state and --json.
        """
        chosen = ["--state", medium] if isinstance(medium, Path) else _words(medium)
        return Replay.from_json(json.loads(self._run(self.replay_program, "--json", *chosen, *arguments)))

    def _json(self, *arguments: str | Path) -> Any:
        return json.loads(self._run(self.program, *arguments))

    def _run(self, program: Path, *arguments: str | Path) -> str:
        done = programs.run([program, *arguments])
        if done.returncode == 0:
            return done.stdout
        files = [argument for argument in arguments if isinstance(argument, Path)]
        # The programs map sparse files, so a full disk is SIGBUS. A file may also exceed the user's limit
        too_large = done.returncode == -signal.SIGXFSZ
        if files and (done.returncode == -signal.SIGBUS or too_large or DISK_FULL.search(done.stderr)):
            raise no_room(files[-1], too_large=too_large)
        kind = InputError if done.returncode == 2 else HostResourceError
        raise kind(done.stderr.strip() or f"{program.name} {arguments[0]}: exit status {done.returncode}")


def _words(parameters: Mapping[str, int | str]) -> list[str]:
    return [f"{key}={value}" for key, value in parameters.items()]


def build(cache: Cache) -> MediaTool:
    """Return the programs; compile them if their sources or the compiler changed."""
    sources = paths.media()
    parts = [sources / name for name in ("include", "src", "host", "Makefile", "sources.mk")]
    recipe = {"sources": digest_tree(*parts)}

    def fill(folder: Path) -> None:
        scratch = folder / "media"
        shutil.copytree(sources, scratch, ignore=shutil.ignore_patterns("build", "tests"))
        with stage("Building fbmedia"):
            # Debug information would contain the directory of this build, and change the bytes
            run(["make", "-C", scratch, f"-j{os.cpu_count()}", f"BUILD={folder / 'build'}", "CFLAGS=-O2"])
        for program in PROGRAMS:
            shutil.move(folder / "build" / program, folder / program)
        shutil.rmtree(folder / "build")
        shutil.rmtree(scratch)

    entry = cache.entry("fbmedia", recipe, fill, of_host=of_host)
    program, replay_program = (entry.path(program) for program in PROGRAMS)
    return MediaTool(program, replay_program, entry.folder.name)


def media_tool() -> MediaTool:
    """Return the media core's host programs; build them if they are missing. Raises SetupError if nothing can
    be built.
    """
    return build(stores.open_cache())
