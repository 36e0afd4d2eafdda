# SPDX-License-Identifier: Apache-2.0
"""A folder of built things, each under the hash of its recipe. An entry is complete and whole, or it is built again.

Knows no kernel and no package: a recipe is any JSON value that names everything the build depends on, and the builder
fills a folder.
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
from flashbed.common.digest import digest_bytes, digest_file
from flashbed.common.errors import HostResourceError, InterruptedByUser, host_refusal

_log = logging.getLogger("flashbed")

MANIFEST = "MANIFEST.json"
LISTING = "FILES.txt"
"""Size and name of each file of an entry that says which of its files are products."""


USED_TO_S = 3600.0


@dataclass(frozen=True)
class AskedEntry:
    """An entry that was asked for. `recipe` is without what is of the host that builds, if anything is (`of_host`)."""

    name: str
    recipe: Any
    of_host: bool
    folder: Path


_askers: list[list[AskedEntry]] = []


@contextmanager
def noting() -> Iterator[list[AskedEntry]]:
    """Gives a list to which each entry is added that is asked for in the block, by any cache of this process."""
    asked: list[AskedEntry] = []
    _askers.append(asked)
    try:
        yield asked
    finally:
        _askers.remove(asked)


def digest_tree(*roots: Path) -> str:
    """One SHA-256 over the names and contents of all files below `roots`, in a fixed order."""
    total = hashlib.sha256()
    for root in roots:
        files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
        for file in files:
            name = file.name if file == root else file.relative_to(root).as_posix()
            total.update(f"{root.name}/{name}\0{digest_file(file)}\n".encode())
    return total.hexdigest()


@dataclass(frozen=True)
class Entry:
    """A finished build: its folder and the SHA-256 of each file that the builder vouched for."""

    folder: Path
    digests: dict[str, str]
    mend: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)
    """For who builds on top of it: builds it again if a file that is no product is missing or has another size."""

    def path(self, name: str) -> Path:
        return self.folder / name


class Cache:
    """Builds under `root`, one folder an entry, named `NAME-HASH`.

    `thorough`: looks at the size of every file of each entry, whether or not it is a product.
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
        """The entry for `recipe`, built by `build(folder)` if it is absent or any of its `products` is not what was
        built.

        Products are all files of the entry, unless it says which matter: to look at a kernel tree file by file takes
        0.4 s, so that is left to `Entry.mend`. `of_host` returns what more the recipe has of the host that builds, such
        as its compiler. An entry without that comes from an image (packs/image_file.py), and is used as it is. Two
        processes that want the same entry wait for each other. Raises HostResourceError when the disk is full or
        refuses.
        """
        entry = self._taken_in(name, recipe) if of_host else None
        if entry is None:
            entry = self._made(name, {**recipe, **of_host()} if of_host else recipe, build, products)
        for asked in _askers:
            asked.append(AskedEntry(name, recipe, of_host is not None, entry.folder))
        return entry

    def _taken_in(self, name: str, recipe: Any) -> Entry | None:
        """The entry without what is of a host."""
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
        """The entry for `recipe` if it is there and whole, all its files products; None if not."""
        found = self._whole(self.root / name_of(name, recipe), thorough=self._thorough)
        if found is not None:
            _note_use(found.folder)
        return found

    def _check_builds(self, final: Path) -> None:
        """Before another's build is waited for: a cache that builds nothing raises here."""

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

    def _build(self, final: Path, recipe: str, build: Callable[[Path], object], products: Sequence[str] | None) -> None:
        """Under the entry's lock."""
        scratch, old = (self.root / f".{final.name}.{ending}" for ending in LEFT)
        try:
            for left in (scratch, old):
                locks.remove(left)
            scratch.mkdir()
            build(scratch)
            files = sizes(scratch)
            if products is None:
                products = sorted(files)
            else:
                lines = (f"{files[name]} {name}\n" for name in sorted(files))
                (scratch / LISTING).write_text("".join(lines), errors="surrogateescape")
            digests = {product: digest_file(scratch / product) for product in products}
            manifest = {"recipe": json.loads(recipe), "products": digests}
            if (scratch / LISTING).exists():
                manifest["listing"] = digest_file(scratch / LISTING)
            (scratch / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True))
            if final.exists():
                final.rename(old)
            scratch.rename(final)
        except InterruptedByUser:
            raise  # to remove a kernel tree takes longer than who stops this wants to wait: the next run does it
        except BaseException as error:
            locks.remove(scratch)
            if isinstance(error, OSError):
                raise host_refusal(self.root, error) from error
            raise
        locks.remove(old)

    @staticmethod
    def _whole(folder: Path, *, thorough: bool) -> Entry | None:
        """The entry in `folder` if its manifest is there, with the recipe that the folder is named after, and every
        product has the digest noted when it was built.
        """
        try:
            manifest = json.loads((folder / MANIFEST).read_text())
            digests = manifest["products"]
            if not folder.name.endswith(_ending(json.dumps(manifest["recipe"], sort_keys=True))):
                return None
            if all(digest_file(folder / product) == digest for product, digest in digests.items()):
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
        """Once: removes what builds left that were stopped or killed."""
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
        """What a flashbed of before has left."""
        for left in self.root.glob(f"{lock.stem}-????????"):
            locks.remove(left)


def _note_use(entry: Path) -> None:
    """Keep when an entry was last used, to an hour, as the time of its manifest (unused.py)."""
    with suppress(OSError):  # of a cache that this user may only read, nothing is removed either
        if time.time() - (entry / MANIFEST).stat().st_mtime > USED_TO_S:
            os.utime(entry / MANIFEST)


def name_of(name: str, recipe: Any) -> str:
    """What the folder of an entry is called."""
    return f"{name}{_ending(json.dumps(recipe, sort_keys=True))}"


def _ending(recipe: str) -> str:
    """Of the name of an entry's folder, behind what it is."""
    return f"-{digest_bytes(recipe.encode())[:16]}"


LEFT = ("part", "old")
"""What the folder of an entry that is being made is called, behind its name, and that of the one in its place."""


def sizes(folder: Path) -> dict[str, int]:
    """The size of each file below a folder, by its name seen from there; links are not followed."""
    found, folders = {}, [""]
    while folders:
        inside = folders.pop()
        with os.scandir(folder / inside) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{inside}{entry.name}/")
                else:
                    found[f"{inside}{entry.name}"] = entry.stat(follow_symlinks=False).st_size
    return found


def _complete(folder: Path, digest: str | None) -> bool:
    """True if each file of an entry is there and has its size; also if it has no listing, for then all files are
    products. `digest` is that of the listing; older entries have none.
    """
    try:
        text = (folder / LISTING).read_bytes()
    except FileNotFoundError:
        return digest is None
    if digest is not None and digest_bytes(text) != digest:
        return False
    lines = text.decode(errors="surrogateescape").splitlines()
    found = sizes(folder)
    wanted = [line.partition(" ") for line in lines]
    return bool(wanted) and all(str(found.get(name)) == size for size, _, name in wanted)
