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
