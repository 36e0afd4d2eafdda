# SPDX-License-Identifier: Apache-2.0
"""Which kernel can run which cell: Debian's kernel gets no module of the lab's, and a user's kernel only the modules
that it cannot do without.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.execution.repetition import program_set
from flashbed.image.guest_parts import ProgramSet
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from tests.support.fixture_types import StudyWriter
from tests.support.made_up_kernel import PATCH

TOOL = """
    [workload]
    tool = "fio"
    pattern = "write"
    request = "4k"
    file = "64k"
"""

AS_IT_IS = "and kernel 6.1-debian runs as it is, without any; change one of the two"


def sets(study: Path) -> list[ProgramSet]:
    return [program_set(cell) for cell in plan(load_study(study))]


@pytest.mark.parametrize(
    ("top", "message"),
    [
        (
            {"medium": "null-2g"},
            'medium: null-2g needs the lab\'s driver of block media (its profile has no interface but "plain")',
        ),
        (
            {"board": "arm64-250-pio"},
            'medium: usb-stick-2g needs the lab\'s driver of block media (arm64-250-pio has transfer = "pio")',
        ),
        (
            {"medium": "slc-nand-64m", "filesystem": "jffs2"},
            "medium: slc-nand-64m needs the lab's driver of raw chips",
        ),
        ({"scheduler": "cfq"}, "scheduler: cfq needs the module cfq"),
        (
            {"filesystem": "f2fs:direct_lock=range"},
            "filesystem: f2fs:direct_lock=range needs the module f2fs_direct_lock",
        ),
    ],
)
def test_debian_s_kernel_gets_no_module_of_the_lab_s(
    study_file: StudyWriter, top: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        load_study(study_file(TOOL, **{"filesystem": "ext2", "kernel": "6.1-debian", **top}))
    (line,) = caught.value.message.splitlines()
    assert f"{message}, {AS_IT_IS}" in line
    assert ".toml:" in line


def test_what_to_leave_out_is_told_where_both_are_axes(study_file: StudyWriter) -> None:
    axes = '[axes]\nkernel = ["6.1", "6.1-debian"]\nscheduler = ["none", "cfq"]\n'
    out = 'skip = [{ scheduler = "cfq", kernel = "6.1-debian" }]'
    with pytest.raises(InputError) as caught:
        load_study(study_file(axes + TOOL, filesystem="ext2"))
    assert caught.value.message.endswith(f"or leave the combination out: {out}")
    assert len(plan(load_study(study_file(f"{out}\n{axes}{TOOL}", filesystem="ext2")))) == 3


def test_a_job_of_the_user_s_is_held_to_it_too(study_file: StudyWriter, tmp_path: Path) -> None:
    (tmp_path / "my.fio").write_text("[load]\nrw=write\nsize=64k\n")
    job = '[workload]\ntool = "fio"\njob = "my.fio"\n'
    with pytest.raises(InputError, match="null-2g needs the lab's driver"):
        load_study(study_file(job, filesystem="ext2", kernel="6.1-debian", medium="null-2g"))


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_cell_asks_debian_s_kernel_for_what_linux_would_load(study_file: StudyWriter, cpus: int) -> None:
    board = f"arm64-1000:cpus={cpus}"
    top = {"kernel": "6.1-debian", "board": board, "filesystem": "fat32", "scheduler": "bfq"}
    (programs,) = sets(study_file(TOOL, **top))
    assert programs.modules == ()
    assert programs.of_kernel == ("xhci_pci", "usb_storage", "sd_mod", "bfq-iosched", "fs-vfat")
    (programs,) = sets(study_file(TOOL, **{**top, "filesystem": "f2fs", "scheduler": "none"}))
    assert programs.of_kernel == ("xhci_pci", "usb_storage", "sd_mod", "fs-f2fs")


@pytest.mark.parametrize(
    ("top", "modules", "of_kernel"),
    [
        ({"filesystem": "ext2"}, (), ("xhci_pci", "usb_storage", "sd_mod", "fs-ext2")),
        (
            {"filesystem": "f2fs", "scheduler": "bfq"},
            (),
            ("xhci_pci", "usb_storage", "sd_mod", "bfq-iosched", "fs-f2fs"),
        ),
        ({"filesystem": "ext2", "scheduler": "cfq", "medium": "null-2g"}, ("media_blk", "cfq"), ("fs-ext2",)),
        (
            {"filesystem": "jffs2:summary", "scheduler": "none", "medium": "slc-nand-64m"},
            ("media_nand", "jffs2_summary"),
            ("mtdblock",),
        ),
    ],
)
def test_a_kernel_of_the_user_s_needs_no_module_of_the_lab_s_for_block_media(
    study_file: StudyWriter, tmp_path: Path, top: dict[str, str], modules: tuple[str, ...], of_kernel: tuple[str, ...]
) -> None:
    (tmp_path / "x.patch").write_text(PATCH)
    (programs,) = sets(study_file(TOOL, kernel="6.1:patch=x.patch", board="arm64-1000:cpus=2", **top))
    assert programs.modules == modules
    assert programs.of_kernel == of_kernel


PROGRAM = '[workload]\ntool = "program"\npackages = ["sqlite3"]\ncommand = "sqlite3 /mnt/db"\n'


@pytest.mark.parametrize("kernel", ["6.1-debian", "6.12-debug"])
def test_programs_of_the_user_s_need_a_kernel_with_their_root(study_file: StudyWriter, kernel: str) -> None:
    with pytest.raises(InputError, match=f'kernel: "{kernel}" cannot run programs of your own'):
        load_study(study_file(PROGRAM, filesystem="ext2", kernel=kernel))


def test_a_patched_kernel_gets_what_programs_need(study_file: StudyWriter, tmp_path: Path) -> None:
    (tmp_path / "x.patch").write_text(PATCH)
    for text in ("6.1", "6.1:patch=x.patch"):
        (cell,) = plan(load_study(study_file(PROGRAM, filesystem="ext2", kernel=text)))
        assert cell.kernel == "6.1-program"
        assert cell.own_kernel is None or cell.own_kernel.version == "6.1-program"
