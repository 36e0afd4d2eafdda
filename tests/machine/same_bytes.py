# SPDX-License-Identifier: Apache-2.0
"""Compare two runs of one repetition, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping

from flashbed.execution.repetition import Finished


def bytes_of(finished: Finished) -> dict[str, bytes]:
    """Return all files of a repetition by name. "result" is the stored result, and what follows from the files."""
    return {**finished.files, "result": repr(finished.result).encode()}


def differing(first: Mapping[str, bytes], other: Mapping[str, bytes]) -> list[str]:
    """Return the names of files that are missing in one repetition, or that differ."""
    return [name for name in sorted({*first, *other}) if first.get(name) != other.get(name)]
