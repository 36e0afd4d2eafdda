# SPDX-License-Identifier: Apache-2.0
"""The description of a mount, in the kernel's words."""

from __future__ import annotations

import pytest

from flashbed.guest_output import filesystem_costs


@pytest.mark.parametrize(
    ("line", "policy", "expected"),
    [
        (b"/dev/mblk0 /mnt ext2 rw,relatime 0 0\n", None, "ext2 rw,relatime"),
        (b"/dev/mblk0 /mnt f2fs rw,mode=adaptive 0 0\n", b"65\n", "f2fs rw,mode=adaptive; overwrites in place"),
        (b"/dev/mblk0 /mnt f2fs rw,mode=lfs 0 0\n", b"65\n", "f2fs rw,mode=lfs; writes a log"),
        (b"/dev/mblk0 /mnt f2fs rw 0 0\n", b"16\n", "f2fs rw; writes a log, small flushed writes in place"),
        (b"/dev/mblk0 /mnt f2fs rw 0 0\n", b"0\n", "f2fs rw; writes a log"),
        (b"", None, ""),
    ],
)
def test_the_line_and_the_policy(line: bytes, policy: bytes | None, expected: str) -> None:
    out = {filesystem_costs.MOUNTED: line, **({filesystem_costs.POLICY: policy} if policy else {})}
    assert filesystem_costs.described_mount(out) == expected
