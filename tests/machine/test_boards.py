# SPDX-License-Identifier: Apache-2.0
"""A guest has what the board's profile states: who moves the data, the speed of instructions, the memory."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.execution.repetition import Finished
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

SECTOR_BYTES, REQUEST_BYTES = 512, 4096
PIO_SECTOR_NS = 30_000

JOB = f"""
[measure]
filename=/dev/medium
offset=1g
size=1m
direct=1
ioengine=psync
rw=read
bs={REQUEST_BYTES}
write_lat_log=/out/reads
"""

STUDY = """
    [axes]
    board = [{boards}]
    [workload]
    tool = "fio"
    job = "reads.fio"
"""


def on_boards(study_file: StudyWriter, measure: Measure, tmp_path: Path, *boards: str) -> list[Finished]:
    """Measure the same direct reads on several boards, from a medium that takes 100 us for each."""
    (tmp_path / "reads.fio").write_text(JOB)
    body = STUDY.format(boards=", ".join(f'"{board}"' for board in boards))
    study = study_file(body, board=None, filesystem="ext2", medium="null-2g:command_ns=100000")
    return [measure(repetition, tmp_path / repetition.key) for repetition in run.prepare(load_study(study))]


def median_ns(finished: Finished) -> float:
    lines = finished.files["out/reads_clat.1.log"].decode().splitlines()
    return statistics.median(int(line.split(",")[1]) for line in lines)


def test_pio_costs_the_cpu_its_time_for_each_sector(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    pio = f"arm64-1000:transfer=pio,pio_sector_ns={PIO_SECTOR_NS}"
    by_dma, by_pio = on_boards(study_file, measure, tmp_path, "arm64-1000", pio)
    by_hand = REQUEST_BYTES // SECTOR_BYTES * PIO_SECTOR_NS
    assert abs(median_ns(by_pio) - median_ns(by_dma) - by_hand) <= 1000
    assert by_pio.result.measurement.metrics["cpu_percent"] > by_dma.result.measurement.metrics["cpu_percent"]


def test_slower_instructions_lengthen_the_kernels_path_alone(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    fast, slow = (
        median_ns(f) - 100_000 for f in on_boards(study_file, measure, tmp_path, "arm64-1000", "arm64-1000:mips=250")
    )
    assert 3.5 < slow / fast < 4.5


def test_the_board_has_the_memory_that_its_profile_says(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    small, large = on_boards(study_file, measure, tmp_path, "arm64-1000:ram=64M", "arm64-1000:ram=256M")
    total_kib = [int(f.files["out/memory.txt"].split()[7]) for f in (small, large)]
    assert total_kib[1] - total_kib[0] > 180 << 10
    assert total_kib[0] < 64 << 10


@pytest.mark.long
@pytest.mark.parametrize(
    ("board", "ram_mib"),
    [
        ("pxa270-520", 128),
        ("s3c2440-400", 64),
        ("s5pv210-800", 512),
        ("core2-desktop", 2048),
        ("pentium3-660", 128),
        ("imx8mm-1800", 2048),
        ("arm64-8x2000", 4096),
    ],
)
def test_each_board_measures_with_memory_to_spare(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, board: str, ram_mib: int
) -> None:
    finished = on_boards(study_file, measure, tmp_path, board)[0]
    words = finished.files["out/memory.txt"].split()
    total_kib, available_kib = int(words[7]), int(words[12])
    assert ram_mib << 9 < total_kib < ram_mib << 10
    assert available_kib > 16 << 10
