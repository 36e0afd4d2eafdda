# SPDX-License-Identifier: Apache-2.0
"""Bonnie's sequence in a guest, and slices of the shipped studies that use it: what they judge is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.execution import run
from flashbed.execution.repetition import Repetition
from flashbed.study.loading import load_study
from flashbed.workload.bonnie import Bonnie
from tests.support.fixture_types import Measure, StudyWriter

MIB = 1 << 20
PHASES = ("char_output", "rewrite", "block_output", "char_input", "block_input", "random_seeks")


def slice_of(name: str, tmp_path: Path, replaced: dict[str, str], seed: int, **at: str) -> Repetition:
    """Return one cell of a shipped study with one seed, made smaller by `replaced`."""
    text = (paths.studies() / f"{name}.toml").read_text()
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / f"{name}.toml"
    path.write_text(text)
    repetitions = run.prepare(load_study(path))
    [repetition] = [w for w in repetitions if w.cell.seed == seed and at.items() <= dict(w.cell.coordinates).items()]
    return repetition


def test_two_processes_go_through_all_phases(
    fresh_cache: Path, study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    workload = (
        '[axes]\ncaches = ["flushed", "cold"]\n[workload]\ntool = "bonnie"\nfile = "2M"\nprocesses = 2\nseeks = 50\n'
    )
    flushed, cold = (
        measure(repetition, tmp_path / repetition.key).result.measurement.metrics
        for repetition in run.prepare(load_study(study_file(workload, filesystem="ext2")))
    )
    for finished in (flushed, cold):
        assert finished["requested_bytes"] == 2 * (6 * 2 * MIB + 50 * 16384)
        assert all(finished[name] > 0 for name in PHASES)
        assert 100 <= finished["char_output_reached_percent"] < 110
        assert 100 <= finished["block_output_reached_percent"] < 110
    for name in ("char_input", "block_input", "random_seeks"):
        assert flushed[f"{name}_reached_percent"] == 0  # 4 MiB stay in the page cache
    for name in ("char_input", "block_input"):
        assert 100 <= cold[f"{name}_reached_percent"] < 110
    # Half read, half written. Without a mount before it, the reads are missing.
    assert 100 <= cold["rewrite_reached_percent"] < 110
    assert 50 <= flushed["rewrite_reached_percent"] < 55
    # The CPU works for each character, and hardly for a block
    assert cold["char_input_cpu_percent"] > 2 * cold["block_input_cpu_percent"]


def test_kim2007_has_used_up_the_chip_before_block_output(fresh_cache: Path, measure: Measure, tmp_path: Path) -> None:
    """A tenth of the study's file on a tenth of its chip. Cold, for so small a file stays in memory otherwise."""
    smaller = {
        '"40M"': '"4M"',
        "used_bytes=41M": "used_bytes=4608K",
        "used_bytes=64M": "used_bytes=8M",
        'tool = "bonnie"': 'tool = "bonnie"\nseeks = 400',
    }
    cells = {}
    for size in ("4608K", "8M"):
        medium = f"slc-nand-64m:used_bytes={size},factory_bad_blocks=0"
        chosen = slice_of(
            "kim2007", tmp_path, smaller, 8, medium=medium, filesystem="yaffs2:no-cache=off", caches="cold"
        )
        cells[size] = measure(chosen, tmp_path / size).result.measurement.metrics
    full, roomy = cells.values()
    assert all(metrics[name] > 0 for metrics in cells.values() for name in PHASES)
    # To remove the old file takes the CPU a quarter as long as to write the new one, or more, and is no part of it. Nor
    # is the start of the program.
    assert all(metrics[f"{name}_cpu_percent"] <= 100 for metrics in cells.values() for name in PHASES)
    # What is rewritten marks what was there before, by its spare area: no byte of the file
    assert 95 <= roomy["rewrite_reached_percent"] < 110
    assert 95 <= roomy["block_output_reached_percent"] < 110
    # A block is of 16 KiB. All that the removed file took is erased before it can be written again.
    assert full["block_output_erases"] >= 4 * MIB / 16384
    assert full["char_input_erases"] < 10
    assert full["random_seeks"] < roomy["random_seeks"]


def test_kim2007_offers_the_cell_that_the_medium_decides(fresh_cache: Path, measure: Measure, tmp_path: Path) -> None:
    smaller = {'"100M"': '"8M"', 'tool = "bonnie"': 'tool = "bonnie"\nseeks = 200'}
    at = {"medium": "hdd-25-4200-ide-4g"}
    kept, cold = (
        measure(
            slice_of("kim2007", tmp_path, smaller, 8, caches=caches, **at), tmp_path / caches
        ).result.measurement.metrics
        for caches in ("kept", "cold")
    )
    assert kept["block_input_reached_percent"] == kept["random_seeks_reached_percent"] == 0
    assert 100 <= cold["block_input_reached_percent"] < 110
    # 200 draws out of 512 blocks. The medium answers all but those of a block changed before, which are under 3 %: on
    # average 10 of 512 are.
    assert 95 < cold["random_seeks_reached_percent"] < 110
    # Half a revolution of 4200 rpm and the command: no seek is faster; those in memory are.
    assert cold["random_seeks"] < 1000
    assert kept["random_seeks"] > 1000


def test_kim2007_processes_share_a_medium(fresh_cache: Path, measure: Measure, tmp_path: Path) -> None:
    smaller = {", 200]": ", 50]", '200 = "200': '50 = "50', "seeks = 200 ": "seeks = 50 "}
    board = "s3c2440-400:pio_sector_ns=153600,cpus=1"
    at = {"board": board, "medium": "cf-2g", "caches": "cold", "processes": "4", "file": "2M"}
    finished = measure(
        slice_of("kim2007-processes", tmp_path, smaller, 1, **at), tmp_path / "cell"
    ).result.measurement.metrics
    phases = Bonnie().phases({"file": 2 * MIB, "processes": 4, "seeks": 50})
    assert finished["requested_bytes"] == sum(phase.requested_bytes for phase in phases)
    for name in ("char_output", "block_output", "char_input", "block_input"):
        assert finished[f"{name}_reached_percent"] == pytest.approx(100, abs=10)
