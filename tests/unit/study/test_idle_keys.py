# SPDX-License-Identifier: Apache-2.0
"""Refuse keys of a study that concern none of its cells, and metrics whose key is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.study.loading import load_study
from tests.support.facts import Facts
from tests.support.samples import write_study

TOOL = '[workload]\ntool = "fio"\npattern = "write"\nrequest = "4k"\nfile = "1M"\n'
BLOCK = 'title = "x"\nboard = "arm64-1000"\nmedium = "sd-good:used_bytes=64M"\nfilesystem = "ext2"\n'
DISK = 'title = "x"\nboard = "arm64-1000"\nmedium = "hdd-35-7200-320g:used_bytes=64M"\nfilesystem = "ext2"\n'
CHIP = 'title = "x"\nboard = "arm64-1000"\nmedium = "slc-nand-64m"\nfilesystem = "jffs2"\n'
BOTH = (
    'title = "x"\nboard = "arm64-1000"\nfilesystem = "ext2"\n'
    'skip = [{ medium = "sd-good", translation = "mtdblock" }, { medium = "slc-nand-64m", translation = "none" }]\n'
)
BOTH_AXES = (
    '[axes]\nmedium = ["sd-good:used_bytes=64M", "slc-nand-64m:factory_bad_blocks=0"]\n'
    'translation = ["none", "mtdblock"]\n'
)


def refusal(folder: Path, text: str) -> str:
    """Return the message about a study, without the file's name; "" if the study is valid."""
    path = folder / "mine.toml"
    path.write_text(text)
    try:
        load_study(path)
    except InputError as error:
        return str(error).replace(f"{path}:", "")
    return ""


def test_power_is_cut_on_raw_chips_only(tmp_path: Path) -> None:
    message = refusal(tmp_path, f"{BLOCK}power_cut = true\n{TOOL}")
    assert message == Facts("5: power_cut", "true", "raw chips only", "flashbed medium cut")
    assert "flashbed medium cut" in message
    assert refusal(tmp_path, f"{BLOCK}power_cut = false\n{TOOL}") == ""
    assert refusal(tmp_path, f"{CHIP}power_cut = true\n{TOOL}") == ""
    # One of its media is a chip
    assert refusal(tmp_path, f"{BOTH}power_cut = true\n{BOTH_AXES}{TOOL}") == ""


def test_a_life_is_of_flash(tmp_path: Path) -> None:
    message = refusal(tmp_path, f'{DISK}bytes_per_day = "1G"\n{TOOL}')
    assert message == Facts("5: bytes_per_day", "endurance_erases")
    assert refusal(tmp_path, f'{BLOCK}bytes_per_day = "1G"\n{TOOL}') == ""


@pytest.mark.parametrize("place", ['[answer]\ncompare = "request"\n', '[[table]]\ntitle = "t"\nrows = "request"\n'])
def test_the_mount_after_a_cut_needs_a_cut(place: str, tmp_path: Path) -> None:
    text = f'{CHIP}{{cut}}[axes]\nrequest = ["4k", "64k"]\n{TOOL}{place}metric = "mount_after_cut_s"\n'
    text = text.replace('request = "4k"\nfile', "file")
    message = refusal(tmp_path, text.format(cut=""))
    assert Facts("metric: mount_after_cut_s", "power_cut = true").within(message)
    assert refusal(tmp_path, text.format(cut="power_cut = true\n")) == ""


def test_a_life_needs_a_load(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=Facts("lifetime_years", 'bytes_per_day = "1G"').pattern):
        load_study(write_study(tmp_path, ('metric  = "iops"', 'metric  = "lifetime_years"')))
