# SPDX-License-Identifier: Apache-2.0
"""Run the rows of pages/devices.toml that need a guest: cells of studies, and the kernel's own tests on raw chips.

Cells are stored as those of any study, and measured once.

Rows that differ only in the figure share a guest. Must not know the expected figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flashbed.common import programs
from flashbed.execution import run, scheduler
from flashbed.execution.attempt import Limits, this_host
from flashbed.execution.repetition import Repetition
from flashbed.execution.scheduler import Record
from flashbed.result.store import open_store
from flashbed.study.loading import load_study
from pages.device_rows import DeviceRow
from tests.machine.raw_chip import mtd_modules
from tests.support.guest_rig import NO_MOUNT, Rig, boot, new

STUDY = "study.toml"

LIMIT_S = 900
"""The seconds of this host after which a guest counts as hung."""

FROM_MIB = {"MiB/s": 1.0, "KiB/s": 1024.0, "MB/s": 2**20 / 1e6}

SPEED_BYTES = 8 << 20
"""The size of the part of a chip that the speed test uses."""

SPEED_TEST = """\
insmod /job/mtd_test.ko
insmod /job/mtd_speedtest.ko dev=0 count={blocks}
dmesg >/out/said
"""

ATTACH = """\
/usr/sbin/ubiformat -q -y -Q 1 /dev/mtd0
/usr/sbin/ubiattach -p /dev/mtd0
dmesg >/out/said
"""

_TIME = r"^\[ *(\d+\.\d+)\] "


def figures(rows: Sequence[DeviceRow], folder: Path) -> tuple[dict[str, float], str]:
    """Return the models' figures by the row's name, each in its row's unit, and the package of the guests' kernel.

    As many guests run at a time as this host has cores. Cells that differ only in their load share a beginning.
    """
    groups: dict[str, list[DeviceRow]] = {}
    for row in rows:
        groups.setdefault(_guest_of(row), []).append(row)
    cells: list[tuple[Sequence[DeviceRow], Repetition]] = []
    chips: list[tuple[Sequence[DeviceRow], Rig]] = []
    for number, group in enumerate(groups.values()):
        place = folder / f"guest{number}"
        place.mkdir()
        study = place / STUDY
        study.write_text(_study(group[0]))
        if group[0].kind == "chip":
            chips.append((group, new(study, place / "chip")))
        else:
            (planned,) = run.prepare(load_study(study))
            cells.append((group, planned))
    records = _measured([planned for _, planned in cells])
    figures = {row.name: _of_cell(row, records[planned.key]) for group, planned in cells for row in group}
    with ThreadPoolExecutor(programs.cores()) as pool:
        for part in pool.map(_on_chip, *zip(*chips, strict=True)):
            figures |= part
    return figures, f"linux-source-6.1 {cells[0][1].image.kernel.package_version}"


def _measured(planned: Sequence[Repetition]) -> dict[str, Record]:
    """Return the records of the cells by their key. Measure those that the store lacks."""
    store = open_store()
    scheduler.clean()
    records = {cell.key: record for cell in planned if (record := scheduler.stored(store, cell)) is not None}
    missing = [cell for cell in planned if cell.key not in records]
    limits = Limits(LIMIT_S, min(cell.cell.medium.size_bytes for cell in planned))
    with this_host(programs.cores()) as site:
        records |= {record.repetition.key: record for record in scheduler.measure(store, missing, site, limits)}
    return records


def _guest_of(row: DeviceRow) -> str:
    """Return the models' figures of the rows that one guest can measure."""
    run = {key: value for key, value in row.run.items() if key not in ("metric", "test", "load")}
    attach = row.run.get("test") == "attach"
    return json.dumps([row.kind, row.medium, attach, run], sort_keys=True)


def _study(row: DeviceRow) -> str:
    if row.kind == "chip":
        filesystem = "ubifs" if row.run["test"] == "attach" else "yaffs2"
        workload: Mapping[str, object] = {"tool": "fio", "pattern": "write", "request": "4k", "file": "64k"}
    else:
        filesystem, workload = row.run["filesystem"], row.run["workload"]
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in workload.items())
    head = {"title": "Like the device", "board": row.run["board"], "medium": row.medium, "filesystem": filesystem}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in head.items())
    return f"{lines}seeds = [1]\n\n[workload]\n{table}"


def _of_cell(row: DeviceRow, record: Record) -> float:
    if not record.result.is_measured:
        raise RuntimeError(f"{row.medium}: {row.what}: {record.result}")
    return record.result.measurement.metrics[row.run["metric"]] * FROM_MIB.get(row.unit, 1.0)


def _on_chip(rows: Sequence[DeviceRow], rig: Rig) -> dict[str, float]:
    if rows[0].run["test"] == "attach":
        output = boot(rig, format=ATTACH, mount=NO_MOUNT).files["said"].decode()
        return {row.name: _attach_ms(output) for row in rows}
    test = SPEED_TEST.format(blocks=SPEED_BYTES // _block_bytes(rig))
    output = boot(rig, beside=mtd_modules(rig), format=test, mount=NO_MOUNT).files["said"].decode()
    return {row.name: _speed(output, row, rig) for row in rows}


def _block_bytes(rig: Rig) -> int:
    numbers = rig.cell.medium.numbers()
    return numbers["page_bytes"] * numbers["pages_per_block"]


def _speed(output: str, row: DeviceRow, rig: Rig) -> float:
    (speed,) = re.findall(rf"mtd_speedtest: {row.run['test']} speed is (\d+) KiB/s", output)
    if row.unit != "ms":
        return float(speed)
    return _block_bytes(rig) / 1024 / float(speed) * 1e3


def _attach_ms(console: str) -> float:
    """Return UBI's attach time per eraseblock in ms: from its first message to its last, as in a boot log."""
    (begun,) = re.findall(_TIME + r"ubi0: attaching mtd0", console, re.MULTILINE)
    (ended,) = re.findall(_TIME + r"ubi0: attached mtd0", console, re.MULTILINE)
    (blocks,) = re.findall(r"ubi0: good PEBs: (\d+)", console)
    return (float(ended) - float(begun)) / int(blocks) * 1e3
