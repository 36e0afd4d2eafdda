# SPDX-License-Identifier: Apache-2.0
"""Kernels on the command line in place of a study's own."""

from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.study.loading import load_study
from flashbed.study.plan import key, plan
from tests.support.made_up_kernel import PATCH, commit, make

STUDY = """\
title = "A study"
board = "arm64-1000"
medium = "usb-stick-2g"
seeds = 1
KERNEL
[axes]
filesystem = ["ext2", "fat16"]
AXIS
[workload]
tool = "fio"
pattern = "write"
request = "4k"
file = "10M"
[answer]
compare = "filesystem"
metric = "bandwidth"
[[figure]]
title = "Rates"
x = "filesystem"
y = "bandwidth"
[[table]]
title = "Rates"
rows = "filesystem"
metric = "bandwidth"
"""


def study(folder: Path, kernel: str = "", axis: str = "") -> Path:
    path = folder / "my.toml"
    path.write_text(STUDY.replace("KERNEL", kernel).replace("AXIS", axis))
    return path


@pytest.mark.parametrize(("kernel", "axis"), [("", ""), ('kernel = "6.12"', ""), ("", 'kernel = ["6.1", "6.12"]')])
def test_one_takes_the_place_of_whatever_the_study_names(kernel: str, axis: str, tmp_path: Path) -> None:
    loaded = load_study(study(tmp_path, kernel, axis), kernels=["6.1-debug"])
    assert loaded.axes.get("kernel", (loaded.fixed.get("kernel"),)) == ("6.1-debug",)
    assert ("kernel" in loaded.axes) == bool(axis)
    assert {cell.kernel for cell in plan(loaded)} == {"6.1-debug"}


def test_several_stand_beside_each_other(tmp_path: Path) -> None:
    loaded = load_study(study(tmp_path), kernels=["6.1", "6.12"])
    assert len(plan(loaded)) == 4
    assert loaded.answer
    assert loaded.answer.by == ("kernel",)
    assert loaded.figures[0].series == loaded.tables[0].columns == ("kernel",)


def test_a_cell_keeps_its_key(tmp_path: Path) -> None:
    own, other = (plan(load_study(study(tmp_path), kernels=kernels)) for kernels in ((), ("6.1",)))
    assert [key(cell, {}) for cell in own] == [key(cell, {}) for cell in other]


def test_a_key_hangs_on_what_is_built_and_not_on_where_a_tree_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        commit(make(tmp_path / name), "one")
    keys = {key(plan(load_study(study(tmp_path), kernels=[f"./{name}@one"]))[0], {}) for name in ("a", "b")}
    assert len(keys) == 1
    assert key(plan(load_study(study(tmp_path)))[0], {}) not in keys


def test_a_study_names_trees_and_patches_by_its_own_folder(tmp_path: Path) -> None:
    make(tmp_path / "linux")
    (tmp_path / "x.patch").write_text(PATCH)
    for text, word in (("6.1:patch=x.patch", "6.1"), ("./linux", "own"), ("./linux:patch=x.patch", "own")):
        cells = plan(load_study(study(tmp_path, kernel=f'kernel = "{text}"')))
        assert {cell.kernel for cell in cells} == {word}
        assert all(cell.own_kernel for cell in cells)


def test_what_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"my\.toml:8: axes\.kernel\[1\]: .*away is not there"):
        load_study(study(tmp_path, axis='kernel = ["6.1", "./away"]'))
    with pytest.raises(InputError, match=r"--kernel \./away: .*away is not there"):
        load_study(study(tmp_path), kernels=["./away"])
    with pytest.raises(InputError, match="is there twice"):
        load_study(study(tmp_path), kernels=["6.1", "6.1"])
