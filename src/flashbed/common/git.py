# SPDX-License-Identifier: Apache-2.0
"""Start git, so that nothing but what the lab asks for can run: this function is the only one that starts it.

Git runs programs that a configuration names: filters, hooks, a file system monitor, diff drivers, transports. Hence
each call names a git directory of the lab's own, and no configuration of the system's, the user's or the environment's
is read. A repository of the user's is read through such a directory (repository.py). Must not know what is in one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from flashbed.common import children, programs

_WHERE_GIT_IS = "GIT_EXEC_PATH"
"""The only variable of git's that the environment may set. A hook that starts the lab sets others."""

_ALWAYS = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}

_SETTINGS = {
    # What git takes from the user's home if nothing says otherwise
    "core.excludesFile": os.devnull,
    "core.attributesFile": os.devnull,
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    # An index is read as it is: no cache in it hides a file, and no file beside it is written
    "core.untrackedCache": "false",
    "core.splitIndex": "false",
    "core.quotePath": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
}


class GitError(Exception):
    """What git said when it refused: its lines, without its own name for them."""


def git(
    *arguments: str | Path,
    directory: Path,
    at: Path,
    env: Mapping[str, str] | None = None,
    told: Path | None = None,
) -> str:
    """Return what git prints, without the last line's end.

    `directory` is the git directory, one of the lab's own; `at` is the folder that git is started in, and the file
    `told` is its standard input. Raises GitError, SetupError if there is no git.
    """
    if shutil.which("git") is None:
        raise programs.missing("git")
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name == _WHERE_GIT_IS
    }
    environment = {**inherited, **(env or {}), "GIT_DIR": str(directory), **_ALWAYS}
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    with (told or Path(os.devnull)).open("rb") as stdin:
        done = children.run(
            ["git", "--no-pager", *settings, *arguments],
            cwd=at,
            env=environment,
            errors="surrogateescape",
            stdin=stdin,
        )
    if done.returncode:
        said = done.stderr.strip() or f"exit status {done.returncode}"
        raise GitError("\n".join(line.removeprefix("fatal: ").removeprefix("error: ") for line in said.splitlines()))
    return done.stdout.removesuffix("\n")
