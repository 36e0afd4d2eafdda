# SPDX-License-Identifier: Apache-2.0
"""A file whose digest is known is read again after each change."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from flashbed.common import digest

OLD_NS = 10**9


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the files that are read."""
    files: list[Path] = []
    whole = digest.digest_file

    def note(path: Path) -> str:
        files.append(path)
        return whole(path)

    monkeypatch.setattr(digest, "digest_file", note)
    return files


def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    later = time.time_ns() + 2 * digest.SETTLED_NS
    monkeypatch.setattr(time, "time_ns", lambda: later)


def test_it_is_read_once(tmp_path: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one")
    settle(monkeypatch)
    assert digest.digest_unmapped(file) == digest.digest_unmapped(file) == digest.digest_bytes(b"one")
    assert read == [file]


def test_a_change_of_the_same_size_and_time_is_seen(
    tmp_path: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of its last change cannot be set."""
    file = tmp_path / "file"
    file.write_bytes(b"one")
    os.utime(file, ns=(OLD_NS, OLD_NS))
    settle(monkeypatch)
    before = digest.digest_unmapped(file)
    time.sleep(0.02)  # longer than the kernel's tick
    file.write_bytes(b"two")
    os.utime(file, ns=(OLD_NS, OLD_NS))
    assert digest.digest_unmapped(file) == digest.digest_bytes(b"two") != before


def test_a_file_that_has_just_changed_may_change_again(tmp_path: Path, read: list[Path]) -> None:
    file = tmp_path / "file"
    for content in (b"one", b"two"):
        file.write_bytes(content)
        assert digest.digest_unmapped(file) == digest.digest_bytes(content)
    assert len(read) == 2


def test_another_file_of_the_same_name_is_read(
    tmp_path: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one")
    settle(monkeypatch)
    digest.digest_unmapped(file)
    (tmp_path / "other").write_bytes(b"two")
    (tmp_path / "other").replace(file)
    assert digest.digest_unmapped(file) == digest.digest_bytes(b"two")
