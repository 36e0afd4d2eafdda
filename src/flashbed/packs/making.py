# SPDX-License-Identifier: Apache-2.0
"""Make a pack of a measured study: the recipes of its repetitions, their files and their results, in the format that
replay/pack_file.py reads. The same contents give the same bytes.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from flashbed.common import atomic
from flashbed.common.digest import digest_bytes, digest_file
from flashbed.common.errors import InputError, SetupError, host_refusal
from flashbed.common.progress import stage
from flashbed.execution.run import Record, Run
from flashbed.packs import gathering
from flashbed.packs.gathering import PackShelf
from flashbed.replay import pack_file
from flashbed.result.store import DIGESTS
from flashbed.study.loading import Study
from flashbed.study.plan import KEY_VERSION
from flashbed.workload import WORKLOADS
from flashbed.workload.program import UserProgram

_DAY = (1980, 1, 1, 0, 0, 0)
"""The date of every member, ZIP's first day: a pack contains no time of this host."""

_PACKING = zipfile.ZIP_DEFLATED
"""LZMA packs a root of programs to 22 MB instead of 24, but in 44 s of CPU time instead of 2."""


def write(to: Path, contents: Mapping[str, Any], files: Mapping[str, Path], texts: Mapping[str, bytes]) -> None:
    """Write a pack; an interrupted write leaves no file `to`.

    `contents` are the keys of pack.json besides the digests of `files` and `texts`, whose keys are paths in the pack.
    Raises OSError, and InputError for too many repetitions.
    """
    with atomic.replacing(to, 0o755) as unfinished:
        with unfinished.open("wb") as out:
            out.write(pack_file.STARTER)
            _archive(out, contents, files, texts)
        _seal(unfinished)


def _archive(out: BinaryIO, contents: Mapping[str, Any], files: Mapping[str, Path], texts: Mapping[str, bytes]) -> None:
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
        stage("Packing (MiB)", total=all_bytes // pack_file.CHUNK_BYTES) as progress,
    ):
        archive.writestr(_member_head(pack_file.CONTENTS), document)
        begun = 0

        def note(size_bytes: int) -> None:
            nonlocal begun
            begun += size_bytes
            while begun >= pack_file.CHUNK_BYTES:
                begun -= pack_file.CHUNK_BYTES
                progress.advance()

        for name in sorted(digests):
            with (
                archive.open(_member_head(name), "w", force_zip64=True) as member,
                io.BytesIO(texts[name]) if name in texts else files[name].open("rb") as file,
            ):
                while piece := file.read(pack_file.CHUNK_BYTES):
                    member.write(piece)
                    note(len(piece))
        archive.comment = b"0" * pack_file.DIGEST_LETTERS


def _member_head(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DAY)
    info.compress_type = _PACKING
    info.external_attr = 0o644 << 16
    return info


def _seal(path: Path) -> None:
    """Write the digest of everything before it at the end, in place of the archive's comment."""
    with path.open("r+b") as file:
        file.write(pack_file.sealed(file).hexdigest().encode())


PACKAGE_FOLDER = Path(__file__).resolve().parent.parent

TRAVELS = (
    "common/__init__.py",
    "common/descriptors.py",
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
    "execution/cut_campaign.py",
    "execution/memory.py",
    "guest_output/__init__.py",
    "guest_output/assessment.py",
    "guest_output/births.py",
    "guest_output/cpu_samples.py",
    "guest_output/power_cuts.py",
    "guest_output/processes.py",
    "guest_output/system_calls.py",
    "machine/__init__.py",
    "machine/outcomes.py",
    "machine/beginning.py",
    "machine/checker.py",
    "machine/deaths.py",
    "machine/outbox.py",
    "machine/process.py",
    "machine/qemu.py",
    *(f"replay/{file.name}" for file in sorted((PACKAGE_FOLDER / "replay").glob("*.py"))),
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
    if to.suffix != pack_file.PACK_SUFFIX or to.is_dir() or not existing.is_dir():
        raise InputError(
            f"{to}: cannot be a pack; give a file name that ends with {pack_file.PACK_SUFFIX}, in a directory"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise host_refusal(folder, error) from None


def check(study: Study) -> None:
    """Raise InputError if a pack cannot hold the results of a study."""
    if study.power_cuts and not isinstance(WORKLOADS[study.tool], UserProgram):
        why = f'"{study.tool}" reads what its guest acknowledged by itself, and a pack does not contain that tool'
        raise InputError(f"{study.path}: {why}; pack the study without power_cuts = {study.power_cuts}")


def make(done: Run, report: Path, to: Path, scratch: Path) -> int:
    """Write the pack of the measured repetitions, and return their number. `report` is the directory of the report, and
    `scratch` an empty directory.

    Raises SetupError if nothing was measured, or if a checker cannot be packed, and HostResourceError.
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
            results |= {
                f"{pack_file.RESULTS_FOLDER}/{record.result.key}/{name}": record.folder / name for name in names
            }
            progress.advance()
    inside = {f"{pack_file.FILES_FOLDER}/{digest}": path for digest, path in shelf.files.items()}
    inside |= {f"{pack_file.CONFIGS_FOLDER}/{digest}": path for digest, path in shelf.configs.items()}
    inside |= results
    inside |= {f"{pack_file.REPORT_FOLDER}/{path.name}": path for path in sorted(report.glob("[!.]*"))}
    inside |= travelling()
    inside |= gathering.study_files(done.study)
    kernels = [record.repetition.image.kernel for record in measured]
    texts = {**starting(), **gathering.study_texts(done.study, shelf.of_host, kernels)}
    contents = {
        "format": pack_file.PACK_FORMAT,
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
    return {f"flashbed/{name}": PACKAGE_FOLDER / name for name in TRAVELS}


def _names(record: Record) -> list[str]:
    """Return the files of a result, without the store's list of digests: a pack has its own."""
    names = (str(path.relative_to(record.folder)) for path in record.folder.rglob("*") if path.is_file())
    return sorted(name for name in names if name != DIGESTS)
