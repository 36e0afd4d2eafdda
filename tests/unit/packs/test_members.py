# SPDX-License-Identifier: Apache-2.0
"""A member that is copied from an earlier pack has the same bytes as a member that is packed now."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from flashbed.common.digest import digest_file
from flashbed.packs import making


def archive(to: Path, file: Path, *, is_built: bool) -> bytes:
    """Return an archive with the file's member between two others."""
    with zipfile.ZipFile(to, "w") as out:
        out.writestr(making.member_head("first", 3, zipfile.ZIP_LZMA), b"one")
        info = making.member_head("built", file.stat().st_size, zipfile.ZIP_LZMA)
        if is_built:
            assert making.put_built(out, info, file, digest_file(file))
        else:
            with out.open(info, "w", force_zip64=True) as member:
                member.write(file.read_bytes())
        out.writestr(making.member_head("last", 3, zipfile.ZIP_LZMA), b"two")
    return to.read_bytes()


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "cache/image/thing/program"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"".join(number.to_bytes(4, "little") for number in range(making.LEAST_BYTES)))
    return file


def test_it_is_packed_once_and_the_same_bytes(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = archive(tmp_path / "plain", built, is_built=False)
    assert archive(tmp_path / "first", built, is_built=True) == plain
    monkeypatch.delattr("shutil.copyfileobj")
    assert archive(tmp_path / "again", built, is_built=True) == plain
    with zipfile.ZipFile(tmp_path / "again") as whole:
        assert whole.testzip() is None
        assert whole.read("built") == built.read_bytes()


def test_what_is_damaged_in_the_cache_is_packed_again(built: Path, tmp_path: Path) -> None:
    plain = archive(tmp_path / "first", built, is_built=True)
    (kept,) = (tmp_path / "cache/image").glob("packed-*/packed.zip")
    kept.write_bytes(kept.read_bytes()[:-100])
    assert archive(tmp_path / "again", built, is_built=True) == plain


def test_other_files_and_small_ones_are_not_kept(built: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(built.read_bytes())
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as out:
        for file, name, size_bytes, packing in (
            (elsewhere, "built", 1 << 20, zipfile.ZIP_LZMA),
            (built, "built", 100, zipfile.ZIP_LZMA),
            (built, "built", 1 << 20, zipfile.ZIP_STORED),
            (built, "flashbed/module.py", 1 << 20, zipfile.ZIP_LZMA),
        ):
            assert not making.put_built(out, making.member_head(name, size_bytes, packing), file, "")
    assert not list((tmp_path / "cache/image").glob("packed-*"))
