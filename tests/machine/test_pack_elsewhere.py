# SPDX-License-Identifier: Apache-2.0
"""A pack made here gives the same bytes in a Debian 13 that has nothing but Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from flashbed.commands.on_packs import pack_command
from tests.support import other_debian
from tests.support.fixture_types import StudyWriter

pytestmark = pytest.mark.long

STUDY = """
    [axes]
    filesystem = ["ext2", "fat16", "f2fs"]

    [workload]
    tool = "fio"
    pattern = "randwrite"
    request = "4k"
    file = "2M"
    flush = "fsync"
"""


@pytest.fixture(scope="module")
def debian() -> Path:
    """Return the root folder of a Debian 13 with Python."""
    if why := other_debian.refusal():
        pytest.skip(why)
    return other_debian.root(["python3"])


def test_a_pack_gives_the_same_bytes_there(
    debian: Path, study_file: StudyWriter, fresh_cache: Path, tmp_path: Path
) -> None:
    pack = tmp_path / "small.flashbed"
    pack_command(str(study_file(STUDY, medium="usb-stick-2g:condition=full")), to=pack)
    command = other_debian.inside(debian, [tmp_path], ["python3", pack, "--folder", tmp_path])
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "same bytes: 3 of 3 repetitions"), done.stderr


def test_nothing_of_the_lab_is_there(debian: Path) -> None:
    assert not list((debian / "usr/bin").glob("*qemu*"))
    assert not list((debian / "usr/sbin").glob("*f2fs*"))
