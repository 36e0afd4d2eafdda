# SPDX-License-Identifier: Apache-2.0
"""Figures that mislead, and the cautions that say so."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from flashbed.analysis import flows
from flashbed.execution.coverage import LineCoverage
from flashbed.report.cautions import cautions
from flashbed.report.inputs import Manifest
from flashbed.study.format import Answer
from flashbed.study.loading import Study
from flashbed.workload import WORKLOADS
from tests.support.facts import Facts
from tests.support.made_up_results import made_up_frame, made_up_study, rows_of
from tests.support.tabled import report_of


def texts(metric: str, **workload: str) -> str:
    """Return the cautions of a study with writes that asks for a metric."""
    study = replace(
        made_up_study(),
        axes={"filesystem": ("ext2:block=4k", "f2fs"), "pattern": ("write", "randwrite"), "request": ("4k",)},
        answer=Answer(compare=("filesystem",), metric=(metric,)),
        figures=(),
        tables=(),
        claims=(),
        workload=workload,
    )
    frame = made_up_frame(study).assign(mount_s=0.1)
    return "\n".join(caution.text for caution in cautions(report_of(study, rows_of(frame)), []))


def swallowed(**workload: str) -> str:
    """Return the cautions of a study whose bytes memory kept."""
    study = replace(made_up_study(), claims=(), workload=workload)
    report = report_of(study, rows_of(made_up_frame(study)))
    warnings = cautions(report, flows(report.results, report.fixed))
    return "\n".join(caution.text for caution in warnings)


def test_the_mount_of_nothing_is_told() -> None:
    assert "What is mounted holds next to nothing in 2 of 4 cells" in texts("mount_s", file="1M")
    assert "What is mounted holds next to nothing, as the load" in texts("mount_memory_bytes", allocate="true")
    assert "holds next to nothing" not in texts("mount_s", allocate="false")
    assert "holds next to nothing" not in texts("bandwidth", allocate="true")


def test_changed_lines_that_never_ran_are_told() -> None:
    study = made_up_study()
    coverage = [LineCoverage("linux 1a2b", lines=3, ran=0), LineCoverage("linux 3c4d", lines=2, ran=2, first="write")]
    report = report_of(study, rows_of(made_up_frame(study)), manifest=Manifest(coverage=coverage))
    never, all_ran = (caution for caution in cautions(report, []) if "changed line" in caution.text)
    assert never.text == Facts("Kernel linux 1a2b", "none of the 3 changed lines ran")
    assert all_ran.text == Facts("Kernel linux 3c4d", "2 of 2 changed lines ran", "first in write")
    assert never.link == all_ran.link == "#manifest"


def test_what_makes_a_load_wait_is_told() -> None:
    assert 'With flush = "fsync" the run waits' in swallowed(file="1M")
    assert "With flush" not in swallowed(file="1M", flush="fsync")


def test_cpu_load_is_a_share() -> None:
    assert "CPU load is a share of the run" in texts("cpu_percent")
    assert "CPU load" not in texts("bandwidth")


def test_losses_in_power_cuts_are_told() -> None:
    """A study of ext4 without barriers said that its commits were not known, though cuts had lost them."""
    study = replace(made_up_study(), answer=None, figures=(), tables=(), claims=(), power_cuts=30)
    frame = made_up_frame(study).assign(cuts=30.0, cuts_survived=30.0, cuts_lost=0.0, durable="durable")
    assert "LOST DATA" not in told(study, frame)
    cell = (frame["filesystem"] == "f2fs") & (frame["pattern"] == "write") & (frame["request"] == "4k")
    frame.loc[cell, "durable"] = "not known: 1 flush for 30 commits"
    assert "not known in 1 cell" in told(study, frame)
    first_seed = cell & (frame["seed"] == study.seeds[0])
    frame.loc[first_seed, ["cuts_survived", "cuts_lost", "cuts_unreadable"]] = [18.0, 11.0, 1.0]
    # One of the 48 cells has no result
    assert Facts("LOST DATA in 1 of 47 cells", "12 of 90 cuts", "F2FS").within(told(study, frame))
    assert "commits were carried out is not known" not in told(study, frame)


def told(study: Study, frame: pd.DataFrame) -> str:
    """Return the cautions of a report, a line for each."""
    return "\n".join(caution.text for caution in cautions(report_of(study, rows_of(frame)), []))


def test_media_without_a_cut_are_told() -> None:
    axes = {"medium": ("sd-poor", "slc-nand-64m"), "filesystem": ("f2fs",), "pattern": ("write",), "request": ("4k",)}
    study = replace(made_up_study(), axes=axes, answer=None, figures=(), tables=(), claims=(), power_cut=True)
    frame = made_up_frame(study)
    frame["mount_after_cut_s"] = [0.1 if medium == "slc-nand-64m" else None for medium in frame["medium"]]

    def texts_(frame: pd.DataFrame) -> list[str]:
        report = report_of(study, rows_of(frame))
        return [caution.text for caution in cautions(report, []) if "No power was cut" in caution.text]

    [text] = texts_(frame)
    assert text.startswith("No power was cut in 1 cell, on ")
    assert "slc" not in text
    assert texts_(frame[frame["medium"] == "slc-nand-64m"]) == []


@pytest.mark.parametrize(
    ("settled", "expected"),
    [
        (["", "", "settled", "settled"], "not known in 2 cells"),
        (["settled", "settled", "settled", "not settled: it falls by 74 %"], ""),
    ],
)
def test_write_amplification_that_may_go_on_changing_is_told(settled: list[str], expected: str) -> None:
    axes = {"filesystem": ("ext2:block=4k", "f2fs"), "pattern": ("write", "randwrite"), "request": ("4k",)}
    study = replace(made_up_study(), axes=axes, figures=(), tables=(), claims=(), seeds=(1,))

    def caution_on(metric: str) -> str:
        report_ = replace(study, answer=Answer(compare=("filesystem",), metric=(metric,)))
        frame = made_up_frame(report_).assign(total_write_amplification=2.0, settled=settled)
        text = "\n".join(caution.text for caution in cautions(report_of(report_, rows_of(frame)), []))
        return text if "same write amplification" in text else ""

    assert expected in caution_on("total_write_amplification")
    assert bool(caution_on("total_write_amplification")) == bool(expected)
    assert not caution_on("bandwidth")


@pytest.mark.parametrize(
    ("tool", "parameters", "expected"),
    [
        ("fio", {"pattern": "write"}, False),
        ("fio", {"pattern": "randwrite"}, True),
        ("fio", {"pattern": "randwrite", "allocate": "true"}, False),
        ("fio", {"pattern": "write", "allocate": "false"}, True),
        ("fio", {"job": "[prepare]\nrw=write\n[a]\nrw=read\n"}, True),
        ("fio", {"job": "[a]\nrw=write\n"}, False),
        ("bonnie", {}, False),
        ("bonnie++", {}, False),
        ("iozone", {}, False),
        ("fxmark", {}, True),
        ("nfs", {}, True),
    ],
)
def test_what_is_laid_out_before_the_mount(tool: str, parameters: dict[str, str], expected: bool) -> None:
    assert WORKLOADS[tool].prepares(parameters) is expected
