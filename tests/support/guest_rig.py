# SPDX-License-Identifier: Apache-2.0
"""The one way to boot a guest that runs other scripts than its cell's:

    rig = guest_rig.new(study, tmp_path)  # the only cell of `study`, with its medium in the folder
    outcome = guest_rig.boot(rig, measure=SCRIPT)  # /job/measure is this script; outcome.files is what it left in /out

Tests and the commands in pages/ share it. Must not know what is tested, nor one kind of medium from another.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack
from unittest.mock import patch

from flashbed.execution import cell_medium, repetition, run
from flashbed.execution.repetition import Finished, Repetition
from flashbed.image import emulator
from flashbed.image.hosttools import MediaTool
from flashbed.machine import qemu
from flashbed.machine.base import Outcome
from flashbed.profiles.stored_medium import DATA, STATE, StoredMedium
from flashbed.study.loading import load_study
from flashbed.study.plan import Cell

STUDY = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'
"""What a study says besides board, medium and file system, if its measurement is never run."""

NO_MOUNT = "mount -t tmpfs tmpfs /mnt\n"
"""As `mount`: a file system in memory, for a guest that leaves its medium alone from then on."""

LIMIT_S = 900
"""This host's time after which a guest counts as hung."""

NO_FILLER = b"FILLER_KIB=0\n"
"""Nothing is written before what a script writes: the seed moves nothing."""


class Scripts(TypedDict, total=False):
    """Scripts that take the places of those of the cell that have their names."""

    format: str
    mount: str
    prepare: str
    measure: str


class GuestFailed(RuntimeError):
    """A guest that should have come to its end, and did not."""


@dataclass(frozen=True)
class Rig:
    """A cell, and the files that its guest starts from. A second boot finds the medium as the first one left it."""

    wanted: Repetition
    files: qemu.Files
    folder: Path

    @property
    def cell(self) -> Cell:
        return self.wanted.cell

    @property
    def tool(self) -> MediaTool:
        return self.wanted.image.media_tool


def new(what: Path | Repetition, folder: Path) -> Rig:
    """The rig of a study's only repetition, or of one that is prepared, with its medium as the study has it: new, or in
    its condition. Makes the folder if it is not there.
    """
    if isinstance(what, Path):
        (what,) = run.prepare(load_study(what))
    folder.mkdir(exist_ok=True)
    initramfs, state, data = (folder / name for name in ("initramfs", STATE, DATA))
    files = qemu.Files(what.image.kernel.image, initramfs, state, data, emulator.program(), load=folder / qemu.LOAD)
    cell_medium.make_medium(what.cell, what.image, StoredMedium(folder))
    return Rig(what, files, folder)


def outcome_of(
    rig: Rig,
    *,
    beside: Mapping[str, bytes] | None = None,
    medium_options: str = "",
    ram_bytes: int | None = None,
    limit_s: float = LIMIT_S,
    **scripts: Unpack[Scripts],
) -> Outcome:
    """What comes of a boot, good or bad.

    `beside` are other files of /job.
    `medium_options` go to the emulator's medium behind its own, as "record=1,cut=0". `ram_bytes`: instead of the
    board's.
    """
    told = repetition.job(rig.cell, rig.wanted.image)
    environment = told.beginning["cell.env"] + NO_FILLER
    setup = repetition.machine_setup(rig.cell, rig.wanted.image)
    if medium_options:
        setup = replace(setup, medium_options=f"{setup.medium_options},{medium_options}")
    changed = {name: str(text).encode() for name, text in scripts.items()} | dict(beside or {})
    job = told.changed({**changed, "cell.env": environment})
    rig.wanted.image.write_initramfs(repetition.program_set(rig.cell), job.beginning, rig.files.initramfs)
    assert rig.files.load is not None
    rig.files.load.write_bytes(job.packed_load())
    setup = replace(setup, ram_bytes=ram_bytes or setup.ram_bytes)
    fixed, samples = qemu.fixed_arguments(setup), repetition.samples(rig.cell)
    return qemu.run(fixed, rig.files, rig.folder, limit_s, threading.Event(), samples=samples)


def boot(
    rig: Rig,
    *,
    beside: Mapping[str, bytes] | None = None,
    medium_options: str = "",
    ram_bytes: int | None = None,
    limit_s: float = LIMIT_S,
    **scripts: Unpack[Scripts],
) -> Outcome:
    """The same of a guest that has to come to its end. Raises GuestFailed with the last lines of its console."""
    outcome = outcome_of(
        rig, beside=beside, medium_options=medium_options, ram_bytes=ram_bytes, limit_s=limit_s, **scripts
    )
    if outcome.status != "measured":
        raise GuestFailed(f"{outcome.reason}\n{outcome.console[-3000:].decode(errors='replace')}")
    return outcome


def finish(wanted: Repetition, folder: Path, changed: Mapping[str, bytes], limit_s: float = 300) -> Finished:
    """A whole repetition, with its checker and its metrics, some of whose files in /job are others. Makes the folder if
    it is not there.
    """
    folder.mkdir(exist_ok=True)
    job = repetition.job(wanted.cell, wanted.image).changed(changed)
    with patch.object(repetition, "job", lambda cell, image: job):
        return repetition.execute(wanted, folder, limit_s, threading.Event())


def words(outcome: Outcome, name: str) -> dict[str, int]:
    """Numbers by name, from lines such as "writesize 512" of a file in /out."""
    return {key: int(value) for key, value in (line.split() for line in outcome.files[name].decode().splitlines())}
