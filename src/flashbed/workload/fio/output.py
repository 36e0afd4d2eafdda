# SPDX-License-Identifier: Apache-2.0
"""What fio left behind, read: its JSON, and the logs of calls and of bandwidth beside it.

The JSON comes from a guest or from another computer. Nobody trusts either, so each count is held to what fio can have
written before anything is reckoned with it. Must not know how a job is written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import Any

from flashbed.common.tomlfile import shown
from flashbed.guest_output import steadiness
from flashbed.guest_output.durability import Commits
from flashbed.guest_output.steadiness import Series
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fio import latency, series
from flashbed.workload.fio.jobs import BLOCKING_ENGINES, DEFAULT_ENGINE, FLUSHED_EACH, OUTPUT, OWN_RATE_MS

_BEGIN = re.compile(rb"^\{", re.MULTILINE)

NONE = "is not what fio writes with --output-format=json"

LARGEST = 2**63 - 1
"""fio counts in 64 bits."""

LARGEST_REQUEST = 2**32 - 1
"""In bytes; fio's block sizes have 32 bits."""

MOST_BYTES_A_MS = 10**10
"""10 TB/s: some ten times the memory bandwidth of the fastest servers of 2025."""

_COUNTS = ("total_ios", "io_bytes", "runtime", "job_runtime", "N", "min", "max", "mean", "usr_cpu", "sys_cpu")
_WHOLE = ("total_ios", "io_bytes", "runtime", "job_runtime", "N")
_OPTIONS = ("global options", "job options")
"""What jobs were told: texts, some under the names of counts (runtime)."""
_BINS = ("bins", "percentile")


def json_part(output: bytes) -> bytes:
    """The JSON of fio's output: before it fio says what it runs for a job (exec_prerun)."""
    found = _BEGIN.search(output)
    return output[found.start() :] if found else output


def read_json(data: bytes) -> dict[str, Any]:
    """The document in what fio wrote. Raises WorkloadOutputError for no JSON object, or a count that none can be."""
    try:
        document = json.loads(json_part(data))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise WorkloadOutputError(NONE)
    for way, value, whole in _counts(document):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise WorkloadOutputError(f"{way} is no number, and fio always writes one there")
        if whole and isinstance(value, float):
            raise WorkloadOutputError(f"{way} = {shown(value)}: fio counts in whole numbers there")
        if not 0 <= value <= LARGEST:  # nor NaN
            raise WorkloadOutputError(f"{way} = {shown(value)}: fio cannot have counted that")
    for way, moved in _transfers(document):
        if why := _impossible(moved.get("io_bytes", 0), moved.get("total_ios", 0), moved.get("runtime", 0)):
            raise WorkloadOutputError(f"{way}: {why}")
        times = moved.get("lat_ns")
        if isinstance(times, dict) and times.get("min", 0) > times.get("max", LARGEST):
            raise WorkloadOutputError(f"{way}.lat_ns: its min is above its max")
    return document


def _impossible(moved_bytes: int, requests: int, runtime_ms: int) -> str:
    """Why no job can have moved so much; "" if one can."""
    if moved_bytes > requests * LARGEST_REQUEST:
        return f"{moved_bytes} bytes in {requests} requests, and fio's largest has {LARGEST_REQUEST}"
    if runtime_ms and max(moved_bytes, requests) > runtime_ms * MOST_BYTES_A_MS:
        return f"{moved_bytes} bytes in {requests} requests in {runtime_ms} ms, and no computer is as fast"
    return ""


def _transfers(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What each job read, wrote and discarded, with the way to it."""
    jobs = document.get("jobs")
    for number, job in enumerate(jobs if isinstance(jobs, list) else ()):
        for direction in ("read", "write", "trim") if isinstance(job, dict) else ():
            if isinstance(job.get(direction), dict):
                yield f"jobs[{number}].{direction}", job[direction]


def _counts(document: dict[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Each count that metrics are made of: how to find it, the count, and whether fio has whole numbers only there."""
    left: list[tuple[str, Any]] = [("", document)]
    while left:
        way, value = left.pop()
        if isinstance(value, list):
            left += [(f"{way}[{index}]", inner) for index, inner in enumerate(value)]
        elif isinstance(value, dict):
            for key, inner in value.items():
                here = f"{way}.{key}" if way else key
                if key in _OPTIONS:
                    continue
                if key in _BINS and isinstance(inner, dict):
                    yield from ((f"{here}.{name}", count, key == "bins") for name, count in inner.items())
                elif key in _COUNTS:
                    yield here, inner, key in _WHOLE
                else:
                    left.append((here, inner))


DIRECTIONS = ("read", "write")

AT_THE_END = ("end_fsync", "fsync_on_close")
"""Options by which each process flushes once, when it is done."""

BACKGROUND = "background"
"""How the name of a job begins that makes load and is not measured."""


def metrics_of(out: Mapping[str, bytes], name: str) -> dict[str, float]:
    """Bandwidth in MiB/s over fio's own run time (1 ms steps), requests a second, latencies in microseconds; of all
    jobs together that are not background. What was written is of all jobs: the medium wears by each of them.

    A latency is what the program waits, from the moment at which it has a request to hand in. A flush is waited for
    like a request, and counts as one; but in a job that says FLUSHED_EACH a request lasts until it is flushed. A commit
    is the writes between two flushes with the second flush. Raises WorkloadOutputError.
    """
    everything = _read(out, name)
    every = everything["jobs"]
    jobs = _measured(every)
    runtime_s, requested_bytes, requests = _totals(jobs, name)
    together = any(job.get("desc") == FLUSHED_EACH for job in jobs)
    metrics = {
        "runtime_s": runtime_s,
        **({"warm_up_s": warm_up_s} if (warm_up_s := _warm_up_s(everything)) else {}),
        **(_flushed_each(jobs, logs(out)) if together else _each_call(jobs)),
        "requested_bytes": requested_bytes,
        "written_bytes": float(sum(job["write"]["io_bytes"] for job in every)),
    }
    if runtime_s > 0:
        cpu_ms = fsum((job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] for job in every if "usr_cpu" in job)
        metrics["process_cpu_percent"] = cpu_ms / runtime_s / 10
        metrics["bandwidth"] = requested_bytes / runtime_s / 2**20
        metrics["iops"] = requests / runtime_s
    return metrics


def commits_of(out: Mapping[str, bytes], name: str) -> Commits:
    """The commits of all jobs, those in the background too: flushes between requests, one at the end of each process
    that has no others (`end_fsync`, `fsync_on_close`), and each write to a file opened with `sync`.

    fio also flushes a file that it opens again, though nothing new is in it. Hence a process has at most one flush for
    each `fsync` or `fdatasync` writes, and none behind its last write. In a job of several files fio flushes the file
    that is next in turn, which may have no new data: such commits may be empty.

    fio counts sync_file_range() among the flushes, which makes nothing durable: jobs that use it have no flushes
    between requests. Raises WorkloadOutputError.
    """
    everything = _read(out, name)
    asked = at_a_time = 0
    may_be_empty = False
    for job in everything["jobs"]:
        options = {**everything.get("global options", {}), **job.get("job options", {})}
        processes = _whole(options.get("numjobs")) if "group_reporting" in options else 1
        written = job["write"]["total_ios"]
        if not written:
            continue
        ends = processes if any(options.get(key, "0") != "0" for key in AT_THE_END) else 0
        each = written if options.get("sync", "0") not in ("0", "none") else 0
        between = 0
        if "sync_file_range" not in options:
            flushed = job.get("sync", {}).get("lat_ns", {}).get("N", 0)
            between = min(flushed, max(0, written - processes) // _writes_of_a_flush(options))
        asked += max(between, ends, each)
        at_a_time += processes * _depth(options)
        may_be_empty |= between > max(ends, each) and _has_several_files(options)
    return Commits(asked, max(1, at_a_time), may_be_empty)


def _writes_of_a_flush(options: Mapping[str, str]) -> int:
    given = [_whole(options[key]) for key in ("fsync", "fdatasync") if options.get(key, "0") != "0"]
    return min(given, default=1)


def _has_several_files(options: Mapping[str, str]) -> bool:
    named = ":" in options.get("filename", "").replace("\\:", "")
    return named or _whole(options.get("nrfiles")) > 1 or "opendir" in options or "read_iolog" in options


def _depth(options: Mapping[str, str]) -> int:
    """How many calls of a process may be under way: engines of blocking calls have one, whatever `iodepth` says."""
    blocks = options.get("ioengine", DEFAULT_ENGINE) in BLOCKING_ENGINES
    return 1 if blocks else _whole(options.get("iodepth"))


def _whole(text: str | None) -> int:
    """An option of fio's that is a number, 1 without it."""
    return max(1, int(text)) if text and text.isdecimal() else 1


def run_of(out: Mapping[str, bytes], name: str) -> tuple[float, float]:
    """The two of the metrics that a series wants: for how many seconds the jobs ran, and the bytes that they asked for.
    Raises WorkloadOutputError.
    """
    runtime_s, requested_bytes, _ = _totals(_measured(_read(out, name)["jobs"]), name)
    return runtime_s, requested_bytes


def _totals(jobs: Sequence[Mapping[str, Any]], name: str) -> tuple[float, float, int]:
    """Run time in seconds, bytes and requests of all that are measured. Raises WorkloadOutputError."""
    used = [job[d] for job in jobs for d in DIRECTIONS if job[d]["total_ios"]]
    if not used:
        raise WorkloadOutputError(f"{name}: fio did no I/O" + ("" if jobs else " but in the background"))
    runtime_s = max(one["runtime"] for one in used) / 1e3
    return runtime_s, float(sum(one["io_bytes"] for one in used)), sum(one["total_ios"] for one in used)


def series_of_jobs(out: Mapping[str, bytes]) -> list[Series]:
    """None where jobs are reported in groups: which logs are whose is then not known."""
    jobs, logs = _read(out, OUTPUT)["jobs"], series.rate_logs(out)
    if len(jobs) != len(logs):
        return []
    measured, found = _measured(jobs), []
    for job, log in zip(jobs, logs, strict=True):
        runtime_s = max(job[d]["runtime"] for d in DIRECTIONS) / 1e3
        moved = sum(job[d]["io_bytes"] for d in DIRECTIONS)
        moments = series.of_rates([log], OWN_RATE_MS, runtime_s, moved)
        one = steadiness.series(moments, interval_s=OWN_RATE_MS / 1e3)
        if one and job in measured:
            found.append(replace(one, name=job["jobname"] if len(measured) > 1 else ""))
    return found


def _warm_up_s(everything: Mapping[str, Any]) -> float:
    """How long the jobs ran before they were measured: what they were told, the longest of them."""
    told = [options.get("ramp_time", "0") for options in _options(everything)]
    return max((float(text.rstrip("s")) for text in told if re.fullmatch(r"[0-9.]+s?", text)), default=0.0)


def _options(everything: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """What each measured job and all of them together were told."""
    own = [job.get("job options", {}) for job in _measured(everything["jobs"])]
    return [everything.get("global options", {}), *own]


def _measured(every: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [job for job in every if not job["jobname"].startswith(BACKGROUND)]


def _flushes(jobs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The distributions of flushes between requests; a flush at the end of a job is in none."""
    return [job["sync"]["lat_ns"] for job in jobs if job.get("sync", {}).get("lat_ns", {}).get("N")]


def _commits(jobs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The distributions of writes with the flush behind them, which the lab's fio alone has."""
    return [job["commit"]["lat_ns"] for job in jobs if job.get("commit", {}).get("lat_ns", {}).get("N")]


def _each_call(jobs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    flushes = _flushes(jobs)
    requests = [job[d]["lat_ns"] for job in jobs for d in DIRECTIONS if job[d]["total_ios"]]
    return {
        **latency.waits("latency", [*requests, *flushes]),
        **latency.waits("flush", flushes),
        **latency.waits("commit", _commits(jobs)),
    }


def _flushed_each(jobs: Sequence[Mapping[str, Any]], logs: Sequence[bytes]) -> dict[str, float]:
    """Latencies of requests with the flushes behind them, which are commits of one request each, and of the flushes.
    Without logs nothing is known of the last flush of each process, and of another fio than the lab's only the mean of
    a request.
    """
    flushes, requests = _flushes(jobs), [job[d] for job in jobs for d in DIRECTIONS if job[d]["total_ios"]]
    if not logs and (commits := _commits(jobs)):
        waits = {prefix: latency.waits(prefix, commits) for prefix in ("latency", "commit")}
        return {**waits["latency"], **waits["commit"], **latency.waits("flush", flushes)}
    if not logs:
        means = [latency.waits("latency", those) for those in ([one["lat_ns"] for one in requests], flushes)]
        both = {"latency_mean_us": fsum(one["latency_mean_us"] for one in means)} if all(means) else {}
        return {**both, **latency.waits("flush", flushes)}
    counted = [one for one in (*(one["clat_ns"] for one in requests), *flushes) if one.get("N")]
    calls = latency.logged_calls(logs, fsum(one["mean"] * one["N"] for one in counted))
    last = [took for process in calls if (took := latency.last_flush_us(process)) is not None]
    alone = [{"N": 1, "mean": us * 1e3, "max": us * 1e3, "bins": {f"{us * 1e3:.0f}": 1}} for us in last]
    durable = [us for process in calls for us in latency.durable_us(process)]
    return {
        **latency.of_samples("latency", durable),
        **latency.of_samples("commit", durable),
        **latency.waits("flush", [*flushes, *alone]),
    }


def logs(out: Mapping[str, bytes]) -> list[bytes]:
    """The logs of calls, of all processes."""
    first, last = latency.LOG.split("{}")
    return [out[name] for name in sorted(out) if name.startswith(first) and name.endswith(last)]


def _read(out: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """What fio says of a run in which no job failed. Raises WorkloadOutputError."""
    if name not in out:
        raise WorkloadOutputError(f"{name} is missing: fio did not get as far as writing its results")
    try:
        everything = read_json(out[name])
        failed = [job for job in everything["jobs"] if job["error"]]
    except WorkloadOutputError as error:
        raise WorkloadOutputError(f"{name}: {error}") from None
    except (KeyError, TypeError):
        raise WorkloadOutputError(f"{name}: {NONE}") from None
    if failed:
        number = failed[0]["error"]
        why = f": {os.strerror(number)}" if isinstance(number, int) and 0 < number < 4096 else ""
        raise WorkloadOutputError(f"fio reported error {shown(number)} in job {shown(failed[0]['jobname'])}{why}")
    return everything
