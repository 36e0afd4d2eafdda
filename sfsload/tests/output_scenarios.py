# SPDX-License-Identifier: Apache-2.0
"""Scenarios of the result file: it keeps its old content until the new result is complete."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from scenarios import scenario


def old_result(folder: str) -> Path:
    file = Path(folder, "result.json")
    file.write_text("old\n")
    file.chmod(0o640)
    return file


def size_of(file: Path) -> int:
    """Return the size of a file; 0 if it was removed meanwhile."""
    return file.stat().st_size if file.exists() else 0


def press_ctrl_c(process: Any) -> None:
    """Send the signal to the whole process group, as a terminal does."""
    for pid in (*children(process), process.pid):
        os.kill(pid, signal.SIGINT)


def kill_one(process: Any) -> None:
    os.kill(children(process)[1], signal.SIGKILL)


def children(process: Any) -> list[int]:
    """Return the children of a load of two processes, when both have started to work."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    end = time.monotonic() + 10
    while len(found := listed.read_text().split()) < 2:
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(0.3)
    return [int(pid) for pid in found]


@scenario
def a_file_of_a_result_is_replaced_by_a_whole_one(bed: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, link = old_result(folder), Path(folder, "link")
        link.symlink_to(file.name)
        run = bed.load("tcp", 3, output=link, disturb=lambda _: time.sleep(0.5))
        assert run.status == 0, run.message
        assert run.result == {}
        assert json.loads(file.read_text())["exit_status"] == 0
        assert file.stat().st_mode & 0o777 == 0o640
        assert link.is_symlink()
        new = Path(folder, "new")
        assert bed.command("--load", 1, "--scale", "0.001", "--only", "list", "--output", new).returncode == 0
        assert new.read_text().count("\n") == 100
        assert sorted(path.name for path in Path(folder).iterdir()) == ["link", "new", "result.json"]


@scenario
def a_load_that_fails_or_is_stopped_takes_no_result_away(bed: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = old_result(folder)
        for orders, disturb, status, told in (
            ({"refuse_mount": 13}, None, 3, "access-denied"),
            ({"after": 0, "status": {"write": 28}}, None, 3, "no-space"),
            ({}, kill_one, 1, "was ended by signal 9"),
            ({}, lambda process: children(process) and process.terminate(), -signal.SIGTERM, "interrupted"),
            ({}, press_ctrl_c, -signal.SIGINT, "interrupted"),
        ):
            run = bed.load("tcp", 3, orders, output=file, disturb=disturb, time=5)
            assert (run.status, told in run.message) == (status, True), run.message
            assert run.message.count("\n") == 1
            assert file.read_text() == "old\n"
        assert [path.name for path in Path(folder).iterdir()] == [file.name]


@scenario
def a_load_process_that_ends_is_heard_by_who_ignores_it(bed: Any) -> None:
    run = bed.load("tcp", 3, disturb=kill_one, before=["env", "--ignore-signal=CHLD"], time=5)
    assert run.status == 1, run.result
    assert run.message == "sfsload: a load process was ended by signal 9\n"


@scenario
def a_result_that_is_half_written_is_removed(bed: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        many = ("--load", 50000, "--only", "list", "--output", Path(folder, "list"))

        def stop(process: Any) -> None:
            while not any(size_of(file) for file in Path(folder).iterdir()):
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)

        assert bed.command(*many, disturb=stop).returncode == -signal.SIGINT
        assert not list(Path(folder).iterdir())


@scenario
def a_closed_output_is_told_before_the_load(bed: Any) -> None:
    run = bed.load("tcp", 3, before=["sh", "-c", 'exec "$@" >&-', "sh"])
    assert run.status == 1
    assert run.message == "sfsload: standard output is closed; --output names a file\n"
    assert run.asked["asked"] == {}


@scenario
def a_place_that_cannot_be_written_is_told_before_the_load(bed: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for file, told in ((folder, "Is a directory"), (f"{folder}/none/file", "No such file or directory")):
            run = bed.load("tcp", 3, output=file)
            assert run.status == 1
            assert run.message == f"sfsload: --output {file}: {told}\n"
            assert run.asked["asked"] == {}


@scenario
def what_is_no_file_is_written_directly(bed: Any) -> None:
    command = ("--load", 1, "--scale", "0.001", "--only", "list")
    listed = bed.command(*command).stdout
    assert bed.command(*command, "--output", "/dev/stdout").stdout == listed
    assert bed.command(*command, "--output", "/dev/null").stdout == ""
    assert not Path("/dev/null").is_file()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "appended")
        file.write_text("before\n")
        with file.open("a") as out:
            words = [str(word) for word in (bed.program, *command, "--output", "/dev/stdout")]
            subprocess.run(words, stdout=out, check=True)
        assert file.read_text() == "before\n" + listed


@scenario
def help_that_cannot_be_written_is_told(bed: Any) -> None:
    with Path("/dev/full").open("w") as out:
        done = subprocess.run([str(bed.program), "--help"], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "sfsload: the help cannot be written: No space left on device\n"
    assert bed.command("--help").returncode == 0
