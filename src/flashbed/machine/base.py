# SPDX-License-Identifier: Apache-2.0
"""What a machine is to the lab: it runs one cell and tells what came of it. A guest that misbehaves is an outcome,
not an exception.

Knows no study and no workload.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["measured", "failed", "timed out", "killed"]
"""Killed: the machine itself was, by another process of the host or for want of memory."""


@dataclass(frozen=True)
class Outcome:
    """What came of one run.

    `files` are those that the guest left in /out, by name. `console` is all that the machine said. `medium_check` is
    the verdict of the
    file system's own checker on the image left behind: empty when clean, else what it said; None when it was not run.
    """

    status: Status
    reason: str = ""
    console: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    medium_check: str | None = None
