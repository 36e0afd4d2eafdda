# SPDX-License-Identifier: Apache-2.0
"""The script that runs a study's jobs on another computer: each once, and no result of one that failed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from flashbed.external_results import exported_jobs, imported_results
from flashbed.study.slicing import narrowed
from tests.unit.external_results.elsewhere import exported_to, sample

FAKE_FIO = """#!/bin/sh
# Writes down what it was called for, and results if JSON is asked for.
for word; do last=$word; case $word in --output=*) out=${word#--output=};; esac; done
echo "$(basename "$last") $(pwd)" >> "$FAKE_LOG"
echo '{}' > "$out"
case $last in *seed2*measure.fio) [ -z "${FAKE_FAILS:-}" ] || exit 1;; esac
"""


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))
    return exported_to(tmp_path / "jobs", sample(tmp_path))


def run_script(exported: Path, tmp_path: Path, **more: str) -> tuple[int, list[str]]:
    fio = tmp_path / "bin" / "fio"
    fio.parent.mkdir(exist_ok=True)
    fio.write_text(FAKE_FIO)
    fio.chmod(fio.stat().st_mode | stat.S_IXUSR)
    place, log = tmp_path / "the stick", tmp_path / "log"
    place.mkdir(exist_ok=True)
    log.write_text("")
    path = f"{fio.parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "FLASHBED_COLD": "true", "FAKE_LOG": str(log), **more}
    done = subprocess.run(["sh", exported / "run.sh", "01", place], env=environment, cwd=tmp_path, timeout=60)
    assert list(place.iterdir()) == []
    return done.returncode, log.read_text().splitlines()


def test_the_script_runs_each_job_once_in_a_folder_of_its_own(exported: Path, tmp_path: Path) -> None:
    status, calls = run_script(exported, tmp_path)
    assert status == 0
    assert len(calls) == 12  # 8 measured, 4 prepared before
    assert all(call.endswith(f" {tmp_path}/the stick/flashbed-work") for call in calls)
    assert calls[0].split(".")[1] == "prepare"
    assert len(list((exported / "01" / "results").glob("*.json"))) == 8
    assert run_script(exported, tmp_path) == (0, [])


def test_the_script_keeps_no_result_of_a_job_that_failed(exported: Path, tmp_path: Path) -> None:
    status, _ = run_script(exported, tmp_path, FAKE_FAILS="1")
    assert status == 1
    assert len(list((exported / "01" / "results").glob("*.json"))) == 4
    assert run_script(exported, tmp_path)[0] == 0
    assert len(list((exported / "01" / "results").glob("*.json"))) == 8


@pytest.mark.skipif(shutil.which("fio") is None, reason="no fio here; `apt-get install fio` brings it")
def test_the_real_fio_runs_the_jobs(tmp_path: Path) -> None:
    study = sample(tmp_path, ('"8M"', '"64k"'), ("seeds      = 2", "seeds = 1"))
    exported_jobs.export(narrowed(study, {"filesystem": ["ext2"]}), tmp_path / "jobs")
    place = tmp_path / "place"
    place.mkdir()
    environment = {**os.environ, "FLASHBED_COLD": "true"}
    # A slice numbers its own folders, so that of the only stack left is the first
    subprocess.run(["sh", tmp_path / "jobs" / "run.sh", "01", place], env=environment, check=True, timeout=120)
    assert imported_results.take_in(study, tmp_path / "jobs", "this host") == (4, 4)
    assert {result.metrics["requested_bytes"] for result in imported_results.kept(study).results} == {65536.0}
