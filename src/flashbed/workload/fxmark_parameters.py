# SPDX-License-Identifier: Apache-2.0
"""The parameters of an fxmark workload. Must not know how our program is called or what it prints."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, WithJsonSchema

from flashbed.common.size_field import Size
from flashbed.common.tomlfile import Problem
from flashbed.common.units import describe_size
from flashbed.workload.parameters import Count, FileParameters, Switch, not_in_sectors, some_of

SHARED_FILE = ("read-shared-file", "read-shared-block", "overwrite-shared-file", "random")
"""Tests on the file that all processes share."""

DATA = ("read-private", "overwrite-private", "append-private", *SHARED_FILE)
"""Tests that move blocks."""

WITH_WRITERS = ("read-shared-file", "read-shared-block", "random")

READING = ("read-private", *WITH_WRITERS)
"""Tests whose processes read, but for the writers among them."""

TESTS = (
    "read-private",
    "read-shared-file",
    "read-shared-block",
    "overwrite-private",
    "overwrite-shared-file",
    "append-private",
    "create-private",
    "create-shared",
    "rename-private",
    "rename-shared",
    "unlink-private",
    "unlink-shared",
    "random",
)
"""In the order in which they run. The first twelve are FxMark's DRBL, DRBM, DRBH, DWOL, DWOM, DWAL, MWCL, MWCM, MWRL,
MWRM, MWUL and MWUM (Min et al., USENIX ATC 2016, table 1).
"""


Tests = Annotated[tuple[str, ...], some_of(TESTS), WithJsonSchema({"type": "string"})]


class FxmarkParameters(FileParameters):
    """Processes that do the same at the same time, each on a CPU of its own; sizes in bytes."""

    file: Size = Field(gt=0, description="size of the file that all processes share, bytes")
    processes: Count = Field(default=1, ge=1, le=256, description="processes at the same time, each on its own CPU")
    tests: Tests = Field(
        default=TESTS[:-1],
        description="what they do, one test after another, with commas between: read or overwrite a block of a private "
        "file or a shared one, all the same block of a shared file, append to private files; create, rename and "
        "unlink files in private folders or in a shared one; random: any block of the shared file",
    )
    block: Size = Field(default=4096, ge=512, le=1 << 20, description="what is read or written at a time, bytes")
    direct: Switch = Field(default=False, description="past the page cache (O_DIRECT)")
    writers: Count = Field(
        default=0, ge=0, description="so many of the processes write where the others read a shared file"
    )
    queue_depth: Count = Field(
        default=1, ge=1, le=1024, description="requests that each process of random has under way at a time"
    )
    warm_us: Count = Field(default=1000, ge=0, description="how long a test runs before it counts, virtual us")
    run_us: Count = Field(default=10000, ge=100, description="how long it counts, virtual us")
    pool: Count = Field(
        default=200, ge=1, description="files that each process can unlink; who has none left ends the test for all"
    )

    def problems(self) -> Iterator[Problem]:
        """Contradictions between parameters."""
        shared = [test for test in self.tests if test in SHARED_FILE]
        if shared and self.file < self.processes * self.block:
            yield Problem(
                ("file",),
                f"{describe_size(self.file)} has no block of {describe_size(self.block)} for each of {self.processes} "
                f"processes, as {shared[0]} wants",
            )
        if self.direct:
            yield from not_in_sectors("block", self.block)
            if deaf := [test for test in self.tests if test not in DATA]:
                yield Problem(("direct",), f"true means nothing to {deaf[0]}, which moves no blocks")
        if self.queue_depth > 1 and (not self.direct or self.tests != ("random",)):
            yield Problem(("queue_depth",), f'{self.queue_depth} needs direct = true and tests = "random" alone')
        if self.writers > self.processes:
            yield Problem(("writers",), f"{self.writers} are more than processes = {self.processes}")
        if self.writers and not set(self.tests) & set(WITH_WRITERS):
            yield Problem(("writers",), f"need one of the tests {', '.join(WITH_WRITERS)}")

    def bytes_on_medium(self) -> int:
        """The shared file and a block of each process; what appending takes depends on how far it comes."""
        return self.file + self.processes * self.block

    def describe_bytes(self) -> str:
        return f"file = {describe_size(self.file)}"
