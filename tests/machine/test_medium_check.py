# SPDX-License-Identifier: Apache-2.0
"""The file system's own checker on the host finds what a guest left on its medium whole, and would say otherwise."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter
from tests.support.verdicts import verdict

STUDY = """
    [axes]
    filesystem = ["fat16:cluster=32k", "ext2:block=4k", "ext4", "f2fs"]
    [workload]
    tool = "fio"
    pattern = "randwrite"
    request = "4k"
    file = "1M"
    flush = "fsync-each"
"""

NAMES = ("fat16", "ext2", "ext4", "f2fs")


def vital_offset(name: str, image: bytes) -> int:
    """Return the offset of what the checker reads first: cluster table, group descriptors, superblock."""
    reserved_sectors = int.from_bytes(image[14:16], "little")
    return {"fat16": reserved_sectors * 512, "ext2": 4096, "ext4": 4096, "f2fs": 1024}[name]


@pytest.mark.parametrize("index", range(4), ids=NAMES)
def test_what_a_guest_leaves_is_clean_and_damage_is_seen(
    index: int, study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    repetition = run.prepare(load_study(study_file(STUDY)))[index]
    kept = tmp_path / "kept.img"
    check = repetition.cell.filesystem.check
    assert check
    # The checker runs as always; a copy of the image is taken on the way.
    cell = dataclasses.replace(
        repetition.cell,
        filesystem=dataclasses.replace(repetition.cell.filesystem, check=f"cp --sparse=always {{image}} {kept}"),
    )
    measure(dataclasses.replace(repetition, cell=cell), tmp_path / "work")
    assert verdict(repetition.cell, kept) == ""
    with kept.open("r+b") as image:
        offset = vital_offset(NAMES[index], image.read(512))
        for copy in (offset, offset + 4096):
            image.seek(copy)
            image.write(bytes(range(256)) * 4)
    assert verdict(repetition.cell, kept)
