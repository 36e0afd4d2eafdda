# SPDX-License-Identifier: Apache-2.0
"""docs/generated/yaffs2-figures.md: its generator runs, and its checks find figures that cannot be."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashbed.guest_output import medium_counters
from pages import yaffs2_checks, yaffs2_guest, yaffs2_mount, yaffs2_quick, yaffs2_time

RUN = yaffs2_time.Row(
    board="arm64-1000",
    pattern="write",
    request="4k",
    bandwidth=5.0,
    limit=5.4,
    took=10.0,
    chip=6.0,
    bus=1.0,
    mtd=1.0,
    module=0.5,
    elsewhere=1.0,
    idle=0.5,
    mtd_idle=6.5,
    waited=7.0,
)

SCANNED = yaffs2_mount.Mount(seconds=0.2, memory=4096.0, pages=10, summaries=0, by_checkpoint=False)
SMALL = yaffs2_mount.Row("slc-nand-64m", "yaffs2", 2, 1, SCANNED, SCANNED)


def test_parts_that_are_all_of_a_run_pass() -> None:
    assert not list(yaffs2_checks.wrong_times([RUN]))


@pytest.mark.parametrize(
    "changed",
    [
        {"took": 10.1},
        {"mtd": -0.5, "idle": 2.0},
        {"mtd_idle": 7.1},
        {"bandwidth": 5.5},
    ],
)
def test_runs_that_cannot_be_are_found(changed: dict[str, Any]) -> None:
    assert len(list(yaffs2_checks.wrong_times([replace(RUN, **changed)]))) == 1


def test_a_scan_out_of_proportion_is_found() -> None:
    def scan(mib: int, seconds: float) -> yaffs2_mount.Row:
        return replace(SMALL, mib=mib, cut=replace(SCANNED, seconds=seconds))

    assert not list(yaffs2_checks.wrong_mounts([scan(2, 0.2), scan(8, 0.8), scan(32, 3.2)]))
    assert len(list(yaffs2_checks.wrong_mounts([scan(2, 0.2), scan(8, 1.0), scan(32, 3.2)]))) == 1


@pytest.mark.parametrize("large", [True, False])
def test_a_checkpoint_is_believed_only_where_one_can_be(large: bool) -> None:
    chip = "slc-nand-256m" if large else "slc-nand-64m"
    mount = replace(SCANNED, by_checkpoint=True, summaries=3)
    row = replace(SMALL, chip=chip, clean=mount, cut=replace(SCANNED, summaries=3 * large))
    assert len(list(yaffs2_checks.wrong_mounts([row]))) == (0 if large else 1)
    assert len(list(yaffs2_checks.wrong_mounts([replace(row, cut=mount)]))) == (1 if large else 3)


PAGE = """\
| chip | contents | cut, s | pages | KiB |
| --- | --- | ---: | ---: | ---: |
| slc-nand-256m | 2 MiB | 0.154 | 4152 | 1096 |
| slc-nand-64m | 2 MiB | 0.214 | 8402 | 1132 |
"""


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("0.154", "0.158", True),
        ("0.154", "0.160", False),
        ("4152", "4275", True),
        ("4152", "4300", False),
        ("1096", "1300", True),
        ("2 MiB | 0.154", "4 MiB | 0.154", False),
        ("cut, s", "clean, s", False),
    ],
)
def test_a_page_with_other_figures_is_found(old: str, new: str, is_same: bool) -> None:
    """Within 3 %, for another package of Linux; memory is not compared."""
    now = "".join(PAGE.splitlines(keepends=True)[:3]).replace(old, new)
    assert (yaffs2_quick.otherwise(PAGE, now) == []) == is_same


def bus_cycles(out: Mapping[str, bytes], run: str) -> int:
    """Return the number of bytes, commands and addresses on the bus in a run, from the emulator's log (LabCycle). The
    log's clock is the machine's.
    """
    clocks = {medium_counters.CLOCK: out[medium_counters.CLOCK]}
    began, ended = medium_counters.window_ns({**yaffs2_time.idle_times(out, run), **clocks})
    log = struct.iter_unpack("<QQII", out["cycles.bin"])
    return sum(value if kind in (2, 3) else 1 for now, _, kind, value in log if began <= now <= ended)


@pytest.mark.long
def test_a_run_is_measured_and_its_parts_are_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaffs2_guest, "MEDIUM_OPTIONS", "record=200000")
    cell, out = yaffs2_time.measured(tmp_path / "guest", "arm64-1000", ["4k"], 1)
    write, read = (yaffs2_time.row(cell, "arm64-1000", pattern, "4k", out) for pattern in ("write", "read"))
    assert not list(yaffs2_checks.wrong_times([write, read]))
    # A new file of 1 MiB: 512 pages of data and few others, 300 us each by the data sheet; read again, 25 us
    assert 512 * 300e-6 <= write.chip < 560 * 300e-6
    assert 512 * 25e-6 <= read.chip < 560 * 25e-6
    # 30 ns a cycle
    assert write.bus == pytest.approx(bus_cycles(out, "write.4k") * 30e-9)
    assert read.bus == pytest.approx(bus_cycles(out, "read.4k") * 30e-9)


@pytest.mark.long
def test_mounts_are_measured(tmp_path: Path) -> None:
    (row,) = yaffs2_mount.rows(tmp_path, [("slc-nand-256m", [""])], [(2, 1)])
    assert not list(yaffs2_checks.wrong_mounts([row]))
    assert row.clean.seconds < row.cut.seconds
    # A scan reads two pages of each of the 2,048 blocks
    assert row.cut.pages > 2 * 2000
