# SPDX-License-Identifier: Apache-2.0
"""Start git so that it runs no other program. Only this function starts git.

Git runs programs that a configuration names: filters, hooks, a file system monitor, diff drivers, transports. Therefore
each call names a git directory of the lab's own, and reads no configuration of the system, the user or the environment.
A user's repository is read through such a directory (repository.py). Must not know its content.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from flashbed.common import programs

_WHERE_GIT_IS = "GIT_EXEC_PATH"
"""The only variable of git that the environment may set. A hook that starts the lab sets others."""

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
    # By default git reads these from the user's home
    "core.excludesFile": os.devnull,
    "core.attributesFile": os.devnull,
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    # Read the index as it is: ignore any cache that would hide a file, and write no file beside it
    "core.untrackedCache": "false",
    "core.splitIndex": "false",
    "core.quotePath": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
}


class GitError(Exception):
    """A refusal of git: its lines, without the "fatal:" or "error:" prefix."""


def git(
    *arguments: str | Path,
    directory: Path,
    at: Path,
    env: Mapping[str, str] | None = None,
    stdin: Path | None = None,
) -> str:
    """Return what git prints, without the final line end.

    `directory` is the git directory, one of the lab's own; git runs in `at`; the file `stdin` is its standard input.
    Raises GitError, or SetupError if git is not installed.
    """
    if shutil.which("git") is None:
        raise programs.missing("git")
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name == _WHERE_GIT_IS
    }
    environment = {**inherited, **(env or {}), "GIT_DIR": str(directory), **_ALWAYS}
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    with (stdin or Path(os.devnull)).open("rb") as standard_input:
        process = programs.run(
            ["git", "--no-pager", *settings, *arguments],
            cwd=at,
            env=environment,
            errors="surrogateescape",
            stdin=standard_input,
        )
    if process.returncode:
        complaint = process.stderr.strip() or f"exit status {process.returncode}"
        raise GitError(
            "\n".join(line.removeprefix("fatal: ").removeprefix("error: ") for line in complaint.splitlines())
        )
    return process.stdout.removesuffix("\n")
