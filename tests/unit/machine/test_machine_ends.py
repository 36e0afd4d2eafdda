# SPDX-License-Identifier: Apache-2.0
"""The outcomes of a machine, with a made-up QEMU."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.common.errors import InterruptedByUser
from flashbed.image import emulator
from flashbed.machine import process, qemu
from flashbed.machine.outcomes import Outcome
from tests.support.facts import Facts


@pytest.fixture
def files(tmp_path: Path) -> qemu.Files:
    for name in ("kernel", "initramfs", "state", "data"):
        (tmp_path / name).write_bytes(b"x")
    names = ("kernel", "initramfs", "state", "data", emulator.QEMU_PROGRAM)
    return qemu.Files(*(tmp_path / name for name in names))


def run(files: qemu.Files, script: str, limit_s: float = 30, stop: threading.Event | None = None) -> Outcome:
    program = files.emulator
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    fixed = qemu.fixed_arguments(qemu.Setup(1000, 64 << 20, "cortex-a57", 1))
    return qemu.run(fixed, files, files.state.parent, limit_s, stop or threading.Event())


def test_killed_by_the_host(files: qemu.Files) -> None:
    begin = time.monotonic()
    outcome = run(files, "kill -9 $$")
    assert time.monotonic() - begin < 5
    assert (outcome.status, outcome.reason) == ("killed", "killed (signal 9): out of memory?")
    assert files.state.stat().st_size == 1


def test_crashed(files: qemu.Files) -> None:
    assert run(files, "kill -11 $$").reason == "killed (signal 11)"


@pytest.mark.parametrize("script", ["sleep 60", "trap '' TERM; sleep 60; sleep 60"])
def test_out_of_time(files: qemu.Files, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "KILL_GUEST_AFTER_S", 1)
    begin = time.monotonic()
    outcome = run(files, script, limit_s=1)
    assert time.monotonic() - begin < 5
    assert (outcome.status, outcome.reason) == ("timed out", "no end after 1 s of this host's time")


def test_just_ended(files: qemu.Files) -> None:
    outcome = run(files, "exit 0")
    assert (outcome.status, outcome.reason) == ("failed", "the guest ended without results.")


def test_stopped(files: qemu.Files) -> None:
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    begin = time.monotonic()
    with pytest.raises(InterruptedByUser):
        run(files, "sleep 60", stop=stop)
    assert time.monotonic() - begin < 5


def test_not_started(files: qemu.Files) -> None:
    """One cell whose QEMU refused to start ended the whole study, although its other cells could start."""
    folder = files.state.parent
    outcome = run(files, f"echo \"{emulator.QEMU_PROGRAM}: could not load initrd '{folder}/initramfs'\" >&2; exit 1")
    ram = Facts(emulator.QEMU_PROGRAM, "board's ram is too small", "could not load initrd 'initramfs'")
    assert [outcome.status, outcome.reason] == ["failed", ram]
    assert run(files, "echo 'Cannot allocate memory' >&2; exit 1").reason == (
        f"{emulator.QEMU_PROGRAM} did not start (Cannot allocate memory)"
    )


@pytest.mark.parametrize("way", ["link", "folder/../folder"])
def test_the_emulator_is_told_its_folder_as_linux_tells_open_files(files: qemu.Files, tmp_path: Path, way: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    folder = tmp_path / way
    load = folder / qemu.LOAD_ARCHIVE
    load.touch()
    words = qemu.command([], replace(files, load=load), folder)
    assert f"load={(tmp_path / 'folder').resolve() / qemu.LOAD_ARCHIVE}" in words
