# SPDX-License-Identifier: Apache-2.0
"""flashbed pack: the path of the pack, and the message of an interrupted one; flashbed verify."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.commands import on_packs
from flashbed.common.errors import InputError, InterruptedByUser
from flashbed.execution import run
from flashbed.packs import making
from flashbed.replay import verifying
from flashbed.workload import WORKLOADS
from tests.support.appender import TOOL, Appender
from tests.support.facts import Facts
from tests.support.fixture_types import StudyWriter


def test_the_folder_of_a_pack_is_made(tmp_path: Path) -> None:
    making.prepare(tmp_path / "new/folder/x.flashbed")
    assert list((tmp_path / "new/folder").iterdir()) == []
    making.prepare(tmp_path / "new/folder/x.flashbed")


@pytest.mark.parametrize("name", ["x.zip", "new/x", "folder.flashbed", "file/x.flashbed", "file/new/x.flashbed"])
def test_where_no_pack_can_be_is_told_and_nothing_made(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.flashbed").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"give a file name that ends with \.flashbed"):
        making.prepare(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.flashbed"]


def test_power_cuts_of_another_tool_are_refused_before_anything_is_measured(
    study_file: StudyWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WORKLOADS._known, TOOL, Appender())
    measured: list[object] = []
    monkeypatch.setattr(run, "run", lambda *of, **_: measured.append(of))
    workload = f'workload = {{ tool = "{TOOL}", rows = 10 }}\n'
    study = study_file(workload, medium="emmc-64g:used_bytes=256M", filesystem="ext4", power_cuts=2)
    with pytest.raises(InputError) as caught:
        on_packs.pack_command(str(study), tmp_path / "x.flashbed")
    assert caught.value.message == Facts(f"{study}: ", f'"{TOOL}"', "pack the study without power_cuts = 2")
    assert measured == []


def test_one_that_is_stopped_says_that_there_is_no_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise InterruptedByUser("interrupted; what was finished is kept, and the next run goes on")

    monkeypatch.setattr(run, "run", stopped)
    with pytest.raises(InterruptedByUser) as caught:
        on_packs.pack_command("quick", tmp_path / "x.flashbed")
    message = "interrupted; no pack was written; what was measured is kept, and the next run goes on from there"
    assert caught.value.message == message


def test_a_verification_that_is_stopped_promises_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise InterruptedByUser("interrupted; what was finished is kept, and the next run goes on")

    monkeypatch.setattr(verifying, "verify", stopped)
    with pytest.raises(InterruptedByUser) as caught:
        on_packs.verify_command(tmp_path / "x.flashbed")
    assert caught.value.message == Facts("interrupted", "keeps nothing")
