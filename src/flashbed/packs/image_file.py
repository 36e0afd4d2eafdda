# SPDX-License-Identifier: Apache-2.0
"""Write an image of guests into a file on one host, and import it on another, which then compiles and fetches nothing.

The file has the form of a pack (replay/pack_file.py): `pack.json` lists entries of a cache, each with its recipe, its
files and their digests; `files/DIGEST` are the files; `sources/` and `LICENSES/` have the sources and licences of all
of it. Programs of the host that made the file (the emulator, the media core's programs, the checkers) come with their
libraries and their loader. The importing host runs these programs, so the file must come from a trusted person. Must
not know a study.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from flashbed.common import atomic, paths
from flashbed.common.digest import digest_file
from flashbed.common.errors import InputError, host_refusal
from flashbed.common.progress import stage
from flashbed.image import lockfile, toolchain
from flashbed.image.cache import LISTING, MANIFEST, AskedEntry, Cache, name_of
from flashbed.image.debian import REQUEST_NOTES
from flashbed.packs import gathering, making
from flashbed.packs.gathering import LICENCES, SOURCES
from flashbed.replay import pack_file

CHECKERS = "checkers"
"""The entry with the programs that check file systems; it is taken in beside the cache of what is built."""

ALWAYS = (LISTING, "linux/System.map")
"""Files of an entry that are no products. The listing has whoever builds on top of the entry make the rest of it."""

_START = """#!/bin/sh
here={here}
exec "$here/lib/{loader}" --inhibit-cache --library-path "$here/lib" --argv0 "$0" "$here/real/{name}" "$@"
"""


@dataclass(frozen=True)
class _File:
    """A file of an entry: its digest, and whether it is a program."""

    sha256: str
    program: bool


@dataclass(frozen=True)
class _Entry:
    """An entry of a cache as it is in an image."""

    name: str
    recipe: Any
    products: tuple[str, ...]
    files: Mapping[str, _File]

    @property
    def folder(self) -> str:
        """Return the name of the entry's directory in a cache."""
        return name_of(self.name, self.recipe)

    def to_json(self) -> dict[str, Any]:
        files = {name: [file.sha256, file.program] for name, file in sorted(self.files.items())}
        return {"name": self.name, "recipe": self.recipe, "products": list(self.products), "files": files}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> _Entry:
        """Return the entry of a JSON value. Raises KeyError, TypeError or ValueError if it is none."""
        files = {_plain(name): _File(str(digest), bool(program)) for name, (digest, program) in value["files"].items()}
        entry = cls(_plain(value["name"]), value["recipe"], tuple(value["products"]), files)
        if not set(entry.products) <= set(files) or not entry.products:
            raise ValueError(f"{entry.name} lacks a product")
        return entry

    @property
    def manifest(self) -> bytes:
        """Return the text of the entry's manifest in a cache."""
        manifest = {"recipe": self.recipe, "products": self.product_digests}
        if LISTING in self.files:
            manifest["listing"] = self.files[LISTING].sha256
        return json.dumps(manifest, indent=1, sort_keys=True).encode()

    @property
    def product_digests(self) -> dict[str, str]:
        """Return the digests of the files that a build must have made, by name."""
        return {name: self.files[name].sha256 for name in self.products}


def _plain(name: str) -> str:
    """Return a name of a file in a directory. Raises ValueError if it leads elsewhere, or if a cache uses it itself."""
    if name.startswith("/") or not set(name.split("/")).isdisjoint({"", ".", ".."}) or name == MANIFEST or "\0" in name:
        raise ValueError(f"{name!r} is no name of a file in it")
    return name


class _Maker:
    """Gathers entries, and the files of each digest."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self.sources: dict[str, Path] = {}
        self.of_host: list[Path] = []
        self.entries: dict[str, _Entry] = {}

    def add(self, entry: AskedEntry) -> None:
        """Add an entry of this host's cache. Raises SetupError for a program that lacks a library."""
        manifest = json.loads((entry.folder / MANIFEST).read_text())
        products = tuple(manifest["products"])
        if entry.of_host and any(toolchain.is_elf(entry.folder / name) for name in products):
            self._add_programs(entry.name, entry.recipe, [entry.folder / name for name in products], "")
            return
        names = {*products, *(name for name in ALWAYS if (entry.folder / name).is_file())}
        files = {name: self._file(entry.folder / name) for name in sorted(names)}
        self._put(_Entry(entry.name, entry.recipe, products, files))

    def add_checkers(self, programs: Iterable[Path]) -> None:
        """Add the file systems' checkers of this host, each with its loader and libraries."""
        self._add_programs(CHECKERS, {"flashbed": "checkers"}, sorted(programs), f"{paths.checkers().name}/")

    def _add_programs(self, name: str, recipe: Any, programs: Sequence[Path], place: str) -> None:
        """Add an entry of programs that start on any host: each is a script, which starts it from `real` and `lib`."""
        files: dict[str, _File] = {}
        products = []
        for program in programs:
            linked = gathering.linked(program)
            self.of_host += linked.files
            products.append(f"{place}{program.name}")
            if linked.loader is None:
                files[products[-1]] = self._file(program)
                continue
            files[f"real/{program.name}"] = self._file(program)
            files |= {f"lib/{library}": self._file(path) for library, path in linked.libraries.items()}
            files[f"lib/{linked.loader.name}"] = self._file(linked.loader)
            files[products[-1]] = self._start(name, program.name, linked.loader.name, place)
        self._put(_Entry(name, recipe, tuple(products), files))

    def _start(self, entry: str, program: str, loader: str, place: str) -> _File:
        here = "${0%/*}" + "/.." * place.count("/")
        script = self._scratch / f"{entry}-{program}"
        script.write_text(_START.format(here=here, loader=loader, name=shlex.quote(program)))
        script.chmod(0o755)
        return self._file(script)

    def _file(self, path: Path) -> _File:
        digest = digest_file(path)
        self.sources.setdefault(digest, path)
        return _File(digest, program=bool(path.stat().st_mode & 0o100))

    def _put(self, entry: _Entry) -> None:
        self.entries[entry.folder] = entry


def write(to: Path, entries: Iterable[AskedEntry], checkers: Iterable[Path], scratch: Path) -> int:
    """Write the image of these entries and programs, and return its size in bytes. `scratch` is an empty directory.
    Raises SetupError for a program that cannot be packed, and HostResourceError.
    """
    maker = _Maker(scratch)
    for entry in entries:
        maker.add(entry)
    maker.add_checkers(checkers)
    packages = {folder.name: json.loads((folder / REQUEST_NOTES).read_text()) for folder in _noted()}
    contents = {
        "format": pack_file.PACK_FORMAT,
        "flashbed": version("flashbed"),
        pack_file.IMAGE_PART: {
            "entries": [maker.entries[name].to_json() for name in sorted(maker.entries)],
            "packages": packages,
        },
    }
    texts = {
        f"{SOURCES}/packages-of-host.txt": "".join(f"{line}\n" for line in gathering.packages(maker.of_host)).encode(),
        f"{SOURCES}/packages.json": json.dumps(packages, indent=1, sort_keys=True).encode(),
    }
    members = {f"{pack_file.FILES_FOLDER}/{digest}": path for digest, path in maker.sources.items()}
    members |= {f"{SOURCES}/lab/{name}": path for name, path in lockfile.own_source_files().items()}
    members |= {f"{LICENCES}/{path.name}": path for path in sorted(paths.licences().glob("*.txt"))}
    try:
        with stage("Packing the image"):
            making.write(to, contents, members, texts)
        return to.stat().st_size
    except OSError as error:
        raise host_refusal(to, error) from None


def _noted() -> Iterator[Path]:
    """Yield the directories of Debian's packages in which versions are noted."""
    return (file.parent for file in sorted(paths.cache_root().glob(f"debian-*/{REQUEST_NOTES}")))


EntryState = Literal["new", "known", "different"]
"""Whether an entry of an image was missing here, is the same here, or was built here with other bytes."""


@dataclass(frozen=True)
class TakenIn:
    """The names of an image's entries, by their state here before. Different entries stay as they were here."""

    new: tuple[str, ...]
    known: tuple[str, ...]
    different: tuple[str, ...]
    other_packages: tuple[str, ...]
    """Requests to Debian's archive that had another answer here before. What depends on them is built here."""


def take_in(path: Path) -> TakenIn:
    """Put the entries of an image into this user's cache. Raises InputError for a file that is damaged or no image, and
    HostResourceError.
    """
    file = pack_file.open_sealed(path)
    try:
        image = file.contents[pack_file.IMAGE_PART]
        entries = [_Entry.from_json(entry) for entry in image["entries"]]
        packages = {_plain(folder): dict(notes) for folder, notes in image["packages"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: is no image ({error}); `flashbed image export` makes one") from None
    built, beside = Cache(paths.cache_root() / "image"), Cache(paths.checkers().parents[1])
    states: dict[EntryState, list[str]] = {"new": [], "known": [], "different": []}
    try:
        with stage("Taking the image in", total=len(entries)) as progress:
            for entry in entries:
                is_built = entry.name != CHECKERS
                folder = entry.folder if is_built else paths.checkers().parent.name
                states[_take(file, entry, built if is_built else beside, folder)].append(entry.folder)
                progress.advance()
        others = [request for folder, notes in packages.items() for request in _note(folder, notes)]
    except OSError as error:
        raise host_refusal(paths.cache_root(), error) from None
    return TakenIn(tuple(states["new"]), tuple(states["known"]), tuple(states["different"]), tuple(others))


def _take(file: pack_file.Sealed, entry: _Entry, cache: Cache, folder: str) -> EntryState:
    """Put an entry into the directory `folder` of a cache unless it is there, and return its state before."""

    def fill(scratch: Path) -> None:
        for name, content in entry.files.items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            file.unpack(content.sha256, scratch / name)
            (scratch / name).chmod(0o755 if content.program else 0o644)
        (scratch / MANIFEST).write_bytes(entry.manifest)

    if (here := cache.take_in(folder, fill)) is None:
        return "new"
    return "known" if here == entry.product_digests else "different"


def _note(folder: str, notes: Mapping[str, Any]) -> list[str]:
    """Note the requests to Debian's archive that the image was made from. Return those that had another answer here."""
    file = paths.cache_root() / folder / REQUEST_NOTES
    file.parent.mkdir(parents=True, exist_ok=True)
    here = json.loads(file.read_text()) if file.is_file() else {}
    atomic.write(file, json.dumps({**notes, **here}, indent=1, sort_keys=True).encode())
    return sorted(request for request in notes.keys() & here.keys() if notes[request] != here[request])
