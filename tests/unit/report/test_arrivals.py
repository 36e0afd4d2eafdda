# SPDX-License-Identifier: Apache-2.0
"""Arrivals in report/on_terminal.py: the line on a cell when all its seeds are measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flashbed.guest_output.assessment import Status
from flashbed.report.on_terminal import MOST_WATCHED, Arrivals
from flashbed.result.result import Measurement, Result
from flashbed.study.loading import Study, load_study
from tests.support.made_up_result import made_up_result

STUDY = """
title  = "A stick"
board  = "arm64-1000"
medium = "usb-stick-2g"
seeds  = {seeds}

[axes]
filesystem = ["ext2", "fat16"]

[workload]
tool    = "fio"
pattern = "write"
file    = "1M"
flush   = "fsync"
{request}"""


def study(folder: Path, *, seeds: int, requests: str) -> Study:
    request = f"request = [{requests}]" if "," in requests else ""
    text = STUDY.replace("[workload]", f"{request}\n\n[workload]")
    (folder / "a.toml").write_text(text.format(seeds=seeds, request="" if request else f"request = {requests}\n"))
    return load_study(folder / "a.toml")


def arrivals(folder: Path) -> Arrivals:
    return Arrivals(study(folder, seeds=3, requests='"4k"'))


def result(bandwidth: float) -> Result:
    measured = Measurement(metrics={"bandwidth": bandwidth})
    return replace(made_up_result("k", {"filesystem": "ext2"}), measurement=measured)


def test_a_cell_is_told_by_the_median_of_its_seeds(tmp_path: Path) -> None:
    assert arrivals(tmp_path).line([result(3.0), result(40.0), result(12.5)]) == "ext2: bandwidth 12.5 MiB/s"


def test_a_cell_with_a_failure_is_left_to_the_end(tmp_path: Path) -> None:
    failed = made_up_result("k", {"filesystem": "ext2"}, Status.FAILED, "no room")
    assert arrivals(tmp_path).line([result(3.0), failed]) is None


def test_cells_of_a_large_study_are_not_told(tmp_path: Path) -> None:
    requests = ", ".join(f'"{size}k"' for size in range(4, 4 * (MOST_WATCHED // 2 + 2), 4))
    assert Arrivals(study(tmp_path, seeds=1, requests=requests)).line([result(3.0)]) is None
