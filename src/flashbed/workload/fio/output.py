# SPDX-License-Identifier: Apache-2.0
"""Read fio's output: its JSON, and the logs of calls and bandwidth.

The JSON comes from a guest or another computer and is not trusted. Each count is checked for plausibility before
anything is computed from it. Must not know how a job is written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import fsum
from typing import Any

from flashbed.common.tomlfile import shown
from flashbed.common.units import LARGEST_INT64
from flashbed.guest_output import percentiles, steadiness
from flashbed.guest_output.durability import Commits
from flashbed.guest_output.steadiness import Series
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fio import latency, series
from flashbed.workload.fio.jobs import BLOCKING_ENGINES, DEFAULT_ENGINE, FLUSHED_EACH, OUTPUT, OWN_RATE_MS

_BEGIN = re.compile(rb"^\{", re.MULTILINE)

NOT_FIO_OUTPUT = "is not what fio writes with --output-format=json"

LARGEST_REQUEST = 2**32 - 1
"""fio's block sizes have 32 bits. In bytes."""

MOST_BYTES_A_MS = 10**10
"""10 TB/s: about ten times the memory bandwidth of the fastest servers of 2025."""

_COUNTS = ("total_ios", "io_bytes", "runtime", "job_runtime", "N", "min", "max", "mean", "usr_cpu", "sys_cpu")
_WHOLE = ("total_ios", "io_bytes", "runtime", "job_runtime", "N")
_OPTIONS = ("global options", "job options")
"""Options of jobs: texts, some under the names of counters (runtime)."""
_BINS = ("bins", "percentile")


def json_part(output: bytes) -> bytes:
    """Return the JSON of fio's output. Before it, fio reports what it runs for a job (exec_prerun)."""
    begin = _BEGIN.search(output)
    return output[begin.start() :] if begin else output


@lru_cache(maxsize=1)
def read_json(data: bytes) -> dict[str, Any]:
    """Return the document in fio's output, which no caller may change: the last one is kept, because a measurement
    looks at it several times. Raises WorkloadOutputError if there is no JSON object or an impossible count.
    """
    try:
        document = json.loads(json_part(data))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise WorkloadOutputError(NOT_FIO_OUTPUT)
    for way, value, is_integer in _counts(document):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise WorkloadOutputError(f"{way} is no number, and fio always writes one there")
        if is_integer and isinstance(value, float):
            raise WorkloadOutputError(f"{way} = {shown(value)}: fio counts in whole numbers there")
        if not 0 <= value <= LARGEST_INT64:  # fio's counters have 64 bits; this catches NaN too
            raise WorkloadOutputError(f"{way} = {shown(value)}: fio cannot have counted that")
    for way, moved in _transfers(document):
        if why := _impossible(moved.get("io_bytes", 0), moved.get("total_ios", 0), moved.get("runtime", 0)):
            raise WorkloadOutputError(f"{way}: {why}")
        times = moved.get("lat_ns")
        if isinstance(times, dict) and times.get("min", 0) > times.get("max", LARGEST_INT64):
            raise WorkloadOutputError(f"{way}.lat_ns: its min is above its max")
    return document


def _impossible(moved_bytes: int, requests: int, runtime_ms: int) -> str:
    """Return why no job can have moved that much; "" if one can."""
    if moved_bytes > requests * LARGEST_REQUEST:
        return f"{moved_bytes} bytes in {requests} requests, and fio's largest has {LARGEST_REQUEST}"
    if runtime_ms and max(moved_bytes, requests) > runtime_ms * MOST_BYTES_A_MS:
        return f"{moved_bytes} bytes in {requests} requests in {runtime_ms} ms, and no computer is as fast"
    return ""


def _transfers(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what each job read, wrote and discarded, each with its path in the document."""
    jobs = document.get("jobs")
    for number, job in enumerate(jobs if isinstance(jobs, list) else ()):
        for direction in ("read", "write", "trim") if isinstance(job, dict) else ():
            if isinstance(job.get(direction), dict):
                yield f"jobs[{number}].{direction}", job[direction]


def _counts(document: dict[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Yield each count that metrics use: its path, the count, and True if fio writes only integers there."""
    left: list[tuple[str, Any]] = [("", document)]
    while left:
        way, value = left.pop()
        if isinstance(value, list):
            left += [(f"{way}[{index}]", inner) for index, inner in enumerate(value)]
        elif isinstance(value, dict):
            for key, inner in value.items():
                path = f"{way}.{key}" if way else key
                if key in _OPTIONS:
                    continue
                if key in _BINS and isinstance(inner, dict):
                    yield from ((f"{path}.{name}", count, key == "bins") for name, count in inner.items())
                elif key in _COUNTS:
                    yield path, inner, key in _WHOLE
                else:
                    left.append((path, inner))


DIRECTIONS = ("read", "write")

AT_THE_END = ("end_fsync", "fsync_on_close")
"""Options by which each process flushes once, at its end."""

BACKGROUND = "background"
"""The prefix of jobs that make load but are not measured."""


def metrics_of(out: Mapping[str, bytes], name: str) -> dict[str, float]:
    """Return metrics of all jobs together, except background jobs: bandwidth in MiB/s over fio's own run time (1 ms
    steps), requests per second, and latencies in us. The written bytes are those of all jobs, because each job wears
    the medium.

    A latency begins when the program has a request to submit. A flush counts as a request; but in a job with
    FLUSHED_EACH, a request lasts until its flush. A commit is the writes between two flushes, plus the second flush.
    Raises WorkloadOutputError.
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
    """Return the commits of all jobs, background jobs included: flushes between requests; one at the end of each
    process without such flushes (`end_fsync`, `fsync_on_close`); and each write to a file opened with `sync`.

    fio also flushes a file that it reopens, though the file has no new data. Hence a process counts at most one flush
    for each `fsync` or `fdatasync` writes, and none after its last write. In a job of several files fio flushes the
    next file in turn, which may have no new data: such commits may be empty.

    fio counts sync_file_range() as a flush, but it makes nothing durable: jobs that use it have no flushes between
    requests. Raises WorkloadOutputError.
    """
    document = _read(out, name)
    commits = at_a_time = 0
    may_be_empty = False
    for job in document["jobs"]:
        options = {**document.get("global options", {}), **job.get("job options", {})}
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
        commits += max(between, ends, each)
        at_a_time += processes * _depth(options)
        may_be_empty |= between > max(ends, each) and _has_several_files(options)
    return Commits(commits, max(1, at_a_time), may_be_empty)


def _writes_of_a_flush(options: Mapping[str, str]) -> int:
    intervals = [_whole(options[key]) for key in ("fsync", "fdatasync") if options.get(key, "0") != "0"]
    return min(intervals, default=1)


def _has_several_files(options: Mapping[str, str]) -> bool:
    named = ":" in options.get("filename", "").replace("\\:", "")
    return named or _whole(options.get("nrfiles")) > 1 or "opendir" in options or "read_iolog" in options


def _depth(options: Mapping[str, str]) -> int:
    """Return how many calls of a process may be in flight. Engines with blocking calls have one, whatever `iodepth`
    says.
    """
    blocks = options.get("ioengine", DEFAULT_ENGINE) in BLOCKING_ENGINES
    return 1 if blocks else _whole(options.get("iodepth"))


def _whole(text: str | None) -> int:
    """Return an integer option of fio; 1 if it is absent."""
    return max(1, int(text)) if text and text.isdecimal() else 1


def run_of(out: Mapping[str, bytes], name: str) -> tuple[float, float]:
    """Return the run time in seconds and the requested bytes, which a series needs. Raises WorkloadOutputError."""
    runtime_s, requested_bytes, _ = _totals(_measured(_read(out, name)["jobs"]), name)
    return runtime_s, requested_bytes


def _totals(jobs: Sequence[Mapping[str, Any]], name: str) -> tuple[float, float, int]:
    """Return run time in seconds, bytes and requests of all measured jobs. Raises WorkloadOutputError."""
    used = [job[d] for job in jobs for d in DIRECTIONS if job[d]["total_ios"]]
    if not used:
        raise WorkloadOutputError("fio did no I/O" + ("" if jobs else " but in the background"), name)
    runtime_s = max(transfer["runtime"] for transfer in used) / 1e3
    return (
        runtime_s,
        float(sum(transfer["io_bytes"] for transfer in used)),
        sum(transfer["total_ios"] for transfer in used),
    )


def series_of_jobs(out: Mapping[str, bytes]) -> list[Series]:
    """Return a series for each measured job. If jobs are reported in groups, return none, because it is unknown which
    logs belong to which job.
    """
    jobs, logs = _read(out, OUTPUT)["jobs"], series.rate_logs(out)
    if len(jobs) != len(logs):
        return []
    measured, all_series = _measured(jobs), []
    for job, log in zip(jobs, logs, strict=True):
        runtime_s = max(job[d]["runtime"] for d in DIRECTIONS) / 1e3
        moved = sum(job[d]["io_bytes"] for d in DIRECTIONS)
        moments = series.of_rates([log], OWN_RATE_MS, runtime_s, moved)
        job_series = steadiness.series(moments, interval_s=OWN_RATE_MS / 1e3)
        if job_series and job in measured:
            all_series.append(replace(job_series, name=job["jobname"] if len(measured) > 1 else ""))
    return all_series


def _warm_up_s(everything: Mapping[str, Any]) -> float:
    """Return the longest warm-up of the jobs, in seconds."""
    ramp_times = [options.get("ramp_time", "0") for options in _options(everything)]
    return max((float(text.rstrip("s")) for text in ramp_times if re.fullmatch(r"[0-9.]+s?", text)), default=0.0)


def _options(everything: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Return the options of each measured job and the global options."""
    own = [job.get("job options", {}) for job in _measured(everything["jobs"])]
    return [everything.get("global options", {}), *own]


def _measured(every: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [job for job in every if not job["jobname"].startswith(BACKGROUND)]


def _flushes(jobs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the distributions of flushes between requests. A flush at the end of a job is in none."""
    return [job["sync"]["lat_ns"] for job in jobs if job.get("sync", {}).get("lat_ns", {}).get("N")]


def _commits(jobs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the distributions of writes with their flush. Only the lab's fio has them."""
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
    """Return latencies of requests with their flush, which are commits of one request each, and of the flushes.

    Without logs, the final flush of each process is unknown. If fio is not the lab's, only the mean of a request is
    known.
    """
    flushes, requests = _flushes(jobs), [job[d] for job in jobs for d in DIRECTIONS if job[d]["total_ios"]]
    if not logs and (commits := _commits(jobs)):
        waits = {prefix: latency.waits(prefix, commits) for prefix in ("latency", "commit")}
        return {**waits["latency"], **waits["commit"], **latency.waits("flush", flushes)}
    if not logs:
        means = [latency.waits("latency", waits) for waits in ([request["lat_ns"] for request in requests], flushes)]
        both = {"latency_mean_us": fsum(mean["latency_mean_us"] for mean in means)} if all(means) else {}
        return {**both, **latency.waits("flush", flushes)}
    counted = [
        distribution
        for distribution in (*(request["clat_ns"] for request in requests), *flushes)
        if distribution.get("N")
    ]
    calls = latency.logged_calls(logs, fsum(distribution["mean"] * distribution["N"] for distribution in counted))
    last = [took for process in calls if (took := latency.last_flush_us(process)) is not None]
    alone = [{"N": 1, "mean": us * 1e3, "max": us * 1e3, "bins": {f"{us * 1e3:.0f}": 1}} for us in last]
    durable = [us for process in calls for us in latency.durable_us(process)]
    return {
        **percentiles.of_samples("latency", durable),
        **percentiles.of_samples("commit", durable),
        **latency.waits("flush", [*flushes, *alone]),
    }


def logs(out: Mapping[str, bytes]) -> list[bytes]:
    """Return the logs of calls of all processes."""
    first, last = latency.LATENCY_LOG.split("{}")
    return [out[name] for name in sorted(out) if name.startswith(first) and name.endswith(last)]


def _read(out: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """Return fio's document of a run in which no job failed. Raises WorkloadOutputError."""
    if name not in out:
        raise WorkloadOutputError(f"{name} is missing: fio did not get as far as writing its results")
    try:
        everything = read_json(out[name])
        failed = [job for job in everything["jobs"] if job["error"]]
    except WorkloadOutputError as error:
        raise WorkloadOutputError(error.problem, name) from None
    except (KeyError, TypeError):
        raise WorkloadOutputError(NOT_FIO_OUTPUT, name) from None
    if failed:
        number = failed[0]["error"]
        why = f": {os.strerror(number)}" if isinstance(number, int) and 0 < number < 4096 else ""
        raise WorkloadOutputError(f"fio reported error {shown(number)} in job {shown(failed[0]['jobname'])}{why}")
    return everything
