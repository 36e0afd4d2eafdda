# SPDX-License-Identifier: Apache-2.0
"""Each target of the Makefile runs. `test` runs this; `accuracy` is run by tests/machine/test_accuracy.py."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from make_target import REPOSITORY, make

TARGETS = re.search(r"^\.PHONY: (.*)", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)[1].split()  # type: ignore[index]


def test_help_names_every_target() -> None:
    done = make("help")
    told = set(re.findall(r"^make (\S+)", done.stdout, re.MULTILINE))
    assert told == set(TARGETS) - {"help", "lint"}


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_has_what_it_needs(target: str) -> None:
    """Files and other targets: nothing is carried out."""
    done = make("-n", target)
    assert done.returncode == 0, done.stderr
    for script in re.findall(r"python (\S+\.py)", done.stdout):
        assert (REPOSITORY / script).is_file()


def test_setup_has_nothing_left_to_do() -> None:
    done = make("setup")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_run_measures_and_ends_with_the_path_of_a_report(fresh_cache: Path, study_file, tmp_path: Path) -> None:
    workload = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'
    study = study_file(workload, name="test-of-make-run", filesystem="ext2")
    done = make("run", STUDY=str(study))
    assert done.returncode == 0, done.stderr
    report = REPOSITORY / done.stdout.split()[-1]
    assert report.is_file()
    shutil.rmtree(report.parent)


def test_bench_measures_models_and_cells() -> None:
    done = make("bench", SIZE="tiny")
    assert done.returncode == 0, done.stderr
    assert "writes at random" in done.stdout
    numbers = [float(word) for word in done.stdout.splitlines()[-1].split()[-4:]]
    assert min(numbers) > 0  # which is larger depends on what else the host does


def test_clean_leaves_what_was_not_built(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "Makefile", tmp_path)
    built = [tmp_path / name for name in ("venv", "build", "reports", ".pytest_cache", ".mypy_cache", ".ruff_cache")]
    for folder in (*built, tmp_path / "src"):
        folder.mkdir()
        (folder / "file").touch()
    done = make("clean", folder=tmp_path, VENV="venv")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Makefile", "src"]
