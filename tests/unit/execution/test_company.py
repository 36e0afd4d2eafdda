# SPDX-License-Identifier: Apache-2.0
"""Several runs with the same cache share the work, and do not harm each other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import Facts
from tests.support.repository import REPOSITORY

PROGRAM = Path(__file__).with_name("company.py")
OWN_PIDS = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


def begin(
    cache: Path, cells: str, jobs: int, seconds: float, outcome: str = "x", before: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [*before, sys.executable, str(PROGRAM), str(cache), cells, str(jobs), str(seconds), outcome]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str]) -> tuple[dict[str, Any], str]:
    """Return what a run printed as JSON, and its messages."""
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    return json.loads(stdout.splitlines()[-1]), stderr


def measured(cache: Path) -> Counter[str]:
    """Return how often each cell was run."""
    return Counter((cache / "measured").read_text().split()) if (cache / "measured").exists() else Counter()


def until_measuring(cache: Path, cells: int) -> None:
    deadline = time.monotonic() + 30
    while sum(measured(cache).values()) < cells:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def until_waiting(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if line == "Another run is measuring the last 1 repetitions; waiting for them\n":
            return
    pytest.fail("it did not wait")


def nothing_is_left(cache: Path) -> bool:
    left = [
        path
        for where in ("work", "results/tmp", "results/claims", "failures/.tmp")
        for path in cache.glob(f"{where}/*")
    ]
    return left == []


@pytest.mark.parametrize("before", [(), OWN_PIDS], ids=["another process", "another name space"])
def test_two_runs_share_the_work(tmp_path: Path, before: tuple[str, ...]) -> None:
    if before and subprocess.run([*OWN_PIDS, "true"], capture_output=True).returncode:
        pytest.skip("this host gives no name spaces to users")
    cells = "abcdefgh"
    runs = [begin(tmp_path, cells, 2, 0.5, before=before) for _ in range(2)]
    for process in runs:
        printed, _ = end(process)
        assert printed == {"records": [["measured", "x"]] * 8, "different": []}
    assert measured(tmp_path) == Counter(cells)
    assert nothing_is_left(tmp_path)


def test_cells_with_one_key_have_one_guest(tmp_path: Path) -> None:
    """Cells on raw flash that differ only in the scheduler have the same key."""
    printed, _ = end(begin(tmp_path, "aba", 2, 0.1))
    assert printed["records"] == [["measured", "x"]] * 3
    assert measured(tmp_path) == Counter("ab")


def test_a_run_without_cells_of_its_own_waits_and_says_so(tmp_path: Path) -> None:
    first = begin(tmp_path, "a", 1, -1)
    until_measuring(tmp_path, 1)
    second = begin(tmp_path, "ab", 1, 0.1)
    until_waiting(second)
    (tmp_path / "go").touch()
    printed, _ = end(second)
    assert printed["records"] == [["measured", "x"]] * 2
    assert end(first)[0]["records"] == [["measured", "x"]]
    assert measured(tmp_path) == Counter("ab")


def test_another_run_takes_over_the_cells_of_a_killed_run(tmp_path: Path) -> None:
    first = begin(tmp_path, "abc", 2, 60)
    until_measuring(tmp_path, 2)
    second = begin(tmp_path, "abc", 1, 0.1)
    until_measuring(tmp_path, 3)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert end(second)[0]["records"] == [["measured", "x"]] * 3
    assert measured(tmp_path) == Counter("aabbc")
    end(begin(tmp_path, "abc", 1, 0))
    assert nothing_is_left(tmp_path)


def test_two_runs_whose_cells_fail(tmp_path: Path) -> None:
    cells = "abcdef"
    runs = [begin(tmp_path, cells, 3, 0.3, "fail") for _ in range(3)]
    for process in runs:
        assert end(process)[0]["records"] == [["failed", "fail"]] * 6
    for folder in (tmp_path / "failures").iterdir():
        if folder.name != ".tmp":
            assert sorted(path.name for path in folder.rglob("*")) == ["console.log", "data", "out", "result.json"]
    assert nothing_is_left(tmp_path)


def test_a_waiting_run_takes_the_failure_and_a_later_run_tries_again(tmp_path: Path) -> None:
    first = begin(tmp_path, "a", 1, -1, "fail")
    until_measuring(tmp_path, 1)
    second = begin(tmp_path, "a", 1, 0.1, "fail")
    until_waiting(second)
    (tmp_path / "go").touch()
    assert end(second)[0] == end(first)[0]
    assert measured(tmp_path) == Counter("a")
    assert end(begin(tmp_path, "a", 1, 0, "x"))[0]["records"] == [["measured", "x"]]


def test_a_killed_machine_is_tried_again_once(tmp_path: Path) -> None:
    printed, stderr = end(begin(tmp_path, "a", 1, 0, "killed once"))
    assert printed["records"] == [["measured", "killed once"]]
    assert "a: killed once; trying it again" in stderr
    assert measured(tmp_path) == Counter("aa")
    (record,) = end(begin(tmp_path, "b", 1, 0, "killed"))[0]["records"]
    assert record == ["killed", Facts("killed, twice", "--jobs")]
    assert measured(tmp_path) == Counter("aabb")


def test_only_the_scratch_of_killed_runs_is_removed(tmp_path: Path) -> None:
    live, killed = begin(tmp_path, "a", 1, -1), begin(tmp_path, "b", 1, 60)
    until_measuring(tmp_path, 2)
    killed.kill()
    killed.communicate()
    assert len([path for path in (tmp_path / "work").iterdir() if path.is_dir()]) == 2
    end(begin(tmp_path, "c", 1, 0))
    assert len([path for path in (tmp_path / "work").iterdir() if path.is_dir()]) == 1
    (tmp_path / "go").touch()
    assert end(live)[0]["records"] == [["measured", "x"]]
    assert nothing_is_left(tmp_path)


def test_different_results_are_both_kept(tmp_path: Path) -> None:
    """Without working locks, two runs may measure the same cell. The test removes the first run's lock."""
    first = begin(tmp_path, "a", 1, -1, "one")
    until_measuring(tmp_path, 1)
    (claim,) = (tmp_path / "results/claims").iterdir()
    claim.unlink()
    second, _ = end(begin(tmp_path, "a", 1, 0, "another"))
    assert second["different"] == []
    (tmp_path / "go").touch()
    printed, stderr = end(first)
    (other,) = printed["different"]
    assert (Path(other) / "out/data").read_text() == "one"
    (kept,) = (tmp_path / "results/cells").glob("*/*/out/data")
    assert kept.read_text() == "another"
    assert "the first one is kept" in stderr
    # Each run of that cell reports the difference until the user removes it; runs of other cells do not
    assert end(begin(tmp_path, "a", 1, 0))[0]["different"] == [other]
    assert end(begin(tmp_path, "b", 1, 0))[0]["different"] == []
