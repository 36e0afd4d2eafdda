# SPDX-License-Identifier: Apache-2.0
"""Each target of the Makefile runs, in its smallest form where that is enough. Documents that a target writes are held
to what it would write now.
"""

from __future__ import annotations

import ast
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.support.fixture_types import StudyWriter
from tests.support.make_target import make
from tests.support.repository import REPOSITORY

TARGETS = re.findall(r"^\.PHONY: (.*)", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)[0].split()


def test_help_names_every_target() -> None:
    done = make("help")
    targets_in_help = set(re.findall(r"^make (\S+)", done.stdout, re.MULTILINE))
    assert targets_in_help == set(TARGETS) - {"help", "lint"}


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_has_what_it_needs(target: str) -> None:
    """Files and other targets: nothing is carried out."""
    done = make("-n", target)
    assert done.returncode == 0, done.stderr
    for script in re.findall(r"python (\S+\.py)", done.stdout):
        assert (REPOSITORY / script).is_file()


@pytest.mark.parametrize(
    "part",
    [
        "media",
        "kernel/media_ftl/tests",
        "kernel/iosched/tests",
        "kernel/yaffs2",
        "sfsload",
        "appliance/user",
        "appliance/distil",
    ],
)
def test_a_part_has_what_its_targets_need(part: str) -> None:
    """Each target of a part has its prerequisites. Fuzzers need clang, so this test does not run them."""
    targets = re.search(r"^\.PHONY: (.*)", (REPOSITORY / part / "Makefile").read_text(), re.MULTILINE)
    assert targets is not None
    for target in targets[1].split():
        done = make("-n", "-C", part, target, BUILD="/nowhere")
        assert done.returncode == 0, done.stderr


def test_byte_code_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    done = make("--eval=environment: ; @env", "environment")
    assert "PATH=" in done.stdout
    assert "PYTHONDONTWRITEBYTECODE" not in done.stdout


NOT_RUN_HERE = {"test", "test-long", "lint", "first-answer"}
"""This is a part of both tests, and both begin with lint. `first-answer` takes as long as a `make run` from nothing."""


def run_by_tests() -> set[str]:
    """Return the targets that a test calls as `make("TARGET", ...)`, except tests that are marked as long."""
    targets = set()
    for file in sorted((REPOSITORY / "tests").glob("*/test_*.py")):
        for function in ast.parse(file.read_text()).body:
            if isinstance(function, ast.FunctionDef) and "mark.long" not in ast.unparse(function):
                targets |= set(re.findall(r"\bmake\('([a-z0-9-]+)'", ast.unparse(function)))
    return targets


def test_each_target_is_run_by_a_test() -> None:
    assert set(TARGETS) - run_by_tests() == NOT_RUN_HERE


def test_reliability_is_what_its_records_say() -> None:
    done = make("reliability", OPTIONS="--check")
    assert done.returncode == 0, done.stderr


def test_planted_bugs_are_found_by_a_command() -> None:
    """tests/machine/test_planted_bugs_guest.py looks for two of them."""
    done = make("planted-bugs", OPTIONS="--help")
    assert done.returncode == 0, done.stderr
    assert "--only" in done.stdout


def test_the_tables_of_results_are_what_the_results_say_as_far_as_there_are_any() -> None:
    done = make("result-tables", OPTIONS="--check")
    lacks = "flashbed run " in done.stderr
    assert done.returncode == (2 if lacks else 0), done.stderr  # make has 2 for any failure of a command


def test_papers_are_what_the_results_say_as_far_as_there_are_any() -> None:
    """With all results in this host's cache the whole page is compared; its claims are in tests/unit."""
    done = make("papers", OPTIONS="--check")
    lacks = [line for line in done.stderr.splitlines() if "have no result; `flashbed run " in line]
    assert done.returncode == (2 if lacks else 0), done.stderr  # make has 2 for any failure of a command
    assert ("docs/generated/papers.md is not written" in done.stderr) == bool(lacks)


def test_yaffs2_figures_begin_as_they_are_now() -> None:
    done = make("yaffs2-figures", OPTIONS="--quick")
    assert done.returncode == 0, done.stderr


def test_kernel_size_tells_how_it_is_called() -> None:
    """Its smallest form builds two kernels, which takes minutes: tests that take long do that."""
    done = make("kernel-size", OPTIONS="--help")
    assert done.returncode == 0, done.stderr
    assert "--stored" in done.stdout


def test_the_table_of_columns_is_that_of_the_schema() -> None:
    done = make("columns", OPTIONS="--check")
    assert done.returncode == 0, done.stderr


def test_the_wheel_with_an_image_has_the_image() -> None:
    done = make("image-wheel", IMAGE_OF="quick")
    assert done.returncode == 0, done.stderr
    [wheel] = (REPOSITORY / "dist").glob("flashbed_image-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.getinfo("flashbed_image/image.flashbed").file_size > 1 << 20
    wheel.unlink()


def test_setup_has_nothing_left_to_do() -> None:
    done = make("setup")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


SMALL = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'


def test_run_measures_and_ends_with_the_path_of_a_report(
    fresh_cache: Path, study_file: StudyWriter, tmp_path: Path
) -> None:
    study = study_file(SMALL, name="test-of-make-run", filesystem="ext2")
    done = make("run", STUDY=str(study))
    assert done.returncode == 0, done.stderr
    report = REPOSITORY / done.stdout.split()[-1]
    assert report.is_file()
    shutil.rmtree(report.parent)


def test_bench_measures_models_and_cells(study_file: StudyWriter) -> None:
    study = study_file(SMALL, filesystem="ext2")
    done = make("bench", SIZE="tiny", STUDY=str(study))
    assert done.returncode == 0, done.stderr
    assert "writes at random" in done.stdout
    lines = done.stdout.splitlines()
    cell = lines[next(at for at, line in enumerate(lines) if "CPU s  wall s" in line) + 1]
    # Which is larger depends on what else the host does
    assert min(float(word) for word in cell.split()[-4:]) > 0
    [large] = [line for line in lines if line.split()[1:2] == ["plan"]]
    assert float(large.split()[2]) > 0
    *_, several, _, first, second = lines
    assert several.split()[0] == "48"  # CPUs; their page is held to it
    assert min(float(word) for word in several.split()) > 0
    for name, line in (("x86_64", first), ("arm64", second)):
        # Of a kernel that was compiled here, or that there is none
        assert re.match(rf"{name}(, 2 objects, .*: compiler \d+|: no kernel)", line)


def test_clean_leaves_what_was_not_built(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "Makefile", tmp_path)
    built = [tmp_path / name for name in ("venv", "build", "reports", ".pytest_cache", ".mypy_cache", ".ruff_cache")]
    for folder in (*built, tmp_path / "src"):
        folder.mkdir()
        (folder / "file").touch()
    done = make("clean", folder=tmp_path, VENV="venv")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Makefile", "src"]
