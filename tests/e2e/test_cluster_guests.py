# SPDX-License-Identifier: Apache-2.0
"""Real guests on a cluster of this host: the bytes of a local run, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flashbed.execution.run import prepare
from flashbed.study.loading import load_study
from tests.support import made_once
from tests.support.borrowed_guest import empty_cache
from tests.support.counted_emulators import CountedEmulators
from tests.support.dask_processes import plain_worker, scheduler
from tests.support.fixture_types import Flashbed, Start, StudyWriter
from tests.support.forked_command import ForkedCommands
from tests.support.running import command_lines

STUDY = """
    [axes]
    filesystem = ["ext2", "fat16"]
    pattern = ["write", "randwrite"]
    [workload]
    tool = "fio"
    request = "16k"
    file = "1M"
"""


SHARED = """
    title = "Shared"
    board = "arm64-1000"
    filesystem = "ext2"
    seeds = 1
    [axes]
    medium = ["slc-64m-ftl-page:condition=full", "slc-64m-ftl-page:from=kept"]
    pattern = ["randread", "randwrite"]
    [workload]
    tool = "fio"
    request = "16k"
    file = "1M"
"""


PROGRAM = """
    filesystem = "ext4:barrier=0"
    power_cuts = 2
    [axes]
    rows = [10]
    [workload]
    tool = "program"
    files = ["append"]
    prepare = ": >/mnt/log; sync"
    command = "/app/append {rows}"
    check = "test $(wc -l </mnt/log) -ge $(wc -l <$FLASHBED_ACKED) || exit 1"
"""

APPEND = """\
#!/bin/sh -e
for row in $(seq $1); do
    echo $row | dd of=/mnt/log oflag=append conv=notrunc,fsync status=none
    echo $row >>$FLASHBED_ACK
done
"""


def results(cache: Path) -> dict[str, bytes]:
    files = sorted(path for path in (cache / "results").rglob("*") if path.is_file())
    return {str(path.relative_to(cache)): path.read_bytes() for path in files}


def guests_below(folder: Path) -> list[str]:
    return [line for line in command_lines("qemu-system", folder) if "-kernel" in line]


@pytest.fixture
def emulators(tmp_path: Path) -> CountedEmulators:
    return CountedEmulators(tmp_path / "programs")


@pytest.fixture
def remote(tmp_path: Path, emulators: CountedEmulators) -> Iterator[str]:
    """Yield the address of a scheduler with a worker. Both have an empty cache of their own."""
    with scheduler(tmp_path / "scheduler") as address:
        worker = plain_worker(address, tmp_path / "worker", "--nthreads", "2", PATH=emulators.path)
        try:
            yield address
        finally:
            worker.kill()
            worker.wait()


@pytest.fixture(scope="module")
def from_power_on(tmp_path_factory: pytest.TempPathFactory, forked: ForkedCommands) -> Path:
    """Return a folder with the study SHARED, its cache, and its report `here`. Cells of one medium share their
    beginning; here each is measured in a run without the others, from power-on.
    """

    def make(folder: Path) -> None:
        empty_cache(folder / "cache")
        (folder / "small.toml").write_text(textwrap.dedent(SHARED))
        emulators = CountedEmulators(folder / "programs")
        variables = {"FLASHBED_CACHE": str(folder / "cache"), "FLASHBED_MEMORY": "", "PATH": emulators.path}

        def run(*words: str) -> None:
            done = forked.run(words, folder, {**os.environ, **variables})
            assert done.returncode == 0, done.stderr

        run("medium", "create", "kept", "slc-64m-ftl-page")
        for pattern in ("randread", "randwrite"):
            run("run", "small.toml", "--where", f"pattern={pattern}")
        assert emulators.taken() == (0, 4)
        run("run", "small.toml", "--out", "here")
        assert emulators.taken() == (0, 0)

    return made_once.folder(tmp_path_factory, "from-power-on", make)


@pytest.mark.parametrize("where", ["local:2", "remote"])
def test_workers_share_beginnings_and_store_what_is_measured_from_power_on(
    flashbed: Flashbed,
    from_power_on: Path,
    tmp_path: Path,
    fresh_cache: Path,
    emulators: CountedEmulators,
    request: pytest.FixtureRequest,
    where: str,
) -> None:
    """A medium is full, and one is kept, so that their files go to the workers, too."""
    assert flashbed("medium", "create", "kept", "slc-64m-ftl-page").returncode == 0
    study = Path(shutil.copy(from_power_on / "small.toml", tmp_path))
    assert len({repetition.beginning for repetition in prepare(load_study(study))}) == 2
    address = where if where.startswith("local") else request.getfixturevalue("remote")
    done = flashbed("run", study, "--workers", address, "--out", "there", PATH=emulators.path)
    assert done.returncode == 0, done.stderr
    assert emulators.taken() == (2, 0)
    assert not guests_below(study.parent)
    assert not list((fresh_cache / "work").glob("*"))
    there = results(fresh_cache)
    assert sum(name.endswith("result.json") for name in there) == 4
    assert there == results(from_power_on / "cache")
    assert (tmp_path / "there/results.csv").read_bytes() == (from_power_on / "here/results.csv").read_bytes()


def test_a_worker_runs_programs_of_the_users_and_cuts_their_power(
    flashbed: Flashbed, study_file: StudyWriter, fresh_cache: Path, remote: str
) -> None:
    study = study_file(PROGRAM, medium="emmc-64g:used_bytes=256M")
    (study.parent / "append").write_text(APPEND)
    done = flashbed("run", study, "--workers", remote)
    assert done.returncode == 0, done.stderr
    there = results(fresh_cache)
    assert any(name.endswith("out/cuts.json") for name in there)
    (fresh_cache / "results").rename(fresh_cache / "of the cluster")
    assert flashbed("run", study).returncode == 0
    assert there == results(fresh_cache)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_on_a_cluster_that_is_stopped(
    start: Start, study_file: StudyWriter, fresh_cache: Path, number: signal.Signals
) -> None:
    """SIGINT as of a key press: to all processes of the terminal."""
    study = study_file(STUDY.replace("1M", "64M"))
    process = start("run", study, "--workers", "local:2", start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while not guests_below(fresh_cache):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        stderr = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    deadline = time.monotonic() + 10
    while (left := guests_below(fresh_cache)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        return
    assert process.returncode == 130
    message = "flashbed: interrupted; what was finished is kept, and the next run goes on"
    assert [line for line in stderr.splitlines() if not line.startswith("Measuring")] == [message]


@pytest.mark.parametrize(
    ("workers", "status", "message"),
    [
        ("4", 2, "flashbed: --workers 4: give the address of a Dask scheduler, such as tcp://HOST:8786, or local:N"),
        ("tcp://127.0.0.1:9", 3, "flashbed: tcp://127.0.0.1:9: no Dask scheduler answers there ("),
    ],
)
def test_what_is_no_cluster_is_told_before_anything_is_built(
    flashbed: Flashbed, study_file: StudyWriter, workers: str, status: int, message: str
) -> None:
    done = flashbed("run", study_file(STUDY), "--workers", workers)
    assert done.returncode == status
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
