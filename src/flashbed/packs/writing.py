# SPDX-License-Identifier: Apache-2.0
"""Writes a pack as pack_file.py reads it. The same contents give the same bytes. Knows nothing of what is in it."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from flashbed.common.digest import digest_bytes, digest_file
from flashbed.common.errors import InputError
from flashbed.common.progress import stage
from flashbed.packs import members, pack_file

_DAY = (1980, 1, 1, 0, 0, 0)
"""The first of ZIP's days: no time of this host is in a pack."""

STARTED = ("__main__.py", "flashbed/")
"""What Python starts from an archive it unpacks by itself, and knows one packing."""

LEAST_BYTES = 64 << 10
"""Of a member for which the better packing is worth its start, which takes memory of tens of MB."""


def write(
    to: Path,
    contents: Mapping[str, Any],
    files: Mapping[str, Path],
    texts: Mapping[str, bytes],
    packing: int = zipfile.ZIP_LZMA,
) -> None:
    """`contents` is what pack.json says beside the digests of `files` and `texts`, which are named by their places. The
    pack is there whole or not at all. `packing` is one of those of zipfile, for large members. Raises OSError.
    """
    unfinished = to.with_name(f".{to.name}.{os.getpid()}.new")
    try:
        with unfinished.open("wb") as out:
            out.write(pack_file.STARTER)
            _archive(out, contents, files, texts, packing)
        _seal(unfinished)
        unfinished.chmod(0o755)
        unfinished.replace(to)
    finally:
        unfinished.unlink(missing_ok=True)


def _archive(
    out: BinaryIO, contents: Mapping[str, Any], files: Mapping[str, Path], texts: Mapping[str, bytes], packing: int
) -> None:
    digests = {name: digest_bytes(data) for name, data in texts.items()}
    digests |= {name: digest_file(path) for name, path in files.items()}
    told = json.dumps({**contents, "members": dict(sorted(digests.items()))}, indent=1, sort_keys=True)
    if len(told.encode()) > members.MOST_READ_BYTES:
        raise InputError(
            f"{len(contents['recipes'])} repetitions are more than a pack can hold; pack a part of the study (--where)"
        )
    all_bytes = sum(map(len, texts.values())) + sum(path.stat().st_size for path in files.values())
    with (
        zipfile.ZipFile(out, "w", allowZip64=True) as archive,
        stage("Packing (MiB)", total=all_bytes // pack_file.PIECE_BYTES) as progress,
    ):
        archive.writestr(_member(pack_file.CONTENTS, len(told), packing), told)
        begun = 0
        for name in sorted(digests):
            size_bytes = len(texts[name]) if name in texts else files[name].stat().st_size
            with (
                archive.open(_member(name, size_bytes, packing), "w", force_zip64=True) as member,
                io.BytesIO(texts[name]) if name in texts else files[name].open("rb") as file,
            ):
                while piece := file.read(pack_file.PIECE_BYTES):
                    member.write(piece)
                    begun += len(piece)
                    while begun >= pack_file.PIECE_BYTES:
                        begun -= pack_file.PIECE_BYTES
                        progress.advance()
        archive.comment = b"0" * pack_file.DIGEST_LETTERS


def _member(name: str, size_bytes: int, packing: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, _DAY)
    is_small = size_bytes < LEAST_BYTES or name.startswith(STARTED)
    member.compress_type = zipfile.ZIP_DEFLATED if is_small else packing
    member.external_attr = 0o644 << 16
    return member


def _seal(path: Path) -> None:
    """Puts the digest of all that is before it at the end, in place of the archive's comment."""
    with path.open("r+b") as file:
        file.write(pack_file.sealed(file).hexdigest().encode())
