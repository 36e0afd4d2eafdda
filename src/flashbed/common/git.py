# SPDX-License-Identifier: Apache-2.0
"""Starts git, for who reads repositories of the user's: nothing in them is written.

Must not know what is in a repository, nor where the lab keeps objects of its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from flashbed.common import children, programs

_OF_A_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")
"""What git sets for the hooks that it starts; a hook may start the lab."""

_ALWAYS = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}

_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.splitIndex=false", "-c", "gc.auto=0", "-c", "core.quotePath=false")
"""No programs of the user's beside it, and no files beside the index."""


class GitError(Exception):
    """What git said when it refused: its lines, without its own name for them."""


def tree_of(revision: str, prefix: str, *, at: Path) -> str:
    """The hash of a revision's tree, or of the folder `prefix` in it. Raises GitError for what git does not know."""
    name = f"{revision}:{prefix}" if prefix else f"{revision}^{{tree}}"
    return git("rev-parse", "--verify", "--quiet", "--end-of-options", name, at=at)


def git(*arguments: str | Path, at: Path, env: Mapping[str, str] | None = None, told: Path | None = None) -> str:
    """What git prints, without the last line's end; `at` is the folder it is started in, and the file `told` is its
    standard input. Raises GitError, SetupError if there is no git.
    """
    if shutil.which("git") is None:
        raise programs.missing("git")
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_A_REPOSITORY}
    environment = {**inherited, **_ALWAYS, **(env or {})}
    with (told or Path(os.devnull)).open("rb") as stdin:
        done = children.run(
            ["git", *_QUIET, *arguments], cwd=at, env=environment, errors="surrogateescape", stdin=stdin
        )
    if done.returncode:
        said = done.stderr.strip() or f"exit status {done.returncode}"
        raise GitError("\n".join(line.removeprefix("fatal: ").removeprefix("error: ") for line in said.splitlines()))
    return done.stdout.removesuffix("\n")
