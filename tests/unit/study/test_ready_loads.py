# SPDX-License-Identifier: Apache-2.0
"""Ready-made loads in a study: parameters fixed or on axes, files of the load, and messages about errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.study import ready_loads
from flashbed.study.loading import Study, load_study
from flashbed.study.plan import plan

STUDY = """
title  = "A load"
board  = "arm64-1000"
medium = "sd-good:used_bytes=256M"
seeds  = 1
[axes]
filesystem = ["ext4"]
{axes}
[workload]
{workload}
"""


def study_of(folder: Path, workload: str, axes: str = "") -> Study:
    (folder / "study.toml").write_text(STUDY.format(workload=workload, axes=axes))
    return load_study(folder / "study.toml")


def own_load(folder: Path, text: str) -> None:
    (folder / "mine").mkdir()
    (folder / "mine/load.toml").write_text(f'title = "Mine"\nversion = 1\nsource = "mine"\n{text}')
    (folder / "mine/run.sh").write_text("true\n")


def test_an_axis_and_a_key_choose_values_and_the_rest_is_default(tmp_path: Path) -> None:
    study = study_of(tmp_path, 'load = "sqlite"\ntransactions = 20', 'journal = ["delete", "wal"]')
    commands = [cell.workload.parameters["command"] for cell in plan(study)]
    assert [("--journal delete" in text, "--journal wal" in text) for text in commands] == [
        (True, False),
        (False, True),
    ]
    assert all("--transactions 20 " in text and "--synchronous full " in text for text in commands)
    assert [file.path for file in study.root_files] == ["/app/load.py"]


@pytest.mark.parametrize("name", ready_loads.shipped_loads())
def test_each_shipped_load_makes_a_study(tmp_path: Path, name: str) -> None:
    study = study_of(tmp_path, f'load = "{name}"')
    assert study.tool == "program"
    assert [cell.workload.parameters["check"] for cell in plan(study)] != [""]


def test_a_load_of_the_user_s_brings_its_files_and_the_study_adds_its_own(tmp_path: Path) -> None:
    own_load(
        tmp_path,
        'files = ["run.sh"]\ncommand = "/app/run.sh {a} {{a}} ${a}"\n[parameters]\na = { default = 1, meaning = "m" }',
    )
    (tmp_path / "more").write_text("x")
    study = study_of(tmp_path, 'load = "./mine"\nfiles = ["more"]\npackages = ["sqlite3"]')
    assert [file.path for file in study.root_files] == ["/app/more", "/app/run.sh"]
    (cell,) = plan(study)
    assert cell.workload.parameters["command"] == "/app/run.sh 1 {a} ${a}"
    assert list(cell.workload.parameters["packages"]) == ["sqlite3"]


@pytest.mark.parametrize(
    ("workload", "axes", "facts"),
    [
        ('load = "sqlight"', "", ["workload.load", "sqlight", 'did you mean "sqlite"', "lmdb"]),
        ('load = "sqlite"', 'journal = ["wall"]', ["axes.journal[0]", "wall", "delete, truncate, persist, wal, off"]),
        ('load = "sqlite"\nsynchronous = "no"', "", ["workload.synchronous", '"no"', "off, normal, full, extra"]),
        ('load = "sqlite"\ntool = "fio"', "", ["workload.tool", "program"]),
        ('load = "sqlite"\npages = 1', "", ["workload.pages"]),
    ],
)
def test_errors_name_the_key(tmp_path: Path, workload: str, axes: str, facts: list[str]) -> None:
    with pytest.raises(InputError) as error:
        study_of(tmp_path, workload, axes)
    assert [fact for fact in facts if fact not in error.value.message] == []


def test_a_load_with_an_unused_parameter_is_refused(tmp_path: Path) -> None:
    own_load(tmp_path, 'command = "true {b}"\n[parameters]\na = { default = 1, meaning = "m" }')
    with pytest.raises(InputError) as error:
        study_of(tmp_path, 'load = "./mine"')
    assert [fact for fact in ("load.toml", "parameters.a", "{a}", "{b}") if fact not in error.value.message] == []
