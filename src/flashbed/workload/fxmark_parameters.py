# SPDX-License-Identifier: Apache-2.0
"""The parameters of an fxmark workload. Must not know how our program is called or what it prints."""

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

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


ANY_CPU = "any"

_CPUS = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3})(?::([0-9]{1,3}))?)?")


def _every_cpu(value: Any) -> Any:
    """Each CPU of a list in taskset's words, in its order, with commas between: "0-119:15,1" is 0, 15 ... 105, 1."""
    if not isinstance(value, str) or value in ("", ANY_CPU):
        return value
    cpus: list[int] = []
    for part in value.split(","):
        found = _CPUS.fullmatch(part.strip())
        if found is None or found[3] == "0" or (found[2] and int(found[2]) < int(found[1])):
            raise ValueError(f'must be "{ANY_CPU}" or CPUs as in "0-14" or "0-119:15,1", not "{value}"')
        cpus += range(int(found[1]), int(found[2] or found[1]) + 1, int(found[3] or 1))
    if len({*cpus}) < len(cpus):
        raise ValueError(f'"{value}" names a CPU twice')
    return ",".join(map(str, cpus))


CpuList = Annotated[str, BeforeValidator(_every_cpu), WithJsonSchema({"type": "string"})]

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
    cpu_list: CpuList = Field(
        default="",
        description='the CPU of each process, one after the other, in the words of taskset: "0-14", "0-119:15,1"; any: '
        "bound to none; absent: process i to CPU i",
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
        if self.cpu_list not in ("", ANY_CPU) and (named := self.cpu_list.count(",") + 1) < self.processes:
            yield Problem(("cpu_list",), f"names {named} CPUs for processes = {self.processes}")
        if self.writers > self.processes:
            yield Problem(("writers",), f"{self.writers} are more than processes = {self.processes}")
        if self.writers and not set(self.tests) & set(WITH_WRITERS):
            yield Problem(("writers",), f"need one of the tests {', '.join(WITH_WRITERS)}")

    def bytes_on_medium(self) -> int:
        """The shared file and a block of each process; what appending takes depends on how far it comes."""
        return self.file + self.processes * self.block

    def describe_bytes(self) -> str:
        return f"file = {describe_size(self.file)}"
