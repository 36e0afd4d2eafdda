# SPDX-License-Identifier: Apache-2.0
"""Judge a home after a fault: it must equal the undisturbed home.

Results, report and the cache's files must have the same bytes. The cache may hold nothing more than an undisturbed one,
except files that are kept for a person to look at. No process may be left. Must not know the fault.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from faults import kinds, processes
from faults.bed import NEVER_COPIED, Bed
from flashbed.image.cache import MANIFEST

WHOLE = ("results/cells", "conditions", "media", "allowed", "elsewhere")
"""Directories of the cache whose files must have the same bytes."""

NOTED = ("debian-arm64/packages.json", "debian-amd64/packages.json")
SCRATCH = ("work", "results/tmp", "results/claims", "failures/.tmp")
"""Directories that must be empty."""


@dataclass
class Verdict:
    """The problems (`lost`), and the files that were kept for a person to look at."""

    lost: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def check_reference(bed: Bed) -> None:
    """Raise RuntimeError if the undisturbed cache lacks a kind of file, which the campaign could not damage then. Raise
    Unknown for a file of no kind.
    """
    there = kinds.by_kind(files_of(bed.reference / "cache"))
    lacking = [kind.name for kind in kinds.KINDS if kind.ways and kind.name not in there and kind.name != "failure"]
    if lacking:
        raise RuntimeError(f"{bed.reference}: no file of these kinds: {', '.join(lacking)}")


def judge(bed: Bed) -> Verdict:
    """Compare a home after the last run of a fault with the undisturbed one."""
    verdict = Verdict()
    verdict.lost += [f"left running: {process.command[:200]}" for process in processes.left(bed.cache)]
    before, now = set(files_of(bed.reference / "cache")), set(files_of(bed.cache))
    try:
        present = kinds.by_kind(now)
    except kinds.Unknown as unknown:
        return Verdict([*verdict.lost, str(unknown)])
    for path in sorted(now - before):
        kind = kinds.kind_of(path).name
        if kind == "list of a part's files":
            continue  # an older flashbed, which may have made the user's part, wrote none
        (verdict.kept if kind in kinds.KEPT else verdict.lost).append(f"{kind}: {path}")
    if "second result that differs" in present:
        verdict.lost.append("a repetition gave two different results")
    verdict.lost += [f"is gone: {path}" for path in sorted(before - now)]
    verdict.lost += [f"is left: {path}" for path in _in_scratch(bed.cache)]
    verdict.lost += [f"differs: {path}" for path in _different(bed, sorted(before & now))]
    return verdict


def files_of(cache: Path) -> list[str]:
    """Return the sorted paths of a cache's files. Entries of the guest image count even if they are links. Of Linux
    only the products in its manifest count.
    """
    names = []
    for folder, folders, files in os.walk(cache):
        inside = Path(folder).relative_to(cache)
        # Large packages are links, too; in an entry of the image links are what Debian's packages have
        linked = inside.parts[:1] == ("image",)
        names += [str(inside / name) for name in files if not (linked and (Path(folder) / name).is_symlink())]
        if inside == Path("image"):
            for entry in folders:
                if (cache / inside / entry).is_symlink():
                    names += [str(inside / entry / name) for name in _of_entry((cache / inside / entry).resolve())]
            folders[:] = [name for name in folders if not name.startswith(NEVER_COPIED)]
    return sorted(names)


def _of_entry(folder: Path) -> list[str]:
    if folder.name.startswith(NEVER_COPIED):
        return [MANIFEST, *json.loads((folder / MANIFEST).read_text())["products"]]
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def _in_scratch(cache: Path) -> list[str]:
    under_way = [path for name in SCRATCH for path in (cache / name).glob("*")]
    under_way += [path for name in ("image", "conditions", "media") for path in (cache / name).glob(".*")]
    return sorted(str(path.relative_to(cache)) for path in under_way if path.exists())


def _different(bed: Bed, both: list[str]) -> Iterator[str]:
    for name in both:
        whole, here = bed.reference / "cache" / name, bed.cache / name
        if name.startswith(tuple(f"{folder}/" for folder in WHOLE)):
            if whole.read_bytes() != here.read_bytes():
                yield name
        elif name.startswith("image/"):
            # A link is the user's own, which nobody has touched; a copy, or what was built anew, must be the same
            if not (bed.cache / Path(*Path(name).parts[:2])).is_symlink() and not _same_part(whole, here):
                yield name
        elif name in NOTED and not _agree(json.loads(whole.read_text()), here):
            yield name
    for whole in sorted((bed.reference / "report").iterdir()):
        here = bed.report / whole.name
        if not here.is_file() or whole.read_bytes() != here.read_bytes():
            yield f"report/{whole.name}"


def _same_part(whole: Path, here: Path) -> bool:
    """Return True if a file of an entry is unchanged. Older manifests name no listing."""
    if whole.read_bytes() == here.read_bytes():
        return True
    if whole.name != MANIFEST:
        return False
    before = json.loads(whole.read_text())
    try:
        now = json.loads(here.read_text())
    except ValueError:
        return False
    if isinstance(now, dict) and "listing" not in before:
        now.pop("listing", None)
    return bool(now == before)


def _agree(whole: dict[str, object], here: Path) -> bool:
    """Return True if the noted versions are unchanged. Requests that were not made again may be missing."""
    try:
        noted = json.loads(here.read_text())
    except ValueError:
        return False
    return bool(noted) and all(whole.get(request) == files for request, files in noted.items())
