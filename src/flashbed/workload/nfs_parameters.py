# SPDX-License-Identifier: Apache-2.0
"""The parameters of an nfs workload. Must not know how the server and the load are started."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from flashbed.common.tomlfile import Problem
from flashbed.common.units import describe_size
from flashbed.workload.parameters import Count, ToolParameters

RULES_KB = 10_240
"""KB of files for each operation a second that the rules of SFS ask for."""

SMALLEST_SET_KB = 3_085
"""What the least file set takes: a hundred files (docs/sfsload.md)."""


class NfsParameters(ToolParameters):
    """A server and a load on it, which a link joins."""

    sized_by: ClassVar[str] = "load"

    load: Count = Field(ge=1, le=1_000_000, description="offered load, operations a second")
    server: Literal["kernel", "ganesha"] = Field(
        default="kernel", description="the kernel's server, or NFS-Ganesha, which runs in user mode"
    )
    version: Count = Field(default=3, ge=2, le=3, description="of NFS")
    transport: Literal["tcp", "udp"] = Field(default="tcp", description="what carries calls and replies")
    export: Literal["sync", "async"] = Field(
        default="sync",
        description="async: the kernel's server answers before what must be on the medium is there",
    )
    threads: Count = Field(default=8, ge=1, le=1024, description="threads of the kernel's server")
    cache: Literal["cold", "read"] = Field(
        default="cold",
        description="read: the server's machine has read each file before the load begins, as a long warm-up would",
    )
    link_mbit: Count = Field(default=1000, ge=1, le=100_000, description="bandwidth of the link, Mbit/s each way")
    latency_us: Count = Field(default=20, ge=0, le=1_000_000, description="latency of the link, one way, us")
    link_queue: Count = Field(default=1000, ge=1, le=1_000_000, description="frames that wait at an end of the link")
    set_kb: Count = Field(
        default=RULES_KB, ge=1, le=RULES_KB, description="KB of files for each operation a second; the rules: 10240"
    )
    warm_s: Count = Field(default=5, ge=1, le=3600, description="load before anything is measured, virtual s")
    time_s: Count = Field(default=10, ge=1, le=3600, description="load that is measured, virtual s")
    processes: Count = Field(default=4, ge=1, le=64, description="load processes")

    def problems(self) -> Iterator[Problem]:
        """Contradictions between parameters."""
        if self.server == "ganesha":
            if self.version == 2:
                yield Problem(("version",), '2 is not known to NFS-Ganesha; take 3, or server = "kernel"')
            if self.export == "async":
                yield Problem(("export",), '"async" is not known to NFS-Ganesha; take "sync", or server = "kernel"')

    def bytes_on_medium(self) -> int:
        """The file set, and half as much again for what the load appends and makes."""
        return max(self.load * self.set_kb, SMALLEST_SET_KB) * 1024 * 3 // 2

    def describe_bytes(self) -> str:
        return f"a file set for load = {self.load}, {describe_size(self.bytes_on_medium())} with what is appended,"
