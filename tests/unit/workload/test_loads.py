# SPDX-License-Identifier: Apache-2.0
"""The programs of the ready-made loads, on this host: figures, what they acknowledge, and what their checks find."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from flashbed.common import paths


class Load:
    """A load's program with the files of its environment below a directory."""

    def __init__(self, name: str, place: Path, folder: Path) -> None:
        self._program, self._place = paths.loads() / name / "load.py", place
        self.figures, self.acknowledged = folder / "figures", folder / "acknowledged"
        self.acknowledged.touch()

    def run(self, action: str, *options: str) -> subprocess.CompletedProcess[str]:
        variables = {"FIGURES": self.figures, "ACK": self.acknowledged, "ACKED": self.acknowledged}
        environment = {**os.environ, **{f"FLASHBED_{name}": str(path) for name, path in variables.items()}}
        command = [sys.executable, str(self._program), action, str(self._place), *options]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def check(self) -> int:
        return self.run("check").returncode


def written(load: Load, *options: str) -> Load:
    for action in ("create", "run"):
        assert load.run(action, *options).returncode == 0
    return load


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_sqlite_finds_a_lost_record_and_damage(tmp_path: Path, journal: str) -> None:
    database = tmp_path / "database"
    options = ("--journal", journal, "--synchronous", "off", "--transactions", "30", "--rows", "20", "--mix", "60/40/0")
    load = written(Load("sqlite", database, tmp_path), *options)
    assert "transactions_per_s" in load.figures.read_text()
    records = [line.split() for line in load.acknowledged.read_text().splitlines()]
    assert len(records) == 30
    assert load.check() == 0
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM record WHERE number = ?", (records[-1][0],))
    assert load.check() == 1
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE record SET text = 'x' WHERE number = 1")
    assert load.check() == 2
    database.write_bytes(database.read_bytes()[:5000])
    assert load.check() == 2


def test_an_update_finds_an_old_version_and_damage(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    load = written(Load("update", place, tmp_path), "--size", "10000", "--chunk", "4096", "--versions", "3")
    assert load.acknowledged.read_text() == "1\n2\n3\n"
    assert load.check() == 0
    load.acknowledged.write_text("4\n")
    assert load.check() == 1
    image = place / "image"
    data = image.read_bytes()
    image.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert load.check() == 2
    image.write_bytes(data[:4096])
    assert load.check() == 2
    image.write_bytes(b"")
    assert load.check() == 2
    image.unlink()
    assert load.check() == 2


@pytest.mark.parametrize("by", ["git", "tar"])
def test_files_finds_one_that_is_missing_or_differs(tmp_path: Path, by: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    load = Load("files", place, tmp_path)
    options = ("--by", by, "--files", "5", "--most-bytes", "1000")
    written(load, *options)
    assert load.acknowledged.read_text() == "stored\n"
    assert load.run("check", *options).returncode == 0
    first = place / "target/0000/000000"
    data = first.read_bytes()
    first.write_bytes(data[:-1])
    assert load.run("check", *options).returncode == 2
    first.unlink()
    assert load.run("check", *options).returncode == 1
    load.acknowledged.write_text("")  # as after a power cut before the sync
    assert load.run("check", *options).returncode == 0
    first.write_bytes(data[:-1])
    assert load.run("check", *options).returncode == 0


STATUS = "Package: files\nStatus: install ok {}\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: b\n"


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="dpkg-query is not installed")
def test_files_takes_dpkg_at_its_word(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    load = Load("files", place, tmp_path)
    options = ("--files", "5", "--most-bytes", "1000")
    written(load, "--by", "tar", *options)
    state = place / "target/var/lib/dpkg"
    (state / "updates").mkdir(parents=True)
    (state / "info").mkdir()

    def check(status: str, acknowledged: str) -> int:
        (state / "status").write_text(status)
        load.acknowledged.write_text(acknowledged)
        return load.run("check", "--by", "dpkg", *options).returncode

    unpacked = STATUS.format("unpacked")
    assert check(unpacked, "unpacked\n") == 0
    assert check("", "unpacked\n") == 1
    assert check(STATUS.format("half-installed"), "unpacked\n") == 1
    assert check(STATUS.format("half-installed"), "") == check("", "") == 0
    assert check("garbage", "") == 2
    first = place / "target/0000/000000"
    data = first.read_bytes()
    first.write_bytes(b"")  # under its name before it was flushed
    assert check("", "") == 2
    first.unlink()
    assert check("", "") == 0
    assert check(unpacked, "unpacked\n") == 1
    first.write_bytes(data)
    assert check(unpacked, "unpacked\nstored\n") == 0
