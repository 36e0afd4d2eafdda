# SPDX-License-Identifier: Apache-2.0
"""Write the jobs of a pattern: of a study's parameters, without a job file of the user's.

The same job runs in a guest, on a board or by hand. Must not know what fio prints.
"""

from __future__ import annotations

from flashbed.workload.base import PROGRESS, Parameters
from flashbed.workload.fio import latency
from flashbed.workload.fio.jobs import (
    EMPTY_SCRIPT,
    FIO,
    FLUSHED_EACH,
    LATENCY,
    OUTPUT,
    RANDOM,
    RATE_MS,
    portable_own_job,
    rate_log,
    section,
)

_NOTED = f"""\
{PROGRESS} &
{{run}}status=$?
kill $!
exit $status
"""
"""Run fio while a script logs what the block device has written."""

MOST_LOGGED = 100_000
"""The most requests of a repetition whose calls are logged, at 60 bytes each. With more, the percentiles are
unknown.
"""


def files(parameters: Parameters, seed: int) -> dict[str, bytes]:
    """Return the job file and the scripts that run it.

    With `allocate` the file is new, and each write allocates blocks. Otherwise it was written before, in order, and is
    not in the page cache: writes change data and fill no holes.
    """
    files = {"measure.fio": _measured_jobs(parameters, seed), "prepare": EMPTY_SCRIPT}
    if not allocates(parameters):
        files["prepare.fio"] = section("prepare", _preparing_job(parameters, seed))
        files["prepare"] = f"{FIO} --output=/out/prepare.json /job/prepare.fio\n".encode()
    if is_warm(parameters):
        files["warm"] = b"cat /mnt/test.* >/dev/null\n"
    run = f"{FIO} --output=/out/{OUTPUT} /job/measure.fio\n"
    files["measure"] = (_NOTED.format(run=run) if is_cached(parameters) else run).encode()
    return files


def portable_jobs(parameters: Parameters, seed: int, name: str) -> dict[str, bytes]:
    """Return the job files for any system with fio: `measure`, and `prepare` if a file must exist before.

    They work in the directory in which fio starts. The measured job is called `name`; a user's job keeps its names. If
    requests run one at a time, the system's default engine is right; otherwise the variable FLASHBED_ENGINE names one.
    """
    if "job" in parameters:
        return portable_own_job(parameters, seed)
    queued = parameters["queue_depth"] != 1
    jobs = {name: _measured_job(parameters, seed)}
    if not allocates(parameters):
        jobs["prepare"] = _preparing_job(parameters, seed)
    for job in jobs.values():
        del job["directory"], job["ioengine"]
    if is_warm(parameters):
        jobs[name]["pre_read"] = 1
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
    if is_warm(parameters):
        job["invalidate"] = 0  # otherwise fio drops the file's pages when it opens it
    flush = parameters["flush"]
    if flush == "close":
        job["end_close"] = 1  # an option of the lab's fio: guest/patches
    elif flush == "fsync":
        job["end_fsync"] = 1
    elif flush == "fsync-each":
        # fio ends before the flush that is due after the last request
        job |= {"fsync": 1, "end_fsync": 1}
        if writes(parameters):
            job["description"] = FLUSHED_EACH
    return job


def allocates(parameters: Parameters) -> bool:
    return bool(parameters.get("allocate", parameters["pattern"] == "write"))


def is_portable(parameters: Parameters) -> bool:
    """Return True if any fio can run the job. Only the lab's fio times the closing of a file."""
    return parameters.get("flush") != "close"


def is_warm(parameters: Parameters) -> bool:
    """Return True if the page cache holds the file when the measurement begins."""
    return parameters.get("cache", "cold") == "warm"


def is_cached(parameters: Parameters) -> bool:
    """Return True if a write completes, for fio, before the medium has the data."""
    return writes(parameters) and not parameters["direct"] and parameters["flush"] != "fsync-each"


def writes(parameters: Parameters) -> bool:
    return parameters["pattern"] not in ("read", "randread")


def _measured_jobs(parameters: Parameters, seed: int) -> bytes:
    """Return the measured jobs. If each request is flushed, each process has its own section and log, because fio's
    processes would write their logs into one file.
    """
    job, processes = _measured_job(parameters, seed), int(str(parameters["processes"]))
    bytes_per_process = int(str(parameters["io_size"] or parameters["file"]))
    requests = processes * bytes_per_process // int(str(parameters["request"]))
    if parameters["flush"] != "fsync-each" or not writes(parameters) or requests > MOST_LOGGED:
        return section("measure", job if is_cached(parameters) else job | rate_log(RATE_MS))
    return b"".join(
        section(
            "measure" if k == 0 else f"measure.{k}",
            job | {"filename_format": f"test.{k}", "numjobs": 1, "write_iolog": f"/out/{latency.LOG.format(k)}"},
        )
        for k in range(processes)
    )


def _preparing_job(parameters: Parameters, seed: int) -> dict[str, object]:
    request_bytes = min(65536, int(str(parameters["file"])))
    return _common_job(parameters, seed) | {"rw": "write", "bs": request_bytes, "ioengine": "psync", "end_fsync": 1}


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
