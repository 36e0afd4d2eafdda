# SPDX-License-Identifier: Apache-2.0
"""The medium of a cell, before and behind its guest: what it starts from (new, in a condition, or a copy of one that is
kept), and what the file system's own checker says of the image that the cell leaves.

Must not know how a cell runs.
"""

from __future__ import annotations

from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import HostResourceError, InputError
from flashbed.image.guest_image import GuestImage
from flashbed.machine import checker
from flashbed.machine.base import Outcome
from flashbed.medium import conditioning
from flashbed.profiles import stored_medium
from flashbed.profiles.stored_medium import StoredMedium
from flashbed.study.plan import Cell


def conditioned(cell: Cell, image: GuestImage) -> Path | None:
    """The state that the cell's medium starts from, made if it is not there yet; None where it starts otherwise."""
    if cell.medium.start is not None or not cell.medium.conditioned:
        return None
    return conditioning.state(image.media_tool, cell.medium.core_parameters, cell.medium.condition)


def make_medium(cell: Cell, image: GuestImage, to: StoredMedium) -> None:
    """Writes a medium's files: a new one, one in a condition, or a copy of the one that is kept.

    Raises InputError if the kept one is no longer what it was.
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
    """Raises InputError if the medium is no longer what the key says, or another than the cell's profile describes."""
    stored_medium.copy(start.state, to.state)
    stored_medium.copy(start.data, to.data)
    if to.digest() != cell.medium.start_digest:
        raise InputError(f"{start.folder}: has changed since the study was read; run the study again")
    try:
        told = image.media_tool.inspect(to.state, cell.medium.core_parameters)
    except HostResourceError as error:
        raise InputError(error.message.replace(str(to.state), str(start.state))) from None
    if told["fault"] is not None:
        raise InputError(f"{start.state}: damaged: {told['fault']}")
    if to.data.stat().st_size != told["content_bytes"]:
        raise InputError(
            f"{start.data}: truncated: {to.data.stat().st_size} bytes instead of {told['content_bytes']}; "
            "make the medium anew"
        )


def check_command(cell: Cell, data: Path) -> list[str] | None:
    """What looks at the image that the cell leaves; None where nothing can, or where a translation lies between."""
    return None if cell.translation.device else cell.filesystem.check_command(data)


def checked(cell: Cell, outcome: Outcome, data: Path) -> Outcome:
    """Return the outcome of a guest that measured, with the verdict on the image that it left in `data`, if the cell's
    file system has a checker.
    """
    command = check_command(cell, data)
    return outcome if command is None else checker.checked(outcome, command, data, paths.checkers())
