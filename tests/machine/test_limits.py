# SPDX-License-Identifier: Apache-2.0
"""The limit of a cell from the guest's counters, the mount options of its file system, and the erases of its blocks."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.execution.run import Record, Run
from flashbed.result.columns import ResultRow
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

LOAD = """
    [workload]
    tool = "fio"
    pattern = "randwrite"
    request = "4k"
    file = "{file}"
    flush = "{flush}"
    direct = {direct}
"""


def row(study: Path, measure: Measure, folder: Path) -> tuple[ResultRow, dict[str, bytes]]:
    """Measure the only repetition. Return its row of the results table, and the files that the guest left."""
    loaded = load_study(study)
    [repetition] = run.prepare(loaded)
    finished = measure(repetition, folder)
    [row_] = run.rows(Run(loaded, [Record(repetition, finished.result, folder)], 1))
    return row_, finished.files


@pytest.mark.parametrize(
    ("medium", "file", "flush", "direct", "limit"),
    [
        ("null-2g", "16M", "none", "true", "cpu"),
        ("usb-stick-2g", "1M", "fsync-each", "false", "medium"),
        ("usb-stick-2g", "1M", "none", "false", "memory"),
        ("usb-stick-2g:link_ps_per_byte=3000000", "1M", "none", "true", "bus"),
    ],
)
def test_the_limit_is_named(
    study_file: StudyWriter,
    measure: Measure,
    tmp_path: Path,
    medium: str,
    file: str,
    flush: str,
    direct: str,
    limit: str,
) -> None:
    study = study_file(LOAD.format(file=file, flush=flush, direct=direct), filesystem="ext2", medium=medium)
    row_of_cell, files = row(study, measure, tmp_path / "cell")
    shares = {part: row_of_cell.metrics[f"busy_{part}_percent"] for part in ("cpu", "medium", "bus")}
    assert row_of_cell.limit == limit, shares
    assert all(0 <= share <= 100 for share in shares.values())
    if limit in shares:
        assert shares[limit] == max(shares.values())
    if direct == "true":  # one thing after the other
        assert 80 < sum(shares.values()) < 110
    assert row_of_cell.mounted.startswith("ext2 rw,")
    if "null" not in medium:
        counts = [files[f"out/erases.{moment}"] for moment in ("before", "synced")]
        before, after = (struct.unpack(f"<{len(data) // 4}I", data) for data in counts)
        assert len(before) == len(after)
        assert f"erase_count_max:{max(after)}\n" in files["out/wear.synced"].decode()


@pytest.mark.parametrize(("options", "message"), [("", "overwrites in place"), (":mode=lfs", "writes a log")])
def test_f2fs_says_how_it_overwrites(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, options: str, message: str
) -> None:
    study = study_file(LOAD.format(file="1M", flush="none", direct="false"), filesystem=f"f2fs{options}")
    row_of_cell, _ = row(study, measure, tmp_path / "cell")
    assert row_of_cell.mounted.startswith("f2fs rw,")
    assert row_of_cell.mounted.endswith(message), row_of_cell.mounted


CHIP = """
    [workload]
    tool = "fio"
    pattern = "read"
    request = "64k"
    file = "4M"
"""


@pytest.mark.parametrize(("board", "least", "most"), [("arm64-250-pio", 20, 60), ("arm64-1000", 40, 80)])
def test_a_raw_chip_has_its_shares(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, board: str, least: int, most: int
) -> None:
    study = study_file(CHIP, filesystem="ubifs:compression=none", medium="slc-nand-64m", board=board)
    row_of_cell, _ = row(study, measure, tmp_path / "cell")
    # A page of 512 bytes: 15 us in the array, 26.4 us over the bus of 50 ns a byte; the rest is the CPU's.
    assert row_of_cell.metrics["busy_bus_percent"] / row_of_cell.metrics["busy_medium_percent"] == pytest.approx(
        26.4 / 15, rel=0.2
    )
    assert least < row_of_cell.metrics["busy_bus_percent"] < most
    assert row_of_cell.limit in ("bus", "cpu")
