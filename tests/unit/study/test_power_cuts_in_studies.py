# SPDX-License-Identifier: Apache-2.0
"""Studies that cut the power: whose workload has no check is refused, and no other key moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.study.loading import load_study
from flashbed.study.plan import cell_inputs, plan
from flashbed.workload import WORKLOADS
from tests.support.appender import TOOL, Appender
from tests.support.samples import write

HEAD = 'title = "x"\nboard = "arm64-1000"\nmedium = "sd-good:used_bytes=64M"\nfilesystem = "ext4"\nseeds = 1\n'
FIO = '[workload]\ntool = "fio"\npattern = "write"\nrequest = "4k"\nfile = "1M"\n'
APPENDS = f'[workload]\ntool = "{TOOL}"\nrows = 10\n'


def test_a_workload_without_a_check_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS._known, TOOL, Appender())
    with pytest.raises(InputError, match="power_cuts: needs a check"):
        load_study(write(tmp_path / "mine.toml", f"{HEAD}power_cuts = 3\n{FIO}"))
    unchecked = f'{HEAD}power_cuts = 3\n[workload]\ntool = "program"\ncommand = "echo a >/mnt/a"\n'
    with pytest.raises(InputError, match=r"power_cuts: needs a check .*workload\.check"):
        load_study(write(tmp_path / "mine.toml", unchecked))


def test_only_cells_with_power_cuts_have_them_in_their_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS._known, TOOL, Appender())
    (with_cuts,) = plan(load_study(write(tmp_path / "mine.toml", f"{HEAD}power_cuts = 3\n{APPENDS}")))
    (without,) = plan(load_study(write(tmp_path / "mine.toml", f"{HEAD}{APPENDS}")))
    inputs, others = cell_inputs(with_cuts), cell_inputs(without)
    assert inputs.pop("power_cuts") == 3
    assert inputs.pop("repair") == ["/sbin/e2fsck -f -y {device}"]
    assert inputs == others
    assert "repair" not in others["filesystem"]
