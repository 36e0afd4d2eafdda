# SPDX-License-Identifier: Apache-2.0
"""Jobs for another computer and made-up results of it, for tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flashbed.external_results import exported_jobs
from flashbed.study.loading import Study, load_study
from flashbed.study.slicing import narrowed
from tests.support.samples import write_study


def sample(folder: Path, *pairs: tuple[str, str]) -> Study:
    return load_study(write_study(folder, *pairs))


def fio_json(name: str, megabytes: int = 8, runtime_ms: int = 2000) -> dict[str, Any]:
    """Return the part of fio's output that the lab reads."""
    idle = {"total_ios": 0, "runtime": 0, "io_bytes": 0, "lat_ns": {"mean": 0, "max": 0, "N": 0}}
    busy = {
        "total_ios": megabytes * 256,
        "runtime": runtime_ms,
        "io_bytes": megabytes << 20,
        "lat_ns": {"mean": 1e6, "max": 9e6, "N": megabytes * 256},
    }
    return {"fio version": "fio-3.33", "jobs": [{"jobname": name, "error": 0, "read": idle, "write": busy}]}


def run_elsewhere(folder: Path, change: Callable[[dict[str, Any]], Any] = lambda document: document) -> list[Path]:
    """Write results beside the jobs, as if fio had run them."""
    written = []
    for entry in json.loads((folder / exported_jobs.JOBS_MANIFEST).read_text())["jobs"]:
        file = folder / entry["folder"] / "results" / f"{entry['name']}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(change(fio_json(entry["name"]))))
        written.append(file)
    return written


def broken(file: Path, how: str) -> None:
    document = json.loads(file.read_text())
    match how:
        case "no JSON":
            file.write_text("fio: job startup failed")
        case "another tool's":
            file.write_text('{"results": []}')
        case "a list":
            file.write_text("[1, 2]")
        case "nameless":
            del document["jobs"][0]["jobname"]
            file.write_text(json.dumps(document))
        case "no latencies":
            del document["jobs"][0]["write"]["lat_ns"]
            file.write_text(json.dumps(document))
        case "failed":
            document["jobs"][0]["error"] = 28
            file.write_text(json.dumps(document))
        case "another job's":
            document["jobs"][0]["jobname"] = "write-4k-seed9-000000000000"
            file.write_text(json.dumps(document))
        case "empty":
            file.write_text("")


def exported_to(folder: Path, study: Study) -> Path:
    """Export the jobs of the study's cells on FAT16 to the folder, and return the folder."""
    exported_jobs.export(narrowed(study, {"filesystem": ["fat16"]}), folder)
    return folder
