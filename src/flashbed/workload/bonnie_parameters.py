# SPDX-License-Identifier: Apache-2.0
"""The parameters of a bonnie workload. Must not know how our program is called or what it prints."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from flashbed.common.size_field import Size
from flashbed.common.tomlfile import Problem
from flashbed.common.units import describe_size
from flashbed.workload.parameters import Count, FileParameters

_MIB = 1 << 20


class BonnieParameters(FileParameters):
    """The sequence of the original Bonnie on one file a process, in its order; sizes in bytes."""

    chunk: Size = Field(default=16384, ge=512, le=_MIB, description="size of a block, bytes; 16 KiB in Bonnie")
    caches: Literal["kept", "flushed", "cold"] = Field(
        default="kept",
        description="kept: as Bonnie leaves them; a phase ends when its last call returns; flushed: a flush ends each "
        "phase that writes, inside its time; cold: also, each phase begins with the file system mounted anew, and a "
        "seek has memory give up the block that it read",
    )
    seeks: Count = Field(
        default=4000, ge=1, description="random reads of a block, of all seekers of a process together"
    )
    seek_processes: Count = Field(default=3, ge=1, le=64, description="seekers of a process")

    def problems(self) -> Iterator[Problem]:
        """A file is of whole blocks, for a block is read and written in one call."""
        if self.file % self.chunk:
            size, chunk = describe_size(self.file), describe_size(self.chunk)
            yield Problem(("file",), f"{size} must be a multiple of chunk, {chunk}")
