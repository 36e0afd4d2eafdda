# SPDX-License-Identifier: Apache-2.0
"""At most one process holds a lock, whether or not it knows of the others. The lock is free when the process ends in
any way.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flashbed.common import locks
from flashbed.common.errors import HostResourceError

# Takes the lock argv[1], or makes a scratch folder below it, tells its name, and waits to be killed.
HOLDER = """
import sys, time
from pathlib import Path
from flashbed.common import locks
if sys.argv[2] == "lock":
    lock = locks.take(Path(sys.argv[1]))
    print(lock is not None, flush=True)
    time.sleep(60)
with locks.scratch(Path(sys.argv[1])) as folder:
    (folder / "file").write_text("x")
    print(folder.name, flush=True)
    time.sleep(60)
"""
OWN_PIDS = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")

Holder = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def hold() -> Iterator[Holder]:
    """Yield a function that starts a process which holds a lock: `hold(path, "lock")`. `first_output` waits for the
    first line of the process.
    """
    begun = []

    def call(path: Path, statement: str, *before: str) -> subprocess.Popen[str]:
        source = str(Path(locks.__file__).parent.parent)
        environment = {**os.environ, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*before, sys.executable, "-c", HOLDER, str(path), statement]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        begun.append(process)
        return process

    yield call
    for process in begun:
        process.kill()
        process.communicate()


def first_output(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def namespaces_of_pids() -> bool:
    return subprocess.run([*OWN_PIDS, "true"], capture_output=True).returncode == 0


@pytest.mark.parametrize("before", [(), OWN_PIDS], ids=["another process", "another name space"])
def test_one_has_it_until_it_is_killed(hold: Holder, tmp_path: Path, before: tuple[str, ...]) -> None:
    if before and not namespaces_of_pids():
        pytest.skip("this host gives no name spaces to users")
    path = tmp_path / "a.lock"
    process = hold(path, "lock", *before)
    assert first_output(process) == "True"
    assert locks.take(path) is None
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while (lock := locks.take(path)) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_who_waits_is_told_and_gets_it(hold: Holder, tmp_path: Path) -> None:
    path, calls = tmp_path / "a.lock", []
    process = hold(path, "lock")
    assert first_output(process) == "True"
    threading.Timer(0.3, process.kill).start()
    begin = time.monotonic()
    with locks.wait_for(path, lambda: calls.append(1)):
        assert time.monotonic() - begin > 0.2
        assert calls == [1]
        assert locks.take(path) is None
    with locks.wait_for(path, lambda: calls.append(2)):
        assert calls == [1]


def test_of_many_one_has_it_at_a_time(tmp_path: Path) -> None:
    """Lock files are removed. A process that opened a removed file must not count as its holder."""
    path, inside, seen = tmp_path / "a.lock", [], []

    def work() -> None:
        for _ in range(200):
            with locks.wait_for(path):
                inside.append(1)
                seen.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 800
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [(), OWN_PIDS], ids=["another process", "another name space"])
def test_scratch_goes_with_its_process(hold: Holder, tmp_path: Path, before: tuple[str, ...]) -> None:
    if before and not namespaces_of_pids():
        pytest.skip("this host gives no name spaces to users")
    process = hold(tmp_path, "scratch", *before)
    theirs = tmp_path / first_output(process)
    with locks.scratch(tmp_path) as mine:
        assert mine != theirs
        assert (theirs / "file").read_text() == "x"  # at work
    assert not mine.exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 10
    while theirs.exists():
        assert time.monotonic() < deadline
        with locks.scratch(tmp_path):
            pass
    assert list(tmp_path.iterdir()) == []


def test_scratch_of_a_flashbed_without_locks(tmp_path: Path) -> None:
    (tmp_path / "4711").mkdir()
    (tmp_path / "4712").mkdir()
    os.utime(tmp_path / "4711", (0, 0))
    with locks.scratch(tmp_path):
        assert not (tmp_path / "4711").exists()
        assert (tmp_path / "4712").exists()  # may be at work


def test_a_disk_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(HostResourceError, match=r"no locks \(No locks available\); .* FLASHBED_CACHE"):
        locks.take(tmp_path / "a.lock")
