# SPDX-License-Identifier: Apache-2.0
"""The parameters of a pattern, which a study may fix under [workload] or vary on an axis, and its jobs: those without a
job file of the user's.

The same job runs in a guest, on a board or by hand. Must not know what fio prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from flashbed.common.tomlfile import Problem, Size
from flashbed.common.units import describe_size
from flashbed.workload.base import PROGRESS, Count, FileParameters, Parameters, Switch, not_in_sectors
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


class FioParameters(FileParameters):
    """A pattern of requests on files. Sizes are in bytes."""

    pattern: Literal["read", "randread", "write", "randwrite", "rw", "randrw"] = Field(
        description="order and direction of the requests, in fio's words"
    )
    request: Size = Field(gt=0, description="size of a request, bytes")
    file: Size = Field(gt=0, description="size of each process's file, bytes")
    io_size: Size = Field(
        default=0, ge=0, description="what each process asks for in all, bytes; 0: every byte of its file once"
    )
    flush: Literal["none", "close", "fsync", "fsync-each"] = Field(
        default="none",
        description="none: what is still in memory at the end is not waited for; close: nor is it, but the time ends "
        "when the file has been closed, and some file systems write back then; fsync: once at the end, inside the time "
        "measured; fsync-each: after each request",
    )
    cache: Literal["cold", "warm"] = Field(
        default="cold",
        description="the page cache when the measurement begins: cold, as after a boot; warm, with all of each file, "
        "which was written before",
    )
    direct: Switch = Field(default=False, description="past the page cache (O_DIRECT)")
    allocate: Switch | None = Field(
        default=None,
        description="of patterns that write: true: the file is new, and each write gives it blocks; false: it was "
        "written before, in order, and is overwritten; by default true for write, false for randwrite",
    )
    queue_depth: Count = Field(default=1, ge=1, le=1024, description="requests that a process has under way at a time")

    @property
    def allocates(self) -> bool:
        """Return True if the file is new when the measurement begins."""
        return self.pattern == "write" if self.allocate is None else self.allocate

    @property
    def writes(self) -> bool:
        return self.pattern not in ("read", "randread")

    @property
    def is_warm(self) -> bool:
        """Return True if the page cache holds the file when the measurement begins."""
        return self.cache == "warm"

    @property
    def is_cached(self) -> bool:
        """Return True if a write completes, for fio, before the medium has the data."""
        return self.writes and not self.direct and self.flush != "fsync-each"

    @classmethod
    def of_cell(cls, parameters: Parameters) -> FioParameters:
        """Return the parameters of a cell. They are not checked again: the cell may be one of an older version, which
        allowed other values and had fewer keys.
        """
        return cls.model_construct(None, **parameters)

    def canonical(self) -> dict[str, Any]:
        """Return all parameters with the effective `allocate`, so that a study may name it or omit it."""
        return self.model_dump() | {"allocate": self.allocates}

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between parameters."""
        if self.allocate and self.pattern not in ("write", "randwrite"):
            yield Problem(
                ("allocate",),
                f'true cannot stand with pattern = "{self.pattern}": what is read must have been written before; take '
                "allocate away, or set it to false",
            )
        if self.flush == "close" and self.pattern in ("read", "randread"):
            yield Problem(("flush",), f'"close" cannot stand with pattern = "{self.pattern}": nothing is written back')
        if self.cache == "warm" and self.allocates:
            yield Problem(("cache",), '"warm" needs a file that was written before: set allocate to false, or read')
        if self.cache == "warm" and self.direct:
            yield Problem(("cache",), '"warm" cannot stand with direct = true, which goes past the page cache')
        if self.request > self.file:
            yield Problem(
                ("request",),
                f"{describe_size(self.request)} is larger than file = {describe_size(self.file)}: no request would fit",
            )
        if 0 < self.io_size < self.request:
            yield Problem(
                ("io_size",),
                f"{describe_size(self.io_size)} is less than request = {describe_size(self.request)}",
            )
        if self.direct:
            yield from not_in_sectors("request", self.request)
        if self.queue_depth > 1 and not self.direct:
            yield Problem(
                ("queue_depth",),
                f"{self.queue_depth} needs direct = true: Linux carries out buffered requests one at a time, whatever "
                "the queue depth",
            )
        if self.queue_depth > 1 and self.flush == "fsync-each":
            yield Problem(
                ("queue_depth",),
                f'{self.queue_depth} cannot stand with flush = "fsync-each": fio flushes without waiting for requests '
                "that are under way, so that no request would be on the medium when its flush returns",
            )


def files(parameters: Parameters, seed: int) -> dict[str, bytes]:
    """Return the job file and the scripts that run it.

    With `allocate` the file is new, and each write allocates blocks. Otherwise it was written before, in order, and is
    not in the page cache: writes change data and fill no holes.
    """
    load = FioParameters.of_cell(parameters)
    files = {"measure.fio": _measured_jobs(load, seed), "prepare": EMPTY_SCRIPT}
    if not load.allocates:
        files["prepare.fio"] = section("prepare", _preparing_job(load, seed))
        files["prepare"] = f"{FIO} --output=/out/prepare.json /job/prepare.fio\n".encode()
    if load.is_warm:
        files["warm"] = b"cat /mnt/test.* >/dev/null\n"
    run = f"{FIO} --output=/out/{OUTPUT} /job/measure.fio\n"
    files["measure"] = (_NOTED.format(run=run) if load.is_cached else run).encode()
    return files


def portable_jobs(parameters: Parameters, seed: int, name: str) -> dict[str, bytes]:
    """Return the job files for any system with fio: `measure`, and `prepare` if a file must exist before.

    They work in the directory in which fio starts. The measured job is called `name`; a user's job keeps its names. If
    requests run one at a time, the system's default engine is right; otherwise the variable FLASHBED_ENGINE names one.
    """
    if "job" in parameters:
        return portable_own_job(parameters, seed)
    load = FioParameters.of_cell(parameters)
    jobs = {name: _measured_job(load, seed)}
    if not load.allocates:
        jobs["prepare"] = _preparing_job(load, seed)
    for job in jobs.values():
        del job["directory"], job["ioengine"]
    if load.is_warm:
        jobs[name]["pre_read"] = 1
    if load.queue_depth != 1:
        jobs[name]["ioengine"] = "${FLASHBED_ENGINE}"
    return {"prepare" if title == "prepare" else "measure": section(title, job) for title, job in jobs.items()}


def _measured_job(load: FioParameters, seed: int) -> dict[str, object]:
    job = _common_job(load, seed) | {
        "rw": load.pattern,
        "bs": load.request,
        "direct": int(load.direct),
        "ioengine": "psync" if load.queue_depth == 1 else "libaio",
        "iodepth": load.queue_depth,
        "group_reporting": 1,
    }
    if load.io_size:
        job["io_size"] = load.io_size
    if load.is_warm:
        job["invalidate"] = 0  # otherwise fio drops the file's pages when it opens it
    flush = load.flush
    if flush == "close":
        job["end_close"] = 1  # an option of the lab's fio: guest/patches
    elif flush == "fsync":
        job["end_fsync"] = 1
    elif flush == "fsync-each":
        # fio ends before the flush that is due after the last request
        job |= {"fsync": 1, "end_fsync": 1}
        if load.writes:
            job["description"] = FLUSHED_EACH
    return job


def is_portable(parameters: Parameters) -> bool:
    """Return True if any fio can run the job. Only the lab's fio times the closing of a file."""
    return parameters.get("flush") != "close"


def _measured_jobs(load: FioParameters, seed: int) -> bytes:
    """Return the measured jobs. If each request is flushed, each process has its own section and log, because fio's
    processes would write their logs into one file.
    """
    job, processes = _measured_job(load, seed), load.processes
    bytes_per_process = load.io_size or load.file
    requests = processes * bytes_per_process // load.request
    if load.flush != "fsync-each" or not load.writes or requests > MOST_LOGGED:
        return section("measure", job if load.is_cached else job | rate_log(RATE_MS))
    return b"".join(
        section(
            "measure" if k == 0 else f"measure.{k}",
            job
            | {"filename_format": f"test.{k}", "numjobs": 1, "write_iolog": f"/out/{latency.LATENCY_LOG.format(k)}"},
        )
        for k in range(processes)
    )


def _preparing_job(load: FioParameters, seed: int) -> dict[str, object]:
    request_bytes = min(65536, load.file)
    return _common_job(load, seed) | {"rw": "write", "bs": request_bytes, "ioengine": "psync", "end_fsync": 1}


def _common_job(load: FioParameters, seed: int) -> dict[str, object]:
    return {
        "directory": "/mnt",
        "filename_format": "test.$jobnum",
        "size": load.file,
        "numjobs": load.processes,
        "thread": 1,
        "fallocate": "none",  # so that allocation is part of what is measured, on every file system alike
        "clocksource": "clock_gettime",
        **RANDOM,
        "randseed": seed,
        **LATENCY,
    }
