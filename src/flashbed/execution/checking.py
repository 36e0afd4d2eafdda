# SPDX-License-Identifier: Apache-2.0
"""What the file system's own checker says of the image that a cell leaves. Must not know how a cell runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flashbed.common.errors import SetupError
from flashbed.machine import checker
from flashbed.machine.base import Outcome
from flashbed.study.plan import Cell


def check_command(cell: Cell, data: Path) -> list[str] | None:
    """What looks at the image that the cell leaves; None where nothing can, or where a translation lies between."""
    return None if cell.translation.device else cell.filesystem.check_command(data)


def check(cell: Cell, data: Path) -> str | None:
    """What the file system's checker says of an image: "" for clean, None where there is none. Raises SetupError if
    there is no such program, checker.Killed, checker.NoVerdict.
    """
    command = check_command(cell, data)
    return None if command is None else checker.verdict(command, data)


def checked(cell: Cell, outcome: Outcome, data: Path) -> Outcome:
    """The outcome of a guest that measured, with the verdict on the image that it left in `data`."""
    try:
        return replace(outcome, medium_check=check(cell, data))
    except SetupError as error:  # it was there when the run began; without it this would be another result
        return replace(outcome, status="failed", reason=f"measured, and not checked: {error.message}")
    except checker.NoVerdict as error:
        return replace(outcome, status="failed", reason=f"measured, and not checked: {error}")
    except checker.Killed as killed:
        return replace(outcome, status="killed", reason=str(killed))
