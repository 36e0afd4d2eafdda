# SPDX-License-Identifier: Apache-2.0
"""common/atomic.py: a place that a user named stays what it is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from flashbed.common import atomic


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("target")
    for content in (b"new", b"replaced"):
        atomic.write_named(link, content)
        assert link.is_symlink()
        assert (tmp_path / "target").read_bytes() == content


def test_a_pipe_is_written_in_place(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    atomic.write_named(pipe, b"content")
    reader.join(30)
    assert received == [b"content"]
    assert pipe.is_fifo()
