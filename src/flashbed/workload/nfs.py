# SPDX-License-Identifier: Apache-2.0
"""An NFS server and an SFS-style load on it, in one guest with two CPUs (docs/nfs.md): its parameters and scripts.

The steps are in guest/nfs; this module says which of them run, with which numbers. Must not know what the guest prints.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from pydantic import Field

from flashbed.common import paths
from flashbed.common.tomlfile import Problem
from flashbed.common.units import describe_size
from flashbed.guest_output.durability import Commits
from flashbed.workload import nfs_output
from flashbed.workload.base import Count, Needs, Parameters, SinglePhase, ToolParameters

RULES_KB = 10_240
"""KB of files per operation per second, by the rules of SFS."""

SMALLEST_SET_KB = 3_085
"""KB of the smallest file set: a hundred files (docs/sfsload.md)."""


class NfsParameters(ToolParameters):
    """A server, a load on it, and the link between them."""

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
        """Yield contradictions between parameters."""
        if self.server == "ganesha":
            if self.version == 2:
                yield Problem(("version",), '2 is not known to NFS-Ganesha; take 3, or server = "kernel"')
            if self.export == "async":
                yield Problem(("export",), '"async" is not known to NFS-Ganesha; take "sync", or server = "kernel"')

    def bytes_on_medium(self) -> int:
        """Return the size of the file set, and half as much again for files that the load appends to and makes."""
        return max(self.load * self.set_kb, SMALLEST_SET_KB) * 1024 * 3 // 2

    def describe_bytes(self) -> str:
        return f"a file set for load = {self.load}, {describe_size(self.bytes_on_medium())} with what is appended,"


LINK = Needs(("ethtool", "iproute2"), ("/bin/ip", "/sbin/ethtool", "/sbin/tc"))

MODULES = ("nfsd", "sch_netem", "veth")

SERVERS = {
    "kernel": Needs(("nfs-kernel-server", "rpcbind"), ("/sbin/rpcbind", "/usr/sbin/exportfs", "/usr/sbin/rpc.mountd")),
    "ganesha": Needs(
        ("nfs-ganesha", "nfs-ganesha-vfs", "rpcbind"),
        ("/sbin/rpcbind", "/usr/bin/ganesha.nfsd", "/usr/lib/aarch64-linux-gnu/ganesha/libfsalvfs.so"),
    ),
}
"""The packages, programs and modules of each server, by its name in a study."""

PREPARE = f"""\
. /job/nfs
poweron init
memory_at booted
/lib/flashbed/insert tool && take_cpu && system_files && link_up || exit
poweron linked
start_portmapper && start_$SERVER_KIND || exit
poweron serving
memory_at serving
load --only prepare --output /out/{nfs_output.PREPARED} || exit
stop_$SERVER_KIND
"""

MEASURE = f"""\
. /job/nfs
taskset -p $SERVER_CPU $$ >/dev/null
start_$SERVER_KIND || exit
[ "$CACHE" = cold ] || find /mnt/sfsload -type f -exec cat {{}} + >/dev/null || exit
begin
watch &
watcher=$!
load --only load --output /out/{nfs_output.RESULT}
status=$?
memory_at loaded
wait $watcher
/sbin/tc -s qdisc show dev server >/out/{nfs_output.LINK}
/bin/ip netns exec load /sbin/tc -s qdisc show dev client >>/out/{nfs_output.LINK}
cat /proc/net/softnet_stat >/out/{nfs_output.RECEIVED}
cat /proc/net/snmp >/out/{nfs_output.SNMP["server"]}
cp /job/{nfs_output.PACKED} /out/
/bin/ip netns exec load cat /proc/net/snmp >/out/{nfs_output.SNMP["load"]}
cat /proc/modules >/out/{nfs_output.MODULES}
dmesg >/out/{nfs_output.LOG}
stop_$SERVER_KIND
[ $status = {nfs_output.BEHIND} ] || exit $status
"""
"""A load that the server cannot meet is a point of the curve, too."""


class Nfs(SinglePhase):
    """The workload `nfs`."""

    parameters: type[ToolParameters] = NfsParameters
    built: tuple[str, ...] = ("poweron", "sfsload")
    begins_with: tuple[str, ...] = ("nfs", "nfs.env")
    own_files: tuple[str, ...] = ()

    def needs(self, parameters: Parameters) -> Needs:
        server = SERVERS[str(parameters["server"])]
        return Needs(LINK.packages + server.packages, LINK.programs + server.programs, modules=MODULES)

    def title(self, parameters: Parameters) -> str:
        return "sfsload, an SFS-style load (no SPEC result)"

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        return ("operations", "latency_mean_us")

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        parsed = NfsParameters.model_validate(dict(parameters))
        options = {
            "--load": parsed.load,
            "--processes": parsed.processes,
            "--seed": seed,
            "--warmup": parsed.warm_s,
            "--time": parsed.time_s,
            "--scale": f"{parsed.set_kb / RULES_KB:.6f}",
        }
        variables = {
            "SERVER_KIND": parsed.server,
            "VERSION": parsed.version,
            "TRANSPORT": parsed.transport,
            "EXPORT": parsed.export,
            "THREADS": parsed.threads,
            "CACHE": parsed.cache,
            "LINK_MBIT": parsed.link_mbit,
            "LATENCY_US": parsed.latency_us,
            "QUEUE": parsed.link_queue,
            "AROUND_FRAME": nfs_output.AROUND_FRAME_BYTES,
            "WARMUP_S": parsed.warm_s,
            "TIME_S": parsed.time_s,
            "LOAD": " ".join(f"{name} {value}" for name, value in options.items()),
        }
        assignments = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in variables.items())
        return {
            "nfs": (paths.guest() / "nfs").read_bytes(),
            "nfs.env": assignments.encode(),
            "prepare": PREPARE.encode(),
            "measure": MEASURE.encode(),
        }

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        return nfs_output.metrics(out)

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        return nfs_output.commits(out)

    def silent(self, parameters: Parameters) -> str:
        return "sfsload offers a load at an even rate, and tells none over time"
