# SPDX-License-Identifier: Apache-2.0
"""What a workload is to the lab: files for the guest's /job, and numbers out of what comes back.

A workload knows its tool and nothing of machines, media or file systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

Parameters = Mapping[str, object]


class WorkloadOutputError(Exception):
    """The tool's output is missing or makes no sense; the text says what was expected."""


class Workload(Protocol):
    """A tool that the lab can run. The guest runs /job/prepare, mounts the file system anew, and times /job/measure."""

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Files for /job, `prepare` and `measure` (shell scripts) among them. The file system is mounted on /mnt."""

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Metrics from the files that the guest left in /out. Raises WorkloadOutputError."""
