# SPDX-License-Identifier: Apache-2.0
"""A cell whose tool runs programs of the user's has a root, and a kernel for it; all other cells are as they were."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from flashbed.cluster import order
from flashbed.common.errors import InputError
from flashbed.execution import repetition, run
from flashbed.image import emulator, guest_image, modules
from flashbed.image.guest_image import GuestImage
from flashbed.image.guest_parts import PartError, file_names, root_part
from flashbed.machine import qemu
from flashbed.profiles import kernel_choice
from flashbed.study.loading import load_study, shipped_studies
from flashbed.study.plan import Cell, plan
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Needs, Root, RootFile
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

ROOT = Root(("sqlite3",), (RootFile("/app/x", stat.S_IFREG | 0o755, "0" * 64),))


def test_no_cell_of_a_shipped_study_has_anything_of_a_root() -> None:
    for study in shipped_studies():
        cell = plan(study)[0]
        if cell.workload.has_root:
            continue
        wanted = repetition.program_set(cell)
        assert (wanted.root, wanted.root_files, modules.OF_PROGRAMS in wanted.modules) == (None, (), False)
        assert not cell.kernel.endswith(kernel_choice.PROGRAM_SUFFIX)


@pytest.fixture
def cell(study_file: StudyWriter, monkeypatch: pytest.MonkeyPatch) -> Cell:
    monkeypatch.setattr(type(WORKLOADS["fio"]), "needs", lambda *_: Needs(root=ROOT))
    return plan(load_study(study_file(guest_rig.STUDY, filesystem="ext2", seeds=1)))[0]


def image_of(cell: Cell, tmp_path: Path) -> GuestImage:
    wanted = repetition.program_set(cell)
    parts = {name: tmp_path / name for name in file_names(wanted)}
    digests = {"kernel": "k", "base": "b", **{name: f"digest of {name}" for name in parts}}
    tool = Mock()
    tool.digest.return_value = "0"
    kernel = Mock(changed=None)
    return GuestImage(kernel, tool, tmp_path / "base", parts, digests)


def test_a_cell_with_a_root_has_it_and_its_kernel_in_its_key(cell: Cell, tmp_path: Path) -> None:
    assert (cell.kernel, cell.own_kernel) == ("6.1-program", None)
    image = image_of(cell, tmp_path)
    wanted = repetition.prepare(cell, image)
    assert wanted.environment["root"] == f"digest of {root_part(ROOT)}"
    assert wanted.environment["module-program_region"]
    assert repetition.job(cell, image).beginning["root"].startswith(b"# SPDX")
    other = GuestImage(image.kernel, image.media_tool, image.base, image.parts, {**image.digests, root_part(ROOT): "x"})
    changed = repetition.prepare(cell, other)
    assert changed.key != wanted.key
    assert changed.beginning != wanted.beginning
    assert image.root(repetition.program_set(cell)) == tmp_path / root_part(ROOT)
    assert tmp_path / root_part(ROOT) not in image.archives(repetition.program_set(cell))


def test_a_worker_of_a_cluster_gets_the_root(cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator, "program", lambda: tmp_path / "emulator")
    image = image_of(cell, tmp_path)
    assert tmp_path / root_part(ROOT) in order.files_of(repetition.prepare(cell, image)).values()


def test_the_machine_has_the_root_as_a_device_and_does_not_write_to_the_file(tmp_path: Path) -> None:
    root = tmp_path / "with,comma"
    root.write_bytes(bytes(4096))
    files = qemu.Files(*(tmp_path / name for name in ("kernel", "initramfs", "state", "data", "emulator")))
    with_root = qemu.command([], replace(files, root=root), tmp_path)
    without = qemu.command([], files, tmp_path)
    extra = [word for word in with_root if word not in without]
    path = str(root).replace(",", ",,")
    assert extra == [
        f"memory-backend-file,id=root,share=off,mem-path={path},size=4096",
        "ivshmem-plain,memdev=root,addr=5",
    ]


@pytest.mark.parametrize(
    ("key", "name", "place"),
    [("packages", "sqlite3", "workload.packages[1]"), ("files", "/app/data/x.so", "workload.files[1]")],
)
def test_a_problem_of_a_root_has_the_line_of_the_study(
    study_file: StudyWriter, monkeypatch: pytest.MonkeyPatch, key: str, name: str, place: str
) -> None:
    path = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g", seeds=1)
    study = load_study(path)
    lists = '[workload]\npackages = ["bash", "sqlite3"]\nfiles = ["x.py", "data/"]\n'
    path.write_text(path.read_text().replace(guest_rig.STUDY, lists))
    monkeypatch.setattr(guest_image, "build", Mock(side_effect=PartError("cannot be had", key, name)))
    with pytest.raises(InputError, match=rf":\d+: {place.replace('[', '.').replace(']', '.')}: cannot be had$"):
        run.prepare(study)
