# SPDX-License-Identifier: Apache-2.0
"""A fault of one cell's medium ends that cell with its reason. The other cells run, and the run ends with 1."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fixture_types import Flashbed, Start, StudyWriter
from tests.support.small_disk import small_disk

SMALL = "usb-stick-2g:used_bytes=64M"

STUDY = """
    [axes]
    request = ["4k", "16k"]
    medium = {media}
    [workload]
    tool = "fio"
    pattern = "write"
    file = "256k"
"""


def study_of(study_file: StudyWriter, *media: str, seeds: int = 1) -> Path:
    return study_file(STUDY.format(media=json.dumps(list(media))), filesystem="ext2", medium=None, seeds=seeds)


def outcomes(cache: Path) -> tuple[int, list[str]]:
    """Return the number of measured repetitions, and the reasons of the others."""
    failed = [json.loads(path.read_bytes())["reason"] for path in (cache / "failures").glob("*/result.json")]
    return len(list((cache / "results/cells").glob("*/*/result.json"))), failed


def test_a_medium_too_large_for_this_disk(flashbed: Flashbed, study_file: StudyWriter, fresh_cache: Path) -> None:
    """Such a medium once ended the whole run."""
    study = study_of(study_file, SMALL, "usb-stick-2g:used_bytes=1G")
    with small_disk(fresh_cache / "work", "200M"):
        for _ in range(2):  # also when all the others are measured
            done = flashbed("run", study, "--jobs", "1")
            assert done.returncode == 1, done.stderr
            measured, failed = outcomes(fresh_cache)
            assert measured == 2
            assert len(failed) == 2
            for reason in failed:
                assert reason.startswith(f"{fresh_cache}/work/")
                assert "the medium takes 1G" in reason
                assert "Set FLASHBED_CACHE to a folder on a larger disk" in reason
            assert "Report: " in done.stdout
    assert flashbed("run", study, "--jobs", "1").returncode == 0


def test_a_disk_without_room_for_any_medium_of_the_study_is_full(
    flashbed: Flashbed, study_file: StudyWriter, fresh_cache: Path
) -> None:
    study = study_of(study_file, SMALL, "usb-stick-2g:used_bytes=1G")
    with small_disk(fresh_cache / "work", "60M"):
        done = flashbed("run", study, "--jobs", "1")
        assert done.returncode == 4, done.stderr
        assert "the medium takes 64M" in done.stderr


def changed(folder: Path) -> None:
    with (folder / "data.img").open("r+b") as file:
        file.write(b"x")


def unreadable(folder: Path) -> None:
    (folder / "data.img").unlink()
    (folder / "data.img").mkdir()


def in_a_circle(folder: Path) -> None:
    """Replace state.bin by a link to itself, in one step, so that no cell finds the file missing."""
    (folder / "circle").symlink_to("state.bin")
    (folder / "circle").rename(folder / "state.bin")


def gone(folder: Path) -> None:
    """Rename the folder, in one step. If the folder were removed file by file, a cell might find only some of its
    files.
    """
    folder.rename(folder.with_name("gone"))


def shorter(folder: Path) -> None:
    os.truncate(folder / "state.bin", 100)


@pytest.mark.parametrize(
    ("happens", "message"),
    [
        (changed, "has changed since the study was read; run the study again"),
        (shorter, "has changed since the study was read; run the study again"),
        (gone, "state.bin: cannot be read: No such file or directory"),
        (unreadable, "data.img: cannot be read: Is a directory"),
        (in_a_circle, "state.bin: cannot be read: is a link"),
    ],
)
def test_a_kept_medium_that_is_lost_while_a_study_runs(
    flashbed: Flashbed,
    start: Start,
    study_file: StudyWriter,
    fresh_cache: Path,
    tmp_path: Path,
    happens: Callable[[Path], None],
    message: str,
) -> None:
    """Such a loss once ended the whole run."""
    assert flashbed("medium", "create", "./kept", SMALL).returncode == 0
    study = study_of(study_file, SMALL, f"{SMALL},from=./kept", seeds=2)
    process = start("run", study, "--jobs", "1")
    deadline = time.monotonic() + 120
    while not outcomes(fresh_cache)[0]:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    happens(tmp_path / "kept")
    _, stderr = process.communicate(timeout=240)
    assert process.returncode == 1, stderr
    measured, failed = outcomes(fresh_cache)
    assert measured >= 4  # all on the new medium
    assert failed
    assert measured + len(failed) == 8
    assert all(message in reason for reason in failed), failed
