# SPDX-License-Identifier: Apache-2.0
"""A pack on disk: a ZIP archive that Python can also start, with the digest of the whole as its comment.

`pack.json` is the table of contents, `files/DIGEST` are the files that guests run with, and `results/KEY/` has the
result of each repetition. Members are read within limits: a pack may be untrusted, and a few bytes of it may claim to
be gigabytes. Must not know how a recipe is run.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar

from flashbed.common import own_file
from flashbed.common.errors import InputError
from flashbed.replay import recipe
from flashbed.replay.recipe import Recipe

READ_BYTES = 4 << 10
"""Packed bytes of a member that are read at a time. zipfile unpacks them all at once; packed zeros expand 7,000 times.
"""

MOST_READ_BYTES = 64 << 20
"""Largest member that is read into memory: a console, or pack.json of some 7,000 repetitions. All files of a repetition
together may have twice that.
"""

MOST_VALUES = 4 << 20
"""Most values of a JSON document. A value takes up to 100 bytes in memory, but only three in a hostile document."""

MOST_DICTIONARY_BYTES = 64 << 20
"""Largest LZMA dictionary that a member may require. Packs before deflate have 8 MiB."""

_LOCAL = struct.Struct("<26x2H")
"""The end of a member's local header: the lengths of name and extra field (APPNOTE.TXT 4.3.7)."""
_LZMA = struct.Struct("<2xHBI")
"""The start of LZMA data: the size of the properties, then the properties, with the dictionary size (APPNOTE.TXT 5.8).
"""

Damaged = (
    *(ValueError, KeyError, TypeError, RuntimeError, EOFError, MemoryError, OverflowError),
    *(struct.error, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
"""What Python raises for a damaged archive, depending on the place of the damage. MemoryError and RuntimeError come
from compression parameters that no program writes.
"""
Unreadable = (OSError, *Damaged)


def read_member(archive: zipfile.ZipFile, member: str) -> bytes:
    """Read a member into memory. Raises one of Unreadable, also for a member of more than MOST_READ_BYTES."""
    size = archive.getinfo(member).file_size
    if size > MOST_READ_BYTES:
        raise ValueError(f"it claims to have {size} bytes")
    return b"".join(member_pieces(archive, member))


def parsed_json(data: bytes) -> Any:
    """Parse a JSON document. Raises ValueError, also for more than MOST_VALUES values, and RecursionError."""
    if sum(data.count(sign) for sign in (b",", b"[", b"{")) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES} values")
    return json.loads(data)


def open_member(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    """Open a member. Raises KeyError, OSError, or another one of Damaged, also if unpacking takes too much memory."""
    info = archive.getinfo(member)
    if info.compress_type == zipfile.ZIP_LZMA:
        assert archive.fp is not None
        archive.fp.seek(info.header_offset)
        archive.fp.seek(sum(_LOCAL.unpack(archive.fp.read(_LOCAL.size))), 1)
        *_, dictionary = _LZMA.unpack(archive.fp.read(_LZMA.size))
        if dictionary > MOST_DICTIONARY_BYTES:
            raise ValueError(f"unpacking it takes {dictionary} bytes of memory")
    return archive.open(info)


def member_pieces(archive: zipfile.ZipFile, member: str) -> Iterator[bytes]:
    """Yield a member's bytes in pieces of READ_BYTES at most."""
    with open_member(archive, member) as source:
        while piece := source.read(READ_BYTES):
            yield piece


def copy_with_holes(source: IO[bytes], out: BinaryIO) -> str:
    """Copy a file into an empty one, with holes in place of zeros. Return its SHA-256."""
    digest = hashlib.sha256()
    while piece := source.read(READ_BYTES):
        digest.update(piece)
        if piece.count(0) == len(piece):
            out.seek(len(piece), 1)
        else:
            out.write(piece)
    out.truncate(out.tell())
    return digest.hexdigest()


PACK_FORMAT = 1
CONTENTS = "pack.json"
FILES_FOLDER, RESULTS_FOLDER, REPORT_FOLDER, CONFIGS_FOLDER = "files", "results", "report", "kernels"
"""Directories: files by digest, results by key, the report, kernel configurations by the digest of the image."""

IMAGE_PART = "image"
"""The part of pack.json that an image of guests has (packs/image_file.py), and a pack has not."""

PACK_SUFFIX = ".flashbed"

STARTER = b"#!/usr/bin/env python3\n"
"""The line that starts Python."""
BEGINNING = STARTER + b"PK\3\4"

DIGEST_LETTERS = 64
CHUNK_BYTES = 1 << 20


S = TypeVar("S", bound="Sealed")


@dataclass(frozen=True)
class Program:
    """The digests of a program and of what it needs to start on any x86_64 Linux; `loader` is None if it is static."""

    program: str
    loader: str | None
    libraries: Mapping[str, str]

    @property
    def files(self) -> list[str]:
        return [self.program, *([self.loader] if self.loader else []), *self.libraries.values()]


class Sealed:
    """An opened pack, or another file of that form, which was checked and found undamaged."""

    def __init__(self, path: Path, digest: str, archive: zipfile.ZipFile, contents: Mapping[str, Any]) -> None:
        self.path, self._archive = path, archive
        self.digest = digest
        """SHA-256 of the file."""
        self.contents = contents
        self.members: Mapping[str, str] = contents["members"]
        """The digests of all members but pack.json, by name."""

    def read(self, member: str) -> bytes:
        """Read a member into memory. Raises InputError, also if its digest is not the one in pack.json."""
        try:
            data = read_member(self._archive, member)
        except KeyError:
            raise InputError(f"{self.path}: has no {member}; get it again") from None
        except Unreadable as error:
            raise InputError(f"{self.path}: {member} cannot be read: {error}; get the pack again") from None
        self._compare(member, hashlib.sha256(data).hexdigest(), self.members.get(member))
        return data

    def unpack(self, digest: str, to: Path) -> None:
        """Write the file of this digest to `to`, with holes. Raises OSError, and InputError, also if its digest
        differs.
        """
        member = f"{FILES_FOLDER}/{digest}"
        try:
            with open_member(self._archive, member) as source, to.open("wb") as out:
                unpacked = copy_with_holes(source, out)
        except KeyError:
            raise InputError(f"{self.path}: has no {self._named(member)}; get it again") from None
        except Damaged as error:
            raise InputError(
                f"{self.path}: {self._named(member)} cannot be read: {error}; get the pack again"
            ) from None
        self._compare(member, unpacked, digest)

    def fault(self, member: str) -> str:
        """Return why a member is damaged; "" if it is not."""
        try:
            digest = hashlib.sha256()
            for piece in member_pieces(self._archive, member):
                digest.update(piece)
        except Unreadable:
            return f"{self._named(member)} cannot be unpacked"
        wanted = self.members[member]
        return "" if digest.hexdigest() == wanted else self._other(member, digest.hexdigest(), wanted)

    def _compare(self, member: str, digest: str, wanted: str | None) -> None:
        if digest != wanted:
            raise InputError(f"{self.path}: {self._other(member, digest, wanted or 'named')}; get the pack again")

    def _other(self, member: str, digest_here: str, wanted: str) -> str:
        return f"{self._named(member)} was changed: its SHA-256 is {digest_here[:12]}..., not {wanted[:12]}..."

    def _named(self, member: str) -> str:
        return self.called(member.removeprefix(f"{FILES_FOLDER}/"))

    def called(self, digest: str) -> str:
        """Return the description of the file of a digest."""
        return str(self.contents.get("names", {}).get(digest, digest))


class Pack(Sealed):
    """An opened pack, which was checked and found undamaged."""

    def __init__(self, path: Path, digest: str, archive: zipfile.ZipFile, contents: Mapping[str, Any]) -> None:
        super().__init__(path, digest, archive, contents)
        self.recipes: list[Recipe] = [Recipe.from_json(recipe) for recipe in contents["recipes"]]
        self._programs = {name: Program(**program) for name, program in contents["programs"].items()}
        self._results: dict[str, list[str]] = {}
        """The names of a repetition's result files, by key."""
        for member in sorted(self.members):
            folder, *rest = member.split("/", 2)
            if folder == RESULTS_FOLDER and len(rest) == 2:
                self._results.setdefault(rest[0], []).append(rest[1])

    def program(self, name: str) -> Program:
        """Return a program of the pack. Raises InputError if it has none of that name."""
        if name not in self._programs:
            raise InputError(f"{self.path}: has no {name}, with which its results were measured")
        return self._programs[name]

    def result(self, key: str) -> dict[str, bytes]:
        """Return a repetition's result files by name: result.json, console.log, out/... Raises InputError."""
        self.check_result(key)
        return {name: self.read(member) for name, member in self._members_of(key).items()}

    def check_result(self, key: str) -> None:
        """Raise InputError if a repetition's result is damaged. Keeps none of it in memory."""
        members = self._members_of(key).values()
        if missing := next((member for member in members if member not in self._archive.NameToInfo), ""):
            raise InputError(f"{self.path}: has no {missing}; get it again")
        size = sum(self._archive.getinfo(member).file_size for member in members)
        if size > 2 * MOST_READ_BYTES:
            raise InputError(f"{self.path}: the result {key[:12]} claims to have {size} bytes; get the pack again")
        if fault := next(filter(None, map(self.fault, members)), ""):
            raise InputError(f"{self.path}: {fault}; get the pack again")

    def _members_of(self, key: str) -> dict[str, str]:
        return {name: f"{RESULTS_FOLDER}/{key}/{name}" for name in self._results.get(key, ())}

    def options(self, kernel: str) -> dict[str, str]:
        """Return the configuration of a kernel, by the digest of its image: values by name, without unset options."""
        name = f"{CONFIGS_FOLDER}/{kernel}"
        lines = self.read(name).decode(errors="replace").splitlines() if name in self.members else []
        return dict(line.split("=", 1) for line in lines if line.startswith("CONFIG_") and "=" in line)


def is_pack(path: Path) -> bool:
    """True if the file looks like a pack, damaged or not."""
    return path.is_file() and path.suffix == PACK_SUFFIX


def open_pack(path: Path) -> Pack:
    """Open a pack after checking every byte. Raises InputError for a file that is no pack, and for a damaged pack; the
    message names the damaged member.
    """

    def pack(path: Path, digest: str, archive: zipfile.ZipFile, contents: Mapping[str, Any]) -> Pack:
        if IMAGE_PART in contents:
            raise InputError(f"{path}: is an image of guests; `flashbed image import` takes it in")
        recipe.check_contents(contents)
        return Pack(path, digest, archive, contents)

    return _opened(path, pack)


def open_sealed(path: Path) -> Sealed:
    """Open any file of the form of a pack after checking every byte. Raises InputError as `open_pack`."""
    return _opened(path, Sealed)


def _opened(path: Path, kind: Callable[[Path, str, zipfile.ZipFile, Mapping[str, Any]], S]) -> S:
    damage, digest = _examined(path)
    try:
        archive = zipfile.ZipFile(path)
        contents = parsed_json(read_member(archive, CONTENTS))
        if isinstance(contents["format"], int) and contents["format"] != PACK_FORMAT:
            raise InputError(
                f"{path}: is a pack of format {contents['format']}; this flashbed reads format {PACK_FORMAT}"
            )
        pack = kind(path, digest, archive, contents)
    except Unreadable as error:
        if not _begins_like_one(path):
            remedy = "`flashbed pack STUDY` makes one. If the file was a pack, get it again"
            raise InputError(f"{path}: is not a pack of flashbed. {remedy}.") from None
        why = f"is damaged: {damage}, and {CONTENTS} cannot be read" if damage else f"is not a pack ({error})"
        raise InputError(f"{path}: {why}; get it again") from None
    if damage:
        raise InputError(f"{path}: is damaged: {_which(pack) or damage}; get it again")
    return pack


def _begins_like_one(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(BEGINNING)) == BEGINNING


def sealed(file: BinaryIO) -> hashlib._Hash:
    """Return the SHA-256 of a file without the digest at its end, and leave the file's position at that digest. The
    file must be at least as long as a digest.
    """
    left = file.seek(0, 2) - DIGEST_LETTERS
    file.seek(0)
    digest = hashlib.sha256()
    while left:
        piece = file.read(min(left, CHUNK_BYTES))
        digest.update(piece)
        left -= len(piece)
    return digest


def _examined(path: Path) -> tuple[str, str]:
    """Return why the file is damaged ("" if it is not), and its SHA-256."""
    try:
        with own_file.opened(path) as file:
            if (size := file.seek(0, 2)) <= DIGEST_LETTERS:
                return f"it has {size} bytes", ""
            sha256 = sealed(file)
            end = file.read()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    damage = _damage(sha256.hexdigest(), end.decode("ascii", errors="replace"))
    sha256.update(end)
    return damage, sha256.hexdigest()


def _damage(body: str, end: str) -> str:
    """Return what the end of a file, which should be the digest `body`, says of the damage. The text contains no bytes
    of the file.
    """
    if end == body:
        return ""
    if sum(a == b for a, b in zip(body, end, strict=True)) > DIGEST_LETTERS // 2:  # chance gives a sixteenth
        return "only the SHA-256 at its end was changed"
    if not re.fullmatch("[0-9a-f]+", end):
        return "it was truncated, or its end was changed"
    return f"its SHA-256 is {body[:12]}..., not {end[:12]}... as at its end"


def _which(pack: Sealed) -> str:
    """Describe the first damaged member."""
    return next(filter(None, map(pack.fault, pack.members)), "")
