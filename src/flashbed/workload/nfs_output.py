# SPDX-License-Identifier: Apache-2.0
"""What a guest of the workload nfs leaves, and the metrics in it: what sfsload measured, how busy server, load and the
link between them were meanwhile, what the kernel takes, and when the server was ready.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from flashbed.guest_output import cpu_load
from flashbed.guest_output.durability import Commits
from flashbed.workload.base import WorkloadOutputError

AROUND_FRAME_BYTES = 24
"""Preamble 8, check sum 4, gap 12 (IEEE 802.3), which the kernel does not count: the guest tells netem."""

_RECEIVED, _SENT, _COLUMNS = 0, 8, 16
"""Columns of /proc/net/dev: bytes, with packets behind; and how many there are."""


def busy_link_ns(before: str, after: str) -> float:
    """The time that frames took on the wire, ns: of the two directions the busier one's. Raises ValueError."""
    (mbit, began), (_, ended) = _of_link(before), _of_link(after)
    passed = [last - first for first, last in zip(began, ended, strict=True)]
    on_wire = (passed[column] + AROUND_FRAME_BYTES * passed[column + 1] for column in (_RECEIVED, _SENT))
    return max(on_wire) * 8e3 / mbit


def _of_link(noted: str) -> tuple[int, list[int]]:
    """The link's speed in Mbit/s, and the counters of its end at the server."""
    speed, _, counters = noted.partition("\n")
    _, _, mbit = speed.partition("mbit ")
    _, _, numbers = counters.partition(":")
    found = [int(number) for number in numbers.split()]
    if len(found) != _COLUMNS:
        raise ValueError(f"{len(found)} counters of a link's end")
    return int(mbit), found


PREPARED, RESULT = "sfsload-prepare.json", "sfsload.json"
LINK, LOG, MODULES = "link.txt", "dmesg.txt", "modules.txt"
PACKED = "kernel.packed"
"""Bytes of the kernel's image, packed by gzip; the guest has it from /job."""
RECEIVED = "softnet.txt"
"""A line a CPU: in its first column how many packets it has received, hexadecimal."""
SNMP = {"server": "snmp.server.txt", "load": "snmp.load.txt"}
"""By machine: the counters of its network, pairs of lines with names and numbers."""
BEHIND = 5
"""sfsload's exit status where the load or its mix was not met."""

PERCENTILES = ("p50", "p95", "p99")
SERVER_CPU, LOAD_CPU = 0, 1

_LINK_AT = ("link.load.begun", "link.load.ended")
"""What had passed over the link when the load began, and ended."""
_MOMENT = re.compile(r"\[ *(\d+\.\d+)\] flashbed: (\w+) (\d+)$", re.MULTILINE)
_INIT = re.compile(r"\[ *(\d+\.\d+)\] Run /init as init process", re.MULTILINE)
_MEMORY = re.compile(r"Memory: \d+K/(\d+)K available \((\d+)K kernel code, (\d+)K rwdata, (\d+)K rodata, (\d+)K init,")
_KIB = 1024


def metrics(out: Mapping[str, bytes]) -> dict[str, float]:
    """Of the time that was measured; times of calls in us. Raises WorkloadOutputError."""
    said = _json(out)
    log = _text(out, LOG)
    try:
        return {**_of_load(said), **_lost(out), **_busy(out), **_of_kernel(out, log), **_of_boot(log)}
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise WorkloadOutputError(f"what the guest noted beside {RESULT} cannot be read: {error!r}") from None


def commits(out: Mapping[str, bytes]) -> Commits:
    """The COMMIT calls that were answered; of a mix without them, the writes, which are stable. Any number may share a
    flush: a server gathers writes, and a COMMIT of a file that nobody wrote needs none. Raises WorkloadOutputError.
    """
    operations = _json(out).get("operations", {})
    asked = operations.get("commit", operations.get("write", {})).get("good", 0)
    return Commits(asked, max(1, asked))


def _json(out: Mapping[str, bytes]) -> Mapping[str, Any]:
    try:
        said = json.loads(out[RESULT])
    except KeyError:
        raise WorkloadOutputError(f"{RESULT} is missing: sfsload did not come to its end") from None
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("format") != 1:
        raise WorkloadOutputError(f"{RESULT} is not what sfsload writes")
    return said


def _text(out: Mapping[str, bytes], name: str) -> str:
    if name not in out:
        raise WorkloadOutputError(f"{name} is missing")
    return out[name].decode(errors="replace")


def _of_load(said: Mapping[str, Any]) -> dict[str, float]:
    settings, response, mix = said["settings"], said["response"], said["mix_test"]
    found = {
        "runtime_s": float(settings["measured_s"]),
        "warm_up_s": float(settings["warmup_s"]),
        "operations": float(said["achieved_ops_per_s"]),
        "offered_operations": float(said["scheduled_ops_per_s"]),
        "retransmissions": float(said["retransmissions"]),
    }
    if said["good"]:
        found |= {"latency_mean_us": response["mean_ns"] / 1e3, "latency_max_us": response["longest_ns"] / 1e3}
        found |= {f"latency_{name}_us": response[f"{name}_ns"] / 1e3 for name in PERCENTILES}
        found["late_sending_us"] = said["late_sending"]["mean_ns"] / 1e3
    for name, call in said.get("operations", {}).items():
        if call["good"]:
            found[f"{name.lower()}_call_us"] = call["mean_ns"] / 1e3
    if mix["tested"]:
        found["mix_off_percent"] = 100.0 * mix["statistic"] / mix["critical"]
    return found


def _lost(out: Mapping[str, bytes]) -> dict[str, float]:
    """Datagrams that came, and found their socket's buffer full or were not whole: by who lost them, since the boot."""
    found = {}
    for machine, name in SNMP.items():
        names, numbers = (line.split()[1:] for line in _text(out, name).splitlines() if line.startswith("Udp: "))
        found[f"{machine}_lost_datagrams"] = float(dict(zip(names, numbers, strict=True))["InErrors"])
    return found


def _busy(out: Mapping[str, bytes]) -> dict[str, float]:
    """How busy the server's CPU, the load's and the link were; not told of a run that ended before what was to be
    watched, and of the link not by results of before.
    """
    if not cpu_load.notes_load(out):
        return {}
    length_ns = cpu_load.length_ns(out, cpu_load.LOAD)
    busy = cpu_load.each_busy_ns(out, cpu_load.LOAD)
    shares: dict[str, float] = {"server_cpu_percent": busy[SERVER_CPU], "load_cpu_percent": busy[LOAD_CPU]}
    if set(_LINK_AT) <= set(out):
        begun, done = (_text(out, name) for name in _LINK_AT)
        shares["busy_link_percent"] = busy_link_ns(begun, done)
    return {name: min(100.0, 100.0 * ns / length_ns) for name, ns in shares.items()}


def _of_kernel(out: Mapping[str, bytes], log: str) -> dict[str, float]:
    """What of the RAM is the kernel and cannot be given away at once, page cache and programs in memory left out."""
    match = _MEMORY.search(log)
    if match is None:
        raise ValueError(f"{LOG} does not tell the machine's memory")
    ram, *parts = (int(part) * _KIB for part in match.groups())
    modules = sum(int(line.split()[1]) for line in _text(out, MODULES).splitlines())
    found = {"kernel_bytes": float(sum(parts)), "modules_bytes": float(modules)}
    if PACKED in out:
        found["kernel_packed_bytes"] = float(_text(out, PACKED))
    for moment in ("booted", "serving", "loaded"):
        found[f"memory_{moment}_bytes"] = float(ram - _free(_text(out, f"meminfo.{moment}")))
    return found


def _free(meminfo: str) -> int:
    """Free, or what is given away when it is wanted: bytes. Files in memory (Shmem) are not the kernel's doing."""
    kib = {line.split(":")[0]: int(line.split()[1]) for line in meminfo.splitlines() if ":" in line}
    return _KIB * (kib["MemFree"] + kib["Buffers"] + kib["Cached"] + kib["SReclaimable"])


def _of_boot(log: str) -> dict[str, float]:
    """Virtual time from power-on to the first process, and what the service took to start behind the link."""
    noted = {name: (float(stamp), int(ns) / 1e9) for stamp, name, ns in _MOMENT.findall(log)}
    init = _INIT.search(log)
    if init is None or not {"init", "linked", "serving"} <= set(noted):
        raise ValueError(f"{LOG} does not have all moments of the start")
    stamp, since_power_on = noted["init"]
    return {
        "boot_s": float(init[1]) + since_power_on - stamp,
        "service_s": noted["serving"][1] - noted["linked"][1],
    }
