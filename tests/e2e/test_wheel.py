# SPDX-License-Identifier: Apache-2.0
"""The wheel works from any folder, without the clone that it was built in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from email.parser import Parser
from pathlib import Path

import pytest

from tests.e2e.one_cell import WRITE
from tests.support import made_once
from tests.support.borrowed_guest import empty_cache
from tests.support.fixture_types import FLASHBED
from tests.support.repository import REPOSITORY

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")

KEYS = """
import json, pathlib
from flashbed.common import paths
from flashbed.execution import run
from flashbed.image import lockfile
from flashbed.study.loading import find_study, load_study
wanted = run.prepare(load_study(find_study("quick")), only_built=True)
print(json.dumps([str(paths.data_root()), [repetition.key for repetition in wanted], dict(lockfile.own_sources())]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel that is built from a copy of the files that git tracks."""

    def make(folder: Path) -> None:
        copy = folder / "source"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            if (REPOSITORY / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(REPOSITORY / name, copy / name)
        subprocess.run([*PIP, "wheel", "--no-deps", "-w", folder, copy], check=True)

    (built,) = made_once.folder(tmp_path_factory, "wheel", make).glob("*.whl")
    return built


def made(folder: Path, wheel: Path, *, whole: bool) -> Path:
    """Install the wheel in a new environment, and return the directory of its programs. If `whole`, its dependencies
    come from the registry; else it borrows those of this environment, which are many megabytes.
    """
    venv.create(folder, with_pip=False)
    python = folder / "bin/python"
    if not whole:
        (packages,) = (folder / "lib").glob("python*/site-packages")
        (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    dependencies = [] if whole else ["--no-deps"]
    subprocess.run([*PIP, "--python", python, "install", *dependencies, wheel], check=True)
    return folder / "bin"


def outside() -> dict[str, str]:
    """Return this process's environment without the variables that would lead Python to the clone."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def measured(folder: Path, study: Path, flashbed: str | Path) -> Path:
    """Make the folder with a copy of the study, its report, its pack and a cache, all by this program. Return the
    folder.
    """
    folder.mkdir()
    empty_cache(folder / "cache")
    shutil.copy(study, folder / "one.toml")
    for words in (("run", "one.toml"), ("pack", "one.toml")):
        done_by(flashbed, folder, *words)
    return folder


def done_by(flashbed: str | Path, folder: Path, *words: str) -> str:
    """Return the output of this program's command, which must succeed, with the cache in the folder."""
    done = subprocess.run(
        [flashbed, *words],
        cwd=folder,
        env={**outside(), "FLASHBED_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of each file below the folder, by its relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WHOLE = pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)])


@WHOLE
def test_a_cell_is_measured_and_packed_as_in_the_clone(
    wheel: Path, tmp_path: Path, study_file: Callable[..., Path], whole: bool
) -> None:
    study = study_file(WRITE)
    programs = made(tmp_path / "environment", wheel, whole=whole)
    its = measured(tmp_path / "its", study, programs / "flashbed")
    verified = done_by(programs / "flashbed", its, "verify", "one.flashbed")
    assert verified.splitlines()[-1] == "same bytes: 1 of 1 repetitions"
    ours = measured(tmp_path / "ours", study, FLASHBED)
    for home in (its, ours):  # by the key, in a store that was empty
        assert len(list((home / "cache/results/cells").glob("*/*/result.json"))) == 1
    assert contents(its / "cache/results/cells") == contents(ours / "cache/results/cells")
    assert (its / "reports/one/results.csv").read_bytes() == (ours / "reports/one/results.csv").read_bytes()
    if not whole:  # other versions of the packages that write the report may write it otherwise
        assert contents(its / "reports") == contents(ours / "reports")
        assert (its / "one.flashbed").read_bytes() == (ours / "one.flashbed").read_bytes()


@WHOLE
def test_a_new_environment_with_the_wheel(wheel: Path, tmp_path: Path, fresh_cache: Path, whole: bool) -> None:
    programs = made(tmp_path / "environment", wheel, whole=whole)
    empty = tmp_path / "empty"
    empty.mkdir()

    def said(*command: str | Path, status: int = 0) -> str:
        done = subprocess.run(command, cwd=empty, env=outside(), capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stdout or done.stderr

    assert said(programs / "flashbed", "--version") == "flashbed 0.2.0\n"
    (docs,) = (tmp_path / "environment").glob("lib/python*/site-packages/flashbed/_data/docs")
    ours = {page.relative_to(REPOSITORY / "docs") for page in (REPOSITORY / "docs").rglob("*.md")}
    assert {page.relative_to(docs) for page in docs.rglob("*.md")} == ours
    assert str(docs) in "".join(said(programs / "flashbed", "--help").split())  # wherever the terminal breaks it
    listed = said(programs / "flashbed", "list")
    assert all(word in listed for word in ("quick", "arm64-1000", "usb-stick-2g", "yaffs2", "cfq"))
    assert said(programs / "flashbed", "show", "abc", status=2).startswith("flashbed: no result with a key that starts")
    assert "is measured yet" in said(programs / "flashbed", "report", "quick", status=2)
    root, keys, sources = json.loads(said(programs / "python", "-c", KEYS))
    assert Path(root).is_relative_to(tmp_path / "environment")
    here = json.loads(said(sys.executable, "-c", KEYS))
    assert len(keys) > 10
    assert [keys, sources] == here[1:]
    assert not list(empty.iterdir())


def test_what_the_wheel_says_of_itself(wheel: Path) -> None:
    """Its licence is that of all that is in it, by the lines of its files, and each has its text there."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata_ = Parser().parsestr(archive.read(next(n for n in names if n.endswith("/METADATA"))).decode())
        licences = set()
        for name in names:
            head = archive.read(name)[:300].decode(errors="replace").splitlines()
            lines = [line.partition("SPDX-License-Identifier: ")[2] for line in head]
            licences |= {line.removesuffix("*/").strip() for line in lines if line}
    expressions = {f"({expression})" if " OR " in expression else expression for expression in licences}
    assert set(metadata_["License-Expression"].split(" AND ")) == expressions
    texts = {Path(name).stem for name in names if "/licenses/" in name}
    single = {word.strip("()") for one in expressions for word in one.split(" OR ")}
    assert texts == single
    assert not [name for name in names if name.endswith((".o", ".ko", ".pyc")) or "/build/" in name]
