# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster as the site of attempts: the store gets the same content as on this host, whatever is lost on the
way.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from distributed import Client

from flashbed.cluster import connecting
from flashbed.cluster import worker as worker_process
from flashbed.common.errors import InputError, SetupError
from tests.support.dask_processes import SOURCES, environment, plain_worker, scheduler, scheduler_process
from tests.support.repository import REPOSITORY
from tests.unit.cluster import made_up_cells


def worker(address: str, cache: Path, attempts: Path) -> subprocess.Popen[str]:
    """Start a worker that makes made-up attempts."""
    return plain_worker(
        address, cache, "--preload", "tests.unit.cluster.made_up_worker", **{made_up_cells.ATTEMPTS: str(attempts)}
    )


def begin(cache: Path, cells: int, site: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-c",
        "from tests.unit.cluster import made_up_cells; made_up_cells.main()",
        str(cache),
        str(cells),
        site,
    ]
    return subprocess.Popen(command, env=environment(cache), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def end(process: subprocess.Popen[str]) -> tuple[list[str], str]:
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    return json.loads(stdout.splitlines()[-1]), stderr


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def attempts(file: Path, *kinds: str) -> list[list[str]]:
    """Return process and cell of each event of these kinds; without `kinds`, of each attempt."""
    lines = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
    expected_kinds = kinds or (made_up_cells.FROM_BEGINNING, made_up_cells.FROM_POWER_ON)
    return [words[:2] for words in lines if words[2] in expected_kinds]


@pytest.mark.parametrize(("cells", "seconds"), [(100, "0.3"), pytest.param(1000, "0.04", marks=pytest.mark.long)])
def test_cells_on_four_workers_one_of_which_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int, seconds: str
) -> None:
    """The remaining cells take longer than the lab needs to notice a lost worker."""
    monkeypatch.setenv(made_up_cells.SECONDS, seconds)
    log = tmp_path / "attempts"
    with scheduler(tmp_path / "scheduler") as address:
        workers = [worker(address, tmp_path / f"worker-{number}", log) for number in range(4)]
        try:
            until(lambda: len(workers_of(address)) == len(workers))  # on a busy host one may start after the last cell
            process = begin(tmp_path / "cluster", cells, address)
            while len(attempts(log)) < cells // 2:
                assert process.poll() is None, process.communicate()
                time.sleep(0.01)
            busy = workers[1]
            busy.send_signal(signal.SIGKILL)
            before = len(attempts(log))
            outcomes, stderr = end(process)
        finally:
            for worker_process in workers:
                worker_process.kill()
                worker_process.wait()
    assert outcomes == ["measured"] * cells
    assert cells // 2 <= before < cells * 3 // 4
    assert re.search(r"flashbed: worker tcp://\S+ is gone", stderr)
    made = attempts(log)
    assert {int(pid) for pid, _ in made} == {worker_process.pid for worker_process in workers}
    assert all(0 < often <= 2 for often in Counter(key for _, key in made).values())
    groups = cells // made_up_cells.GROUP
    begun = len(attempts(log, made_up_cells.BEGINS))
    assert groups <= begun <= groups + 8  # one more for a lost worker, and for each group that is split at the end
    assert len(attempts(log, made_up_cells.FROM_POWER_ON)) <= 4
    end(begin(tmp_path / "here", cells, "here"))
    of_cluster = tree(tmp_path / "cluster/results")
    assert len(of_cluster) == 4 * cells
    assert of_cluster == tree(tmp_path / "here/results")


def test_a_group_is_split_over_idle_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker makes the beginning once, for all cells that it gets."""
    monkeypatch.setenv(made_up_cells.SECONDS, "0.3")
    log = tmp_path / "attempts"
    with scheduler(tmp_path / "scheduler") as address:
        workers = [worker(address, tmp_path / f"worker-{number}", log) for number in range(2)]
        try:
            until(lambda: len(workers_of(address)) == 2)
            end(begin(tmp_path / "cluster", made_up_cells.GROUP, address))
        finally:
            for process in workers:
                process.kill()
                process.wait()
    assert Counter(pid for pid, _ in attempts(log, made_up_cells.BEGINS)) == {
        str(process.pid): 1 for process in workers
    }
    made = Counter(pid for pid, _ in attempts(log, made_up_cells.FROM_BEGINNING))
    assert len(made) == 2
    assert made.total() == made_up_cells.GROUP


def test_a_worker_drops_the_files_of_a_run_without_further_orders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path))
    monkeypatch.setattr(worker_process, "IDLE_S", 0.5)
    with worker_process.kept("run", 1) as first, worker_process.kept("another", 1) as another:
        assert another is not first
    with worker_process.kept("run", 1) as again:
        assert again is first
        time.sleep(0.6)
        assert first.work.exists()
    assert first.work.exists()
    until(lambda: not first.work.exists() and not another.work.exists())


def test_a_scheduler_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask looks for the scheduler for a while. Finished results stay in the store."""
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "2s")
    log = tmp_path / "attempts"
    with scheduler_process(tmp_path / "scheduler") as (process, address):
        only_worker = worker(address, tmp_path / "worker", log)
        try:
            run = begin(tmp_path / "cluster", 1000, address)
            while len(attempts(log)) < 5:
                assert run.poll() is None, run.communicate()
                time.sleep(0.01)
            process.kill()
            stderr = run.communicate(timeout=60)[1]
        finally:
            run.kill()
            only_worker.kill()
            only_worker.wait()
    assert run.returncode == 1
    message = r"HostResourceError: the cluster's scheduler is gone.*: run again"
    assert re.fullmatch(message, stderr.splitlines()[-1]), stderr
    assert "Traceback" not in stderr
    assert len(list((tmp_path / "cluster/results/cells").glob("*/*"))) >= 3


def test_files_come_to_each_worker_once(tmp_path: Path) -> None:
    log = tmp_path / "attempts"
    with scheduler(tmp_path / "scheduler") as address:
        workers = [worker(address, tmp_path / f"worker-{number}", log) for number in range(2)]
        try:
            until(lambda: len(workers_of(address)) == 2)
            end(begin(tmp_path / "cluster", 20, address))
            shelves = [tree(tmp_path / name / "shared") for name in ("scheduler", "worker-0", "worker-1")]
            written = [path.stat().st_mtime_ns for path in (tmp_path / "worker-0/shared").rglob("*") if path.is_file()]
            assert shelves[0] == shelves[1] == shelves[2]
            assert len(shelves[0]) == 7
            end(begin(tmp_path / "another", 20, address))
            assert written == [
                path.stat().st_mtime_ns for path in (tmp_path / "worker-0/shared").rglob("*") if path.is_file()
            ]
        finally:
            for process in workers:
                process.kill()
                process.wait()


def another_lab(folder: Path) -> Path:
    """Return a copy of the lab with one more comment."""
    copy = folder / "another"
    shutil.copytree(f"{SOURCES}/flashbed", copy / "flashbed")
    with (copy / "flashbed/common/units.py").open("a") as file:
        file.write("# another\n")
    return copy


def no_lab(folder: Path) -> Path:
    """Return a package named flashbed that lacks the lab's modules."""
    (folder / "nothing/flashbed").mkdir(parents=True)
    (folder / "nothing/flashbed/__init__.py").touch()
    return folder / "nothing"


@pytest.mark.parametrize("when", ["before", "later"])
@pytest.mark.parametrize(
    ("make_lab", "message"),
    [
        (
            another_lab,
            r"worker tcp://\S+: has flashbed .* \(\w{12}\), but this is .* \(\w{12}\); install the same there",
        ),
        (
            no_lab,
            r"worker tcp://\S+: cannot import flashbed \(.*No module named 'flashbed.\w+'.*\); install",
        ),
    ],
    ids=["another lab", "no lab"],
)
def test_a_worker_of_another_lab(tmp_path: Path, make_lab: Callable[[Path], Path], message: str, when: str) -> None:
    """The worker is refused, also if it joins after the run has begun."""
    with scheduler(tmp_path / "scheduler") as address:
        sources = f"{make_lab(tmp_path)}:{REPOSITORY}"
        if when == "later":
            process = begin(tmp_path / "cluster", 3, address)
            assert process.stderr is not None
            for line in process.stderr:
                if "no workers now" in line:
                    break
        other_worker = plain_worker(address, tmp_path / "worker", PYTHONPATH=sources)
        try:
            if when == "before":
                until(lambda: bool(workers_of(address)))
                process = begin(tmp_path / "cluster", 3, address)
            stderr = process.communicate(timeout=60)[1]
        finally:
            process.kill()
            other_worker.kill()
            other_worker.wait()
    assert process.returncode == 1
    assert re.fullmatch(f"SetupError: {message}.*", stderr.splitlines()[-1]), stderr
    assert not list((tmp_path / "cluster/results").glob("cells/*/*"))


def workers_of(address: str) -> list[str]:
    with Client(address, set_as_default=False) as client:
        return list(client.nthreads())


@pytest.mark.parametrize("name", ["", "local", "local:0", "local:-1", "localhost:8786", "tcp://host", "http://host:1"])
def test_an_invalid_name_of_a_cluster(name: str) -> None:
    with pytest.raises(InputError, match=r"^--workers .*such as tcp://HOST:87"):
        connecting.check(name)


def test_no_scheduler_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "ANSWERS_WITHIN_S", 1)
    with pytest.raises(SetupError) as caught, connecting.connected("tcp://127.0.0.1:9"):
        pass
    assert caught.value.message.startswith("tcp://127.0.0.1:9: no Dask scheduler answers there (")
    assert caught.value.message.endswith("); `dask scheduler` starts one and prints its address")


def test_tls_without_certificates() -> None:
    with pytest.raises(SetupError, match=r"Dask cannot connect \(.*\); tls:// needs certificates"):
        connecting.connected("tls://127.0.0.1:9").__enter__()


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SetupError) as caught, connecting.connected("local:1"):
        pass
    assert caught.value.message.endswith(f"`{sys.executable} -m pip install distributed`")
