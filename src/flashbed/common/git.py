# SPDX-License-Identifier: Apache-2.0
"""Start git so that it runs no other program, and read a user's repository through a git directory of the lab's own.
Only the function git() starts git.

Git runs programs that a configuration names: filters, hooks, a file system monitor, diff drivers, transports. Therefore
each call names a git directory of the lab's own, and reads no configuration of the system, the user or the environment.
That directory has the HEAD, refs, index and ignore rules of the user's repository. Only the settings in `_TAKEN`, which
name no program, are copied from the user's configuration. The repository is never written to. Must not know its
content.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import own_file, programs

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


_TAKEN = re.compile(
    r"core\.(filemode|symlinks|ignorecase|autocrlf)\n(true|false|input)|core\.eol\n(lf|crlf|native)", re.IGNORECASE
)
"""The settings that say how a working tree differs from git's objects, as `git config -z` prints them."""

_OBJECT_NAMES = "extensions.objectformat\n"


@dataclass(frozen=True)
class Repository:
    """The places of a repository."""

    folder: Path
    """The requested directory, with links resolved."""
    top: Path | None
    """The top of the working tree; None for a bare repository."""
    private: Path
    """The git directory of this working tree, with HEAD and the index."""
    shared: Path
    """The git directory that all working trees share, with objects, refs and the configuration."""

    @property
    def objects(self) -> Path:
        return self.shared / "objects"

    @property
    def index(self) -> Path:
        return self.private / "index"

    @property
    def prefix(self) -> str:
        """Return the directory's path in the working tree, such as "board/linux"; "" for the top."""
        return "" if self.top is None or self.top == self.folder else str(self.folder.relative_to(self.top))


@dataclass(frozen=True)
class View:
    """A repository that git can read."""

    repository: Repository
    directory: Path
    """The git directory of the lab's own."""

    def git(self, *arguments: str | Path, env: dict[str, str] | None = None, stdin: Path | None = None) -> str:
        """Call git in the repository's directory and return its output. Raises GitError."""
        repository = self.repository
        variables = {"GIT_OBJECT_DIRECTORY": str(repository.objects)} | (
            {"GIT_WORK_TREE": str(repository.top)} if repository.top else {}
        )
        at = repository.folder if repository.top else self.directory
        return git(*arguments, directory=self.directory, at=at, env=variables | (env or {}), stdin=stdin)

    def tree_of(self, revision: str, prefix: str) -> str:
        """Return the hash of a revision's tree, or of its directory `prefix`. Raises GitError if git does not
        know it.
        """
        name = f"{revision}:{prefix}" if prefix else f"{revision}^{{tree}}"
        return self.git("rev-parse", "--verify", "--quiet", "--end-of-options", name)

    def text(self, tree: str, path: str, env: dict[str, str] | None = None) -> str | None:
        """Return the text of a file in a tree; None if there is no such file."""
        try:
            return self.git("cat-file", "blob", f"{tree}:{path}", env=env)
        except GitError:
            return None


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that contains `folder` or is it; None if there is none.

    Ignore a repository that belongs neither to this user nor to the owner of `folder`: in a world-writable directory
    such as /tmp, anybody can put one above the tree.
    """
    folder = folder.resolve()
    trusted = {os.geteuid(), _owner(folder)}
    for top in (folder, *folder.parents):
        private = _named_by(top / ".git")
        if private is not None and _owner(top / ".git") in trusted:
            return Repository(folder, top, private, _shared_by(private))
    return Repository(folder, None, folder, folder) if _is_git_directory(folder, folder) else None


@contextmanager
def opened_repository(repository: Repository) -> Iterator[View]:
    """Make the git directory through which a repository is read. Raises GitError if the lab cannot read
    the repository.
    """
    alternates = repository.objects / "info/alternates"
    if own_file.is_there(alternates) and not own_file.is_file(alternates):  # git would wait for a pipe
        raise GitError(f"{alternates} is no file")
    with tempfile.TemporaryDirectory(prefix="flashbed-") as scratch:
        directory = Path(scratch)
        (directory / "info").mkdir()
        (directory / "config").touch()
        _link(repository.shared, directory, "refs", "packed-refs")
        _link(repository.private, directory, *(path.name for path in repository.private.glob("sharedindex.*")))
        (directory / "logs").mkdir()
        _link(repository.shared / "logs", directory / "logs", "refs")
        _link(repository.private / "logs", directory / "logs", "HEAD")
        for file in (*repository.private.glob("*HEAD"), repository.shared / "info/exclude"):
            with suppress(OSError):
                (directory / ("info" if file.name == "exclude" else "") / file.name).write_bytes(own_file.read(file))
        view = View(repository, directory)
        (directory / "config").write_text(_configuration(view))
        yield view


def _owner(path: Path) -> int:
    return path.lstat().st_uid


def _named_by(place: Path) -> Path | None:
    """Return the git directory that ".git" is or names; None if there is none."""
    named = place
    if own_file.is_file(place):
        with suppress(OSError, ValueError):
            key, _, path = os.fsdecode(own_file.read(place)).rstrip("\n").partition(": ")
            named = place.parent / path if key == "gitdir" else place
    try:
        return named.resolve() if _is_git_directory(named, _shared_by(named)) else None
    except (OSError, ValueError, RuntimeError):  # Python below 3.13 raises RuntimeError for a link to itself
        return None


def _shared_by(private: Path) -> Path:
    """Return the shared git directory of a linked working tree."""
    try:
        return (private / os.fsdecode(own_file.read(private / "commondir")).rstrip("\n")).resolve()
    except OSError:
        return private.resolve()


def _is_git_directory(private: Path, shared: Path) -> bool:
    return own_file.is_file(private / "HEAD") and (shared / "objects").is_dir() and (shared / "refs").is_dir()


def _link(from_: Path, to: Path, *names: str) -> None:
    for name in names:
        if own_file.is_file(from_ / name) or (from_ / name).is_dir():
            (to / name).symlink_to(from_ / name)


def _configuration(view: View) -> str:
    """Return the configuration for a view whose configuration is still empty."""
    shared = view.repository.shared
    if (shared / "reftable").is_dir():
        raise GitError("it keeps its refs as reftable, which the lab does not read; `git refs migrate` changes that")
    settings = ""
    if own_file.is_file(shared / "config"):
        settings = view.git("config", "--file", shared / "config", "--no-includes", "--null", "--list")
    taken = {}
    for entry in settings.split("\0"):
        if entry.casefold().startswith(_OBJECT_NAMES) and entry.casefold() != f"{_OBJECT_NAMES}sha1":
            raise GitError("it names its objects by SHA-256, which the lab does not read; only SHA-1")
        if _TAKEN.fullmatch(entry):
            name, _, value = entry.removeprefix("core.").partition("\n")
            taken[name] = value
    copied = "".join(f"\t{name} = {value}\n" for name, value in taken.items())
    return f"[core]\n\trepositoryformatversion = 0\n\tbare = {str(view.repository.top is None).lower()}\n{copied}"
