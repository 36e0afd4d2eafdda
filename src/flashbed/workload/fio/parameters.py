# SPDX-License-Identifier: Apache-2.0
"""The parameters of a fio workload, which a study may fix under [workload] or vary on an axis.

The workload is either a pattern, described here, or a user's job file, whose ${variables} are the study's axes. Must
not know how fio is called or what it prints.
"""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from flashbed.common.tomlfile import Problem, Size
from flashbed.common.units import describe_size
from flashbed.workload.base import Count, FileParameters, Switch, not_in_sectors


class FioParameters(FileParameters):
    """A pattern of requests on files. Sizes are in bytes."""

    pattern: Literal["read", "randread", "write", "randwrite", "rw", "randrw"] = Field(
        description="order and direction of the requests, in fio's words"
    )
    request: Size = Field(gt=0, description="size of a request, bytes")
    file: Size = Field(gt=0, description="size of each process's file, bytes")
    io_size: Size = Field(
        default=0, ge=0, description="what each process asks for in all, bytes; 0: every byte of its file once"
    )
    flush: Literal["none", "close", "fsync", "fsync-each"] = Field(
        default="none",
        description="none: what is still in memory at the end is not waited for; close: nor is it, but the time ends "
        "when the file has been closed, and some file systems write back then; fsync: once at the end, inside the time "
        "measured; fsync-each: after each request",
    )
    cache: Literal["cold", "warm"] = Field(
        default="cold",
        description="the page cache when the measurement begins: cold, as after a boot; warm, with all of each file, "
        "which was written before",
    )
    direct: Switch = Field(default=False, description="past the page cache (O_DIRECT)")
    allocate: Switch | None = Field(
        default=None,
        description="of patterns that write: true: the file is new, and each write gives it blocks; false: it was "
        "written before, in order, and is overwritten; by default true for write, false for randwrite",
    )
    queue_depth: Count = Field(default=1, ge=1, le=1024, description="requests that a process has under way at a time")

    @property
    def allocates(self) -> bool:
        """Return True if the file is new when the measurement begins."""
        return self.pattern == "write" if self.allocate is None else self.allocate

    def canonical(self) -> dict[str, Any]:
        """Return all parameters with the effective `allocate`, so that a study may name it or omit it."""
        return self.model_dump() | {"allocate": self.allocates}

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between parameters."""
        if self.allocate and self.pattern not in ("write", "randwrite"):
            yield Problem(
                ("allocate",),
                f'true cannot stand with pattern = "{self.pattern}": what is read must have been written before; take '
                "allocate away, or set it to false",
            )
        if self.flush == "close" and self.pattern in ("read", "randread"):
            yield Problem(("flush",), f'"close" cannot stand with pattern = "{self.pattern}": nothing is written back')
        if self.cache == "warm" and self.allocates:
            yield Problem(("cache",), '"warm" needs a file that was written before: set allocate to false, or read')
        if self.cache == "warm" and self.direct:
            yield Problem(("cache",), '"warm" cannot stand with direct = true, which goes past the page cache')
        if self.request > self.file:
            yield Problem(
                ("request",),
                f"{describe_size(self.request)} is larger than file = {describe_size(self.file)}: no request would fit",
            )
        if 0 < self.io_size < self.request:
            yield Problem(
                ("io_size",),
                f"{describe_size(self.io_size)} is less than request = {describe_size(self.request)}",
            )
        if self.direct:
            yield from not_in_sectors("request", self.request)
        if self.queue_depth > 1 and not self.direct:
            yield Problem(
                ("queue_depth",),
                f"{self.queue_depth} needs direct = true: Linux carries out buffered requests one at a time, whatever "
                "the queue depth",
            )
        if self.queue_depth > 1 and self.flush == "fsync-each":
            yield Problem(
                ("queue_depth",),
                f'{self.queue_depth} cannot stand with flush = "fsync-each": fio flushes without waiting for requests '
                "that are under way, so that no request would be on the medium when its flush returns",
            )
