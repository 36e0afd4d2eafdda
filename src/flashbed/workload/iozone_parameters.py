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
