# SPDX-License-Identifier: Apache-2.0
"""Hints of a failed cell about its profiles: each names file, line and key, and appears once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.execution.failures import hints
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from tests.support import own_module
from tests.support.facts import Facts
from tests.support.samples import write_study

HintsFor = Callable[[str, str], list[str]]

AT = "/profiles/schedulers/mine.toml:"


@pytest.fixture
def hints_for(tmp_path: Path) -> HintsFor:
    """Return `hints_for(step, output)`: the hints for two cells of which this step failed; "" for none. The study
    brings its scheduler.
    """
    own_module.scheduler(tmp_path)
    path = write_study(tmp_path)
    path.write_text(path.read_text().replace('\nmedium     = "stick"', '\nmedium     = "stick"\nscheduler = "mine"', 1))
    study = load_study(path)

    def call(step: str, output: str) -> list[str]:
        out = tmp_path / "failure" / "out"
        out.mkdir(parents=True)
        if step:
            (out / "failed").write_text(f"{step}: exit status 1\n")
            (out / f"{step}.txt").write_text(f"{output}\n")
        failures: Any = [
            SimpleNamespace(repetition=SimpleNamespace(cell=cell), folder=out.parent) for cell in plan(study)[:2]
        ]
        return hints(study, failures)

    return call


def test_a_module_that_the_kernel_refuses(hints_for: HintsFor, tmp_path: Path) -> None:
    why = "unknown symbol in module, or unknown parameter"
    [hint] = hints_for("scheduler", f"insmod: can't insert '/lib/flashbed/mine.ko': {why}")
    folder = tmp_path / own_module.SOURCE
    assert Facts(f"{AT}5: module", "mine", str(folder), why).within(hint)


def test_a_scheduler_that_the_kernel_does_not_know(hints_for: HintsFor) -> None:
    [hint] = hints_for("scheduler", "sh: write error: Invalid argument")
    assert f'{AT}4: name: the guest knows no scheduler "mine"' in hint


def test_a_file_system_that_the_kernel_does_not_know(hints_for: HintsFor) -> None:
    [hint] = hints_for("mount", "mount: mounting /dev/mblk0 on /mnt failed: No such device")
    assert ': mount.type: the guest knows no file system "vfat"' in hint


@pytest.mark.parametrize(("step", "output"), [("measure", "fio: No such device"), ("", "")])
def test_other_failures_have_no_hint(hints_for: HintsFor, step: str, output: str) -> None:
    assert hints_for(step, output) == []


PROGRAMS = (
    """\
title      = "Programs"
board      = "arm64-1000"
medium     = "null-2g:used_bytes=64M"
filesystem = "ext4"
seeds      = 2

[axes]
command = ["true", """
    + "'''\ncat\nbomb | bomb\n'''"
    + """]

[workload]
tool  = "program"
check = "true"
"""
)


@pytest.mark.parametrize(
    ("reason", "outcome", "step", "output", "place", "fact"),
    [
        ("the guest ran out of memory (Out of memory)", "failed", "", "", "8: axes.command[1]", "`ram`"),
        ("no end after 900 s", "timed out", "", "", "8: axes.command[1]", "--limit"),
        ("", "failed", "measure", "still runs after 3 s of the guest's time (limit)", "8: axes.command[1]", "`limit`"),
        ("", "failed", "measure", "No space left on device", "8: axes.command[1]", "`used_bytes`"),
        (
            *("", "failed", "measure", "the guest's time (limit): (the guest has no room for more processes)"),
            *("8: axes.command[1]", "`ram`"),
        ),
        ("", "failed", "measure", "sh: 1: sqlite3: not found", "8: axes.command[1]", "`packages`"),
        ("", "failed", "measure", "sh: 1: ./logger: Exec format error", "8: axes.command[1]", "arm64"),
        ("", "failed", "check", "Could not resolve host (guests have no network)", "15: workload.check", "`files`"),
    ],
)
def test_a_command_that_meets_a_limit(
    tmp_path: Path, reason: str, outcome: str, step: str, output: str, place: str, fact: str
) -> None:
    path = tmp_path / "programs.toml"
    path.write_text(PROGRAMS)
    study = load_study(path)
    out = tmp_path / "failure" / "out"
    out.mkdir(parents=True)
    (out.parent / "console.log").write_bytes(b"flashbed: mounted\r\nflashbed: measure\r\n")
    if step:
        (out / "failed").write_text(f"{step}: exit status 1\n")
        (out / f"{step}.txt").write_text(f"error: cat\nbomb | bomb\n: {output}\n")
    cells = [cell for cell in plan(study) if "bomb" in cell.coordinates["command"]]
    failures: Any = [
        SimpleNamespace(
            repetition=SimpleNamespace(cell=cell),
            folder=out.parent,
            result=SimpleNamespace(outcome=outcome, reason=reason),
        )
        for cell in cells
    ]
    [hint] = hints(study, failures)
    assert hint.startswith(f"{path}:{place}: ")
    assert fact in hint


def test_a_command_that_fails_by_itself_has_no_hint(tmp_path: Path) -> None:
    path = tmp_path / "programs.toml"
    path.write_text(PROGRAMS)
    out = tmp_path / "out"
    out.mkdir()
    (out / "failed").write_text("measure: exit status 3\n")
    (out / "measure.txt").write_text("error: cat: printed nothing\n")
    study = load_study(path)
    of_cell = SimpleNamespace(cell=plan(study)[0])
    failed: Any = SimpleNamespace(
        repetition=of_cell, folder=tmp_path, result=SimpleNamespace(outcome="failed", reason="")
    )
    assert hints(study, [failed]) == []
