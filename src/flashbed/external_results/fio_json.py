# SPDX-License-Identifier: Apache-2.0
"""Holds fio's JSON from another computer to what fio can have written, before anything is reckoned with it.

Must not know which job it is of, nor what becomes of its numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from flashbed.common.tomlfile import shown
from flashbed.workload import fio_call
from flashbed.workload.base import WorkloadOutputError

LARGEST = 2**63 - 1
"""fio counts in 64 bits."""

_COUNTS = ("total_ios", "io_bytes", "runtime", "job_runtime", "N", "min", "max", "mean", "usr_cpu", "sys_cpu")
_BINS = ("bins", "percentile")


def read(data: bytes) -> dict[str, Any]:
    """The document in what fio wrote. Raises WorkloadOutputError for no JSON object, or a count that none can be."""
    try:
        document = json.loads(fio_call.document(data))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise WorkloadOutputError("is not what fio writes with --output-format=json")
    for way, value in _counts(document):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise WorkloadOutputError(f"{way} is no number, and fio always writes one there")
        if not 0 <= value <= LARGEST:  # nor NaN
            raise WorkloadOutputError(f"{way} = {shown(value)}: fio cannot have counted that")
    return document


def _counts(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each count that metrics are made of, and how to find it."""
    left: list[tuple[str, Any]] = [("", document)]
    while left:
        way, value = left.pop()
        if isinstance(value, list):
            left += [(f"{way}[{index}]", inner) for index, inner in enumerate(value)]
        elif isinstance(value, dict):
            for key, inner in value.items():
                here = f"{way}.{key}" if way else key
                if key in _BINS and isinstance(inner, dict):
                    yield from ((f"{here}.{name}", count) for name, count in inner.items())
                elif key in _COUNTS:
                    yield here, inner
                else:
                    left.append((here, inner))
