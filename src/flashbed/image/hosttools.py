# SPDX-License-Identifier: Apache-2.0
"""The media core's host programs, fbmedia and flashbed-replay, built from media/ by the host's own compiler.

The lab talks to it by command line and JSON only; nothing here knows a medium's parameters.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from flashbed.common import children, paths
from flashbed.common.errors import HostResourceError, InputError, no_room
from flashbed.common.progress import stage
from flashbed.image import stores
from flashbed.image.cache import Cache, digest_tree
from flashbed.image.command import NO_ROOM, of_host, run

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


class MediaTool:
    """fbmedia and flashbed-replay, as functions of their arguments."""

    def __init__(self, program: Path, replay_program: Path, build_digest: str) -> None:
        """`build_digest` stands for the programs: another one, other answers."""
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
        """Writes the state of a fresh medium. Raises InputError with fbmedia's own words if a parameter is refused."""
        self._run(self.program, "create", "--state", state, *_words(parameters))

    def create_content(self, state: Path, data: Path) -> None:
        """Writes the content of a medium that nobody has used: nothing, or all erased with the factory's marks."""
        self._run(self.program, "content", "--state", state, "--data", data)

    def inspect(self, state: Path, parameters: Mapping[str, int | str] | None = None) -> dict[str, Any]:
        """Parameters, counters and wear of a medium.

        Raises HostResourceError with fbmedia's own words if the file is no medium, or has other parameters than those
        given.
        """
        return dict(self._json("inspect", "--state", state, *_words(parameters or {})))

    def digest(self, parameters: Mapping[str, int | str]) -> str:
        """What tells a medium with these parameters from others: 16 hex digits. Raises InputError like `create`."""
        words = tuple(_words(parameters))
        if words not in self._digests:
            self._digests[words] = self._run(self.program, "digest", *words).strip()
        return self._digests[words]

    def age(self, state: Path, days: int) -> None:
        """Lets days pass while a medium lies switched off. Raises InputError if they are too many."""
        self._run(self.program, "age", "--state", state, "--days", str(days))

    def replay(self, state: Path, *arguments: str | Path) -> dict[str, Any]:
        """What came of a replay on a medium: `arguments` are those of flashbed-replay, but for --state and --json."""
        return dict(json.loads(self._run(self.replay_program, "--json", "--state", state, *arguments)))

    def _json(self, *arguments: str | Path) -> Any:
        return json.loads(self._run(self.program, *arguments))

    def _run(self, program: Path, *arguments: str | Path) -> str:
        done = children.run([program, *arguments])
        if done.returncode == 0:
            return done.stdout
        files = [argument for argument in arguments if isinstance(argument, Path)]
        # It maps its files, which have holes; and a file may be larger than its user's may be
        too_large = done.returncode == -signal.SIGXFSZ
        if done.returncode == -signal.SIGBUS or too_large or NO_ROOM.search(done.stderr):
            raise no_room(files[-1], too_large=too_large)
        kind = InputError if done.returncode == 2 else HostResourceError
        raise kind(done.stderr.strip() or f"{program.name} {arguments[0]}: exit status {done.returncode}")


def _words(parameters: Mapping[str, int | str]) -> list[str]:
    return [f"{key}={value}" for key, value in parameters.items()]


def build(cache: Cache) -> MediaTool:
    """Compiles the programs if their sources or the compiler changed."""
    sources = paths.media()
    parts = [sources / name for name in ("include", "src", "host", "Makefile", "sources.mk")]
    recipe = {"sources": digest_tree(*parts)}

    def fill(folder: Path) -> None:
        scratch = folder / "media"
        shutil.copytree(sources, scratch, ignore=shutil.ignore_patterns("build", "tests"))
        with stage("Building fbmedia"):
            # No debug information: it would hold the folders of this build, and the same source gives the same bytes
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
