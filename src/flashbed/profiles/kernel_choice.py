# SPDX-License-Identifier: Apache-2.0
"""Parse a study's kernel: a version that the lab offers, a source tree, or a git revision of one; with patches.

Examples: "6.1", "6.1:patch=x.patch", "/path/linux", "../linux@v6.12", "../linux@v6.12..mine". Errors are found here, so
that the message has the line of the study. Must not know how a kernel is built.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from flashbed.common import git, own_file
from flashbed.common.errors import SetupError
from flashbed.common.git import GitError, View
from flashbed.common.tomlfile import shown

KERNELS = ("6.1", "6.12")
"""Versions of Linux with sources in Debian 12 and a configuration in guest/. Each also exists with -debug."""

NAS_KERNEL = "6.1-nas"
"""The kernel of a file server and nothing else."""

DEBIAN_KERNEL = "6.1-debian"
"""Debian's installed kernel. The lab compiles nothing for it."""

NAS_KERNELS = (NAS_KERNEL, DEBIAN_KERNEL)
"""Kernels of a file server."""

PROGRAM_SUFFIX = "-program"
"""The suffix of the version of a kernel that runs programs of the user's (guest/kernel-program.config). No study names
it: cells get it if their tool needs a root.
"""

OWN_KERNEL = "own"
"""The name of any kernel from a source tree in a cell's key. The digests in the key tell such kernels apart."""

_PATCH = "patch"
_NUMBER = re.compile(r"^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+) *$", re.MULTILINE)
_IN_A_KERNEL = ("Kconfig", "Kbuild", "arch/arm64/Makefile")


class KernelProblem(ValueError):
    """A text that names no kernel. The message is for the user, and follows the key."""


@dataclass(frozen=True)
class Patch:
    """A user's patch: its file, and the content when the study was read."""

    path: Path
    data: bytes


@dataclass(frozen=True)
class Tree:
    """A user's source tree and its version."""

    folder: Path
    version: str
    """The version, such as 6.12."""
    revision: str | None = None
    """The revision as written; None: the directory as it is now."""
    object_id: str | None = None
    """The hash of the revision's tree when the study was read."""
    against: str | None = None
    """The first revision of a range."""
    against_id: str | None = None
    """The hash of the tree of `against`."""


@dataclass(frozen=True)
class KernelChoice:
    """The kernel of a study."""

    text: str
    version: str
    """A version that the lab offers (6.1, 6.12-debug), or the version of the tree (6.12)."""
    tree: Tree | None = None
    patches: tuple[Patch, ...] = ()

    @property
    def is_own(self) -> bool:
        """Return True if this is not a kernel that the lab offers."""
        return self.tree is not None or bool(self.patches)

    @property
    def word(self) -> str:
        """Return the kernel's name for a key. The key also has the digests of what is built."""
        return self.version if self.tree is None else OWN_KERNEL

    def for_programs(self) -> KernelChoice:
        """Return this kernel with the options that programs of the user's need."""
        return replace(self, version=f"{self.version}{PROGRAM_SUFFIX}")


def read(text: str, base: Path) -> KernelChoice:
    """Parse the kernel `text` of a study. Relative paths start at `base`. Raises KernelProblem."""
    source, colon, options = _split(text)
    patches = tuple(_patch(name, base) for name in _patch_names(text, options)) if colon else ()
    if not _is_path(source):
        try:
            check_offered(source)
        except KernelProblem as problem:
            why = "or a source tree: a path with a / in it, such as ./linux or ./linux@v6.12"
            raise KernelProblem(f"{problem}; {why}") from None
        if patches and source == DEBIAN_KERNEL:
            raise KernelProblem(f'"{source}" takes no patch: it is not compiled here')
        return KernelChoice(text, source, None, patches)
    tree = _tree(source, base)
    return KernelChoice(text, tree.version, tree, patches)


def check_offered(version: str) -> None:
    """Raise KernelProblem if the lab does not offer this version."""
    if version.removesuffix("-debug") not in KERNELS and version not in NAS_KERNELS:
        offered = ", ".join((*KERNELS, *NAS_KERNELS))
        raise KernelProblem(f'must be such as "6.1", not "{shown(version)}"; there are: {offered}')


def source_of(text: str) -> str:
    """Return the version or the source tree of a kernel, without its patches."""
    return _split(text)[0]


def _split(text: str) -> tuple[str, str, str]:
    """Return the source, the separator and the options. A path may contain a colon; a version cannot."""
    if _is_path(text.partition(f":{_PATCH}=")[0]):
        source, colon, rest = text.partition(f":{_PATCH}=")
        return source, colon, f"{_PATCH}={rest}"
    return text.partition(":")


def _is_path(source: str) -> bool:
    return "/" in source or source.startswith((".", "~"))


def _patch_names(text: str, options: str) -> list[str]:
    names = []
    for option in options.split(","):
        key, equals, name = (part.strip() for part in option.partition("="))
        if key != _PATCH or not equals or not name:
            raise KernelProblem(f'"{shown(text)}": "{shown(option)}" is no option of a kernel; write patch=FILE')
        if name in names:
            raise KernelProblem(f'"{shown(text)}" has the patch {shown(name)} twice')
        names.append(name)
    return names


def _patch(name: str, base: Path) -> Patch:
    path = base / Path(name).expanduser()
    try:
        data = own_file.read(path)
    except OSError as error:
        raise KernelProblem(f"patch {shown(path, 300)} cannot be read: {error.strerror}") from None
    if not re.search(rb"^(\+\+\+ |diff --git )", data, re.MULTILINE):
        raise KernelProblem(f"{path} is no patch: it has no line with +++; `git diff > FILE` makes one")
    return Patch(path, data)


def _tree(source: str, base: Path) -> Tree:
    folder, revision = _folder(source, base)
    if not own_file.is_there(folder):
        raise KernelProblem(f"{shown(folder, 300)} is not there")
    if not folder.is_dir():
        raise KernelProblem(f"{shown(folder, 300)} is no folder; unpack the source tree")
    if revision is None:
        version = _version_in({name: _text(folder / name) for name in ("Makefile", *_IN_A_KERNEL)}, folder)
        return Tree(folder, version)
    user_repository = git.find_repository(folder)
    if user_repository is None:
        raise KernelProblem(f"{folder} is no git repository, so {shown(revision)} is no revision of it")
    try:
        with git.opened_repository(user_repository) as view:
            return _revision(view, folder, revision)
    except GitError as error:
        raise KernelProblem(f"{folder}: git says: {error}") from None
    except SetupError as error:
        raise KernelProblem(error.message) from None


def _revision(view: View, folder: Path, revision: str) -> Tree:
    """Return the tree of a revision or of a range of revisions, as it is now. Raises KernelProblem."""
    begin, dots, end = revision.partition("..")
    commit_name = (end.removeprefix(".") or "HEAD") if dots else begin
    object_id = _known(view, folder, commit_name)
    against = (begin or "HEAD") if dots else None
    against_id = _known(view, folder, against) if against else None
    files = {name: view.text(object_id, name) for name in ("Makefile", *_IN_A_KERNEL)}
    return Tree(folder, _version_in(files, f"{folder}@{commit_name}"), commit_name, object_id, against, against_id)


def _folder(source: str, base: Path) -> tuple[Path, str | None]:
    """Return the existing directory, and the revision after it if there is one."""
    expanded = os.path.expanduser(source)  # noqa: PTH111 (a ~ in a revision must not raise)
    path = base / expanded
    if "@" not in expanded or own_file.is_there(path):
        return path, None
    places = [place for place, letter in enumerate(expanded) if letter == "@"]
    splits = [(base / expanded[:place], expanded[place + 1 :]) for place in reversed(places)]
    folder, revision = next((split for split in splits if own_file.is_there(split[0])), splits[-1])
    if not revision:
        raise KernelProblem(f'"{shown(source)}" ends with @; write the revision after it, or leave it out')
    return folder, revision


def _known(view: View, folder: Path, revision: str) -> str:
    """Return the hash of a revision's tree. Raises KernelProblem if git does not know the revision."""
    try:
        view.tree_of(revision, "")
    except GitError:
        raise KernelProblem(
            f"git knows no revision {shown(revision)} in {folder}; `git -C {folder} tag` lists tags"
        ) from None
    prefix = view.repository.prefix
    try:
        return view.tree_of(revision, prefix)
    except GitError:
        raise KernelProblem(f"{revision} has no folder {prefix} in the repository of {folder}") from None


def _text(path: Path) -> str | None:
    try:
        return own_file.read(path).decode(errors="replace")
    except OSError:
        return None


def _version_in(files: Mapping[str, str | None], of: Path | str) -> str:
    """Return the version of a source tree from its Makefile. Raises KernelProblem if it is not Linux."""
    numbers = dict(_NUMBER.findall(files["Makefile"] or ""))
    missing = [name for name, text in files.items() if text is None]
    if missing or "VERSION" not in numbers or "PATCHLEVEL" not in numbers:
        lacks = f"has no {missing[0]}" if missing else "says no VERSION and PATCHLEVEL in its Makefile"
        raise KernelProblem(f"{of} is no source tree of Linux: it {lacks}")
    return f"{numbers['VERSION']}.{numbers['PATCHLEVEL']}"
