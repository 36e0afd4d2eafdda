# SPDX-License-Identifier: Apache-2.0
"""Each fault of a study or of this machine gets one message that says where and what to do, and its exit
status.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.e2e.one_cell import WRITE
from tests.support.facts import Facts
from tests.support.fixture_types import Flashbed, StudyWriter

BAD_INPUT, SETUP, HOST_RESOURCE = 2, 3, 4


def complaint(done: subprocess.CompletedProcess[str], status: int) -> str:
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_typo_in_a_key(flashbed: Flashbed, study_file: StudyWriter) -> None:
    message = complaint(flashbed("run", study_file(WRITE, sheduler="none")), BAD_INPUT)
    assert "small.toml:5" in message
    assert "sheduler" in message
    assert "scheduler" in message


def test_jobs_for_elsewhere(flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(WRITE)
    message = complaint(flashbed("export", study, "jobs", "--where", "filesystem"), BAD_INPUT)
    assert "--where filesystem: write AXIS=VALUE" in message
    message = complaint(flashbed("import", study, "jobs", "--as", "Windows XP"), BAD_INPUT)
    assert "jobs: no exported jobs here" in message
    done = flashbed("export", study, "jobs")
    assert [done.returncode, done.stdout] == [0, Facts("1 job", "1 folder", "README.txt")]
    [job] = (tmp_path / "jobs").rglob("*.measure.fio")
    results = job.parents[1] / "results"
    results.mkdir()
    (results / job.name.replace(".measure.fio", ".json")).write_text("not fio's")
    message = complaint(flashbed("import", study, "jobs", "--as", "Windows XP"), BAD_INPUT)
    assert f"{job.name.removesuffix('.measure.fio')}.json: is not what fio writes" in message


def test_an_unknown_profile(flashbed: Flashbed, study_file: StudyWriter) -> None:
    message = complaint(flashbed("run", study_file(WRITE.replace("ext2", "ext22"))), BAD_INPUT)
    assert "small.toml:7" in message
    assert "ext22" in message
    assert "ext2" in message.replace("ext22", "")


def test_contradictory_axes(flashbed: Flashbed, study_file: StudyWriter) -> None:
    message = complaint(flashbed("run", study_file(WRITE, filesystem="f2fs")), BAD_INPUT)
    assert "small.toml:" in message
    assert "filesystem" in message


def test_f2fs_on_a_medium_that_is_too_small(flashbed: Flashbed, study_file: StudyWriter) -> None:
    study = study_file(WRITE.replace("ext2", "f2fs"), medium="usb-stick-2g:used_bytes=40M")
    message = complaint(flashbed("run", study), BAD_INPUT)
    assert "small.toml:" in message
    assert "52" in message
    assert "40" in message


def test_a_medium_larger_than_the_disk_has_room_for(flashbed: Flashbed, study_file: StudyWriter) -> None:
    message = complaint(flashbed("run", study_file(WRITE, medium="null-2g:capacity_bytes=8T")), HOST_RESOURCE)
    assert "8T" in message
    assert "free" in message
    assert "FLASHBED_CACHE" in message


def test_a_study_that_is_not_there(flashbed: Flashbed) -> None:
    message = complaint(flashbed("run", "nowhere"), BAD_INPUT)
    assert "nowhere" in message
    assert "quick" in message


def test_a_key_that_is_not_there(flashbed: Flashbed) -> None:
    assert "abcdef" in complaint(flashbed("show", "abcdef"), BAD_INPUT)


def test_what_is_no_pack(flashbed: Flashbed, study_file: StudyWriter) -> None:
    study = study_file(WRITE)
    message = complaint(flashbed("verify", study), BAD_INPUT)
    assert Facts(f"flashbed: {study}", "not a pack", "`flashbed pack STUDY`").within(message)


def test_a_command_that_is_not_there(flashbed: Flashbed) -> None:
    assert "--help" in complaint(flashbed("rnu"), BAD_INPUT)


def test_a_cache_below_a_path_with_a_blank(flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path) -> None:
    message = complaint(flashbed("run", study_file(WRITE), FLASHBED_CACHE=str(tmp_path / "my cache")), SETUP)
    assert "my cache" in message
    assert "FLASHBED_CACHE" in message
