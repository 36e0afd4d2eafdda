# SPDX-License-Identifier: Apache-2.0
"""Another package adds a command and a workload to the lab, as the example of docs/plugins.md prints it."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from flashbed.common import paths
from tests.support.facts import Facts
from tests.support.fixture_types import Flashbed
from tests.support.made_up_plugin import installed

STUDY = """
    filesystem = "ext2:block=4k"
    [workload]
    tool = "dd"
    file = "4M"
"""


@pytest.fixture
def example(tmp_path: Path) -> str:
    page = (paths.docs() / "plugins.md").read_text()
    (described,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    path = installed(tmp_path / "plugin", described)
    (tmp_path / "plugin/flashbed_dd.py").write_text(code)
    return path


def test_the_examples_workload_is_measured(
    flashbed: Flashbed, study_file: Callable[..., Path], tmp_path: Path, example: str
) -> None:
    ran = flashbed("run", study_file(STUDY, medium="usb-stick-2g"), PYTHONPATH=example)
    assert ran.returncode == 0, ran.stderr
    (results,) = tmp_path.rglob("results.csv")
    (row,) = csv.DictReader(results.open())
    assert row["outcome"] == "measured"
    assert float(row["bandwidth"]) * float(row["runtime_s"]) == pytest.approx(4)


def test_the_examples_command_is_one(flashbed: Flashbed, example: str) -> None:
    assert flashbed("dd", "blocks", "8192", PYTHONPATH=example).stdout == "2\n"
    assert "What a plugin adds." in flashbed("--help", PYTHONPATH=example).stdout


@pytest.mark.parametrize(("group", "command"), [("commands", ["list"]), ("workloads", ["run", "quick"])])
def test_what_cannot_be_loaded_is_one_message(
    flashbed: Flashbed, tmp_path: Path, group: str, command: list[str]
) -> None:
    described = (
        f'[project]\nname = "broken"\nversion = "1"\n[project.entry-points."flashbed.{group}"]\nx = "no_such:x"\n'
    )
    refused = flashbed(*command, PYTHONPATH=installed(tmp_path / "plugin", described))
    assert refused.returncode == 3
    assert refused.stderr == Facts("x = no_such:x", "package broken", "No module named 'no_such'", "uninstall")
