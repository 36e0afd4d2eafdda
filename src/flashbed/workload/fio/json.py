# SPDX-License-Identifier: Apache-2.0
"""Reads fio's JSON, from a guest or from another computer: nobody trusts either, so each count is held to what fio can
have written before anything is reckoned with it.

Must not know which job it is of, nor what becomes of its numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from flashbed.common.tomlfile import shown
from flashbed.workload.base import WorkloadOutputError

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
