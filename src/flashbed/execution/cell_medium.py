# SPDX-License-Identifier: Apache-2.0
"""Make the medium of a cell before its guest runs (new, in a condition, or a copy of a kept one), and run the file
system's own checker on the image that the guest leaves.

Must not know how a cell runs.
"""

from __future__ import annotations

from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import HostResourceError, InputError
from flashbed.image.guest_image import GuestImage
from flashbed.machine import checker
from flashbed.machine.outcomes import Outcome
from flashbed.medium import conditioning
from flashbed.profiles import stored_medium
from flashbed.profiles.stored_medium import StoredMedium
from flashbed.study.plan import Cell


def conditioned(cell: Cell, image: GuestImage) -> Path | None:
    """Return the state file in the cell's condition, and make it if it is missing; None if the medium is new or a copy
    of a kept one.
    """
    if cell.medium.start is not None or not cell.medium.conditioned:
        return None
    return conditioning.state(image.media_tool, cell.medium.core_parameters, cell.medium.condition)


def make_medium(cell: Cell, image: GuestImage, to: StoredMedium) -> None:
    """Write the files of a cell's medium: a new one, one in a condition, or a copy of a kept one. Raises InputError if
    the kept one has changed.
    """
    if cell.medium.start is not None:
        _copy_medium(cell, image, to, cell.medium.start)
        return
    if (aged := conditioned(cell, image)) is None:
        image.media_tool.create(to.state, cell.medium.core_parameters)
    else:
        stored_medium.copy(aged, to.state)
    image.media_tool.create_content(to.state, to.data)


def _copy_medium(cell: Cell, image: GuestImage, to: StoredMedium, start: StoredMedium) -> None:
    """Copy a kept medium. Raises InputError if it is not the one in the key, if it is damaged, or if the cell's profile
    describes another.
    """
    stored_medium.copy(start.state, to.state)
    stored_medium.copy(start.data, to.data)
    if to.digest() != cell.medium.start_digest:
        raise InputError(f"{start.folder}: has changed since the study was read; run the study again")
    try:
        inspection = image.media_tool.inspect(to.state, cell.medium.core_parameters)
    except HostResourceError as error:
        raise InputError(error.message.replace(str(to.state), str(start.state))) from None
    if inspection.fault is not None:
        raise InputError(f"{start.state}: damaged: {inspection.fault}")
    if to.data.stat().st_size != inspection.content_bytes:
        raise InputError(
            f"{start.data}: truncated: {to.data.stat().st_size} bytes instead of {inspection.content_bytes}; "
            "make the medium anew"
        )


def check_command(cell: Cell, data: Path) -> list[str] | None:
    """Return the arguments of the checker for the image `data`; None if the file system has none, or if a translation
    is between file system and medium.
    """
    return None if cell.translation.device else cell.filesystem.check_command(data)


def checked(cell: Cell, outcome: Outcome, data: Path) -> Outcome:
    """Return the outcome of a guest that measured, with the verdict on the image that it left in `data`, if the cell's
    file system has a checker.
    """
    command = check_command(cell, data)
    return outcome if command is None else checker.checked(outcome, command, data, paths.checkers())
