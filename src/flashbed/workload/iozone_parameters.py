# SPDX-License-Identifier: Apache-2.0
"""The parameters of an IOzone workload. Must not know how IOzone is called or what it prints."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from flashbed.common.size_field import Size
from flashbed.common.tomlfile import Problem
from flashbed.common.units import describe_size
from flashbed.workload.parameters import FileParameters, Switch, not_in_sectors, some_of

TESTS = ("write", "rewrite", "read", "reread")
"""In the order of time."""

_KIB = 1 << 10

AGING_ROUNDS = 4
"""In how many rounds a volume is aged: so much of what is written is there at most before half of it is removed."""

AGING_REQUEST_BYTES = 16 << 10
"""What is written in turns to the file that stays and to the one that is removed."""


Tests = Annotated[tuple[str, ...], some_of(TESTS), WithJsonSchema({"type": "string"})]


class IozoneParameters(FileParameters):
    """A file written, written again, read and read again, record by record; sizes in bytes."""

    record: Size = Field(default=4096, gt=0, description="size of a request, bytes")
    tests: Tests = Field(default=TESTS, description="which of write, rewrite, read and reread, with commas between")
    include_flush: Switch = Field(default=False, description="an fsync ends each test, inside its time (its -e)")
    include_close: Switch = Field(default=False, description="closing is inside the time (its -c); needs program")
    direct: Switch = Field(default=False, description="past the page cache (its -I)")
    remount: Switch = Field(
        default=True, description="mounts the file system anew before the first read, so that it is from the medium"
    )
    content: Literal["constant", "random"] = Field(
        default="constant",
        description="what is written: one word again and again, as IOzone does it, or random bytes, which nothing "
        "compresses; random needs fio, so no program",
    )
    aged: Size = Field(
        default=0,
        ge=0,
        description="so much is written to the volume before, 16 KiB in turns to two files, of which one is removed; "
        "if that is more than the volume holds, the file system must collect before it writes; uncompressed, where it "
        "can be told so",
    )
    program: str = Field(
        default="", description="an IOzone 3 for arm64, linked statically, relative to the study; absent: fio stands in"
    )

    def problems(self) -> Iterator[Problem]:
        """Contradictions between parameters."""
        if self.record > self.file:
            yield Problem(
                ("record",),
                f"{describe_size(self.record)} is larger than file = {describe_size(self.file)}: no record would fit",
            )
        if self.direct:
            yield from not_in_sectors("record", self.record)
        for test, before in (("rewrite", "write"), ("read", "write"), ("reread", "read")):
            if test in self.tests and before not in self.tests:
                yield Problem(("tests",), f"{test} needs {before} before it")
                break
        if self.aged % (2 * AGING_ROUNDS * AGING_REQUEST_BYTES):
            yield Problem(("aged",), f"{describe_size(self.aged)} must be a multiple of 128k")
        if not self.program:
            if self.include_close:
                yield Problem(
                    ("include_close",), 'true needs IOzone itself (program = "..."): fio does not time the closing'
                )
            return
        if self.content != "constant":
            yield Problem(("content",), f'"{self.content}" cannot stand beside program: IOzone writes what it writes')
        if self.processes > 1:
            yield Problem(("processes",), f"{self.processes} cannot stand beside program: the lab calls IOzone for one")
        for name, size in (("file", self.file), ("record", self.record)):
            if size % _KIB:
                yield Problem((name,), f"IOzone counts in KiB, so {size} must be a multiple of 1k")

    def bytes_on_medium(self) -> int:
        """Its file beside what stays of an aged volume; or what is there while the last round of that is written."""
        stays, at_most = self.aged // 2, self.aged * (AGING_ROUNDS + 1) // (2 * AGING_ROUNDS)
        return max(super().bytes_on_medium() + stays, at_most)
