# SPDX-License-Identifier: Apache-2.0
"""An NFS server and an SFS-style load on it, in one guest with two CPUs (docs/nfs.md): its parameters, its scripts, and
its metrics: sfsload's results; how busy server, load and link were; the memory that the kernel takes; and when the
server was ready.

The steps are in guest/nfs; this module says which of them run, with which numbers.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from flashbed.common import paths
from flashbed.common.tomlfile import Problem
from flashbed.common.units import KIB, describe_size
from flashbed.guest_output import cpu_load
from flashbed.guest_output.durability import Commits
from flashbed.guest_output.percentiles import PERCENTILES
from flashbed.workload.base import Count, Needs, Parameters, SinglePhase, ToolParameters, WorkloadOutputError

AROUND_FRAME_BYTES = 24
"""Preamble 8, checksum 4, gap 12 bytes (IEEE 802.3). The kernel does not count them, so the guest passes them
to netem.
"""

_RECEIVED, _SENT, _COLUMNS = 0, 8, 16
"""Columns of /proc/net/dev: received bytes, sent bytes, each with packets after them; and the number of columns."""


def busy_link_ns(before: str, after: str) -> float:
    """Return how long frames were on the wire, ns, for the busier direction. Raises ValueError."""
    (mbit, began), (_, ended) = _of_link(before), _of_link(after)
    passed = [last - first for first, last in zip(began, ended, strict=True)]
    on_wire = (passed[column] + AROUND_FRAME_BYTES * passed[column + 1] for column in (_RECEIVED, _SENT))
    return max(on_wire) * 8e3 / mbit


def _of_link(noted: str) -> tuple[int, list[int]]:
    """Return the link's speed in Mbit/s, and the counters of its end at the server."""
    speed, _, counters = noted.partition("\n")
    _, _, mbit = speed.partition("mbit ")
    _, _, numbers = counters.partition(":")
    totals = [int(number) for number in numbers.split()]
    if len(totals) != _COLUMNS:
        raise ValueError(f"the guest noted {len(totals)} counters of a link's end, not {_COLUMNS}")
    return int(mbit), totals


SFSLOAD_PREPARED, SFSLOAD_RESULT = "sfsload-prepare.json", "sfsload.json"
LINK_COUNTERS, KERNEL_MESSAGES, LOADED_MODULES = "link.txt", "dmesg.txt", "modules.txt"
PACKED = "kernel.packed"
"""The size in bytes of the kernel's image, compressed by gzip. The guest has it from /job."""
RECEIVED = "softnet.txt"
"""One line per CPU. Its first column is the number of received packets, hexadecimal."""
SNMP = {"server": "snmp.server.txt", "load": "snmp.load.txt"}
"""The network counters of each machine: pairs of lines with names and numbers."""
LOAD_NOT_REACHED = 5
"""sfsload's exit status if the load or its mix was not reached."""

SERVER_CPU, LOAD_CPU = 0, 1

_LINK_AT = ("link.load.begun", "link.load.ended")
"""The link's counters when the load began, and when it ended."""
_MOMENT = re.compile(r"\[ *(\d+\.\d+)\] flashbed: (\w+) (\d+)$", re.MULTILINE)
_INIT = re.compile(r"\[ *(\d+\.\d+)\] Run /init as init process", re.MULTILINE)
_MEMORY = re.compile(r"Memory: \d+K/(\d+)K available \((\d+)K kernel code, (\d+)K rwdata, (\d+)K rodata, (\d+)K init,")


def metrics_of(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return the metrics of the measured time. Times of calls are in us. Raises WorkloadOutputError."""
    report = _json(out)
    log = _text(out, KERNEL_MESSAGES)
    try:
        return {**_of_load(report), **_lost(out), **_busy(out), **_of_kernel(out, log), **_of_boot(log)}
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise WorkloadOutputError(f"what the guest noted beside {SFSLOAD_RESULT} cannot be read: {error!r}") from None


def commits_of(out: Mapping[str, bytes]) -> Commits:
    """Return the answered COMMIT calls; for a mix without them, the writes, which are then stable.

    Any number of calls may share a flush: a server gathers writes, and a COMMIT of a file without new data needs none.
    Raises WorkloadOutputError.
    """
    operations = _json(out).get("operations", {})
    calls = operations.get("commit", operations.get("write", {})).get("good", 0)
    return Commits(calls, max(1, calls))


def _json(out: Mapping[str, bytes]) -> Mapping[str, Any]:
    try:
        document = json.loads(out[SFSLOAD_RESULT])
    except KeyError:
        raise WorkloadOutputError(f"{SFSLOAD_RESULT} is missing: sfsload did not come to its end") from None
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("format") != 1:
        raise WorkloadOutputError(f"{SFSLOAD_RESULT} is not what sfsload writes")
    return document


def _text(out: Mapping[str, bytes], name: str) -> str:
    if name not in out:
        raise WorkloadOutputError(f"{name} is missing")
    return out[name].decode(errors="replace")


def _of_load(result: Mapping[str, Any]) -> dict[str, float]:
    settings, response, mix = result["settings"], result["response"], result["mix_test"]
    metrics_of = {
        "runtime_s": float(settings["measured_s"]),
        "warm_up_s": float(settings["warmup_s"]),
        "operations": float(result["achieved_ops_per_s"]),
        "offered_operations": float(result["scheduled_ops_per_s"]),
        "retransmissions": float(result["retransmissions"]),
    }
    if result["good"]:
        metrics_of |= {"latency_mean_us": response["mean_ns"] / 1e3, "latency_max_us": response["longest_ns"] / 1e3}
        metrics_of |= {f"latency_{name}_us": response[f"{name}_ns"] / 1e3 for name in PERCENTILES}
        metrics_of["late_sending_us"] = result["late_sending"]["mean_ns"] / 1e3
    for name, call in result.get("operations", {}).items():
        if call["good"]:
            metrics_of[f"{name.lower()}_call_us"] = call["mean_ns"] / 1e3
    if mix["tested"]:
        metrics_of["mix_off_percent"] = 100.0 * mix["statistic"] / mix["critical"]
    return metrics_of


def _lost(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return the datagrams lost since the boot, by machine: their socket's buffer was full, or they were incomplete."""
    lost = {}
    for machine, name in SNMP.items():
        names, numbers = (line.split()[1:] for line in _text(out, name).splitlines() if line.startswith("Udp: "))
        lost[f"{machine}_lost_datagrams"] = float(dict(zip(names, numbers, strict=True))["InErrors"])
    return lost


def _busy(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return how busy the server's CPU, the load's CPU and the link were. A run that ended before it was watched has
    none of them; older results do not have the link.
    """
    if not cpu_load.notes_load(out):
        return {}
    length_ns = cpu_load.length_ns(out, cpu_load.LOAD_WINDOW)
    busy = cpu_load.each_busy_ns(out, cpu_load.LOAD_WINDOW)
    shares: dict[str, float] = {"server_cpu_percent": busy[SERVER_CPU], "load_cpu_percent": busy[LOAD_CPU]}
    if set(_LINK_AT) <= set(out):
        before, after = (_text(out, name) for name in _LINK_AT)
        shares["busy_link_percent"] = busy_link_ns(before, after)
    return {name: min(100.0, 100.0 * ns / length_ns) for name, ns in shares.items()}


def _of_kernel(out: Mapping[str, bytes], log: str) -> dict[str, float]:
    """Return the RAM that the kernel takes and cannot free at once, without page cache and programs."""
    match = _MEMORY.search(log)
    if match is None:
        raise ValueError(f"{KERNEL_MESSAGES} does not tell the machine's memory")
    ram, *parts = (int(part) * KIB for part in match.groups())
    modules = sum(int(line.split()[1]) for line in _text(out, LOADED_MODULES).splitlines())
    metrics_of = {"kernel_bytes": float(sum(parts)), "modules_bytes": float(modules)}
    if PACKED in out:
        metrics_of["kernel_packed_bytes"] = float(_text(out, PACKED))
    for moment in ("booted", "serving", "loaded"):
        metrics_of[f"memory_{moment}_bytes"] = float(ram - _free(_text(out, f"meminfo.{moment}")))
    return metrics_of


def _free(meminfo: str) -> int:
    """Return the bytes that are free or reclaimable. Files in memory (Shmem) do not count as the kernel's."""
    kib = {line.split(":")[0]: int(line.split()[1]) for line in meminfo.splitlines() if ":" in line}
    return KIB * (kib["MemFree"] + kib["Buffers"] + kib["Cached"] + kib["SReclaimable"])


def _of_boot(log: str) -> dict[str, float]:
    """Return the virtual time from power-on to the first process, and the time to start the service after the link was
    up.
    """
    noted = {name: (float(stamp), int(ns) / 1e9) for stamp, name, ns in _MOMENT.findall(log)}
    init = _INIT.search(log)
    if init is None or not {"init", "linked", "serving"} <= set(noted):
        raise ValueError(f"{KERNEL_MESSAGES} does not have all moments of the start")
    stamp, since_power_on = noted["init"]
    return {
        "boot_s": float(init[1]) + since_power_on - stamp,
        "service_s": noted["serving"][1] - noted["linked"][1],
    }


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

NFS_MODULES = ("nfsd", "sch_netem", "veth")

SERVERS = {
    "kernel": Needs(("nfs-kernel-server", "rpcbind"), ("/sbin/rpcbind", "/usr/sbin/exportfs", "/usr/sbin/rpc.mountd")),
    "ganesha": Needs(
        ("nfs-ganesha", "nfs-ganesha-vfs", "rpcbind"),
        ("/sbin/rpcbind", "/usr/bin/ganesha.nfsd", "/usr/lib/aarch64-linux-gnu/ganesha/libfsalvfs.so"),
    ),
}
"""The packages, programs and modules of each server, by its name in a study."""

PREPARE_SCRIPT = f"""\
. /job/nfs
poweron init
memory_at booted
/lib/flashbed/insert tool && take_cpu && system_files && link_up || exit
poweron linked
start_portmapper && start_$SERVER_KIND || exit
poweron serving
memory_at serving
load --only prepare --output /out/{SFSLOAD_PREPARED} || exit
stop_$SERVER_KIND
"""

MEASURE_SCRIPT = f"""\
. /job/nfs
taskset -p $SERVER_CPU $$ >/dev/null
start_$SERVER_KIND || exit
[ "$CACHE" = cold ] || find /mnt/sfsload -type f -exec cat {{}} + >/dev/null || exit
begin
watch &
watcher=$!
load --only load --output /out/{SFSLOAD_RESULT}
status=$?
memory_at loaded
wait $watcher
/sbin/tc -s qdisc show dev server >/out/{LINK_COUNTERS}
/bin/ip netns exec load /sbin/tc -s qdisc show dev client >>/out/{LINK_COUNTERS}
cat /proc/net/softnet_stat >/out/{RECEIVED}
cat /proc/net/snmp >/out/{SNMP["server"]}
cp /job/{PACKED} /out/
/bin/ip netns exec load cat /proc/net/snmp >/out/{SNMP["load"]}
cat /proc/modules >/out/{LOADED_MODULES}
dmesg >/out/{KERNEL_MESSAGES}
stop_$SERVER_KIND
[ $status = {LOAD_NOT_REACHED} ] || exit $status
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
        return Needs(LINK.packages + server.packages, LINK.programs + server.programs, modules=NFS_MODULES)

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
            "AROUND_FRAME": AROUND_FRAME_BYTES,
            "WARMUP_S": parsed.warm_s,
            "TIME_S": parsed.time_s,
            "LOAD": " ".join(f"{name} {value}" for name, value in options.items()),
        }
        assignments = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in variables.items())
        return {
            "nfs": (paths.guest() / "nfs").read_bytes(),
            "nfs.env": assignments.encode(),
            "prepare": PREPARE_SCRIPT.encode(),
            "measure": MEASURE_SCRIPT.encode(),
        }

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        return metrics_of(out)

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        return commits_of(out)

    def silent(self, parameters: Parameters) -> str:
        return "sfsload offers a load at an even rate, and tells none over time"
