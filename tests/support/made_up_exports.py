# SPDX-License-Identifier: Apache-2.0
"""Exports of made-up reports, for tests of their readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

COUNTED = {
    "cpu_ns": 1_000_000,
    "host_reads": 10,
    "host_writes": 100,
    "host_flushes": 30,
    "host_read_bytes": 40_960,
    "host_written_bytes": 409_600,
    "flash_programmed_pages": 120,
    "flash_erased_blocks": 2,
}
METRICS = {
    "bandwidth": {"title": "Bandwidth", "unit": "MiB/s", "better": "higher"},
    "latency_mean_us": {"title": "Mean latency", "unit": "us", "better": "lower"},
    "latency_p99_us": {"title": "99th percentile latency", "unit": "us", "better": "lower"},
    "requested_bytes": {"title": "Asked for by the workload", "unit": "bytes", "better": None},
    "flush_max_us": {"title": "Longest flush", "unit": "us", "better": "lower"},
}

Row = dict[str, Any]


def write(
    folder: Path,
    change: Callable[[Row], object] = lambda row: None,
    *,
    seeds: Sequence[int] = (1, 2, 3),
    filesystems: Sequence[str] = ("ext2", "f2fs"),
    kernel: str = "6.1",
    inputs: Mapping[str, Any] | None = None,
) -> Path:
    """Write a report's directory with a results.json. `change` may alter each row first."""
    rows = []
    for place, name in enumerate(filesystems):
        for seed in seeds:
            row: Row = {"filesystem": name, "seed": seed, "outcome": "measured", "reason": "", "key": f"{name}{seed}"}
            row |= {"check": "", "mounted": f"{name} rw", "limit": "medium", "steady": "steady", "fresh": ""}
            row |= {"writes": "", "counted": dict(COUNTED)}
            figures = {"bandwidth": 10.0 + place + seed / 10, "latency_mean_us": 400.0 - seed}
            row["metrics"] = {**figures, "requested_bytes": 4096.0, "flush_max_us": None}
            change(row)
            rows.append(row)
    study = {"name": "made-up", "axes": {"filesystem": list(filesystems)}, "fixed": {"kernel": kernel}}
    document = {"study": study, "answers": [{"metric": "bandwidth"}], "metrics": METRICS}
    manifest = inputs if inputs is not None else {"kernel": "abc", "board: b": {"mips": 1000}}
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps({**document, "manifest": manifest, "repetitions": rows}))
    return folder
