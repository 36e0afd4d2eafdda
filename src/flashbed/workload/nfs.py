# SPDX-License-Identifier: Apache-2.0
"""An NFS server and an SFS-style load on it, in one guest with two CPUs: docs/nfs.md.

guest/nfs has the steps; what is said here is which of them, and with what numbers.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from flashbed.common import paths
from flashbed.guest_output.durability import Commits
from flashbed.workload import nfs_link, nfs_output
from flashbed.workload.base import Needs, OfCalls, Parameters
from flashbed.workload.nfs_parameters import RULES_KB, NfsParameters
from flashbed.workload.parameters import ToolParameters

LINK = Needs(("ethtool", "iproute2"), ("/bin/ip", "/sbin/ethtool", "/sbin/tc"))

MODULES = ("nfsd", "sch_netem", "veth")

SERVERS = {
    "kernel": Needs(("nfs-kernel-server", "rpcbind"), ("/sbin/rpcbind", "/usr/sbin/exportfs", "/usr/sbin/rpc.mountd")),
    "ganesha": Needs(
        ("nfs-ganesha", "nfs-ganesha-vfs", "rpcbind"),
        ("/sbin/rpcbind", "/usr/bin/ganesha.nfsd", "/usr/lib/aarch64-linux-gnu/ganesha/libfsalvfs.so"),
    ),
}
"""What a server is made of, by its name in a study."""

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


class Nfs(OfCalls):
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

    def headline(self, said: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        return ("operations", "latency_mean_us")

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        said = NfsParameters.model_validate(dict(parameters))
        options = {
            "--load": said.load,
            "--processes": said.processes,
            "--seed": seed,
            "--warmup": said.warm_s,
            "--time": said.time_s,
            "--scale": f"{said.set_kb / RULES_KB:.6f}",
        }
        variables = {
            "SERVER_KIND": said.server,
            "VERSION": said.version,
            "TRANSPORT": said.transport,
            "EXPORT": said.export,
            "THREADS": said.threads,
            "CACHE": said.cache,
            "LINK_MBIT": said.link_mbit,
            "LATENCY_US": said.latency_us,
            "QUEUE": said.link_queue,
            "AROUND_FRAME": nfs_link.AROUND_FRAME_BYTES,
            "WARMUP_S": said.warm_s,
            "TIME_S": said.time_s,
            "LOAD": " ".join(f"{name} {value}" for name, value in options.items()),
        }
        told = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in variables.items())
        return {
            "nfs": (paths.guest() / "nfs").read_bytes(),
            "nfs.env": told.encode(),
            "prepare": PREPARE.encode(),
            "measure": MEASURE.encode(),
        }

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        return nfs_output.metrics(out)

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        return nfs_output.commits(out)

    def silent(self, parameters: Parameters) -> str:
        return "sfsload offers a load at an even rate, and tells none over time"
