# SPDX-License-Identifier: Apache-2.0
"""Compare two runs of one repetition, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping

from flashbed.execution.repetition import Finished


def bytes_of(finished: Finished) -> dict[str, bytes]:
    """All that came of a repetition, by file; "result" is what is kept of it and what follows from the files."""
    return {**finished.files, "result": repr(finished.result).encode()}


def differing(first: Mapping[str, bytes], other: Mapping[str, bytes]) -> list[str]:
    """The files that are not in both, or not the same in both."""
    return [name for name in sorted({*first, *other}) if first.get(name) != other.get(name)]
