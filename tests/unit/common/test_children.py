# SPDX-License-Identifier: Apache-2.0
"""A program that the lab starts ends with the lab, with all its own children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from flashbed.common import programs
from flashbed.common.errors import HostResourceError, SetupError
from flashbed.image.command import run
from tests.support.running import command_lines

# Runs a make whose recipe's shell has a child of its own; both write their process IDs.
PARENT = """
import signal, sys
from flashbed.common.errors import InterruptedByUser
from flashbed.image.command import run
def stop(*_):
    raise InterruptedByUser("stopped")
signal.signal(signal.SIGTERM, stop)
run(["make", "-C", sys.argv[1]])
"""
MAKEFILE = """all:
\tsh -c 'sh -c "echo \\$$\\$$ > inner; sleep 60 & echo \\$$! > innermost; wait" & echo $$$$ > outer; wait'
"""
STUBBORN = """all:
\tsh -c 'trap "" TERM; echo $$$$ > outer; echo $$$$ > inner; echo $$$$ > innermost; sleep 60; sleep 60'
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("makefile", [MAKEFILE, STUBBORN], ids=["plain", "deaf to SIGTERM"])
def test_children_end_with_the_lab(tmp_path: Path, number: signal.Signals, makefile: str) -> None:
    (tmp_path / "Makefile").write_text(makefile)
    parent = subprocess.Popen([sys.executable, "-c", PARENT, tmp_path], stderr=subprocess.PIPE)
    names = ("outer", "inner", "innermost")
    deadline = time.monotonic() + 20
    while not all((tmp_path / name).exists() and (tmp_path / name).read_text().strip() for name in names):
        assert time.monotonic() < deadline
        assert parent.poll() is None
        time.sleep(0.01)
    ids = {int((tmp_path / name).read_text()) for name in names}
    begin = time.monotonic()
    parent.send_signal(number)
    parent.communicate()
    assert time.monotonic() - begin < 10
    while any(is_running(pid) for pid in ids):
        assert time.monotonic() - begin < 3
        time.sleep(0.01)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # gone before it was opened, or between that and the reading
        return False


SLEEPER = """
import sys
from flashbed.common import programs
print(flush=True)
programs.run(["sleep", sys.argv[1]])
"""


def test_a_child_that_is_just_being_started_ends_too() -> None:
    """The lab is killed within the few milliseconds of the start."""
    marks = [f"60.{os.getpid()}{number:02d}" for number in range(40)]
    for number, mark in enumerate(marks):
        command = [sys.executable, "-c", SLEEPER, mark]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
            assert parent.stdout is not None
            parent.stdout.readline()
            time.sleep(number / 2000)
            parent.kill()
    deadline = time.monotonic() + 5
    while left := [line for line in command_lines() if any(mark in line for mark in marks)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


SLOW_TIMEOUT = """#!/bin/sh
: > "$MARKER"
while kill -0 "$PPID" 2> /dev/null; do sleep 0.01; done
PATH=${PATH#*:} exec timeout "$@"
"""


def test_a_child_ends_with_a_lab_that_ignores_sigterm(tmp_path: Path) -> None:
    """A child inherits ignored signals, and `timeout` handles SIGTERM only some time after its start. This `timeout`
    starts only after the lab is dead.
    """
    slow, marker = tmp_path / "timeout", tmp_path / "started"
    slow.write_text(SLOW_TIMEOUT)
    slow.chmod(0o755)
    environment = {**os.environ, "MARKER": str(marker), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    mark = f"60.{os.getpid()}"
    deaf = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)" + SLEEPER
    with subprocess.Popen([sys.executable, "-c", deaf, mark], env=environment) as parent:
        wait_until(marker.exists)
        parent.kill()
    wait_until(lambda: not command_lines(mark))


def wait_until(condition: Callable[[], bool], limit_s: float = 5) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_ends_are_told_as_they_were() -> None:
    for command, status in {"exit 3": 3, "kill -9 $$": -9, "kill -11 $$": -11, "true": 0}.items():
        assert programs.run(["sh", "-c", command]).returncode == status


def test_commands_that_fail(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nosuchtool is not installed"):
        run(["nosuchtool"])
    with pytest.raises(SetupError, match="failed with exit status 3"):
        run(["sh", "-c", "exit 3"])
    with pytest.raises(HostResourceError, match="no room left on this disk"):
        run(["sh", "-c", "echo 'cc1: No space left on device'; exit 1"], cwd=tmp_path)
    with pytest.raises(HostResourceError, match="no room left on this disk"):
        run(["sh", "-c", "echo 'tar: ./copyright: Wrote only 6144 of 10240 bytes'; exit 2"], cwd=tmp_path)
    # A limit of the size of files: one program is ended by the host, another tells of one that was
    for end in ("kill -XFSZ $$", "echo 'tar subprocess was killed by signal (File size limit exceeded)'; exit 2"):
        with pytest.raises(HostResourceError, match="a file is larger than this file system can have"):
            run(["sh", "-c", end], cwd=tmp_path)


def test_a_program_may_lie_in_the_folder_that_it_runs_in(tmp_path: Path) -> None:
    program = tmp_path / "configure"
    program.write_text("#!/bin/sh\necho here\n")
    program.chmod(0o755)
    assert run(["./configure"], cwd=tmp_path) == "here\n"
    with pytest.raises(SetupError, match=r"\./setup is not installed"):
        run(["./setup"], cwd=tmp_path)
