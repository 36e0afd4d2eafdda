# SPDX-License-Identifier: Apache-2.0
"""A file system that is aged before it is measured: what is refused, and the texts for the guest and the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from flashbed.common.errors import InputError
from flashbed.execution import repetition
from flashbed.guest_output import filesystem_costs as guest_filesystem
from flashbed.machine import guest_job
from flashbed.medium import kept_media
from flashbed.profiles.condition import STEPS
from flashbed.profiles.profile import Medium
from flashbed.report import conditions
from flashbed.study.loading import load_study
from flashbed.study.plan import Cell, cell_inputs, plan
from tests.support.facts import Facts
from tests.support.fixture_types import StudyWriter
from tests.support.made_up_limits import limited
from tests.support.made_up_results import Titles, made_up_study, rows_of
from tests.support.tabled import report_of

CellOn = Callable[..., Cell]

WORKLOAD = 'workload = { tool = "fio", pattern = "randwrite", request = "4k", file = "4M" }\n'
FLASH, CHIP = "usb-stick-2g", "slc-nand-64m"


@pytest.fixture
def cell(study_file: StudyWriter) -> CellOn:
    def of(medium: str, filesystem: str = "ext4") -> Cell:
        (cell_,) = plan(load_study(study_file(WORKLOAD, medium=medium, filesystem=filesystem)))
        return cell_

    return of


def prepared(cell: Cell) -> str:
    image = Mock()
    image.media_tool.digest.return_value = "0"
    return repetition.job(cell, image).beginning["prepare"].decode()


def test_the_guest_uses_the_file_system_before_the_loads_files_are_made(cell: CellOn) -> None:
    plain = prepared(cell(FLASH))
    assert prepared(cell(f"{FLASH}:condition=aged")) == f"age /mnt 80 2 1 >/out/aged.txt || exit 1\n{plain}"
    other = cell(f"{FLASH}:condition=aged,aged_fill_percent=95,aged_passes=0")
    assert prepared(other).startswith("age /mnt 95 0 1 ")
    assert "age" in repetition.program_set(other).built
    for condition in ("fresh", "full", "worn", "used"):
        assert prepared(cell(f"{FLASH}:condition={condition}")) == plain
        assert "age" not in repetition.program_set(cell(f"{FLASH}:condition={condition}")).built


def test_a_key_has_how_it_was_used_and_no_other_key_changes(cell: CellOn) -> None:
    def medium(text: str) -> dict[str, Any]:
        return dict(cell_inputs(cell(text))["medium"])

    aged = medium(f"{FLASH}:condition=aged")
    assert (aged["aged_fill_percent"], aged["aged_passes"]) == (80, 2)
    assert aged["written_before"] == [list(words) for words in STEPS["used"]]
    assert aged != medium(f"{FLASH}:condition=aged,aged_passes=3")
    for condition in ("fresh", "full", "worn", "used"):
        used = medium(f"{FLASH}:condition={condition}")
        assert not [name for name in used if name.startswith("aged")]
    assert "reclaims" not in cell_inputs(cell(FLASH))["filesystem"]


def test_a_chip_or_a_disk_is_written_by_its_file_system_alone(cell: CellOn) -> None:
    for medium, filesystem in ((CHIP, "ubifs"), ("hdd-35-7200-320g:used_bytes=1G", "ext4")):
        aged = cell(f"{medium}{',' if ':' in medium else ':'}condition=aged", filesystem)
        assert cell_inputs(aged)["medium"]["written_before"] == []
        assert not aged.medium.conditioned
        assert "KEPT_FROM_MKFS=''" in guest_job.files(aged)["cell.env"].decode()  # there may be no queue
    assert "KEPT_FROM_MKFS=yes" in guest_job.files(cell(f"{FLASH}:condition=aged"))["cell.env"].decode()


@pytest.mark.parametrize(
    ("medium", "filesystem", "file", "refusal"),
    [
        (
            f"{FLASH}:condition=aged",
            "nilfs2",
            "4M",
            f"filesystem: nilfs2 never writes again to what files leave free, so {FLASH}:condition=aged cannot age it; "
            "choose another condition, or change one of the two",
        ),
        (
            f"{FLASH}:used_bytes=100M,condition=aged",
            "ext4",
            "21M",
            f"workload.file: file = 21M has no room on {FLASH}:used_bytes=100M,condition=aged, which has 100M, 80 % "
            "of it filled (aged_fill_percent); change one of the two",
        ),
    ],
)
def test_what_cannot_be_is_told_with_its_line(
    medium: str, filesystem: str, file: str, refusal: str, study_file: StudyWriter
) -> None:
    text = WORKLOAD.replace("4M", file)
    path = study_file(text, medium=medium, filesystem=filesystem)
    with pytest.raises(InputError) as caught:
        load_study(path)
    place, _, message = caught.value.message.partition(": ")
    assert (place.rpartition(":")[0], message) == (str(path), refusal)


def test_a_kept_medium_has_no_file_system_to_use(fresh_cache: Path) -> None:
    with pytest.raises(InputError, match='"aged" is a used file system'):
        kept_media.create("kept", f"{FLASH}:condition=aged")


def test_what_the_guest_printed() -> None:
    text = b"capacity_bytes 1000\nfiles 4\nfilled_bytes 790\nwritten_bytes 2790\n"
    counts = {"aged_files": 4.0, "aged_filled_percent": 79.0, "aged_written_bytes": 2790.0}
    assert guest_filesystem.aging_metrics({"aged.txt": text}) == counts
    assert guest_filesystem.aging_metrics({"aged.txt": text + b"extents 6\n"}) == {
        **counts,
        "aged_extents_per_file": 1.5,
    }
    assert guest_filesystem.aging_metrics({}) == {}


def test_a_report_says_what_was_done() -> None:
    class Media(Titles):
        def medium(self, selector: str) -> Medium:
            return Medium(title="M", kind="flash", capacity_bytes=64 * 10**9, condition="aged")

    library: Any = Media()
    study = replace(made_up_study(), library=library)
    frame = limited(study)
    f2fs = frame["filesystem"] == "f2fs"
    frame["discarded_before_bytes"] = f2fs * float(1 << 30)
    for metric, value in (("files", 2099), ("filled_percent", 79.4), ("written_bytes", 3 << 30)):
        frame[f"aged_{metric}"] = float(value)
    frame["aged_extents_per_file"] = 1.4
    [(_, text)] = conditions.media(report_of(study, rows_of(frame[f2fs])))
    assert Facts("aged", "with F2FS 2,100 files", "79.4 %", "3.00 GiB were written", "1.40 extents a file").within(text)
    assert Facts("the aging discarded 1.00 GiB with F2FS").within(text)
