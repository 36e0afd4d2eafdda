# SPDX-License-Identifier: Apache-2.0
"""The interface of a workload that can be checked after a power cut: it says what its program had acknowledged as
durable, and it has a script that looks for that in a guest that boots again from the medium.

Must not know how the power is cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from flashbed.guest_output.acknowledged import Acknowledged
from flashbed.workload.base import Parameters

CHECK = "check"
"""The script of /job that looks for acknowledged data in the guest after the cut."""

ACKNOWLEDGED = "acknowledged"
"""The file of /job, for `check`, with the lines that were acknowledged when the power went. The program's own name for
it is $FLASHBED_ACKED.
"""

INTACT, LOST, UNREADABLE = 0, 1, 2
"""The exit statuses of `check`: all acknowledged data are there; some are lost; the data cannot be read, or contradict
themselves. With any other status, the check itself failed.
"""


@runtime_checkable
class Checked(Protocol):
    """A workload whose data can be checked after a power cut."""

    def checks(self, parameters: Parameters) -> bool:
        """Return True if these parameters have a check."""

    def check_files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the files of /job for the guest after the cut, the script CHECK among them. The file system is mounted
        on /mnt then, and the lines are in /job/acknowledged. The script runs by `sh /job/check`.
        """

    def acknowledged(self, out: Mapping[str, bytes]) -> Sequence[Acknowledged]:
        """Return what the program acknowledged, from the files of /out of a guest that ran to its end, in the order of
        time. Raises KeyError, ValueError.
        """
