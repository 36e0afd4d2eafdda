# SPDX-License-Identifier: Apache-2.0
"""A study is data: on this computer, or where its jobs are exported to, only commands of shipped profiles and commands
that the user allowed by name run.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.execution import run
from flashbed.external_results import exported_jobs
from flashbed.study import host_commands
from flashbed.study.loading import Study, load_study
from tests.support.samples import write, write_study

EXT2 = (paths.profiles() / "filesystems/ext2.toml").read_text()
SHIPPED = 'check     = "e2fsck -f -n {image}"'


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))


def study(folder: Path, check: str) -> Study:
    assert SHIPPED in EXT2
    write(folder / "profiles/filesystems/mine.toml", EXT2.replace(SHIPPED, f"check = '{check}'"))
    return load_study(write_study(folder, ("ext2:block=4k", "mine:block=4k")))


def test_what_shipped_profiles_run_needs_no_leave(tmp_path: Path) -> None:
    assert host_commands.known(paths.profiles()) >= {"e2fsck -f -n {image}", "fsck.fat -n {image}"}
    host_commands.check(study(tmp_path, "fsck.fat -n {image}"))
    host_commands.check(study(tmp_path, ""))


@pytest.mark.parametrize("check", ["touch /tmp/x {image}", "e2fsck -f -y {image}", "e2fsck -f -n  {image}"])
def test_any_other_command_is_refused_before_anything_is_measured(tmp_path: Path, check: str) -> None:
    mine = study(tmp_path, check)
    with pytest.raises(InputError) as caught:
        run.run(mine)
    assert caught.value.exit_code == 2
    file = tmp_path / "profiles/filesystems/mine.toml"
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if text.startswith("check"))
    assert f"{file}:{line}: check: {check}\n" in caught.value.message
    assert f"flashbed allow {tmp_path / 'sample.toml'} mine" in caught.value.message
    assert not (tmp_path / "cache").exists()  # nothing was built, and no file was read


def test_what_is_allowed_is_the_text_of_one_command(tmp_path: Path) -> None:
    mine = study(tmp_path, "touch /tmp/x {image}")
    with pytest.raises(InputError, match=r'no file system and no job "min" .*did you mean "mine"'):
        host_commands.chosen(mine, ["min"])
    for command in host_commands.chosen(mine, ["mine"]):
        command.allow()
    host_commands.check(mine)
    host_commands.check(study(tmp_path, "touch /tmp/x {image}"))
    with pytest.raises(InputError, match="flashbed allow"):
        host_commands.check(study(tmp_path, "touch /tmp/y {image}"))


def test_a_leave_that_was_changed_is_none(tmp_path: Path) -> None:
    [command] = host_commands.foreign(study(tmp_path, "touch /tmp/x {image}"))
    command.allow()
    [kept] = (tmp_path / "cache/allowed").iterdir()
    kept.write_text("touch /tmp/z {image}")
    assert not command.is_allowed


# --- jobs of fio that are exported ------------------------------------------------------------------------------------

JOB = "[global]\nrw=write\nsize=64k\n[one]\nbs=${size}\n"


def study_of(folder: Path, job: str, *sizes: str) -> Study:
    write(folder / "mail.fio", job)
    keys = {"title": "x", "board": "arm64-1000", "medium": "usb-stick-2g", "filesystem": "ext2", "seeds": 1}
    head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    axes = f"[axes]\nsize = {json.dumps(list(sizes or ('4k',)))}\n"
    return load_study(write(folder / "mine.toml", f'{head}{axes}[workload]\ntool = "fio"\njob = "mail.fio"\n'))


@pytest.mark.parametrize(
    ("line", "sizes"),
    [
        ("exec_prerun=touch /tmp/x", ()),
        ("  exec_postrun \t= touch /tmp/x", ()),
        ("exec_pr${size}n=touch /tmp/x", ("eru",)),
        ("${size}", ("4k", "exec_prerun=id")),
        ("ioengine=external:/tmp/x.so", ()),
        ("ioengine=./x.so", ()),
        ("ioengine=exec", ()),
        ("ioengine=net", ()),
        ("ioengine = http", ()),
        ("ioengine=nbd", ()),
        # DAOS, which keeps data on servers, and any engine that fio may get later
        ("ioengine=dfs", ()),
        ("ioengine=anything", ()),
        ("program=/bin/sh", ()),
        ("filename=/etc/passwd", ()),
        ("filename=a:/dev/medium", ()),
        ("filename=C\\:\\x", ()),
        ("directory = ../..", ()),
        ("directory=x/${size}", ("../../y",)),
        ("write_bw_log=/home/u/x", ()),
        ("write_lat_log=../x", ()),
        ("read_iolog=/etc/passwd", ()),
        ("mem=mmap:/home/u/x", ()),
        ("buffer_pattern='/etc/passwd'", ()),
        ("[../../x]", ()),
        # A log without a name of its own is named after the job
        ("name=../../x\nwrite_bw_log", ()),
        ("cgroup=../../x", ()),
        # fio 3.33 takes this comment for two lines, and the second begins with the option
        ("#" + "x" * 3000 + "${size}", ("y" * 5190 + "exec_prerun=id",)),
    ],
)
def test_a_job_that_runs_commands_is_not_exported_until_they_are_allowed(
    tmp_path: Path, line: str, sizes: tuple[str, ...]
) -> None:
    """A warning in README.txt alone is not enough."""
    mine = study_of(tmp_path, f"{JOB}{line}\n", *sizes)
    with pytest.raises(InputError) as caught:
        exported_jobs.export(mine, tmp_path / "jobs")
    assert caught.value.exit_code == 2
    assert re.match(rf"{tmp_path / 'mail.fio'}:[56]: ", caught.value.message)  # bs=${{size}} is the fifth line
    assert f"flashbed allow {tmp_path / 'mine.toml'} mail.fio" in caught.value.message
    assert not (tmp_path / "jobs").exists()
    for command in host_commands.chosen(mine, ["mail.fio"]):
        command.allow()
    exported_jobs.export(mine, tmp_path / "jobs")
    with pytest.raises(InputError, match="flashbed allow"):
        exported_jobs.export(study_of(tmp_path, f"{JOB}{line}\nexec_prerun=another\n", *sizes), tmp_path / "others")


@pytest.mark.parametrize(
    "line",
    [
        "filename=a:b/c",
        "directory=.",
        "write_bw_log=x",
        "buffer_pattern=0xdeadbeef",
        "[a b]",
        "ioengine=psync",
        "ioengine = libaio",
        "; exec_prerun=id",
        "#exec_prerun=id",
        "bs=4k",
    ],
)
def test_a_job_that_runs_none_needs_no_leave(tmp_path: Path, line: str) -> None:
    mine = study_of(tmp_path, f"{JOB}{line}\n")
    assert host_commands.of_jobs(mine) == []
    exported_jobs.export(mine, tmp_path / "jobs")


def test_in_a_guest_a_job_may_run_what_it_likes(tmp_path: Path) -> None:
    host_commands.check(study_of(tmp_path, f"{JOB}exec_prerun=id\n"))


@pytest.mark.parametrize("value", ["4k\nexec_prerun=id", "4k\rx", "exec_pr${HOME}erun=id", "${"])
def test_a_value_cannot_be_more_than_a_value(tmp_path: Path, value: str) -> None:
    """A value that the lab fills in once became lines, or variables of the other computer, in an exported job."""
    with pytest.raises(InputError, match=r"mine\.toml:7: axes\.size\[1\]: cannot be put into a job"):
        exported_jobs.export(study_of(tmp_path, JOB, "4k", value), tmp_path / "jobs")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("exec_pr${FO-O}erun=id", "the name of a variable has letters, digits and _"),
        ("#" * 8191 + "exec_prerun=id", "is longer than 4000 bytes, and fio would take it for several lines"),
    ],
)
def test_what_fio_would_read_as_something_else_is_refused_everywhere(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=f"mail.fio:6: .*{message}"):
        study_of(tmp_path, f"{JOB}{line}\n")
