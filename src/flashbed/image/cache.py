# SPDX-License-Identifier: Apache-2.0
"""A cache of builds, each under the hash of its recipe. An incomplete or damaged entry is built again.

A recipe is any JSON value that names everything the build depends on. A builder fills a directory. Must not know what
is built.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from flashbed.common import locks
from flashbed.common.digest import digest_bytes, digest_file, digest_unmapped
from flashbed.common.errors import HostResourceError, InterruptedByUser, host_refusal

_log = logging.getLogger("flashbed")

MANIFEST = "MANIFEST.json"
LISTING = "FILES.txt"
"""The list of sizes and names of an entry's files. Only an entry that names its products has it."""

USED_TO_S = 3600.0
"""The precision of an entry's last use, in seconds."""


@dataclass(frozen=True)
class AskedEntry:
    """A requested entry. `recipe` leaves out what depends on the building host; `of_host` is True if anything does."""

    name: str
    recipe: Any
    of_host: bool
    folder: Path


_askers: list[list[AskedEntry]] = []


@contextmanager
def noting() -> Iterator[list[AskedEntry]]:
    """Yield a list that collects each entry that any cache of this process is asked for in the block."""
    entries: list[AskedEntry] = []
    _askers.append(entries)
    try:
        yield entries
    finally:
        _askers.remove(entries)


def digest_tree(*roots: Path) -> str:
    """Return one SHA-256 over the names and contents of all files below `roots`, in a fixed order."""
    total = hashlib.sha256()
    for root in roots:
        files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
        for file in files:
            name = file.name if file == root else file.relative_to(root).as_posix()
            total.update(f"{root.name}/{name}\0{digest_file(file)}\n".encode())
    return total.hexdigest()


@dataclass(frozen=True)
class Entry:
    """A finished build: its directory, and the SHA-256 of each product."""

    folder: Path
    digests: dict[str, str]
    mend: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)
    """Build the entry again if a file that is no product is missing or has another size. Call it before building on top
    of the entry.
    """

    def path(self, name: str) -> Path:
        return self.folder / name


class Cache:
    """The builds under `root`, each in a directory `NAME-HASH`.

    If `thorough`, check the size of every file of an entry, not only its products.
    """

    def __init__(self, root: Path, *, thorough: bool = False) -> None:
        self.root = root
        self._thorough = thorough
        self._swept = False
        self._mended: set[Path] = set()

    def entry(
        self,
        name: str,
        recipe: Any,
        build: Callable[[Path], object],
        *,
        products: Sequence[str] | None = None,
        of_host: Callable[[], Mapping[str, Any]] | None = None,
    ) -> Entry:
        """Return the entry for `recipe`. If it is missing, or if one of its `products` is damaged, build it by
        `build(folder)`.

        By default all files of the entry are products. Checking a kernel tree file by file takes 0.4 s, so that is left
        to `Entry.mend`. `of_host` returns the part of the recipe that depends on the building host, such as its
        compiler. An entry without that part comes from an imported image (packs/image_file.py), and is used as it is.
        Processes that want the same entry wait for each other. Raises HostResourceError if the host refuses to write.
        """
        entry = self._taken_in(name, recipe) if of_host else None
        if entry is None:
            entry = self._made(name, {**recipe, **of_host()} if of_host else recipe, build, products)
        for entries in _askers:
            entries.append(AskedEntry(name, recipe, of_host is not None, entry.folder))
        return entry

    def _taken_in(self, name: str, recipe: Any) -> Entry | None:
        """Return the entry from an imported image; None if there is none, or if it is damaged."""
        final = self.root / name_of(name, recipe)
        if not final.is_dir():
            return None
        if (entry := self._whole(final, thorough=self._thorough)) is None:
            _log.warning("%s: was taken in, and is damaged; it is built here instead", final)
        return entry

    def _made(self, name: str, recipe: Any, build: Callable[[Path], object], products: Sequence[str] | None) -> Entry:
        text = json.dumps(recipe, sort_keys=True)
        final = self.root / name_of(name, recipe)
        self._sweep()
        whole = partial(self._whole, final, thorough=self._thorough)
        entry = whole()
        if entry is None:
            self._check_builds(final)
            with self._locked(final):
                entry = whole()
                if entry is None:
                    self._build(final, text, build, products)
                    entry = whole()
        if entry is None:
            raise HostResourceError(f"{final}: changed while it was being written; is the disk sound?")
        _note_use(final)
        return replace(entry, mend=partial(self._mend, entry, text, build, products))

    def known(self, name: str, recipe: Any) -> Entry | None:
        """Return the entry for `recipe`, all of whose files are products; None if it is missing or damaged."""
        entry = self._whole(self.root / name_of(name, recipe), thorough=self._thorough)
        if entry is not None:
            _note_use(entry.folder)
        return entry

    def _check_builds(self, final: Path) -> None:
        """Raise an error if this cache may build nothing. It is called before waiting for another process's build."""

    def _mend(self, entry: Entry, recipe: str, build: Callable[[Path], object], products: Sequence[str] | None) -> None:
        if entry.folder in self._mended:
            return
        with self._locked(entry.folder):
            if self._whole(entry.folder, thorough=True) is None:
                _log.warning("%s: files are missing or damaged; it is made again", entry.folder)
                self._build(entry.folder, recipe, build, products)
                if (built := self._whole(entry.folder, thorough=True)) is None or built.digests != entry.digests:
                    raise HostResourceError(f"{entry.folder}: was damaged, and is made again; run again")
        self._mended.add(entry.folder)

    def take_in(self, folder: str, fill: Callable[[Path], object]) -> Mapping[str, str] | None:
        """Put an entry that another host built into the directory `folder`, unless one is there. Return None, or the
        digests of the products of the one that is there.

        `fill` writes all files of the entry, its manifest too, into an empty directory. Raises HostResourceError if the
        host refuses to write.
        """
        final = self.root / folder
        with self._locked(final):
            with suppress(OSError, ValueError, KeyError, TypeError):
                return dict(json.loads((final / MANIFEST).read_text())["products"])
            self._put(final, fill)
        return None

    def _build(self, final: Path, recipe: str, build: Callable[[Path], object], products: Sequence[str] | None) -> None:
        """Build the entry `final`. The caller holds the entry's lock."""

        def fill(folder: Path) -> None:
            build(folder)
            files = sizes(folder)
            names = sorted(files) if products is None else products
            if products is not None:
                lines = (f"{files[name]} {name}\n" for name in sorted(files))
                (folder / LISTING).write_text("".join(lines), errors="surrogateescape")
            digests = {product: digest_file(folder / product) for product in names}
            manifest = {"recipe": json.loads(recipe), "products": digests}
            if (folder / LISTING).exists():
                manifest["listing"] = digest_file(folder / LISTING)
            (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True))

        self._put(final, fill)

    def _put(self, final: Path, fill: Callable[[Path], object]) -> None:
        """Fill a new directory, and give it the name `final`; an entry of that name is removed. If filling fails, leave
        that entry as it is. The caller holds the entry's lock. Raises HostResourceError.
        """
        scratch, old = (self.root / f".{final.name}.{ending}" for ending in LEFT)
        try:
            for left in (scratch, old):
                locks.remove(left)
            scratch.mkdir()
            fill(scratch)
            if final.exists():
                final.rename(old)
            scratch.rename(final)
        except InterruptedByUser:
            raise  # the next run removes it: removing a kernel tree takes too long after Ctrl-C
        except BaseException as error:
            locks.remove(scratch)
            if isinstance(error, OSError):
                raise host_refusal(self.root, error) from error
            raise
        locks.remove(old)

    @staticmethod
    def _whole(folder: Path, *, thorough: bool) -> Entry | None:
        """Return the entry in `folder` if its manifest has the recipe of the directory's name, and if every product has
        the digest of its build; else None.
        """
        try:
            manifest = json.loads((folder / MANIFEST).read_text())
            digests = manifest["products"]
            if not folder.name.endswith(_ending(json.dumps(manifest["recipe"], sort_keys=True))):
                return None
            if all(digest_unmapped(folder / product) == digest for product, digest in digests.items()):
                complete = not thorough or _complete(folder, manifest.get("listing"))
                return Entry(folder, digests) if complete else None
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            pass
        return None

    def _locked(self, final: Path) -> locks.Lock:
        def say() -> None:
            _log.warning("another run is making %s; waiting for it", final.name)

        return locks.wait_for(self.root / f".{final.name}.lock", say)

    def _sweep(self) -> None:
        """Remove what stopped or killed builds left. Only the first call does anything."""
        if self._swept:
            return
        self._swept = True
        with suppress(OSError, HostResourceError):
            for left in [path for ending in LEFT for path in self.root.glob(f".*.{ending}")]:
                if (lock := locks.take(left.with_suffix(".lock"))) is not None:
                    with lock:
                        _log.warning("removing %s, which a run left that was stopped", left)
                        locks.remove(left)
        locks.sweep(self.root, self._remove_left)

    def _remove_left(self, lock: Path) -> None:
        """Remove what an older flashbed left beside this lock."""
        for left in self.root.glob(f"{lock.stem}-????????"):
            locks.remove(left)


def _note_use(entry: Path) -> None:
    """Record an entry's last use, to the hour, as the timestamp of its manifest (unused.py)."""
    with suppress(OSError):  # a user who may only read the cache removes nothing either
        if time.time() - (entry / MANIFEST).stat().st_mtime > USED_TO_S:
            os.utime(entry / MANIFEST)


def name_of(name: str, recipe: Any) -> str:
    """Return the name of an entry's directory."""
    return f"{name}{_ending(json.dumps(recipe, sort_keys=True))}"


def _ending(recipe: str) -> str:
    """Return the end of an entry's directory name: the hash of its recipe."""
    return f"-{digest_bytes(recipe.encode())[:16]}"


LEFT = ("part", "old")
"""The suffixes of an entry's directory while it is built, and of the directory that it replaces."""


def sizes(folder: Path) -> dict[str, int]:
    """Return the size of each file below a directory, by relative name. Links are not followed."""
    sizes_by_name, folders = {}, [""]
    while folders:
        inside = folders.pop()
        with os.scandir(folder / inside) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{inside}{entry.name}/")
                else:
                    sizes_by_name[f"{inside}{entry.name}"] = entry.stat(follow_symlinks=False).st_size
    return sizes_by_name


def _complete(folder: Path, digest: str | None) -> bool:
    """Return True if each file of an entry exists and has its size. Without a listing, all files are products, and
    nothing else is checked. `digest` is the listing's; older entries have none.
    """
    try:
        text = (folder / LISTING).read_bytes()
    except FileNotFoundError:
        return digest is None
    if digest is not None and digest_bytes(text) != digest:
        return False
    lines = text.decode(errors="surrogateescape").splitlines()
    sizes_now = sizes(folder)
    recorded = [line.partition(" ") for line in lines]
    return bool(recorded) and all(str(sizes_now.get(name)) == size for size, _, name in recorded)
