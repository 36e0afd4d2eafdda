# SPDX-License-Identifier: Apache-2.0
"""Make a pack of a measured study: the recipes of its repetitions, their files and their results, in the format that
replay/pack_file.py reads. The same contents give the same bytes.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from flashbed.common.digest import digest_bytes, digest_file
from flashbed.common.errors import InputError, SetupError, host_refusal
from flashbed.common.progress import stage
from flashbed.execution.run import Record, Run
from flashbed.packs import gathering, members, sources
from flashbed.packs.gathering import PackShelf
from flashbed.replay import pack_file
from flashbed.result.store import DIGESTS
from flashbed.study.plan import KEY_VERSION


def write(
    to: Path,
    contents: Mapping[str, Any],
    files: Mapping[str, Path],
    texts: Mapping[str, bytes],
    packing: int = zipfile.ZIP_LZMA,
) -> None:
    """Write a pack; an interrupted write leaves no file `to`.

    `contents` are the keys of pack.json besides the digests of `files` and `texts`, whose keys are paths in the pack.
    `packing` is a compression method of zipfile, for large members. Raises OSError, and InputError for too many
    repetitions.
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
    document = json.dumps({**contents, "members": dict(sorted(digests.items()))}, indent=1, sort_keys=True)
    if len(document.encode()) > pack_file.MOST_READ_BYTES:
        raise InputError(
            f"a pack cannot hold {len(contents['recipes'])} repetitions; pack a part of the study (--where)"
        )
    all_bytes = sum(map(len, texts.values())) + sum(path.stat().st_size for path in files.values())
    with (
        zipfile.ZipFile(out, "w", allowZip64=True) as archive,
        stage("Packing (MiB)", total=all_bytes // pack_file.PIECE_BYTES) as progress,
    ):
        archive.writestr(members.member(pack_file.CONTENTS, len(document), packing), document)
        begun = 0

        def note(size_bytes: int) -> None:
            nonlocal begun
            begun += size_bytes
            while begun >= pack_file.PIECE_BYTES:
                begun -= pack_file.PIECE_BYTES
                progress.advance()

        for name in sorted(digests):
            size_bytes = len(texts[name]) if name in texts else files[name].stat().st_size
            info = members.member(name, size_bytes, packing)
            if name in files and members.put_built(archive, info, files[name], digests[name]):
                note(size_bytes)
                continue
            with (
                archive.open(info, "w", force_zip64=True) as member,
                io.BytesIO(texts[name]) if name in texts else files[name].open("rb") as file,
            ):
                while piece := file.read(pack_file.PIECE_BYTES):
                    member.write(piece)
                    note(len(piece))
        archive.comment = b"0" * pack_file.DIGEST_LETTERS


def _seal(path: Path) -> None:
    """Write the digest of everything before it at the end, in place of the archive's comment."""
    with path.open("r+b") as file:
        file.write(pack_file.sealed(file).hexdigest().encode())


PACKAGE = Path(__file__).resolve().parent.parent

TRAVELS = (
    "common/__init__.py",
    "common/digest.py",
    "common/errors.py",
    "common/foreign.py",
    "common/locks.py",
    "common/own_file.py",
    "common/programs.py",
    "common/progress.py",
    "common/sparse.py",
    "common/units.py",
    "execution/__init__.py",
    "execution/beginnings.py",
    "execution/memory.py",
    "guest_output/__init__.py",
    "guest_output/profile.py",
    "guest_output/system_calls.py",
    "machine/__init__.py",
    "machine/base.py",
    "machine/beginning.py",
    "machine/checker.py",
    "machine/cpus.py",
    "machine/deaths.py",
    "machine/outbox.py",
    "machine/process.py",
    "machine/qemu.py",
    *(f"replay/{file.name}" for file in sorted((PACKAGE / "replay").glob("*.py"))),
)
"""The part of flashbed that goes into a pack. It needs Python's standard library only."""

_PACKAGE_HEAD = b"# SPDX-License-Identifier: Apache-2.0\n"
"""The text of the package's own __init__.py in a pack."""

OLDEST_PYTHON = (3, 11)

_MAIN = f"""# SPDX-License-Identifier: Apache-2.0
import sys

if sys.version_info < {OLDEST_PYTHON}:
    found = sys.version.split()[0]
    sys.stderr.write("this pack needs Python {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or later; this is " + found + "\\n")
    sys.exit(3)

import os
import signal
from pathlib import Path

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: os._exit(130))  # nothing is begun yet

from flashbed.replay import standalone

sys.exit(standalone.main(Path(sys.argv[0])))
"""


def prepare(to: Path) -> None:
    """Create the directory for a pack before anything is measured for it. Raises InputError for an unusable path, and
    HostResourceError.
    """
    folder = to.absolute().parent
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if to.suffix != pack_file.ENDING or to.is_dir() or not existing.is_dir():
        raise InputError(f"{to}: cannot be a pack; give a file name that ends with {pack_file.ENDING}, in a directory")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise host_refusal(folder, error) from None


def make(done: Run, report: Path, to: Path, scratch: Path) -> int:
    """Write the pack of the measured repetitions, and return their number. `report` is the directory of the report, and
    `scratch` an empty directory.

    Raises SetupError if nothing was measured or a checker cannot be packed, and HostResourceError.
    """
    measured = [record for record in done.records if record.result.is_measured]
    if not measured:
        raise SetupError(f"{done.study.name}: no repetition was measured, so there is nothing to pack")
    shelf = PackShelf(scratch)
    with stage("Gathering what the results depend on", total=len(measured)) as progress:
        recipes = []
        results: dict[str, Path] = {}
        for record in measured:
            names = _names(record)
            recipes.append(gathering.recipe(record.repetition, shelf).to_json())
            results |= {f"{pack_file.RESULTS}/{record.result.key}/{name}": record.folder / name for name in names}
            progress.advance()
    inside = {f"{pack_file.FILES}/{digest}": path for digest, path in shelf.files.items()}
    inside |= {f"{pack_file.CONFIGS}/{digest}": path for digest, path in shelf.configs.items()}
    inside |= results
    inside |= {f"{pack_file.REPORT}/{path.name}": path for path in sorted(report.glob("[!.]*"))}
    inside |= travelling()
    inside |= sources.files(done.study)
    kernels = [record.repetition.image.kernel for record in measured]
    texts = {**starting(), **sources.texts(done.study, shelf.of_host, kernels)}
    contents = {
        "format": pack_file.FORMAT,
        "flashbed": version("flashbed"),
        "key_version": KEY_VERSION,
        "study": {"name": done.study.name, "title": done.study.title},
        "recipes": recipes,
        "programs": shelf.programs,
        "names": shelf.names,
    }
    try:
        write(to, contents, inside, texts)
    except OSError as error:
        raise host_refusal(to, error) from None
    return len(measured)


def starting() -> dict[str, bytes]:
    """Return the members that Python starts with, by path in the pack."""
    return {"__main__.py": _MAIN.encode(), "flashbed/__init__.py": _PACKAGE_HEAD}


def travelling() -> dict[str, Path]:
    """Return the part of flashbed that goes into a pack, by path in the pack."""
    return {f"flashbed/{name}": PACKAGE / name for name in TRAVELS}


def _names(record: Record) -> list[str]:
    """Return the files of a result, without the store's list of digests: a pack has its own."""
    names = (str(path.relative_to(record.folder)) for path in record.folder.rglob("*") if path.is_file())
    return sorted(name for name in names if name != DIGESTS)
