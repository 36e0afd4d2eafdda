# SPDX-License-Identifier: Apache-2.0
"""Compute the metrics of the workload nfs from a guest's output: sfsload's results; how busy server, load and link
were; the memory that the kernel takes; and when the server was ready.
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
        raise ValueError(f"{len(totals)} counters of a link's end")
    return int(mbit), totals


PREPARED, RESULT = "sfsload-prepare.json", "sfsload.json"
LINK, LOG, MODULES = "link.txt", "dmesg.txt", "modules.txt"
PACKED = "kernel.packed"
"""The size in bytes of the kernel's image, compressed by gzip. The guest has it from /job."""
RECEIVED = "softnet.txt"
"""One line per CPU. Its first column is the number of received packets, hexadecimal."""
SNMP = {"server": "snmp.server.txt", "load": "snmp.load.txt"}
"""The network counters of each machine: pairs of lines with names and numbers."""
BEHIND = 5
"""sfsload's exit status if the load or its mix was not reached."""

PERCENTILES = ("p50", "p95", "p99")
SERVER_CPU, LOAD_CPU = 0, 1

_LINK_AT = ("link.load.begun", "link.load.ended")
"""The link's counters when the load began, and when it ended."""
_MOMENT = re.compile(r"\[ *(\d+\.\d+)\] flashbed: (\w+) (\d+)$", re.MULTILINE)
_INIT = re.compile(r"\[ *(\d+\.\d+)\] Run /init as init process", re.MULTILINE)
_MEMORY = re.compile(r"Memory: \d+K/(\d+)K available \((\d+)K kernel code, (\d+)K rwdata, (\d+)K rodata, (\d+)K init,")
_KIB = 1024


def metrics(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return the metrics of the measured time. Times of calls are in us. Raises WorkloadOutputError."""
    report = _json(out)
    log = _text(out, LOG)
    try:
        return {**_of_load(report), **_lost(out), **_busy(out), **_of_kernel(out, log), **_of_boot(log)}
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise WorkloadOutputError(f"what the guest noted beside {RESULT} cannot be read: {error!r}") from None


def commits(out: Mapping[str, bytes]) -> Commits:
    """Return the answered COMMIT calls; for a mix without them, the writes, which are then stable.

    Any number of calls may share a flush: a server gathers writes, and a COMMIT of a file without new data needs none.
    Raises WorkloadOutputError.
    """
    operations = _json(out).get("operations", {})
    calls = operations.get("commit", operations.get("write", {})).get("good", 0)
    return Commits(calls, max(1, calls))


def _json(out: Mapping[str, bytes]) -> Mapping[str, Any]:
    try:
        document = json.loads(out[RESULT])
    except KeyError:
        raise WorkloadOutputError(f"{RESULT} is missing: sfsload did not come to its end") from None
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("format") != 1:
        raise WorkloadOutputError(f"{RESULT} is not what sfsload writes")
    return document


def _text(out: Mapping[str, bytes], name: str) -> str:
    if name not in out:
        raise WorkloadOutputError(f"{name} is missing")
    return out[name].decode(errors="replace")


def _of_load(result: Mapping[str, Any]) -> dict[str, float]:
    settings, response, mix = result["settings"], result["response"], result["mix_test"]
    metrics = {
        "runtime_s": float(settings["measured_s"]),
        "warm_up_s": float(settings["warmup_s"]),
        "operations": float(result["achieved_ops_per_s"]),
        "offered_operations": float(result["scheduled_ops_per_s"]),
        "retransmissions": float(result["retransmissions"]),
    }
    if result["good"]:
        metrics |= {"latency_mean_us": response["mean_ns"] / 1e3, "latency_max_us": response["longest_ns"] / 1e3}
        metrics |= {f"latency_{name}_us": response[f"{name}_ns"] / 1e3 for name in PERCENTILES}
        metrics["late_sending_us"] = result["late_sending"]["mean_ns"] / 1e3
    for name, call in result.get("operations", {}).items():
        if call["good"]:
            metrics[f"{name.lower()}_call_us"] = call["mean_ns"] / 1e3
    if mix["tested"]:
        metrics["mix_off_percent"] = 100.0 * mix["statistic"] / mix["critical"]
    return metrics


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
    length_ns = cpu_load.length_ns(out, cpu_load.LOAD)
    busy = cpu_load.each_busy_ns(out, cpu_load.LOAD)
    shares: dict[str, float] = {"server_cpu_percent": busy[SERVER_CPU], "load_cpu_percent": busy[LOAD_CPU]}
    if set(_LINK_AT) <= set(out):
        before, after = (_text(out, name) for name in _LINK_AT)
        shares["busy_link_percent"] = busy_link_ns(before, after)
    return {name: min(100.0, 100.0 * ns / length_ns) for name, ns in shares.items()}


def _of_kernel(out: Mapping[str, bytes], log: str) -> dict[str, float]:
    """Return the RAM that the kernel takes and cannot free at once, without page cache and programs."""
    match = _MEMORY.search(log)
    if match is None:
        raise ValueError(f"{LOG} does not tell the machine's memory")
    ram, *parts = (int(part) * _KIB for part in match.groups())
    modules = sum(int(line.split()[1]) for line in _text(out, MODULES).splitlines())
    metrics = {"kernel_bytes": float(sum(parts)), "modules_bytes": float(modules)}
    if PACKED in out:
        metrics["kernel_packed_bytes"] = float(_text(out, PACKED))
    for moment in ("booted", "serving", "loaded"):
        metrics[f"memory_{moment}_bytes"] = float(ram - _free(_text(out, f"meminfo.{moment}")))
    return metrics


def _free(meminfo: str) -> int:
    """Return the bytes that are free or reclaimable. Files in memory (Shmem) do not count as the kernel's."""
    kib = {line.split(":")[0]: int(line.split()[1]) for line in meminfo.splitlines() if ":" in line}
    return _KIB * (kib["MemFree"] + kib["Buffers"] + kib["Cached"] + kib["SReclaimable"])


def _of_boot(log: str) -> dict[str, float]:
    """Return the virtual time from power-on to the first process, and the time to start the service after the link was
    up.
    """
    noted = {name: (float(stamp), int(ns) / 1e9) for stamp, name, ns in _MOMENT.findall(log)}
    init = _INIT.search(log)
    if init is None or not {"init", "linked", "serving"} <= set(noted):
        raise ValueError(f"{LOG} does not have all moments of the start")
    stamp, since_power_on = noted["init"]
    return {
        "boot_s": float(init[1]) + since_power_on - stamp,
        "service_s": noted["serving"][1] - noted["linked"][1],
    }
