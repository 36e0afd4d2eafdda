# SPDX-License-Identifier: Apache-2.0
"""The verdict of a file system's own checker on an image, as in a run of the lab."""

from __future__ import annotations

from pathlib import Path

from flashbed.execution import cell_medium
from flashbed.guest_output.assessment import Status
from flashbed.machine.outcomes import Outcome
from flashbed.study.plan import Cell


def verdict(cell: Cell, data: Path) -> str | None:
    """Return the checker's output; "" for a clean image, None if the cell has no checker or it came to no verdict."""
    return cell_medium.checked(cell, Outcome(Status.MEASURED), data).medium_check
