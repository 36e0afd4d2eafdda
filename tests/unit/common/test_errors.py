# SPDX-License-Identifier: Apache-2.0
"""Messages when the host refuses, or when a file is wrong in many places: one true sentence each."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from flashbed.common.errors import InputError, host_refusal, no_room, several
from flashbed.common.tomlfile import Problem, TomlFile
from flashbed.study.loading import find_study
from tests.support.facts import Facts


def disk(monkeypatch: pytest.MonkeyPatch, free: int, files: int = 1000, free_files: int = 1000) -> None:
    free_space = SimpleNamespace(f_bavail=free, f_frsize=1, f_files=files, f_favail=free_files)
    monkeypatch.setattr(os, "statvfs", lambda _: free_space)


def limit(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (most, most))


def told(number: int, path: Path) -> str:
    return host_refusal(path, OSError(number, os.strerror(number))).message


def test_the_reason_for_no_room_is_told_by_what_the_host_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    disk(monkeypatch, 3 << 29)
    kept = "what was finished is kept: make room and run again"
    assert told(errno.ENOSPC, tmp_path) == f"{tmp_path}: no room left on this disk (1.50 GiB free now); {kept}"
    assert told(errno.EDQUOT, tmp_path) == f"{tmp_path}: this user's quota on this disk is used up; {kept}"
    limit(monkeypatch, 4096)
    assert "(4.00 KiB, by `ulimit -f`)" in told(errno.EFBIG, tmp_path)
    limit(monkeypatch, resource.RLIM_INFINITY)
    assert "larger than this file system can have" in told(errno.EFBIG, tmp_path)
    disk(monkeypatch, 3 << 29, free_files=0)
    assert told(errno.ENOSPC, tmp_path) == Facts(f"{tmp_path}: no room for more files", "`df -i`", kept)
    disk(monkeypatch, 0, files=0, free_files=0)  # a file system that counts none, such as Btrfs
    assert "no room left on this disk (0 bytes free now)" in no_room(tmp_path / "not/there").message


def test_many_refusals_of_one_copy_are_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    disk(monkeypatch, 0)
    (tmp_path / "from").mkdir()
    for name in ("one", "two"):
        (tmp_path / "from" / name).touch()

    def full(_: str, to: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), to)

    with pytest.raises(shutil.Error) as refused:
        shutil.copytree(tmp_path / "from", tmp_path / "to", copy_function=full)
    message = host_refusal(tmp_path, refused.value).message
    assert message == no_room(tmp_path).message
    assert "[" not in message


def test_of_many_lines_the_first_are_told_and_how_many_more(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(100_000)]
    assert several(lines).splitlines() == [*lines[:20], "... and 99,980 more like these"]
    assert several(["one", "two", "one"]) == "one\ntwo"


def test_what_a_file_says_stays_on_the_line_of_its_message(tmp_path: Path) -> None:
    file = TomlFile(tmp_path / "x.toml", "a = 1", {"a": 1})
    assert file.problem_message(Problem(("a",), 'is no "1\n.."')) == f'{tmp_path}/x.toml:1: a: is no "1\\n.."'


@pytest.mark.parametrize("name", ["my", "my.toml"])
def test_a_study_that_is_there_and_cannot_be_read_is_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my.toml"
    os.mkfifo(file)
    with pytest.raises(InputError, match=r"^my\.toml: cannot be read: not a file$"):
        find_study(name)
    file.unlink()
    file.symlink_to("my.toml")
    with pytest.raises(InputError, match=r"^my\.toml: .*: Too many levels of symbolic links$"):
        find_study(name)
    file.unlink()
    file.symlink_to("nowhere")
    with pytest.raises(InputError, match=r"^my\.toml: is a link .*"):
        find_study(name)
    file.unlink()
    file.mkdir()
    with pytest.raises(InputError, match="is a folder; name the TOML file in it"):
        find_study(name)
    (tmp_path / "quick").mkdir()
    assert find_study("quick").name == "quick.toml"
