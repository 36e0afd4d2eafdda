# SPDX-License-Identifier: Apache-2.0
"""Name kernel sources of the user by git's hash of their tree: a revision, a directory as it is, or a Debian package;
each with patches.

Objects that no repository of the user has are in a repository of the lab's. So nothing is written to the user's; git
would even update the times of existing objects there. Must not know how a kernel is built.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from pathlib import Path

from flashbed.common import locks, own_file
from flashbed.common.digest import digest_bytes
from flashbed.common.errors import HostResourceError, InputError, host_refusal
from flashbed.common.git import GitError, Repository, find_repository, git, opened_repository
from flashbed.common.progress import stage
from flashbed.profiles.kernel_choice import Patch, Tree

HASH_DIGITS = 12
"""The digits of a hash that people see."""

_LEFT_BY_A_BUILD = (
    *("*.o", "*.a", "*.ko", "*.mod", "*.mod.c", "*.cmd", "*.order", "*.symvers", "*.dtb", "*.so", "*.so.dbg", "*.i"),
    *(".tmp_*", "/vmlinux*", "/System.map", "/.config", "/.config.old", "/.version", "/modules.*", "/.git"),
    *("/include/generated/", "/include/config/", "/arch/*/include/generated/", "/arch/*/boot/Image*"),
)
"""Files that a build leaves, as in .gitignore."""


class ChangeUnknown(Enum):
    """Why it is unknown which lines of a kernel are changed, or where they are."""

    NO_REPOSITORY = auto()
    IGNORED_BY_GIT = auto()
    """The .gitignore of the tree leaves out the tree itself, as Debian's does."""
    NOTHING_COMMITTED = auto()
    LINES_SKIPPED = auto()
    """The base is known, but the run had --skip-lines."""


@dataclass(frozen=True)
class KernelSource:
    """A tree of source files. `tree` is git's hash of it."""

    tree: str
    name: str
    """A short name for people: "linux@v6.12", "linux-source-6.1 (6.1.119-1)"."""
    home: str
    """The home of the objects: a directory of the user's, or a package."""
    before: str | None = None
    """The tree that this one is a change of: without its patches, without uncommitted changes, or at the start of the
    user's range of revisions.
    """
    objects: Path | None = None
    """The user's object directory, which is needed beside the lab's."""
    notes: tuple[str, ...] = ()
    """Notes on the source for the user."""
    unknown: ChangeUnknown | None = None
    """Why its base is unknown; None if it is known, or if the tree is not changed."""

    @property
    def label(self) -> str:
        """Return the name with the hash, as in results."""
        return f"{self.name} {self.tree[:HASH_DIGITS]}"


class Sources:
    """The lab's repository of sources, in a directory that is made at first use."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._store = root / "sources.git"

    def of_tree(self, wanted: Tree) -> KernelSource:
        """Return a revision, or the directory as it is now. Raises InputError if git refuses."""
        user_repository = find_repository(wanted.folder)
        if wanted.object_id is not None:
            objects = user_repository.objects if user_repository else None
            name = f"{wanted.folder.resolve().name}@{wanted.revision}"
            return KernelSource(wanted.object_id, name, str(wanted.folder.resolve()), wanted.against_id, objects)
        if user_repository is None or user_repository.top is None:
            return self._plain(wanted.folder, ChangeUnknown.NO_REPOSITORY)
        return self._as_it_is(wanted.folder, user_repository)

    def of_package(self, name: str, version: str, unpack: Callable[[Path], None]) -> KernelSource:
        """Return a package's source. The first call unpacks it by `unpack(folder)`."""
        ref = f"refs/packages/{digest_bytes(f'{name} {version}'.encode())}"
        with self._alone(name), suppress(GitError):
            tree = self._git("rev-parse", "--verify", "--quiet", ref)
            return KernelSource(tree, f"{name} ({version})", name)
        with self._alone(name), locks.scratch(self.root / "unpacked") as scratch:
            unpack(scratch / "linux")
            with stage(f"Noting the source of {name}"):
                files = {"GIT_WORK_TREE": str(scratch / "linux"), "GIT_INDEX_FILE": str(scratch / "index")}
                self._git("add", "--all", "--force", ".", at=scratch / "linux", env=files)
                tree = self._git("write-tree", env=files)
            self._git("update-ref", ref, tree)
        return KernelSource(tree, f"{name} ({version})", name)

    def patched(self, source: KernelSource, patches: Sequence[Patch]) -> KernelSource:
        """Return the source with these patches applied in this order. Raises InputError with the name of a patch that
        does not apply.
        """
        if not patches:
            return source
        with locks.scratch(self.root / "patching") as scratch:
            (scratch / "empty").mkdir()
            env = self._reads(source) | {
                "GIT_INDEX_FILE": str(scratch / "index"),
                "GIT_WORK_TREE": str(scratch / "empty"),
            }
            self._git("read-tree", source.tree, env=env)
            name = source.name
            for patch in patches:
                (scratch / "patch").write_bytes(patch.data)
                try:
                    apply = ("apply", "--cached", "--whitespace=nowarn", scratch / "patch")
                    self._git(*apply, at=scratch / "empty", env=env)
                except GitError as error:
                    why = "; ".join(str(error).replace(str(scratch / "patch"), patch.path.name).splitlines())
                    raise InputError(
                        f"{patch.path}: does not apply to {name}: {why}. Make it anew from that source, with "
                        "paths as `git diff` writes them (a/fs/..., b/fs/...)."
                    ) from None
                name += f" + {patch.path.name}"
            tree = self._git("write-tree", env=env)
        return replace(source, tree=tree, name=name, before=source.tree, unknown=None)

    def check_out(self, source: KernelSource, folder: Path, index: Path) -> None:
        """Make `folder` match the source. Files that match already are untouched, as are files of no source. Raises
        HostResourceError.
        """
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        env = self._reads(source) | {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(folder)}
        try:
            self._git("read-tree", "--reset", "-u", source.tree, at=folder, env=env)
        except GitError as error:
            raise HostResourceError(f"{folder}: git cannot write {source.name} there: {error}") from None

    def changes(self, source: KernelSource, before: str) -> str:
        """Return the output of `git diff` against another tree, without context lines."""
        arguments = (
            "diff-tree",
            "-r",
            "-p",
            "--unified=0",
            "--no-renames",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
        )
        return self._git(*arguments, "--src-prefix=a/", "--dst-prefix=b/", before, source.tree, env=self._reads(source))

    def text(self, source: KernelSource, path: str) -> str | None:
        """Return a file of the source; None if there is no such file."""
        try:
            return self._git("cat-file", "blob", f"{source.tree}:{path}", env=self._reads(source))
        except GitError:
            return None

    def _as_it_is(self, folder: Path, place: Repository) -> KernelSource:
        """Return a directory in a repository with its uncommitted changes: what git would commit. Write nothing to that
        repository.
        """
        self._make()
        name, home = folder.resolve().name, str(folder.resolve())
        committed = None
        try:
            with locks.scratch(self.root / "looking") as scratch, opened_repository(place) as view:
                if own_file.is_file(place.index):
                    shutil.copy2(place.index, scratch / "index")  # git decides by its time which files to read again
                env = {
                    "GIT_INDEX_FILE": str(scratch / "index"),
                    "GIT_OBJECT_DIRECTORY": str(self._store / "objects"),
                    **_beside(place.objects),
                }
                with stage(f"Looking at {folder}"):
                    _note_changes(partial(view.git, env=env), ["--exclude-standard"], scratch)
                    prefix = [f"--prefix={place.prefix}/"] if place.prefix else []
                    tree = view.git("write-tree", *prefix, env=env)
                if view.text(tree, "Makefile", env) is None:
                    return self._plain(folder, ChangeUnknown.IGNORED_BY_GIT)
                with suppress(GitError):
                    committed = view.tree_of("HEAD", place.prefix)
                if committed == tree:
                    head = view.git("rev-parse", "--short=12", "HEAD")
                    return KernelSource(tree, f"{name}@{head}", home, None, place.objects)
        except GitError as error:
            raise InputError(f"{folder}: git cannot read this tree: {error}") from None
        note = f"{folder}: has changes that are not committed; they are in what is measured"
        unknown = None if committed else ChangeUnknown.NOTHING_COMMITTED
        return KernelSource(tree, f"{name} (not committed)", home, committed, place.objects, (note,), unknown)

    def _plain(self, folder: Path, unknown: ChangeUnknown) -> KernelSource:
        """Return a directory outside of any repository, without files that a build leaves. Its .gitignore is ignored: a
        package's may name the whole tree. `unknown` says why its base is unknown.
        """
        home = str(folder.resolve())
        self._make()
        indexes = self.root / "indexes"
        indexes.mkdir(parents=True, exist_ok=True)
        name = digest_bytes(home.encode())[:16]
        with self._alone(name):
            index = indexes / name
            index.with_name(f"{name}.lock").unlink(missing_ok=True)
            env = {"GIT_WORK_TREE": home, "GIT_INDEX_FILE": str(index)}
            try:
                with stage(f"Looking at {folder}"), locks.scratch(self.root / "looking") as scratch:
                    (scratch / "excludes").write_text("\n".join(_LEFT_BY_A_BUILD))
                    call = partial(self._git, at=folder, env=env)
                    _note_changes(call, [f"--exclude-from={scratch / 'excludes'}"], scratch)
                    tree = self._git("write-tree", env=env)
            except GitError as error:
                raise InputError(f"{folder}: git cannot read this tree: {error}") from None
        return KernelSource(tree, folder.resolve().name, home, unknown=unknown)

    def _reads(self, source: KernelSource) -> dict[str, str]:
        return _beside(source.objects) if source.objects else {}

    def _git(
        self,
        *arguments: str | Path,
        at: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: Path | None = None,
    ) -> str:
        """Call git in the lab's own repository and return its output."""
        self._make()
        return git(*arguments, directory=self._store, at=at or self.root, env=env, stdin=stdin)

    def _make(self) -> None:
        if (self._store / "HEAD").exists():
            return
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            git("init", "--quiet", "--bare", "--template=", self._store, directory=self._store, at=self.root)
        except OSError as error:
            raise host_refusal(self.root, error) from None

    def _alone(self, name: str) -> locks.Lock:
        return locks.wait_for(self.root / f".{name}.lock")


def _beside(objects: Path) -> dict[str, str]:
    """Return git's environment with the user's objects beside the lab's."""
    quoted = str(objects).replace("\\", "\\\\").replace('"', '\\"')
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"'}


def _note_changes(call: Callable[..., str], ignored: Sequence[str], scratch: Path) -> None:
    """Update the index of the git that `call` starts to the content of its directory.

    `git add` would also ask for the state of each submodule, by the configuration in there. New files come first, so
    that a link in the place of a directory removes the directory's files. Raises GitError.
    """
    for selection in (("--others", *ignored), ("--modified", "--deleted")):
        (scratch / "names").write_bytes(call("ls-files", "-z", *selection).encode(errors="surrogateescape"))
        call("update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=scratch / "names")
