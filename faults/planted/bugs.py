# SPDX-License-Identifier: Apache-2.0
"""The bugs that are planted below and in programs, and the cells that must find them (bugs.toml). A patch of a bug is
applied to a copy: of the kernel's source, or of the emulator with its media core. So no key of a result changes.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from flashbed.common import paths
from flashbed.execution import run
from flashbed.execution.repetition import Repetition
from flashbed.image import emulator
from flashbed.image.command import run as call
from flashbed.study.loading import load_study

FOLDER = Path(__file__).resolve().parent

_OF_KERNEL = "a/fs/"


class Bug(BaseModel):
    """A bug, and the cell whose power is cut to find it. The control is the same cell without the bug."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    layer: Literal["program", "file system", "medium"]
    study: Literal["block", "nand"]
    medium: str
    filesystem: str
    writer: str
    patch: str = ""
    sound: str = ""
    """The program without the bug; "" if the bug is in no program."""

    @property
    def patch_file(self) -> Path | None:
        return FOLDER / "patches" / f"{self.patch}.patch" if self.patch else None

    @property
    def is_of_kernel(self) -> bool:
        """Return True if the bug is a patch of the kernel."""
        return self.patch_file is not None and f"--- {_OF_KERNEL}" in self.patch_file.read_text()

    @property
    def control(self) -> Bug:
        """Return the same cell without the bug. It is equal for all bugs with the same control."""
        return self.model_copy(
            update={"title": "", "layer": "program", "patch": "", "writer": self.sound or self.writer, "sound": ""}
        )


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    bug: tuple[Bug, ...]


def declared() -> Sequence[Bug]:
    """Return all bugs, in the order of bugs.toml."""
    return _Declared.model_validate(tomllib.loads((FOLDER / "bugs.toml").read_text())).bug


@dataclass(frozen=True)
class Workshop:
    """A directory in which emulators with a bug are built. The next one compiles only what differs."""

    folder: Path

    def planted(self, bug: Bug) -> Repetition:
        """Return the cell of a bug, with a guest and an emulator that have it. Raises FlashbedError."""
        patch = bug.patch_file
        kernels = [f"6.1:patch={patch}"] if bug.is_of_kernel else []
        study = load_study(FOLDER / f"{bug.study}.toml", kernels=kernels)
        wanted = {"medium": bug.medium, "filesystem": bug.filesystem, "writer": bug.writer}
        (cell,) = (
            repetition
            for repetition in run.prepare(study, lines=False)
            if wanted.items() <= repetition.cell.coordinates.items()
        )
        if patch is None or bug.is_of_kernel:
            return cell
        return replace(cell, image=replace(cell.image, emulator=self.emulator(patch)))

    def emulator(self, patch: Path) -> Path:
        """Return an emulator with a patch. Raises SetupError if the patch does not apply or does not compile."""
        tree, program = self.folder / "qemu", self.folder / patch.stem
        if not (tree / emulator.BUILD / "build.ninja").exists():
            shutil.rmtree(tree, ignore_errors=True)
            emulator.unpack(paths.cache_root(), tree)
            emulator.place_own(tree, paths.emulator(), paths.media())
            emulator.configure(tree, self.folder)
        copy = patched(patch, self.folder / "copy")
        emulator.place_own(tree, copy / paths.emulator().name, copy / paths.media().name)
        emulator.compile_to(tree, program)
        return program


def patched(patch: Path, copy: Path) -> Path:
    """Make the directory `copy` anew, with the emulator's files and the media core, and apply a patch to it. Raises
    SetupError if the patch does not apply.
    """
    shutil.rmtree(copy, ignore_errors=True)
    for folder in (paths.emulator(), paths.media()):
        shutil.copytree(folder, copy / folder.name, ignore=shutil.ignore_patterns("build"))
    call(["patch", "-p1", "--fuzz=0", "-d", copy, "-i", patch])
    return copy
