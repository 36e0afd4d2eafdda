# SPDX-License-Identifier: Apache-2.0
"""Made-up results in the shape of a real study: three file systems, four patterns, four request sizes, three seeds.

They include a cell that fails with each seed, one that fails with one seed, writes that the page cache swallowed, and a
damaged image.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas

from flashbed.profiles.profile import Medium
from flashbed.report.inputs import Manifest
from flashbed.study.format import Answer, Claim, Figure, RequestFigure, Table
from flashbed.study.loading import Study
from tests.support.made_up_logs import logs_in, write_made_up_log
from tests.support.tabled import bring_up_to_date

FILESYSTEMS = ("fat16:cluster=32k", "ext2:block=4k", "f2fs")
PATTERNS = ("read", "randread", "write", "randwrite")
REQUESTS = ("1k", "4k", "16k", "64k")
SEEDS = (1, 2, 3)

BANDWIDTH = {
    "read": {"fat16:cluster=32k": 21.0, "ext2:block=4k": 23.5, "f2fs": 23.4},
    "randread": {"fat16:cluster=32k": 7.2, "ext2:block=4k": 9.1, "f2fs": 8.2},
    "write": {"fat16:cluster=32k": 5.1, "ext2:block=4k": 7.4, "f2fs": 9.6},
    "randwrite": {"fat16:cluster=32k": 0.21, "ext2:block=4k": 0.34, "f2fs": 1.3},
}
FILE_BYTES = 10 << 20
TRACED = {"filesystem": FILESYSTEMS[:2], "pattern": ("randread",), "request": ("4k",)}
REASON = "mkfs.f2fs: exit status 255"


class Titles:
    """The part of a library of profiles that a report needs."""

    def filesystem(self, selector: str) -> Any:
        titles = {"fat16": "FAT16", "ext2": "ext2", "f2fs": "F2FS"}
        return SimpleNamespace(title=titles[selector.partition(":")[0]], compresses=False)

    def medium(self, selector: str) -> Medium:
        kind = "nand" if selector.startswith("slc-nand") else "null"
        return Medium.model_validate({"title": f"{selector}, a medium", "kind": kind, "capacity_bytes": 2 << 30})

    def texts(self, _: Any) -> dict[str, str]:
        return {}

    def board(self, selector: str) -> Any:
        return SimpleNamespace(nand_wait="poll" if selector == "s3c2440-400" else "interrupt")


CLAIMS = (
    {
        "text": "Both new file systems read random places faster than FAT16.",
        "source": "section 4.1, figure 3",
        "where": {"pattern": ["randread"]},
        "compare": [{"filesystem": ["ext2:block=4k", "f2fs"]}, {"filesystem": ["fat16:cluster=32k"]}],
        "relation": ">",
        "by": "at least 5 %",
    },
    {
        "text": "F2FS writes far faster than ext2, and ext2 faster than FAT16.",
        "source": "section 4.2, table 2",
        "where": {"pattern": ["randwrite"], "request": ["1k", "4k", "16k"]},
        "compare": [{"filesystem": [name]} for name in ("f2fs", "ext2:block=4k", "fat16:cluster=32k")],
        "relation": [">>", ">"],
        "unit": "K/s",
        "printed": [
            {"at": {"filesystem": ["f2fs"]}, "value": 1331},
            {"at": {"filesystem": ["ext2:block=4k"]}, "value": 348},
            {"at": {"filesystem": ["fat16:cluster=32k"]}, "value": 1078400404, "invalid": "an impossible rate"},
        ],
    },
    {
        "text": "Larger requests are faster, whatever the pattern.",
        "along": "request",
        "relation": "rises",
        "by": "at least 2 times",
        "where": {"filesystem": ["ext2:block=4k"]},
    },
    {
        "text": "On average, ext2 is at least a quarter ahead in reading.",
        "where": {"pattern": ["read", "randread"]},
        "compare": [{"filesystem": ["ext2:block=4k"]}, {"filesystem": ["fat16:cluster=32k"]}],
        "relation": ">",
        "by": "at least 25 %",
        "cells": "average",
        "printed": [
            {"value": 12.5, "at": {"filesystem": ["ext2:block=4k"]}},
            {"value": 10, "at": {"filesystem": ["fat16:cluster=32k"]}},
        ],
        "unit": "MB/s",
    },
    {
        "text": "The processor is idle.",
        "metric": "cpu_percent",
        "value": 30.0,
        "relation": "<",
        "where": {"filesystem": ["f2fs"], "pattern": ["read"]},
    },
    {
        "text": "Linux writes FAT16 far faster than Windows does.",
        "source": "figure 6",
        "where": {"filesystem": ["fat16:cluster=32k"], "pattern": ["write"]},
        "compare": [{"system": ["Linux"]}, {"system": ["Windows XP"]}],
        "relation": ">>",
    },
)

SYSTEMS = {"Linux": 9.0, "Windows XP": 3.1}
"""The write rates of two systems on a real machine, MiB/s."""


def made_up_elsewhere() -> list[dict[str, Any]]:
    """Return imported results: only sequential writes to FAT16."""
    cell = {"filesystem": FILESYSTEMS[0], "pattern": "write", "outcome": "measured", "reason": "", "key": ""}
    return [
        {**cell, "system": system, "request": request, "seed": seed, "bandwidth": speed + seed / 10, "runtime_s": 1.0}
        for system, speed in SYSTEMS.items()
        for request in REQUESTS
        for seed in SEEDS
    ]


def made_up_study() -> Study:
    where: dict[str, tuple[str, ...]] = {"pattern": ("write", "randwrite")}
    titles: Any = Titles()
    return Study(
        name="choose-fs",
        path=Path("studies/choose-fs.toml"),
        title="Which file system for a 2 GB flash stick?",
        question="Reading and writing 10 MB in small and in large requests: which file system is fastest?",
        source="a made-up paper, 2014",
        fixed={"board": "arm64-1000", "medium": "usb-stick-2g", "scheduler": "mq-deadline", "kernel": "6.1"},
        axes={"filesystem": FILESYSTEMS, "pattern": PATTERNS, "request": REQUESTS},
        seeds=SEEDS,
        skip=(),
        tool="fio",
        workload={"file": "10M", "flush": "none"},
        job=None,
        program=None,
        answer=Answer(compare=("filesystem",), metric=("bandwidth",), by=("pattern",)),
        figures=(
            Figure(
                title="Reading",
                where={"pattern": ("read", "randread")},
                x="request",
                y="bandwidth",
                series=("filesystem", "pattern"),
            ),
            Figure(
                title="Writing", where=where, x="request", y="bandwidth", series=("filesystem", "pattern"), kind="bar"
            ),
            Figure(
                title="How long the slowest requests take",
                where={"pattern": ("randread",)},
                x="request",
                y="latency_p99_us",
                series=("filesystem",),
            ),
            Figure(
                title="What 4 KiB requests cost the flash",
                where={"request": ("4k",), "pattern": ("randwrite",)},
                x="filesystem",
                y="write_amplification",
                kind="bar",
            ),
        ),
        tables=(
            Table(title="Bandwidth", rows=("pattern", "request"), columns=("filesystem",), metric=("bandwidth",)),
            Table(
                title="Longest request",
                rows=("filesystem",),
                columns=("request",),
                metric=("latency_max_us",),
                where={"pattern": ("randwrite",)},
            ),
        ),
        claims=tuple(Claim.model_validate({"metric": "bandwidth", **claim}) for claim in CLAIMS),
        systems=tuple(SYSTEMS),
        library=titles,
    )


def made_up_frame(study: Study) -> pandas.DataFrame:
    chance = random.Random(7)
    rows = []
    for seed in study.seeds:
        for cell in study.combinations():
            request = int(cell["request"].removesuffix("k"))
            speed = BANDWIDTH[cell["pattern"]][cell["filesystem"]] * (request / 16) ** (
                0.35 if "read" in cell["pattern"] else 0.2
            )
            speed *= 1 + chance.uniform(-1, 1) * (0.03 if cell["pattern"] != "randwrite" else 0.12)
            writes = cell["pattern"].endswith("write")
            swallowed = 0.08 if writes and cell["filesystem"].startswith("ext2") and cell["request"] == "64k" else 1.02
            mean_us = request / 1024 / speed * 1e6
            key = hashlib.sha256(f"{cell} {seed}".encode()).hexdigest()
            row: dict[str, Any] = {**cell, "seed": seed, "outcome": "measured", "reason": "", "key": key, "check": ""}
            row |= {
                "bandwidth": speed,
                "iops": speed * 1024 / request,
                "latency_mean_us": mean_us,
                "latency_p50_us": mean_us * 0.8,
                "latency_p95_us": mean_us * 1.9,
                "latency_p99_us": mean_us * 3.1 * (1 + chance.uniform(-0.1, 0.1)),
                "latency_max_us": mean_us * 40 * (1 + chance.uniform(-0.3, 0.3)),
                "runtime_s": 10 / speed,
                "requested_bytes": float(FILE_BYTES),
                "medium_read_bytes": 4096.0 if writes else FILE_BYTES * 1.01,
                "medium_written_bytes": FILE_BYTES * swallowed if writes else 0.0,
                "write_amplification": {"f": 9.0, "e": 14.0}[cell["filesystem"][0]] * (1 + chance.uniform(-0.1, 0.1))
                if writes
                else float("nan"),
                "cpu_percent": 31.0 + chance.uniform(-3, 3),
            }
            if _fails(cell, seed):
                row = {**cell, "seed": seed, "outcome": "failed", "reason": REASON, "key": key, "check": None}
            rows.append(row)
    frame = pandas.DataFrame(rows)
    damaged = (frame["filesystem"] == FILESYSTEMS[0]) & (frame["pattern"] == "randwrite") & (frame["seed"] == 3)
    frame.loc[damaged & (frame["request"] == "1k"), "check"] = (
        "/test.0\n  Contains a free cluster (1284). Assuming EOF."
    )
    return frame


def _fails(cell: dict[str, str], seed: int) -> bool:
    always = {"filesystem": "f2fs", "pattern": "randwrite", "request": "1k"}
    once = {"filesystem": "f2fs", "pattern": "write", "request": "64k"}
    return cell == always or (cell == once and seed == 2)


MANIFEST = Manifest(
    versions={
        "flashbed": "0.1.0",
        "kernel": "6.1.192",
        "image": "5f3e1c0a9b7d4e2f8a6c1d3b5e7f9a0c2d4e6f8a1b3c5d7e9f0a2b4c6d8e0f1a",
        "emulator": "90c9b7fdcb7d3d63",
    },
    profiles={
        "board": {"mips": 1000, "ram": 268435456, "cpu": "cortex-a57", "transfer": "dma"},
        "medium": {
            "kind": "flash",
            "capacity_bytes": 2000000000,
            "page_bytes": 4096,
            "pages_per_block": 128,
            "program_ns": 900000,
            "read_ns": 60000,
            "erase_ns": 3500000,
            "ftl": "hybrid",
        },
    },
)

CONSOLE = [
    "[    0.093417] Run /init as init process",
    "\x1b[31mError: </script><b>device is too small\x1b[0m",
    "cell: mkfs.f2fs: exit status 255",
]


def rows_of(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    rows: list[Any] = frame.to_dict("records")
    return rows


def made_up_report(folder: Path) -> Path:
    study = made_up_study()
    frame = made_up_frame(study)
    consoles = dict.fromkeys(frame.loc[frame["outcome"] != "measured", "key"], CONSOLE)
    return bring_up_to_date(study, rows_of(frame), MANIFEST, folder, consoles, elsewhere=made_up_elsewhere())


def traced_study() -> Study:
    """Return the same study with a figure of requests."""
    return replace(made_up_study(), request_figures=(RequestFigure(title="Where the requests lie", where=TRACED),))


def traced_report(folder: Path) -> Path:
    """Return a report with logs of 20 requests for the cells of the figure of requests."""
    study = traced_study()
    rows = rows_of(made_up_frame(study))
    artefacts = {row["key"]: folder / row["key"] for row in rows if row["seed"] == 1 and study.logs_requests(row)}
    for place, path in enumerate(artefacts.values()):
        requests = [(1_000_000 * (n + 1), n % 2, (n * 7 + place) % 20 << 20, 4096) for n in range(20)]
        write_made_up_log(path / "out", requests, 0, 15_000_000)
    return bring_up_to_date(study, rows, MANIFEST, folder, logs=logs_in(artefacts), elsewhere=made_up_elsewhere())
