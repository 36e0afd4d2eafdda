# SPDX-License-Identifier: Apache-2.0
"""Figures of requests: from the guest's log to points and numbers, computed by hand."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.commands import reporting
from flashbed.common.errors import HostResourceError, InputError
from flashbed.guest_output import request_log
from flashbed.guest_output.request_log import Request
from flashbed.report import request_figures
from flashbed.result.store import open_store
from flashbed.study.format import RequestFigure
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from tests.support.made_up_logs import logs_in, write_made_up_log
from tests.support.made_up_result import made_up_result
from tests.support.made_up_results import made_up_frame, made_up_study, rows_of
from tests.support.samples import write_study
from tests.support.tabled import report_of

KIB, MIB = 1024, 1 << 20
SEEDS = "seeds      = 2"
TRACE = '[[trace]]\ntitle = "Requests"\nwhere = {{ {} }}\n\n[[figure]]'


def test_a_log_is_read_in_time_of_the_measurement(tmp_path: Path) -> None:
    write_made_up_log(tmp_path, [(5_000_000, 0, MIB, 4 * KIB)], began_ns=2_000_000, ended_ns=9_000_000)
    log = request_log.read(tmp_path)
    assert log.requests == (Request("read", 3_000_000, 3_100_000, MIB, 4 * KIB),)
    assert log.measured_ns == 7_000_000


def test_a_log_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    write_made_up_log(tmp_path, [(5_000_000, 0, MIB, 4 * KIB)], 0, 1)
    path = tmp_path / "requests.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="entries of 40 bytes"):
        request_log.read(tmp_path)


def drawing(folder: Path, requests: list[tuple[int, int, int, int]]) -> request_figures.RequestDrawing:
    """Return the figure of one made-up cell whose log has these requests: time, operation, offset, length."""
    where = {"filesystem": ("ext2:block=4k",), "pattern": ("read",), "request": ("4k", "16k")}
    study = replace(made_up_study(), request_figures=(RequestFigure(title="Requests", where=where),))
    rows = rows_of(made_up_frame(study))
    expected = [
        row["key"] for row in rows if row["seed"] == 1 and all(row[axis] in values for axis, values in where.items())
    ]
    for key in expected:
        write_made_up_log(folder / key / "out", requests, 0, 10_000_000)
    report = report_of(study, rows, logs=logs_in({key: folder / key for key in expected}))
    [figure] = request_figures.drawings(report)
    return figure


def test_points_are_addresses_against_time(tmp_path: Path) -> None:
    flush = (3_000_000, 3, 0, 0)
    trace = drawing(tmp_path, [(1_500_000, 0, 3 * MIB, 4096), (2_000_000, 1, MIB // 2, 512), flush])
    data = trace.data()
    counted = "1 read of 4.00 KiB, 1 write of 0.500 KiB"
    assert [panel["title"] for panel in data["panels"]] == [f"request size {size}: {counted}" for size in ("4k", "16k")]
    read, write = data["panels"][0]["series"]
    assert (read["label"], read["x"], read["y"]) == ("read", [1.5], [3.0])
    assert (write["label"], write["x"], write["y"]) == ("write", [2.0], [0.5])
    assert data["panels"][0]["measured"] == 10.0


def test_the_numbers_tell_order_and_distance(tmp_path: Path) -> None:
    # Reads: the second begins where the first ended, the third 2 MiB behind that.
    reads = [(1, 0, 0, 4096), (2, 0, 4096, 4096), (3, 0, 2 * MIB + 8192, 16384)]
    table = request_figures.table(drawing(tmp_path, reads))
    assert [cell.text for cell in table.rows[0].cells] == ["3", "8.00", "50 %", "2.00 MiB"]


def test_only_so_many_points_are_drawn(tmp_path: Path) -> None:
    many = [(time, 1, 512 * time, 512) for time in range(request_figures.MOST_DRAWN + 10)]
    trace = drawing(tmp_path, many)
    assert len(trace.data()["panels"][0]["series"][0]["x"]) == request_figures.MOST_DRAWN
    assert f"The first {request_figures.MOST_DRAWN:,} requests" in " ".join(trace.notes)


def test_only_the_cells_of_a_figure_keep_their_requests(tmp_path: Path) -> None:
    selection = 'filesystem = "ext2", pattern = "write"'
    study = load_study(write_study(tmp_path, ("[[figure]]", TRACE.format(selection))))
    logging = [dict(cell.coordinates) for cell in plan(study) if cell.logs_requests and cell.seed == 1]
    assert logging == [
        {"filesystem": "ext2:block=4k", "pattern": "write", "request": "4k"},
        {"filesystem": "ext2:block=4k", "pattern": "write", "request": "64k"},
    ]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ('filesystem = "ext3"', 'where.filesystem: "ext3" is not on the axis "filesystem"'),
        ('request = "4k", pattern = "read", patern = "read"', 'where.patern: "patern" is no axis of this study'),
    ],
)
def test_a_selection_that_is_wrong_is_told(tmp_path: Path, selection: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        load_study(write_study(tmp_path, ("[[figure]]", TRACE.format(selection))))
    assert expected in caught.value.message


def test_more_panels_than_fit_are_refused(tmp_path: Path) -> None:
    axis = ('["4k", "64k"]', '["4k", "8k", "16k", "32k", "64k"]')
    with pytest.raises(InputError, match=r"trace\[0\].where: shows 10 cells; take 1 to 8"):
        load_study(write_study(tmp_path, axis, ("[[figure]]", TRACE.format('filesystem = "ext2"'))))


def test_the_entry_is_that_of_the_module() -> None:
    """kernel/common/request_log.h: four times u64, twice u32."""
    assert struct.calcsize("<4Q2I") == 40


@pytest.mark.parametrize("left", [None, 40, 39])
def test_a_log_that_is_damaged_before_it_is_drawn_is_not_drawn(
    left: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))
    write_made_up_log(tmp_path / "log", [(n * 1000, 0, 0, 4096) for n in range(3)], 0, 1_000_000)
    key = "0123" * 16
    files = {f"out/{path.name}": path for path in (tmp_path / "log").iterdir()}
    stored = open_store().put(made_up_result(key, {}), files)
    record: Any = SimpleNamespace(folder=stored.folder, result=SimpleNamespace(key=key))
    assert len(reporting._requests(record).requests) == 3
    log = stored.folder / "out" / request_log.REQUEST_LOG
    if left is None:
        log.unlink()
    else:
        log.write_bytes(log.read_bytes()[:left])
    with pytest.raises(HostResourceError, match=f"{key}: was damaged before .*run the study again"):
        reporting._requests(record)
    assert open_store().get(key) is None
