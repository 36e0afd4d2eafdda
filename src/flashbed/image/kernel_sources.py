# SPDX-License-Identifier: Apache-2.0
"""Sources of kernels that the user brings, each named by git's hash of its tree: a revision, a folder as it is now, a
package of Debian's; and each of them with patches.

All objects that are not in a repository of the user's are in one of the lab's own, so nothing is written to theirs
(git renews the times of objects there that it would write again). Must not know how a kernel is built.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import locks
from flashbed.common.digest import digest_bytes
from flashbed.common.errors import HostResourceError, InputError, host_refusal
from flashbed.common.git import GitError, git, tree_of
from flashbed.common.progress import stage
from flashbed.profiles.kernel_choice import Patch, Tree

SHOWN = 12
"""Digits of a hash that people get to see."""

_OF_THE_LAB = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
"""What the user has set up for git changes no object of the lab's own."""

_LEFT_BY_A_BUILD = (
    *("*.o", "*.a", "*.ko", "*.mod", "*.mod.c", "*.cmd", "*.order", "*.symvers", "*.dtb", "*.so", "*.so.dbg", "*.i"),
    *(".tmp_*", "/vmlinux*", "/System.map", "/.config", "/.config.old", "/.version", "/modules.*", "/.git"),
    *("/include/generated/", "/include/config/", "/arch/*/include/generated/", "/arch/*/boot/Image*"),
)
"""As .gitignore has it."""


@dataclass(frozen=True)
class Source:
    """A tree of source files. `tree` is git's hash of it."""

    tree: str
    name: str
    """A short one for people: "linux@v6.12", "linux-source-6.1 (6.1.119-1)"."""
    home: str
    """What objects are kept for: a folder of the user's, a package."""
    before: str | None = None
    """The tree that it is a change of: without its patches, without what is not committed, or where the user's range of
    revisions begins.
    """
    objects: Path | None = None
    """The user's objects that it needs beside the lab's."""
    notes: tuple[str, ...] = ()
    """What the user is to be told of it."""

    @property
    def label(self) -> str:
        """The name with the hash, as results give it."""
        return f"{self.name} {self.tree[:SHOWN]}"


class Sources:
    """The lab's repository of sources, in a folder that is made when it is first used."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._store = root / "sources.git"

    def of_tree(self, wanted: Tree) -> Source:
        """A revision, or the folder as it is now. Raises InputError for what git refuses."""
        if wanted.object_id is not None:
            objects = self._objects_of(wanted.folder)
            name = f"{wanted.folder.resolve().name}@{wanted.revision}"
            return Source(wanted.object_id, name, str(wanted.folder.resolve()), wanted.against_id, objects)
        try:
            git("rev-parse", "--git-dir", at=wanted.folder)
        except GitError:
            return self._plain(wanted.folder)
        return self._as_it_is(wanted)

    def of_package(self, name: str, version: str, unpack: Callable[[Path], None]) -> Source:
        """A package's source; `unpack(folder)` is asked for it the first time."""
        ref = f"refs/packages/{digest_bytes(f'{name} {version}'.encode())}"
        with self._alone(name), suppress(GitError):
            tree = self._git("rev-parse", "--verify", "--quiet", ref)
            return Source(tree, f"{name} ({version})", name)
        with self._alone(name), locks.scratch(self.root / "unpacked") as scratch:
            unpack(scratch / "linux")
            with stage(f"Noting the source of {name}"):
                files = {"GIT_WORK_TREE": str(scratch / "linux"), "GIT_INDEX_FILE": str(scratch / "index")}
                self._git("add", "--all", "--force", ".", at=scratch / "linux", env=files)
                tree = self._git("write-tree", env=files)
            self._git("update-ref", ref, tree)
        return Source(tree, f"{name} ({version})", name)

    def patched(self, source: Source, patches: Sequence[Patch]) -> Source:
        """The source with these patches on it, in this order. Raises InputError that names the one that does not
        apply.
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
        return Source(tree, name, source.home, source.tree, source.objects, source.notes)

    def check_out(self, source: Source, folder: Path, index: Path) -> None:
        """Brings `folder` to what the source is: files that are the same stay untouched, and so does what no source
        has. Raises HostResourceError.
        """
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        env = self._reads(source) | {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(folder)}
        try:
            self._git("read-tree", "--reset", "-u", source.tree, at=folder, env=env)
        except GitError as error:
            raise HostResourceError(f"{folder}: git cannot write {source.name} there: {error}") from None

    def changes(self, source: Source, before: str) -> str:
        """What `git diff` says of the change from another tree, without context."""
        arguments = ("diff-tree", "-r", "-p", "--unified=0", "--no-renames", "--no-color", "--no-ext-diff")
        return self._git(*arguments, "--src-prefix=a/", "--dst-prefix=b/", before, source.tree, env=self._reads(source))

    def text(self, source: Source, path: str) -> str | None:
        """A file of the source; None if it is not there."""
        try:
            return self._git("cat-file", "blob", f"{source.tree}:{path}", env=self._reads(source))
        except GitError:
            return None

    def _as_it_is(self, wanted: Tree) -> Source:
        """A folder in a repository, with all that is not committed: what git would commit, and nothing of it written to
        that repository.
        """
        folder = wanted.folder
        prefix = git("rev-parse", "--show-prefix", at=folder)
        objects = self._objects_of(folder)
        self._make()
        with locks.scratch(self.root / "looking") as scratch:
            index = Path(git("rev-parse", "--git-path", "index", at=folder))
            with suppress(FileNotFoundError):
                shutil.copy2(folder / index, scratch / "index")
            env = {
                "GIT_INDEX_FILE": str(scratch / "index"),
                "GIT_OBJECT_DIRECTORY": str(self._store / "objects"),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
            }
            try:
                with stage(f"Looking at {folder}"):
                    git("add", "--all", ".", at=folder, env=env)
                    tree = git("write-tree", *((f"--prefix={prefix}",) if prefix else ()), at=folder, env=env)
            except GitError as error:
                raise InputError(f"{folder}: git cannot read this tree: {error}") from None
        name, home = folder.resolve().name, str(folder.resolve())
        committed = None
        with suppress(GitError):
            committed = tree_of("HEAD", prefix, at=folder)
        if committed == tree:
            head = git("rev-parse", "--short=12", "HEAD", at=folder)
            return Source(tree, f"{name}@{head}", home, None, objects)
        note = f"{folder}: has changes that are not committed; they are in what is measured"
        return Source(tree, f"{name} (not committed)", home, committed, objects, (note,))

    def _plain(self, folder: Path) -> Source:
        """A folder that is in no repository, without what a build leaves. A .gitignore in it does not count: that of a
        package may name the whole tree.
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
                with stage(f"Looking at {folder}"):
                    self._note_changes(folder, env)
                    tree = self._git("write-tree", env=env)
            except GitError as error:
                raise InputError(f"{folder}: git cannot read this tree: {error}") from None
        return Source(tree, folder.resolve().name, home)

    def _note_changes(self, folder: Path, env: Mapping[str, str]) -> None:
        """Brings the index in `env` to what is in the folder. Raises GitError."""
        with locks.scratch(self.root / "looking") as scratch:
            (scratch / "excludes").write_text("\n".join(_LEFT_BY_A_BUILD))
            asked = ("--others", "--modified", "--deleted", f"--exclude-from={scratch / 'excludes'}")
            names = self._git("ls-files", "-z", *asked, at=folder, env=env)
            (scratch / "names").write_bytes(names.encode(errors="surrogateescape"))
            told = scratch / "names"
            self._git("update-index", "-z", "--add", "--remove", "--stdin", at=folder, env=env, told=told)

    def _objects_of(self, folder: Path) -> Path:
        try:
            return (folder / git("rev-parse", "--git-path", "objects", at=folder)).resolve()
        except GitError as error:
            raise InputError(f"{folder}: git says: {error}") from None

    def _reads(self, source: Source) -> dict[str, str]:
        return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(source.objects)} if source.objects else {}

    def _git(
        self,
        *arguments: str | Path,
        at: Path | None = None,
        env: Mapping[str, str] | None = None,
        told: Path | None = None,
    ) -> str:
        """In the lab's own repository."""
        self._make()
        environment = {**_OF_THE_LAB, "GIT_DIR": str(self._store), **(env or {})}
        return git(*arguments, at=at or self.root, env=environment, told=told)

    def _make(self) -> None:
        if (self._store / "HEAD").exists():
            return
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            git("init", "--quiet", "--bare", "--template=", self._store, at=self.root, env=_OF_THE_LAB)
        except OSError as error:
            raise host_refusal(self.root, error) from None

    def _alone(self, name: str) -> locks.Lock:
        return locks.wait_for(self.root / f".{name}.lock")
