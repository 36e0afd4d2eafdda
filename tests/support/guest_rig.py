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
from flashbed.machine.guest_job import Job
from flashbed.machine.outcomes import Outcome
from flashbed.profiles.stored_medium import DATA, STATE, StoredMedium
from flashbed.study.loading import load_study
from flashbed.study.plan import Cell

STUDY = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'
"""The other keys of a study whose measurement never runs."""

NO_MOUNT = "mount -t tmpfs tmpfs /mnt\n"
"""A `mount` script that mounts a file system in memory, for a guest that does not use its medium afterwards."""

LIMIT_S = 900
"""The seconds of this host after which a guest counts as hung."""

NO_FILLER = b"FILLER_KIB=0\n"
"""Write no filler before a script's own writes: the seed moves nothing."""


class Scripts(TypedDict, total=False):
    """Scripts that replace the cell's scripts of the same names."""

    format: str
    mount: str
    prepare: str
    measure: str


class GuestFailed(RuntimeError):
    """A guest did not come to its end."""


@dataclass(frozen=True)
class Rig:
    """A cell and the files that its guest starts from. A second boot finds the medium as the first one left it."""

    planned: Repetition
    files: qemu.Files
    folder: Path

    @property
    def cell(self) -> Cell:
        return self.planned.cell

    @property
    def tool(self) -> MediaTool:
        return self.planned.image.media_tool


def new(planned: Path | Repetition, folder: Path) -> Rig:
    """Return the rig of a study's only repetition, or of a prepared one, in `folder`, which is created. The medium is
    as the study wants it: new, or in its condition.
    """
    if isinstance(planned, Path):
        (planned,) = run.prepare(load_study(planned))
    folder.mkdir(exist_ok=True)
    initramfs, state, data = (folder / name for name in ("initramfs", STATE, DATA))
    root = planned.image.root(repetition.program_set(planned.cell))
    kernel, load = planned.image.kernel.image, folder / qemu.LOAD_ARCHIVE
    files = qemu.Files(kernel, initramfs, state, data, emulator.program(), load=load, root=root)
    cell_medium.make_medium(planned.cell, planned.image, StoredMedium(folder))
    return Rig(planned, files, folder)


def outcome_of(
    rig: Rig,
    *,
    beside: Mapping[str, bytes] | None = None,
    medium_options: str = "",
    ram_bytes: int | None = None,
    limit_s: float = LIMIT_S,
    calls: bool = False,
    **scripts: Unpack[Scripts],
) -> Outcome:
    """Boot a guest, and return its outcome.

    `beside` are other files of /job. `medium_options`, such as "record=1,cut=0", go to the emulator's medium after its
    own. `ram_bytes` replaces the board's memory. If `calls`, the emulator notes system calls.
    """
    cell_job = repetition.job(rig.cell, rig.planned.image)
    environment = cell_job.beginning["cell.env"] + NO_FILLER
    setup = repetition.machine_setup(rig.cell, rig.planned.image)
    if medium_options:
        setup = replace(setup, medium_options=f"{setup.medium_options},{medium_options}")
    changed = {name: str(text).encode() for name, text in scripts.items()} | dict(beside or {})
    job = cell_job.changed({**changed, "cell.env": environment})
    rig.planned.image.write_initramfs(repetition.program_set(rig.cell), job.beginning, rig.files.initramfs)
    assert rig.files.load is not None
    rig.files.load.write_bytes(job.packed_load())
    setup = replace(setup, ram_bytes=ram_bytes or setup.ram_bytes)
    fixed, observers = qemu.fixed_arguments(setup), replace(repetition.observers(rig.cell), calls=calls)
    return qemu.run(fixed, rig.files, rig.folder, limit_s, threading.Event(), observers=observers)


def powered_on(wanted: Repetition, job: Job, folder: Path, limit_s: float = LIMIT_S) -> Outcome:
    """Boot a guest with this job from power-on, with the medium in `folder`, and return its outcome."""
    files = repetition._files(wanted.cell, wanted.image, folder)
    wanted.image.write_initramfs(repetition.program_set(wanted.cell), job.beginning, files.initramfs)
    (folder / qemu.LOAD_ARCHIVE).write_bytes(job.packed_load())
    return qemu.run(repetition.machine(wanted.cell, wanted.image), files, folder, limit_s, threading.Event())


def boot(
    rig: Rig,
    *,
    beside: Mapping[str, bytes] | None = None,
    medium_options: str = "",
    ram_bytes: int | None = None,
    limit_s: float = LIMIT_S,
    calls: bool = False,
    **scripts: Unpack[Scripts],
) -> Outcome:
    """Boot a guest that must come to its end, and return its outcome. Raises GuestFailed with the last lines of its
    console.
    """
    outcome = outcome_of(
        rig, beside=beside, medium_options=medium_options, ram_bytes=ram_bytes, limit_s=limit_s, calls=calls, **scripts
    )
    if outcome.status != "measured":
        raise GuestFailed(f"{outcome.reason}\n{outcome.console[-3000:].decode(errors='replace')}")
    return outcome


def finish(planned: Repetition, folder: Path, changed: Mapping[str, bytes], limit_s: float = 300) -> Finished:
    """Run a whole repetition, with its checker and its metrics, but with other files in /job. Create the directory."""
    folder.mkdir(exist_ok=True)
    job = repetition.job(planned.cell, planned.image).changed(changed)
    with patch.object(repetition, "job", lambda cell, image: job):
        return repetition.execute(planned, folder, limit_s, threading.Event())


def words(outcome: Outcome, name: str) -> dict[str, int]:
    """Return numbers by name, from lines such as "writesize 512" of a file in /out."""
    return {key: int(value) for key, value in (line.split() for line in outcome.files[name].decode().splitlines())}
