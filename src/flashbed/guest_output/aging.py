# SPDX-License-Identifier: Apache-2.0
"""What was done to a file system before it was measured, as guest/age.c printed it, and the metrics of that."""

from __future__ import annotations

from collections.abc import Mapping

PRINTED = "aged.txt"
"""Where the guest has it: lines of a name and a whole number."""

FILES, FILLED, WRITTEN, EXTENTS = "aged_files", "aged_filled_percent", "aged_written_bytes", "aged_extents_per_file"


def metrics(out: Mapping[str, bytes]) -> dict[str, float]:
    """Number of files, their share of the capacity that the new file system had in %, bytes written to files, and
    extents a file where the file system tells. Nothing for a file system that is new. Raises ValueError or KeyError.
    """
    if PRINTED not in out:
        return {}
    told = {name: int(number) for name, number in (line.split() for line in out[PRINTED].decode().splitlines())}
    extents = {EXTENTS: told["extents"] / told["files"]} if "extents" in told else {}
    return {
        FILES: float(told["files"]),
        FILLED: 100.0 * told["filled_bytes"] / told["capacity_bytes"],
        WRITTEN: float(told["written_bytes"]),
        **extents,
    }
