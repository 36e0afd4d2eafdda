# SPDX-License-Identifier: Apache-2.0
"""F2FS writes in place on a small medium and a log on a large one, as Linux decides by the size that it is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import STUDY, boot, new

IN_PLACE_ALWAYS, IN_PLACE_FOR_SMALL_FSYNCS = 1, 16
"""Bits of ipu_policy (Linux, Documentation/ABI/testing/sysfs-fs-f2fs)."""

PAGES = 256
SCRIPT = f"""
cat /sys/fs/f2fs/*/ipu_policy >/out/policy
cd /mnt
dd if=/dev/zero of=file bs=4k count={PAGES} conv=fsync
grep IPU: /sys/kernel/debug/f2fs/status >/out/before
dd if=/dev/zero of=file bs=4k count={PAGES} conv=notrunc,fsync
grep IPU: /sys/kernel/debug/f2fs/status >/out/after
"""


@pytest.mark.parametrize(
    ("medium", "options", "policy", "in_place"),
    [
        ("usb-stick-2g", "", IN_PLACE_ALWAYS, PAGES),
        ("usb-stick-2g", ":mode=lfs", IN_PLACE_ALWAYS, 0),  # the policy is set, and the mode overrides it
        ("emmc-64g:used_bytes=17G", "", IN_PLACE_FOR_SMALL_FSYNCS, 0),
    ],
)
def test_the_size_decides(
    medium: str, options: str, policy: int, in_place: int, study_file: StudyWriter, tmp_path: Path
) -> None:
    """A mebibyte of a file is written again, more than F2FS takes for a small fsync (8 pages)."""
    out = boot(new(study_file(STUDY, filesystem=f"f2fs{options}", medium=medium), tmp_path), measure=SCRIPT).files
    assert int(out["policy"]) & (IN_PLACE_ALWAYS | IN_PLACE_FOR_SMALL_FSYNCS) == policy
    before, after = (int(re.findall(rb"\d+", out[name])[0]) for name in ("before", "after"))
    assert after - before == in_place
