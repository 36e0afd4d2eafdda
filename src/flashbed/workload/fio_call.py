# SPDX-License-Identifier: Apache-2.0
"""How fio is called, whoever wrote its job: its command line, and how a section of a job file is written.

Must not know what a job asks for.
"""

import re
from collections.abc import Mapping

from flashbed.workload import fio_series

FIO = "/bin/fio --output-format=json+ --eta=never"
OUTPUT = "fio.json"
EMPTY_SCRIPT = b"true\n"

RANDOM = {"randrepeat": 0, "allrandrepeat": 0}
"""What lets randseed decide: with one of these on, fio takes the same random numbers whatever randseed says."""

LATENCY = {"lat_percentiles": 1, "clat_percentiles": 0}
"""Percentiles of the whole wait (lat), and not of the part after a request was handed in (clat)."""

RATE_MS, OWN_RATE_MS = 20, 100
"""The intervals in which fio logs what it moves: of a pattern, which may last a second only; of a job of the user's."""

FLUSHED_EACH = "a request lasts until it is flushed"
"""The description of a job whose latencies are meant so."""

DEFAULT_ENGINE = "psync"
BLOCKING_ENGINES = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines whose call returns when it is done, so that a job has one under way (fio 3.33, HOWTO, ioengine)."""

_BEGIN = re.compile(rb"^\{", re.MULTILINE)


def document(output: bytes) -> bytes:
    """The JSON of fio's output: before it fio says what it runs for a job (exec_prerun)."""
    found = _BEGIN.search(output)
    return output[found.start() :] if found else output


def rate_log(interval_ms: int) -> dict[str, object]:
    """The options by which fio logs what it moves."""
    return {"write_bw_log": f"/out/{fio_series.RATE_LOG}", "log_avg_msec": interval_ms, "per_job_logs": 1}


def section(name: str, options: Mapping[str, object]) -> bytes:
    """A section of a job file."""
    lines = [f"[{name}]", *(f"{key}={value}" for key, value in options.items())]
    return ("\n".join(lines) + "\n").encode()
