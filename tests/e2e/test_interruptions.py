# SPDX-License-Identifier: Apache-2.0
"""However a run is stopped, finished results stay, and the next run measures only the missing ones."""

from __future__ import annotations

import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.fixture_types import Flashbed, Start, StudyWriter
from tests.support.running import command_lines
from tests.support.small_disk import small_disk

STUDY = """
    [axes]
    request = ["4k", "64k"]
    [workload]
    tool = "fio"
    pattern = "write"
    file = "1M"
"""
CELLS = 4

ONE_CELL = STUDY.replace('"1M"', '"40M"').replace('"4k", ', "")
"""Its guest works for long enough to be disturbed."""


@pytest.fixture
def study(study_file: StudyWriter) -> Path:
    return study_file(STUDY, filesystem="ext2", seeds=2)


def results(cache: Path) -> list[Path]:
    return sorted((cache / "results/cells").glob("*/*/result.json"))


@contextmanager
def running(start: Start, study: Path, cache: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a run with one guest at a time that has finished at least one repetition."""
    process = start("run", study, "--jobs", "1")
    try:
        deadline = time.monotonic() + 120
        while not results(cache):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


def guests_of(cache: Path) -> list[str]:
    """Return the command lines of the guests that work below `cache`, without the emulator that lists the CPUs it
    knows.
    """
    return [line for line in command_lines("qemu-system", cache) if "-kernel" in line]


def wait_for_a_guest(process: subprocess.Popen[str], below: Path) -> None:
    """Wait until a guest of the run works below that folder."""
    while not guests_of(below):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def no_guest_is_left(cache: Path) -> bool:
    deadline = time.monotonic() + 10
    while guests_of(cache) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not guests_of(cache)


def goes_on(flashbed: Flashbed, study: Path, cache: Path) -> None:
    """Check that the next run keeps each stored result to the byte, and measures the rest."""
    contents = {path: path.read_bytes() for path in results(cache)}
    assert 1 <= len(contents) < CELLS
    done = flashbed("run", study)
    assert done.returncode == 0, done.stderr
    assert f"{CELLS - len(contents)}/{CELLS - len(contents)}" in done.stderr
    assert len(results(cache)) == CELLS
    assert {path: path.read_bytes() for path in contents} == contents


def test_sigkill(flashbed: Flashbed, start: Start, study: Path, fresh_cache: Path) -> None:
    with running(start, study, fresh_cache) as process:
        process.kill()
        process.wait()
    assert no_guest_is_left(fresh_cache)
    goes_on(flashbed, study, fresh_cache)
    assert list((fresh_cache / "work").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm(
    flashbed: Flashbed, start: Start, study: Path, fresh_cache: Path, number: signal.Signals
) -> None:
    with running(start, study, fresh_cache) as process:
        process.send_signal(number)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "kept" in stderr
    assert no_guest_is_left(fresh_cache)
    goes_on(flashbed, study, fresh_cache)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_it_is_being_loaded(flashbed: Flashbed, tmp_path: Path, number: signal.Signals) -> None:
    """A module that it imports sends the signal, in the place of a user who is quick."""
    (tmp_path / "typer.py").write_text(f"import os\nos.kill(os.getpid(), {int(number)})\nimport time\ntime.sleep(60)\n")
    done = flashbed("list", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr, done.stdout) == (130, "flashbed: interrupted\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_when_all_is_done(flashbed: Flashbed, tmp_path: Path, number: signal.Signals) -> None:
    """The signal comes with the last that the interpreter does: what it has carried out ended well, and says so."""
    last = "import atexit, os, sys\n"
    last += f"atexit.register(lambda: (sys.stdout.flush(), os.kill(os.getpid(), {int(number)})))\n"
    (tmp_path / "sitecustomize.py").write_text(last)
    done = flashbed("--version", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("flashbed ")


def test_a_second_run_measures_nothing_but_a_corrupt_result(flashbed: Flashbed, study: Path, fresh_cache: Path) -> None:
    assert flashbed("run", study).returncode == 0
    again = flashbed("run", study)
    assert again.returncode == 0
    assert "all measured before" in again.stdout
    assert "Measuring" not in again.stderr
    broken = results(fresh_cache)[0]
    whole = broken.read_bytes()
    broken.write_bytes(whole[: len(whole) // 2])
    again = flashbed("run", study)
    assert again.returncode == 0, again.stderr
    assert "damaged" in again.stderr
    assert "1/1" in again.stderr
    assert broken.read_bytes() == whole


def test_the_disk_fills_up_in_the_middle(
    flashbed: Flashbed, start: Start, study_file: StudyWriter, fresh_cache: Path
) -> None:
    """There is room when the guest starts, the only one; then another program takes it all."""
    study = study_file(ONE_CELL, filesystem="ext2", medium="null-2g:capacity_bytes=60M")
    work = fresh_cache / "work"
    with small_disk(work, "80M"):
        process = start("run", study, "--jobs", "1")
        wait_for_a_guest(process, fresh_cache)
        subprocess.run(["dd", "if=/dev/zero", f"of={work}/other", "bs=64k"], capture_output=True)
        assert shutil.disk_usage(work).free == 0
        _, stderr = process.communicate(timeout=120)
    assert process.returncode == 4, stderr
    assert "disk filled up" in stderr
    assert flashbed("run", study).returncode == 0


def test_memory_fills_up_in_the_middle(
    start: Start, study_file: StudyWriter, fresh_cache: Path, tmp_path: Path
) -> None:
    """Then the guest is run on the disk, and what it left in memory goes."""
    study = study_file(ONE_CELL, filesystem="ext2", medium="null-2g:capacity_bytes=60M")
    shm = tmp_path / "shm"
    with small_disk(shm, "200M"):
        process = start("run", study, "--jobs", "1", FLASHBED_MEMORY=str(shm))
        wait_for_a_guest(process, shm)
        subprocess.run(["dd", "if=/dev/zero", f"of={shm}/other", "bs=64k"], capture_output=True)
        wait_for_a_guest(process, fresh_cache / "work")
        _, stderr = process.communicate(timeout=120)
        assert process.returncode == 0, stderr
        assert list(shm.glob("flashbed-*/*")) == []
    assert len(results(fresh_cache)) == 1


def test_the_disk_is_full_when_the_guest_is_made(flashbed: Flashbed, study: Path, fresh_cache: Path) -> None:
    """There is room for the medium, which has holes, but none for the guest's initramfs."""
    study.write_text(study.read_text().replace('"usb-stick-2g"', '"null-2g:capacity_bytes=1M"'))
    work = fresh_cache / "work"
    with small_disk(work, "3M"):
        done = flashbed("run", study, "--jobs", "1")
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
    assert f"{work}/" in done.stderr
    assert "no room left on this disk" in done.stderr


@pytest.fixture
def one_mib_a_file() -> Iterator[None]:
    """Limit the size of files for each process that the test starts."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("one_mib_a_file")
def test_the_host_refuses_a_large_file(flashbed: Flashbed, study: Path, fresh_cache: Path) -> None:
    done = flashbed("run", study, "--jobs", "1")
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
    assert f"{fresh_cache}/work" in done.stderr
    assert "(1.00 MiB, by `ulimit -f`)" in done.stderr
