# SPDX-License-Identifier: Apache-2.0
"""Made-up results for the shipped studies after papers: every metric that a study uses, and some cells without results.

Numbers come from the coordinates by a hash, so they repeat; they mean nothing. If a cell has no queue, its number does
not depend on the scheduler, as in the lab.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashbed.common import paths
from flashbed.profiles.profile import has_queue
from flashbed.study.loading import Study, load_study
from flashbed.study.plan import plan
from tests.support.made_up_logs import logs_in, write_made_up_log
from tests.support.made_up_results import MANIFEST
from tests.support.tabled import bring_up_to_date

PAPERS = ("choi2014", "kim2007", "lee2013")
LOST = (3, 5)
"""In a study's second half, the places among seven cells of one that has not run, and of one that fails."""

REQUESTS = [(1_000_000 * (n + 1), n % 2, (n * 7) % 20 << 20, 4096) for n in range(20)]


def paper(name: str) -> Study:
    return load_study(paths.studies() / f"{name}.toml")


def metrics_of(study: Study) -> list[str]:
    """Return the metrics that the study shows or judges by."""
    answers = [*([study.answer] if study.answer else []), *study.choices]
    metrics = [metric for answer in answers for metric in answer.metric]
    metrics += [figure.y for figure in study.figures]
    metrics += [metric for table in study.tables for metric in table.metric]
    metrics += [metric for claim in study.claims for metric in claim.metric]
    return list(dict.fromkeys(metrics))


def chance(*coordinates: object) -> float:
    """Return a number from 1 to 2."""
    return 1 + int.from_bytes(hashlib.sha256(repr(coordinates).encode()).digest()[:4]) / 2**32


def paper_rows(study: Study) -> list[dict[str, Any]]:
    metrics = [name for name in metrics_of(study) if not name.endswith("_bytes")]
    cells = [tuple(cell.values()) for cell in study.combinations()]
    places = {cell: place % 7 if 2 * place >= len(cells) else 0 for place, cell in enumerate(cells)}
    rows = []
    for cell in plan(study):
        place = places[tuple(cell.coordinates.values())]
        if place == LOST[0] and not cell.logs_requests:
            continue
        coordinates: Mapping[str, str] = cell.coordinates
        if not has_queue(cell.medium, cell.translation):
            coordinates = {axis: value for axis, value in coordinates.items() if axis != "scheduler"}
        key = hashlib.sha256(cell.label.encode()).hexdigest()
        row: dict[str, Any] = {**cell.coordinates, "seed": cell.seed, "key": key, "reason": "", "outcome": "measured"}
        if place == LOST[1] and not cell.logs_requests:
            rows.append(row | {"outcome": "failed", "reason": "mkfs: exit status 1", "check": None})
            continue
        row |= {
            name: 10 * chance(name, coordinates) * (1 + 0.01 * chance(name, coordinates, cell.seed)) for name in metrics
        }
        row |= {name: 100.0 for name in metrics if name.endswith("_reached_percent")}  # memory kept nothing
        row |= {"requested_bytes": 1e6, "medium_read_bytes": 1e6, "medium_written_bytes": 1e6, "check": ""}
        row["mounted"] = "f2fs rw," + ",".join(["lazytime,background_gc=on,nodiscard,no_heap,mode=adaptive"] * 5)
        rows.append(row)
    return rows


STEADY = ("steady", "not known: bonnie++ tells no rate within a phase", "not steady: it rises from 1 to 2 MiB/s")


def widened(rows: list[dict[str, Any]], metrics: list[str]) -> list[dict[str, Any]]:
    """Return the rows with the longest numbers and words that a table can have: 0.00123 beside 12,300."""
    for place, row in enumerate(row for row in rows if row["outcome"] == "measured"):
        times = (0.00012345, 1234.5, 1.0)[place % 3]
        row |= {name: row[name] * times for name in metrics if name in row and not name.endswith("_percent")}
        row |= {"limit": ("medium", "memory", "cpu")[place % 3], "steady": STEADY[place // 3 % 3]}
        row |= dict.fromkeys(("busy_medium_percent", "busy_bus_percent", "busy_cpu_percent"), 100.0)
    return rows


def paper_report(study: Study, folder: Path) -> Path:
    """Return the report of a study, with a log of requests for each cell that keeps one."""
    rows = paper_rows(study)
    first = [row for row in rows if row["seed"] == study.seeds[0]]
    logging = {row["key"]: folder / row["key"] for row in first if study.logs_requests({a: row[a] for a in study.axes})}
    for path in logging.values():
        write_made_up_log(path / "out", REQUESTS, 0, 15_000_000)
    return bring_up_to_date(study, rows, MANIFEST, folder, logs=logs_in(logging))
