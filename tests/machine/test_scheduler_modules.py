# SPDX-License-Identifier: Apache-2.0
"""A scheduler's module is in the guest of the cells that use it, and a module that is not there is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.execution import repetition, run
from flashbed.study.loading import load_study
from tests.support.fixture_types import StudyWriter

OURS = ("anticipatory", "cfq")
DRIVERS = "kernel-modules-"
"""How the part with the kernel's own modules is named: by all that the cell asks the kernel for."""


def test_a_module_that_is_not_there_is_told(study_file: StudyWriter, tmp_path: Path) -> None:
    folder = tmp_path / "profiles/schedulers"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text('title = "Mine"\nname = "mine"\nmodule = "mine"\n')
    study = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'
    with pytest.raises(InputError, match=r'module = "mine": .*there are: .*anticipatory, .*cfq, '):
        run.prepare(load_study(study_file(study, filesystem="ext2", scheduler="mine")))


def test_only_its_own_module_is_in_a_guest(study_file: StudyWriter) -> None:
    study = """
        [axes]
        scheduler = ["none", "anticipatory", "cfq"]
        [workload]
        tool = "fio"
        pattern = "write"
        request = "4k"
        file = "64k"
    """
    none, anticipatory, cfq = run.prepare(load_study(study_file(study, filesystem="ext2")))
    for planned, module in ((anticipatory, "anticipatory"), (cfq, "cfq")):
        own = {name for name in planned.environment if not name.startswith(DRIVERS)} - set(none.environment)
        assert own == {f"module-{module}"}
    assert none.environment["base"] == anticipatory.environment["base"] == cfq.environment["base"]
    assert len({none.key, anticipatory.key, cfq.key}) == 3
    archives = [repetition.program_set(planned.cell) for planned in (none, anticipatory, cfq)]
    contents = [b"".join(part.read_bytes() for part in none.image.archives(program_set)) for program_set in archives]
    for content, modules in zip(contents, ((), ("anticipatory",), ("cfq",)), strict=True):
        assert all((f"lib/flashbed/{name}.ko".encode() in content) == (name in modules) for name in OURS)
