# SPDX-License-Identifier: Apache-2.0
"""The load generator in a guest: it runs there, and its file set is the host's, to the last file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from flashbed.common import paths
from flashbed.image import toolchain
from flashbed.image.cache import Cache
from flashbed.image.debian import Archive
from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import NO_MOUNT, STUDY, boot, new
from tests.support.make_target import make

OPTIONS = "--load 20 --seed 3 --only list"


def test_a_guest_has_the_file_set_of_the_host(study_file: StudyWriter, tmp_path: Path) -> None:
    archive = Archive(paths.cache_root() / f"debian-{toolchain.ARCHITECTURE}", toolchain.ARCHITECTURE)
    root = toolchain.sysroot(Cache(paths.cache_root() / "image"), archive)
    done = make("-C", "sfsload", "all", "arm64", BUILD=str(tmp_path), SYSROOT=str(root.folder))
    assert done.returncode == 0, done.stderr
    program = (tmp_path / "sfsload-arm64").read_bytes()
    script = f"cp /job/sfsload /tmp/sfsload && chmod +x /tmp/sfsload\n/tmp/sfsload {OPTIONS} > /out/list\n"
    rig = new(study_file(STUDY, filesystem="ext2", medium="usb-stick-2g"), tmp_path / "guest")
    there = boot(rig, beside={"sfsload": program}, format=script, mount=NO_MOUNT).files["list"].decode()
    here = subprocess.run([tmp_path / "sfsload", *OPTIONS.split()], capture_output=True, text=True, check=True).stdout
    assert here.count("\n") > 7000
    assert there == here
