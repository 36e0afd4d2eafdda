# SPDX-License-Identifier: Apache-2.0
"""The result type of a machine, which runs one cell. A guest that misbehaves is an outcome, not an exception.

Knows no study and no workload.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["measured", "failed", "timed out", "killed"]
""" "killed": another process of the host, or a lack of memory, ended the machine itself."""


@dataclass(frozen=True)
class Outcome:
    """The result of one run.

    `files` are the files that the guest left in /out, by name. `console` is the machine's console output.
    `medium_check` is the output of the file system's own checker on the final image: "" if the image is clean, None if
    the checker did not run.
    """

    status: Status
    reason: str = ""
    console: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    medium_check: str | None = None
