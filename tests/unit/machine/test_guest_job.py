# SPDX-License-Identifier: Apache-2.0
"""The files of a guest's job: the board's port of block media and NAND controller in their drivers' words, and which
files belong to the beginning and which to the load.
"""

from __future__ import annotations

import re
import shlex

import pytest

from flashbed.machine import guest_job
from flashbed.machine.guest_job import Job
from flashbed.machine.interfaces import between
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from flashbed.workload import WORKLOADS
from tests.support.fixture_types import StudyWriter

WORKLOAD = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'

DMA, PIO = "arm64-1000", "arm64-250-pio:pio_sector_ns=12345,nand_cycle_ps=40000"


@pytest.mark.parametrize(
    ("board", "medium", "filesystem", "expected"),
    [
        (DMA, "null-2g", "ext2", "pio_sector_ns=0"),
        (PIO, "null-2g", "ext2", "pio_sector_ns=12345"),
        (DMA, "usb-stick-2g", "ext2", ""),
        (DMA, "slc-nand-64m", "jffs2", "dma=1"),
        (f"{DMA}:nand_cycle_ps=40000", "slc-nand-64m", "jffs2", "dma=1"),
        (f"{DMA}:nand_unit=page", "slc-nand-64m", "jffs2", "dma=1 whole_pages=1"),
        (f"{DMA}:nand_wait=poll", "slc-nand-64m", "jffs2", "dma=1 poll=1"),
        (PIO, "slc-nand-64m", "jffs2", ""),
    ],
)
def test_each_medium_is_told_its_own_bus(
    study_file: StudyWriter, board: str, medium: str, filesystem: str, expected: str
) -> None:
    study = load_study(study_file(WORKLOAD, board=board, medium=medium, filesystem=filesystem))
    (cell,) = plan(study)
    environment = guest_job.files(cell)["cell.env"].decode()
    ((options,),) = map(shlex.split, re.findall(r"^MEDIUM_OPTIONS=(.*)$", environment, re.MULTILINE))
    assert options == expected


@pytest.mark.parametrize(("board", "cycle_ps"), [(DMA, 0), (f"{DMA}:nand_cycle_ps=40000", 40000), (PIO, 40000)])
def test_the_controller_of_a_chip_is_the_boards(study_file: StudyWriter, board: str, cycle_ps: int) -> None:
    study = load_study(study_file(WORKLOAD, board=board, medium="slc-nand-64m", filesystem="jffs2"))
    (cell,) = plan(study)
    assert between(cell.board, cell.medium).controller == (f"lab-nand,drive=medium,addr=2,cycle_ps={cycle_ps}",)


def test_the_option_of_a_file_system_can_choose_its_module(study_file: StudyWriter) -> None:
    for filesystem, load, of_kernel in (
        ("jffs2", "", ("mtdblock", "fs-jffs2")),
        ("jffs2:summary", "insmod /lib/flashbed/jffs2_summary.ko\n", ("mtdblock",)),
    ):
        (cell,) = plan(load_study(study_file(WORKLOAD, medium="slc-nand-64m", filesystem=filesystem)))
        assert guest_job.files(cell)["format"].decode().startswith(f"{load}/usr/sbin/flash_erase ")
        assert guest_job.of_kernel(cell) == of_kernel


@pytest.mark.parametrize(
    ("tool", "changed"),
    [
        ("fio", {"pattern": "randread", "request": "4k", "file": "64k"}),
        ("fio", {"job": "[prepare-file]\nrw=write\nsize=1m\n[load]\nrw=read\nsize=1m\n", "variables": {}}),
        ("iozone", {"file": "4M", "aged": "64M"}),
        ("fxmark", {"tests": "read-private", "file": "1M"}),
        ("nfs", {"load": 10}),
        ("trace", {"trace": "a.trace"}),
    ],
)
def test_a_beginning_has_all_that_it_calls_and_nothing_of_the_load(tool: str, changed: dict[str, object]) -> None:
    workload = WORKLOADS[tool]
    parameters = changed if "job" in changed else workload.parameters.model_validate(changed).model_dump()
    files = workload.files(parameters, 1)
    begins = {"prepare", *workload.begins_with}
    texts = [re.sub(r"^#.*", "", files[script].decode(), flags=re.MULTILINE) for script in begins & files.keys()]
    called = {name for text in texts for name in re.findall(r"/job/([\w.]+)", text)}
    assert called - {"cell.env"} <= begins
    assert "measure" not in begins


def test_a_load_is_packed_to_the_same_bytes_in_any_order() -> None:
    packed = Job({}, {"measure": b"true\n", "a": bytes(700)}).packed_load()
    assert packed == Job({"prepare": b""}, {"a": bytes(700), "measure": b"true\n"}).packed_load()
    assert len(packed) % 512 == 0
