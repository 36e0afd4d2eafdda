# SPDX-License-Identifier: Apache-2.0
"""A user's fio job file: its preparation runs before the measurement, and is no part of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flashbed.commands import reporting
from flashbed.study.loading import load_study
from flashbed.workload.fio.jobs import idle_depths, job_faults, split_off_preparation
from flashbed.workload.fio.pattern import portable_jobs
from flashbed.workload.fio.workload import Fio
from tests.support.facts import Facts

JOB = """\
; two files
[global]
bs=4k

[prepare-old]
filename=old
rw=write

[reader]
time_based=1
filename=old
size=${size}
[global]
thread=1
[prepare]
filename=older
"""

BEFORE = "; two files\n[global]\nbs=4k\n\n[prepare-old]\nfilename=old\nrw=write\n\n"
LATER = "[global]\nthread=1\n"


def test_sections_that_prepare_are_a_job_of_their_own() -> None:
    before, rest = split_off_preparation(JOB)
    assert before == f"{BEFORE}{LATER}[prepare]\nfilename=older\n"
    assert rest == ("; two files\n[global]\nbs=4k\n\n[reader]\ntime_based=1\nfilename=old\nsize=${size}\n" + LATER)


def test_a_job_that_prepares_nothing_stays_as_it_is() -> None:
    plain = "[global]\r\nbs=4k\n\n[reader]\nrw=read"
    assert split_off_preparation(plain) == ("", plain)
    files = Fio().files({"job": plain, "variables": {}}, 1)
    assert files["prepare"] == b"true\n"
    assert sorted(files) == ["measure", "measure.fio", "prepare"]
    assert list(portable_jobs({"job": plain, "variables": {}}, 1, "n")) == ["measure"]


@pytest.mark.parametrize("names_it", [True, False])
def test_what_prepares_is_told_the_variables_that_it_names(names_it: bool) -> None:
    job = JOB + ("[prepare-more]\nsize=${size}\n" if names_it else "")
    files = Fio().files({"job": job, "variables": {"size": "4M", "siz": "no"}}, 7)
    assert files["prepare"].decode().startswith("export size=4M\ncd /mnt\n" if names_it else "cd /mnt\n")
    assert files["measure"].decode().startswith("export siz=no\nexport size=4M\ncd /mnt\n")


def test_it_is_run_before() -> None:
    files = Fio().files({"job": JOB, "variables": {"size": "4M"}}, 7)
    assert b"[reader]" not in files["prepare.fio"]
    assert b"ramp_time" not in files["prepare.fio"]
    assert b"[prepare" not in files["measure.fio"]
    script = files["prepare"].decode()
    assert script.startswith("cd /mnt\n/bin/fio ")
    assert "--randseed=7" in script
    assert " /job/prepare.fio || {" in script
    assert "write_bw_log" not in script
    elsewhere = portable_jobs({"job": JOB, "variables": {"size": "4M"}}, 7, "name")
    assert sorted(elsewhere) == ["measure", "prepare"]
    assert b"randseed=7" in elsewhere["prepare"]
    assert b"size=4M" in elsewhere["measure"]


def test_a_job_that_only_prepares_is_a_fault() -> None:
    [(line, fault)] = job_faults("[global]\nbs=4k\n[prepare-x]\nrw=write")
    assert [line, fault] == [4, Facts("has no job", "global and prepare")]


def test_fios_line_about_exec_prerun_before_the_json_is_skipped() -> None:
    """Each job with exec_prerun failed with "is not what fio writes"."""
    side = {"total_ios": 4, "runtime": 10, "io_bytes": 4096, "lat_ns": {"mean": 1, "max": 1, "N": 4}}
    idle = {"total_ios": 0, "runtime": 0, "io_bytes": 0, "lat_ns": {"mean": 0, "max": 0, "N": 0}}
    document = json.dumps({"jobs": [{"jobname": "a", "error": 0, "read": idle, "write": side}]})
    output = b"a : Saving output of prerun in a.prerun.txt\n" + document.encode()
    assert Fio().metrics({"fio.json": output})["written_bytes"] == 4096


@pytest.mark.parametrize(
    ("job", "lines"),
    [
        ("[a]\niodepth=32", [2]),
        ("[a]\niodepth=1", []),
        ("[global]\niodepth = ${depth} ; deep\n[a]\nioengine=libaio\ndirect=1\n[b]\nioengine=mmap", [2]),
        ("[a]\nioengine=libaio\niodepth=8\ndirect=0\n[b]\nioengine=libaio\niodepth=8", [3, 7]),
        ("[a]\nioengine=libaio\ndirect\niodepth=8\n[b]\nioengine=io_uring\niodepth=8", []),
        ("[a]\niodepth=4\n[global]\nioengine=libaio\ndirect=1\n[b]\niodepth=4", [2]),
        ("[prepare]\niodepth=4\n[a]\n;iodepth=4\nrw=read", []),
    ],
)
def test_lines_of_a_depth_without_effect(job: str, lines: list[int]) -> None:
    """A section inherits from the global sections above it."""
    assert [line for line, _ in idle_depths(job)] == lines


def test_a_warning_names_a_depth_without_effect(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "deep.fio").write_text("[a]\nrw=read\nbs=4k\nsize=4k\niodepth=32\n")
    study = tmp_path / "own.toml"
    stack = 'board = "arm64-1000"\nmedium = "sd-good"\nfilesystem = "ext2"'
    study.write_text(f'title = "t"\n{stack}\n[workload]\ntool = "fio"\njob = "deep.fio"\n')
    reporting.warn(load_study(study))
    assert [record.message for record in caplog.records] == [
        Facts("deep.fio:5: iodepth", "psync has one request", "ioengine=libaio and direct=1")
    ]
