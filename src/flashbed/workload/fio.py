# SPDX-License-Identifier: Apache-2.0
"""fio: writes job files from a study's parameters and reads fio's JSON.

Knows neither where fio runs nor on what. The same job runs in a guest, on a board or by hand.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from flashbed.workload.base import Parameters, Phase, WorkloadOutputError
from flashbed.workload.fio_parameters import FioParameters
from flashbed.workload.parameters import ToolParameters

FIO = "/bin/fio --output-format=json --eta=never"
DIRECTIONS = ("read", "write")
PERCENTILES = {"latency_p50_us": "50.000000", "latency_p95_us": "95.000000", "latency_p99_us": "99.000000"}
OUTPUT = "fio.json"
EMPTY_SCRIPT = b"true\n"

_SECTION = re.compile(r"^[ \t]*\[([^\]]+)\]", re.MULTILINE)

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

        A sequential write makes a new file. Every other pattern works on a file that was written before, in order,
        and is not
        in the page cache: so random writes change data and do not fill holes.
        """
        if "job" in parameters:
            return _own_job(parameters, seed)
        files = {"measure.fio": section("measure", _measured_job(parameters, seed)), "prepare": EMPTY_SCRIPT}
        if parameters["pattern"] != "write":
            files["prepare.fio"] = section("prepare", _preparing_job(parameters, seed))
            files["prepare"] = f"{FIO} --output=/out/prepare.json /job/prepare.fio\n".encode()
        files["measure"] = f"{FIO} --output=/out/{OUTPUT} /job/measure.fio\n".encode()
        return files

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        return metrics_of(out, OUTPUT)

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        return ()


def metrics_of(out: Mapping[str, bytes], name: str) -> dict[str, float]:
    """Bandwidth in MiB/s over fio's own run time (1 ms steps), requests a second, completion latencies in
    microseconds; of all jobs together that are not background. What was written is of all jobs: the medium wears
    by each of them. Raises WorkloadOutputError.
    """
    every = _jobs(out, name)
    jobs = [job for job in every if not job["jobname"].startswith(BACKGROUND)]
    used = [(job, d) for job in jobs for d in DIRECTIONS if job[d]["total_ios"]]
    if not used:
        raise WorkloadOutputError(f"{name}: fio did no I/O" + ("" if jobs else " but in the background"))
    runtime_s = max(job[d]["runtime"] for job, d in used) / 1e3
    requests = sum(job[d]["total_ios"] for job, d in used)
    metrics = {
        "runtime_s": runtime_s,
        "latency_mean_us": sum(job[d]["clat_ns"]["mean"] * job[d]["total_ios"] for job, d in used) / requests / 1e3,
        "latency_max_us": max(job[d]["clat_ns"]["max"] for job, d in used) / 1e3,
        "requested_bytes": float(sum(job[d]["io_bytes"] for job, d in used)),
        "written_bytes": float(sum(job["write"]["io_bytes"] for job in every)),
    }
    if runtime_s > 0:
        metrics["bandwidth"] = metrics["requested_bytes"] / runtime_s / 2**20
        metrics["iops"] = requests / runtime_s
    if len(used) == 1:  # percentiles of several distributions cannot be merged
        job, direction = used[0]
        percentiles = job[direction]["clat_ns"].get("percentile", {})
        metrics |= {name: percentiles[key] / 1e3 for name, key in PERCENTILES.items() if key in percentiles}
    return metrics


def portable_jobs(parameters: Parameters, seed: int, name: str) -> dict[str, bytes]:
    """The job files for any system that has fio: `measure` and, if a file must be there before, `prepare`.

    They work in the folder that fio is started in. The measured job is called `name`, but a job of the user's keeps its
    names. Where requests are carried out one at a time the system's own engine is right; else the variable
    FLASHBED_ENGINE names one.
    """
    if "job" in parameters:
        return {"measure": _job_in_full(parameters, seed)}
    queued = parameters["queue_depth"] != 1
    jobs = {name: _measured_job(parameters, seed)}
    if parameters["pattern"] != "write":
        jobs["prepare"] = _preparing_job(parameters, seed)
    for job in jobs.values():
        del job["directory"], job["ioengine"]
    if queued:
        jobs[name]["ioengine"] = "${FLASHBED_ENGINE}"
    return {"prepare" if title == "prepare" else "measure": section(title, job) for title, job in jobs.items()}


def section_names(job: bytes) -> set[str]:
    """The names of the jobs in a job file."""
    return set(_SECTION.findall(job.decode())) - {"global"}


def _job_in_full(parameters: Parameters, seed: int) -> bytes:
    """The user's job file with its variables put in, and what the command line says in the lab at its head."""
    variables = parameters["variables"]
    assert isinstance(variables, Mapping)
    text = str(parameters["job"])
    for name, value in variables.items():
        text = text.replace(f"${{{name}}}", str(value))
    head = section("global", {"randseed": seed, "allrandrepeat": 1, "clocksource": "clock_gettime"})
    return head + text.encode()


def _measured_job(parameters: Parameters, seed: int) -> dict[str, object]:
    job = _common_job(parameters, seed) | {
        "rw": parameters["pattern"],
        "bs": parameters["request"],
        "direct": int(bool(parameters["direct"])),
        "ioengine": "psync" if parameters["queue_depth"] == 1 else "libaio",
        "iodepth": parameters["queue_depth"],
        "group_reporting": 1,
    }
    flush = parameters["flush"]
    if flush == "fsync":
        job["end_fsync"] = 1
    elif flush == "fsync-each":
        job["fsync"] = 1
    return job


def _preparing_job(parameters: Parameters, seed: int) -> dict[str, object]:
    return _common_job(parameters, seed) | {"rw": "write", "bs": 65536, "ioengine": "psync", "end_fsync": 1}


def _common_job(parameters: Parameters, seed: int) -> dict[str, object]:
    return {
        "directory": "/mnt",
        "filename_format": "test.$jobnum",
        "size": parameters["file"],
        "numjobs": parameters["processes"],
        "thread": 1,
        "fallocate": "none",  # so that allocation is part of what is measured, on every file system alike
        "clocksource": "clock_gettime",
        "allrandrepeat": 1,
        "randseed": seed,
    }


def section(name: str, options: Mapping[str, object]) -> bytes:
    lines = [f"[{name}]", *(f"{key}={value}" for key, value in options.items())]
    return ("\n".join(lines) + "\n").encode()


def _own_job(parameters: Parameters, seed: int) -> dict[str, bytes]:
    """The user's job file, run in /mnt with the study's other values as environment variables, which fio puts in for
    ${name}.
    """
    variables = parameters["variables"]
    assert isinstance(variables, Mapping)
    exports = "".join(f"export {name}={shlex.quote(str(value))}\n" for name, value in sorted(variables.items()))
    options = f"--output=/out/{OUTPUT} --randseed={seed} --allrandrepeat=1 --clocksource=clock_gettime"
    script = f"{exports}cd /mnt\n{FIO} {options} /job/measure.fio\n"
    return {"measure.fio": str(parameters["job"]).encode(), "prepare": EMPTY_SCRIPT, "measure": script.encode()}


def _jobs(out: Mapping[str, bytes], name: str) -> list[dict[str, Any]]:
    if name not in out:
        raise WorkloadOutputError(f"{name} is missing: fio did not get as far as writing its results")
    try:
        jobs = json.loads(out[name])["jobs"]
        failed = [job for job in jobs if job["error"]]
    except (ValueError, KeyError, TypeError):
        raise WorkloadOutputError(f"{name} is not what fio writes with --output-format=json") from None
    if failed:
        raise WorkloadOutputError(f"fio reported error {failed[0]['error']} in job {failed[0]['jobname']}")
    return list(jobs)
