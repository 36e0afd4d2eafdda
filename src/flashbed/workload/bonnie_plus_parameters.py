# SPDX-License-Identifier: Apache-2.0
"""The parameters of a bonnie++ workload. Must not know how bonnie++ is called or what it prints."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from flashbed.common.size_field import Size
from flashbed.common.tomlfile import Problem
from flashbed.common.units import describe_size
from flashbed.workload.parameters import Count, FileParameters, Switch

_MIB = 1 << 20


class BonniePlusParameters(FileParameters):
    """bonnie++ on one file a process: it writes, reads and writes again, reads, then seeks; sizes in bytes."""

    chunk: Size = Field(default=8192, ge=256, le=_MIB, description="size of a block, a power of two, bytes")
    per_character: Size = Field(
        default=3 * _MIB,
        ge=0,
        description="how much is written and read a byte at a time, at most the file, bytes; 0: none",
    )
    flush: Literal["fsync", "fsync-each"] = Field(
        default="fsync",
        description="fsync: once at the end of each phase, inside its time, as bonnie++ always does; fsync-each: also "
        "after each block that the seeks change (its -b)",
    )
    direct: Switch = Field(
        default=False, description="block output past the page cache (O_DIRECT); all else goes through it, as in its -D"
    )
    seeks: Count = Field(default=8192, ge=1, description="random reads of a block; each tenth or so changes it")
    seek_processes: Count = Field(default=5, ge=1, le=64, description="threads of a process that seek at the same time")

    def problems(self) -> Iterator[Problem]:
        """Contradictions between parameters, and the units that bonnie++ counts in."""
        for name, size in (("file", self.file), ("per_character", self.per_character)):
            if size % _MIB:
                yield Problem((name,), f"bonnie++ counts in MiB, so {describe_size(size)} must be a multiple of 1M")
        if self.chunk & (self.chunk - 1):
            yield Problem(("chunk",), f"must be a power of two, not {self.chunk}")
        if self.direct and self.per_character:
            yield Problem(
                ("direct",),
                "true needs per_character = 0: single bytes cannot be written past the page cache",
            )
