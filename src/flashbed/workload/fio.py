# SPDX-License-Identifier: Apache-2.0
"""fio: writes job files from a study's parameters and reads fio's JSON.

Knows neither where fio runs nor on what. The same job runs in a guest, on a board or by hand.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flashbed.common.tomlfile import shown
from flashbed.guest_output import steadiness
from flashbed.guest_output.steadiness import Series
from flashbed.workload import fio_latency, fio_own_job, fio_series
from flashbed.workload.base import PROGRESS, Parameters, Phase, WorkloadOutputError
from flashbed.workload.fio_call import (
    EMPTY_SCRIPT,
    FIO,
    LATENCY,
    OUTPUT,
    OWN_RATE_MS,
    RANDOM,
    RATE_MS,
    document,
    rate_log,
    section,
)
from flashbed.workload.fio_parameters import FioParameters
from flashbed.workload.parameters import ToolParameters

DIRECTIONS = ("read", "write")
_NOTED = f"""\
{PROGRESS} &
{{run}}status=$?
kill $!
exit $status
"""
"""fio, with notes of what the block device has taken meanwhile."""

MOST_LOGGED = 100_000
"""Requests of a repetition whose calls are logged, 60 bytes each; of more, no percentiles are known."""

FLUSHED_EACH = "a request lasts until it is flushed"
"""The description of a job whose latencies are meant so."""

BACKGROUND = "background"
"""How the name of a job begins that makes load and is not measured."""


class Fio:
    """The workload `fio`, with parameters of its own or with the user's job file."""

    parameters: type[ToolParameters] = FioParameters
    built: tuple[str, ...] = ("fio",)
    packages: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    own_files: tuple[str, ...] = ("job",)

    def title(self, parameters: Parameters) -> str:
        return "fio"

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """The job file and the scripts that run it.

        With `allocate` the file is new, and each write gives it blocks. Else it was written before, in order, and is
        not in the page cache: writes change data and do not fill holes.
        """
        if "job" in parameters:
            return fio_own_job.files(parameters, seed)
        files = {"measure.fio": _measured_jobs(parameters, seed), "prepare": EMPTY_SCRIPT}
        if not _allocates(parameters):
            files["prepare.fio"] = section("prepare", _preparing_job(parameters, seed))
            files["prepare"] = f"{FIO} --output=/out/prepare.json /job/prepare.fio\n".encode()
        run = f"{FIO} --output=/out/{OUTPUT} /job/measure.fio\n"
        files["measure"] = (_NOTED.format(run=run) if _is_cached(parameters) else run).encode()
        return files

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        return metrics_of(out, OUTPUT)

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        return ()

    def writes(self, parameters: Parameters) -> str:
        """Of a job of the user's, only fio knows."""
        if "job" in parameters or not _writes(parameters):
            return ""
        return "allocates" if _allocates(parameters) else "overwrites"

    def series(self, parameters: Parameters, out: Mapping[str, bytes]) -> Sequence[Series]:
        """Of a pattern, all processes together; of a job of the user's, each job that is measured, by its name."""
        interval_s = math.inf
        if "job" in parameters:
            return _series_of_jobs(out)
        if _is_cached(parameters):
            moments = fio_series.of_progress(out, metrics_of(out, OUTPUT)["runtime_s"])
        elif logs := _logs(out):
            moments = fio_series.of_calls(logs)
        else:
            told = metrics_of(out, OUTPUT)
            logs = fio_series.rate_logs(out)
            interval_s = RATE_MS / 1e3
            moments = fio_series.of_rates(logs, RATE_MS, told["runtime_s"], told["requested_bytes"])
        found = steadiness.series(moments, interval_s=interval_s)
        return [found] if found else []

    def silent(self, parameters: Parameters) -> str:
        if "job" not in parameters and _is_cached(parameters):
            return "nothing tells how what it wrote reached the medium while it was measured"
        return "fio kept no log of its rate, or the run was too short for one"


def metrics_of(out: Mapping[str, bytes], name: str) -> dict[str, float]:
    """Bandwidth in MiB/s over fio's own run time (1 ms steps), requests a second, latencies in microseconds; of all
    jobs together that are not background. What was written is of all jobs: the medium wears by each of them.

    A latency is what the program waits, from the moment at which it has a request to hand in. A flush is waited for
    like a request, and counts as one; but in a job that says FLUSHED_EACH a request lasts until it is flushed. Raises
    WorkloadOutputError.
    """
    every = _jobs(out, name)
    jobs = _measured(every)
    used = [(job, d) for job in jobs for d in DIRECTIONS if job[d]["total_ios"]]
    if not used:
        raise WorkloadOutputError(f"{name}: fio did no I/O" + ("" if jobs else " but in the background"))
    runtime_s = max(job[d]["runtime"] for job, d in used) / 1e3
    requests = sum(job[d]["total_ios"] for job, d in used)
    together = any(job.get("desc") == FLUSHED_EACH for job in jobs)
    metrics = {
        "runtime_s": runtime_s,
        **({"warm_up_s": warm_up_s} if (warm_up_s := _warm_up_s(out, name)) else {}),
        **(_flushed_each(jobs, _logs(out)) if together else _each_call(jobs)),
        "requested_bytes": float(sum(job[d]["io_bytes"] for job, d in used)),
        "written_bytes": float(sum(job["write"]["io_bytes"] for job in every)),
    }
    if runtime_s > 0:
        cpu_ms = sum((job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] for job in every if "usr_cpu" in job)
        metrics["process_cpu_percent"] = cpu_ms / runtime_s / 10
        metrics["bandwidth"] = metrics["requested_bytes"] / runtime_s / 2**20
        metrics["iops"] = requests / runtime_s
    return metrics


def _series_of_jobs(out: Mapping[str, bytes]) -> list[Series]:
    """None where jobs are reported in groups: which logs are whose is then not known."""
    jobs, logs = _jobs(out, OUTPUT), fio_series.rate_logs(out)
    if len(jobs) != len(logs):
        return []
    measured, found = _measured(jobs), []
    for job, log in zip(jobs, logs, strict=True):
        runtime_s = max(job[d]["runtime"] for d in DIRECTIONS) / 1e3
        moved = sum(job[d]["io_bytes"] for d in DIRECTIONS)
        moments = fio_series.of_rates([log], OWN_RATE_MS, runtime_s, moved)
        one = steadiness.series(moments, interval_s=OWN_RATE_MS / 1e3)
        if one and job in measured:
            found.append(replace(one, name=job["jobname"] if len(measured) > 1 else ""))
    return found


def _warm_up_s(out: Mapping[str, bytes], name: str) -> float:
    """How long the jobs ran before they were measured: what they were told, the longest of them."""
    everything = json.loads(document(out[name]))
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


def _each_call(jobs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    flushes = _flushes(jobs)
    requests = [job[d]["lat_ns"] for job in jobs for d in DIRECTIONS if job[d]["total_ios"]]
    return {**fio_latency.waits("latency", [*requests, *flushes]), **fio_latency.waits("flush", flushes)}


def _flushed_each(jobs: Sequence[Mapping[str, Any]], logs: Sequence[bytes]) -> dict[str, float]:
    """Latencies of requests with the flushes behind them, and of the flushes. Without logs only the mean of a request
    is known, and nothing of the last flush of each process.
    """
    flushes, requests = _flushes(jobs), [job[d] for job in jobs for d in DIRECTIONS if job[d]["total_ios"]]
    if not logs:
        means = [fio_latency.waits("latency", those) for those in ([one["lat_ns"] for one in requests], flushes)]
        both = {"latency_mean_us": sum(one["latency_mean_us"] for one in means)} if all(means) else {}
        return {**both, **fio_latency.waits("flush", flushes)}
    counted = [one for one in (*(one["clat_ns"] for one in requests), *flushes) if one.get("N")]
    calls = fio_latency.logged_calls(logs, sum(one["mean"] * one["N"] for one in counted))
    last = [took for process in calls if (took := fio_latency.last_flush_us(process)) is not None]
    alone = [{"N": 1, "mean": us * 1e3, "max": us * 1e3, "bins": {f"{us * 1e3:.0f}": 1}} for us in last]
    return {
        **fio_latency.of_samples("latency", [us for process in calls for us in fio_latency.durable_us(process)]),
        **fio_latency.waits("flush", [*flushes, *alone]),
    }


def _logs(out: Mapping[str, bytes]) -> list[bytes]:
    """The logs of calls, of all processes."""
    first, last = fio_latency.LOG.split("{}")
    return [data for name, data in sorted(out.items()) if name.startswith(first) and name.endswith(last)]


def portable_jobs(parameters: Parameters, seed: int, name: str) -> dict[str, bytes]:
    """The job files for any system that has fio: `measure` and, if a file must be there before, `prepare`.

    They work in the folder that fio is started in. The measured job is called `name`, but a job of the user's keeps its
    names. Where requests are carried out one at a time the system's own engine is right; else the variable
    FLASHBED_ENGINE names one.
    """
    if "job" in parameters:
        return fio_own_job.portable(parameters, seed)
    queued = parameters["queue_depth"] != 1
    jobs = {name: _measured_job(parameters, seed)}
    if not _allocates(parameters):
        jobs["prepare"] = _preparing_job(parameters, seed)
    for job in jobs.values():
        del job["directory"], job["ioengine"]
    if queued:
        jobs[name]["ioengine"] = "${FLASHBED_ENGINE}"
    return {"prepare" if title == "prepare" else "measure": section(title, job) for title, job in jobs.items()}


def _measured_job(parameters: Parameters, seed: int) -> dict[str, object]:
    job = _common_job(parameters, seed) | {
        "rw": parameters["pattern"],
        "bs": parameters["request"],
        "direct": int(bool(parameters["direct"])),
        "ioengine": "psync" if parameters["queue_depth"] == 1 else "libaio",
        "iodepth": parameters["queue_depth"],
        "group_reporting": 1,
    }
    if parameters["io_size"]:
        job["io_size"] = parameters["io_size"]
    flush = parameters["flush"]
    if flush == "fsync":
        job["end_fsync"] = 1
    elif flush == "fsync-each":
        # fio ends before the flush that is due after the last request
        job |= {"fsync": 1, "end_fsync": 1}
        if _writes(parameters):
            job["description"] = FLUSHED_EACH
    return job


def _allocates(parameters: Parameters) -> bool:
    return bool(parameters.get("allocate", parameters["pattern"] == "write"))


def _is_cached(parameters: Parameters) -> bool:
    """Whether a write is done, to fio, before the medium has it."""
    return _writes(parameters) and not parameters["direct"] and parameters["flush"] != "fsync-each"


def _writes(parameters: Parameters) -> bool:
    return parameters["pattern"] not in ("read", "randread")


def _measured_jobs(parameters: Parameters, seed: int) -> bytes:
    """Where each request is flushed, every process has a section and a log of its own: fio's processes would write
    theirs into one file.
    """
    job, processes = _measured_job(parameters, seed), int(str(parameters["processes"]))
    asked = int(str(parameters["io_size"] or parameters["file"]))
    requests = processes * asked // int(str(parameters["request"]))
    if parameters["flush"] != "fsync-each" or not _writes(parameters) or requests > MOST_LOGGED:
        return section("measure", job if _is_cached(parameters) else job | rate_log(RATE_MS))
    return b"".join(
        section(
            "measure" if k == 0 else f"measure.{k}",
            job | {"filename_format": f"test.{k}", "numjobs": 1, "write_iolog": f"/out/{fio_latency.LOG.format(k)}"},
        )
        for k in range(processes)
    )


def _preparing_job(parameters: Parameters, seed: int) -> dict[str, object]:
    whole = min(65536, int(str(parameters["file"])))
    return _common_job(parameters, seed) | {"rw": "write", "bs": whole, "ioengine": "psync", "end_fsync": 1}


def _common_job(parameters: Parameters, seed: int) -> dict[str, object]:
    return {
        "directory": "/mnt",
        "filename_format": "test.$jobnum",
        "size": parameters["file"],
        "numjobs": parameters["processes"],
        "thread": 1,
        "fallocate": "none",  # so that allocation is part of what is measured, on every file system alike
        "clocksource": "clock_gettime",
        **RANDOM,
        "randseed": seed,
        **LATENCY,
    }


def _jobs(out: Mapping[str, bytes], name: str) -> list[dict[str, Any]]:
    if name not in out:
        raise WorkloadOutputError(f"{name} is missing: fio did not get as far as writing its results")
    try:
        jobs = json.loads(document(out[name]))["jobs"]
        failed = [job for job in jobs if job["error"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise WorkloadOutputError(f"{name} is not what fio writes with --output-format=json") from None
    if failed:
        number = failed[0]["error"]
        why = f": {os.strerror(number)}" if isinstance(number, int) and 0 < number < 4096 else ""
        raise WorkloadOutputError(f"fio reported error {shown(number)} in job {shown(failed[0]['jobname'])}{why}")
    return list(jobs)
