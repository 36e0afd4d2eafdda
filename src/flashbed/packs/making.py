# SPDX-License-Identifier: Apache-2.0
"""Makes a pack of a study that was measured: the recipes of its repetitions, their files, what came of them.

The same results give the same bytes.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from flashbed.common.digest import digest_bytes, digest_file
from flashbed.common.errors import SetupError, host_refusal
from flashbed.common.progress import stage
from flashbed.execution.run import Record, Run
from flashbed.execution.store import DIGESTS
from flashbed.guest_output import profile
from flashbed.packs import pack_file, recipes, sources
from flashbed.packs.recipes import Shelf
from flashbed.study.plan import KEY_VERSION

PACKAGE = Path(__file__).resolve().parent.parent

TRAVELS = (
    "__init__.py",
    "common/__init__.py",
    "common/children.py",
    "common/digest.py",
    "common/errors.py",
    "common/locks.py",
    "common/progress.py",
    "common/units.py",
    "execution/__init__.py",
    "execution/memory.py",
    "guest_output/__init__.py",
    "guest_output/profile.py",
    "machine/__init__.py",
    "machine/base.py",
    "machine/checker.py",
    "machine/cpus.py",
    "machine/deaths.py",
    "machine/outbox.py",
    "machine/qemu.py",
    "machine/sampled.py",
    "packs/__init__.py",
    "packs/differing.py",
    "packs/pack_file.py",
    "packs/playing.py",
    "packs/provenance.py",
    "packs/recipe.py",
    "packs/standalone.py",
    "packs/unpacked.py",
    "packs/verifying.py",
)
"""The part of flashbed that goes into a pack, and needs nothing but Python's own library."""

OLDEST_PYTHON = (3, 11)

_MAIN = f"""# SPDX-License-Identifier: Apache-2.0
import sys

if sys.version_info < {OLDEST_PYTHON}:
    sys.exit("this pack needs Python {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or later; this is " + sys.version.split()[0])

from pathlib import Path

from flashbed.packs import standalone

sys.exit(standalone.main(Path(sys.argv[0])))
"""

_SHEBANG = b"#!/usr/bin/env python3\n"
_DAY = (1980, 1, 1, 0, 0, 0)
"""The first of ZIP's days: no time of this host is in a pack."""

NOT_PACKED = (zipfile.ZIP_DEFLATED, ("__main__.py", "flashbed/"))
"""What Python starts from an archive it unpacks by itself, and knows no other packing."""


def make(done: Run, report: Path, to: Path, scratch: Path) -> int:
    """Writes the pack of what was measured; `report` is the folder of its report, `scratch` an empty one. Gives the
    count of its repetitions. Raises SetupError for a checker that cannot be packed, HostResourceError.
    """
    measured = [record for record in done.records if record.measured]
    if not measured:
        raise SetupError(f"{done.study.name}: nothing was measured, so there is nothing to pack")
    shelf = Shelf(scratch)
    with stage("Gathering what the results depend on", total=len(measured)) as progress:
        told = []
        for record in measured:
            told.append(recipes.recipe(record.repetition, shelf, f"out/{profile.PROFILE}" in _names(record)).as_json())
            progress.advance()
    members = {f"{pack_file.FILES}/{digest}": path for digest, path in shelf.files.items()}
    members |= {f"{pack_file.CONFIGS}/{digest}": path for digest, path in shelf.configs.items()}
    members |= {
        f"{pack_file.RESULTS}/{record.result['key']}/{name}": record.folder / name
        for record in measured
        for name in _names(record)
    }
    members |= {f"{pack_file.REPORT}/{path.name}": path for path in sorted(report.glob("[!.]*"))}
    members |= {f"flashbed/{name}": PACKAGE / name for name in TRAVELS}
    members |= sources.files(done.study)
    texts = {"__main__.py": _MAIN.encode(), **sources.texts(done.study, shelf.of_host)}
    contents = {
        "format": pack_file.FORMAT,
        "flashbed": version("flashbed"),
        "key_version": KEY_VERSION,
        "study": {"name": done.study.name, "title": done.study.title},
        "recipes": told,
        "programs": shelf.programs,
        "names": shelf.names,
    }
    try:
        _write(to, contents, members, texts)
    except OSError as error:
        raise host_refusal(to, error) from None
    return len(measured)


def _names(record: Record) -> list[str]:
    """All files of a result; the list of their digests is the store's own, and the pack has its own."""
    found = (str(path.relative_to(record.folder)) for path in record.folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name != DIGESTS)


def _write(to: Path, contents: Mapping[str, Any], files: Mapping[str, Path], texts: Mapping[str, bytes]) -> None:
    """Whole or not at all."""
    unfinished = to.with_name(f".{to.name}.new")
    try:
        with unfinished.open("wb") as out:
            out.write(_SHEBANG)
            _archive(out, contents, files, texts)
        _seal(unfinished)
        unfinished.chmod(0o755)
        unfinished.replace(to)
    finally:
        unfinished.unlink(missing_ok=True)


def _archive(out: BinaryIO, contents: Mapping[str, Any], files: Mapping[str, Path], texts: Mapping[str, bytes]) -> None:
    digests = {name: digest_bytes(data) for name, data in texts.items()}
    digests |= {name: digest_file(path) for name, path in files.items()}
    told = json.dumps({**contents, "members": dict(sorted(digests.items()))}, indent=1, sort_keys=True)
    with (
        zipfile.ZipFile(out, "w", allowZip64=True) as archive,
        stage("Packing", total=len(digests)) as progress,
    ):
        _add(archive, pack_file.CONTENTS, told.encode())
        for name in sorted(digests):
            if name in texts:
                _add(archive, name, texts[name])
            else:
                with archive.open(_member(name), "w", force_zip64=True) as member, files[name].open("rb") as file:
                    while piece := file.read(pack_file.PIECE_BYTES):
                        member.write(piece)
            progress.advance()
        archive.comment = b"0" * pack_file.DIGEST_LETTERS


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(_member(name), data)


def _member(name: str) -> zipfile.ZipInfo:
    method, begins = NOT_PACKED
    member = zipfile.ZipInfo(name, _DAY)
    member.compress_type = method if name.startswith(begins) else zipfile.ZIP_LZMA
    member.external_attr = 0o644 << 16
    return member


def _seal(path: Path) -> None:
    """Puts the digest of all that is before it at the end, in place of the archive's comment."""
    with path.open("r+b") as file:
        left = file.seek(0, 2) - pack_file.DIGEST_LETTERS
        file.seek(0)
        found = sha256()
        while left:
            piece = file.read(min(left, pack_file.PIECE_BYTES))
            found.update(piece)
            left -= len(piece)
        file.write(found.hexdigest().encode())
