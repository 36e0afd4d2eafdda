# SPDX-License-Identifier: Apache-2.0
"""Leftovers of killed processes, made by hand: work directories, locks without a holder, partly written files. The next
command must remove them.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from faults.bed import Bed
from faults.fault import Fault, Note, is_conditioned

Leave = Callable[[Bed, random.Random], None]


def _scratch(where: str) -> Leave:
    """Leave a work directory with its lock."""

    def leave(bed: Bed, chance: random.Random) -> None:
        name = chance.randbytes(6).hex()
        folder = bed.cache / where / name
        (folder / "inner").mkdir(parents=True)
        (folder / "inner/state.bin").write_bytes(chance.randbytes(4096))
        folder.with_name(f"{name}.lock").touch()

    return leave


def _claim(bed: Bed, chance: random.Random) -> None:
    folder = chance.choice(bed.results())
    bed.forget([folder])
    (bed.cache / f"results/claims/{folder.name}.lock").touch()


def _entry(bed: Bed, chance: random.Random) -> None:
    """Leave directories of an interrupted build of a part, with or without the part itself."""
    link = chance.choice([link for link in bed.entry_links() if link.name.startswith(("cpio-", "outbox-"))])
    for ending in chance.choice([("part",), ("old",), ("part", "old")]):
        folder = link.with_name(f".{link.name}.{ending}")
        folder.mkdir()
        (folder / "half").write_bytes(chance.randbytes(1000))
    if chance.random() < 0.5:
        link.with_name(f".{link.name}.lock").touch()
    if chance.random() < 0.5:
        link.unlink()


def _condition(bed: Bed, chance: random.Random) -> None:
    (whole,) = (bed.cache / "conditions").glob("worn-*")
    half = whole.with_name(f".{whole.name}.part")
    half.mkdir()
    (half / "state.bin").write_bytes(chance.randbytes(5000))
    if chance.random() < 0.5:
        shutil.rmtree(whole)
    bed.forget([folder for folder in bed.results() if is_conditioned(folder)])


def _report(bed: Bed, chance: random.Random) -> None:
    """Leave a part of a report, or nothing."""
    for file in sorted(bed.report.iterdir()):
        if chance.random() < 0.5:
            file.unlink()


LEFT: Mapping[str, tuple[str, Leave]] = {
    "left: work of a run": ("work", _scratch("work")),
    "left: a result being written": ("results/tmp", _scratch("results/tmp")),
    "left: a claim": ("results/claims", _claim),
    "left: a failure being kept": ("failures/.tmp", _scratch("failures/.tmp")),
    "left: a part being made": ("image", _entry),
    "left: a condition being made": ("conditions", _condition),
    "left: a report in part": ("report", _report),
}


def _fault(name: str, where: str, leave: Leave) -> Fault:
    def act(bed: Bed, chance: random.Random, note: Note) -> None:
        leave(bed, chance)
        note.detail, note.moment = where, "before a run"

    return Fault(name, 1, act, "leftovers")


def _medium(bed: Bed, chance: random.Random, note: Note) -> None:
    """Leave an interrupted change of a kept medium. The next command on the medium must remove it."""
    folder = bed.cache / "media/kept"
    (folder / "state.bin.new").write_bytes(chance.randbytes(5000))
    if chance.random() < 0.5:
        (folder / "medium.json.new").write_bytes(b'{"profile": "usb')
    if chance.random() < 0.5:
        Path(bed.cache / "media/.kept.lock").touch()
    note.detail, note.moment = "media/kept", "before a command"
    note.end(bed.begin("medium", "inspect", "kept"), (0,))


FAULTS = (
    *(_fault(name, where, leave) for name, (where, leave) in LEFT.items()),
    Fault("left: a medium being changed", 1, _medium, "leftovers"),
)
