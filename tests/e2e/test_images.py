# SPDX-License-Identifier: Apache-2.0
"""flashbed image export and import: a host without compiler and Debian's programs measures the same bytes."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import made_once
from tests.support.borrowed_guest import empty_cache
from tests.support.fixture_types import FLASHBED, Flashbed
from tests.support.repository import REPOSITORY

STUDY = """
title      = "A file on a stick"
board      = "arm64-1000"
medium     = "usb-stick-2g"
filesystem = "ext2"
seeds      = 1

[axes]
pattern = ["randread", "randwrite"]

[workload]
tool    = "fio"
file    = "2M"
request = "64k"
flush   = "fsync"
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an image with all that the study beside it needs. The report of the exporting host is there, too."""

    def make(folder: Path) -> None:
        (folder / "own.toml").write_text(STUDY)
        env = {**os.environ, "FLASHBED_CACHE": str(empty_cache(folder / "cache"))}
        for words in (["run", "own.toml"], ["image", "export", "own.toml", "-o", "own.flashbed"]):
            subprocess.run([FLASHBED, *words], check=True, cwd=folder, env=env, timeout=600)

    return made_once.folder(tmp_path_factory, "images", make) / "own.flashbed"


def rows(report: Path) -> list[dict[str, str]]:
    with (report / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("by", ["import", "environment", "package"])
def test_a_host_with_nothing_but_python_measures_the_same(exported: Path, tmp_path: Path, by: str) -> None:
    """The host's path has no compiler, no apt and no checker: only programs that each Linux has."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "env", "setpriv", "timeout"):
        program = shutil.which(name)
        assert program
        (programs / name).symlink_to(program)
    (tmp_path / "own.toml").write_text(STUDY)
    env = {"PATH": str(programs), "HOME": str(tmp_path), "FLASHBED_CACHE": str(tmp_path / "cache")}
    variables = {"FLASHBED_IMAGE": str(exported)} if by == "environment" else {}
    if by == "package":  # as `make image-wheel` makes it
        shutil.copytree(REPOSITORY / "setup/image-wheel/flashbed_image", tmp_path / "site/flashbed_image")
        shutil.copy(exported, tmp_path / "site/flashbed_image/image.flashbed")
        variables = {"PYTHONPATH": str(tmp_path / "site")}
    for words in ([["image", "import", str(exported)]] if by == "import" else []) + [["run", "own.toml"]]:
        subprocess.run(
            [sys.executable, FLASHBED, *words], check=True, cwd=tmp_path, env={**env, **variables}, timeout=600
        )
    assert rows(tmp_path / "reports/own") == rows(exported.parent / "reports/own")
    assert {row["outcome"] for row in rows(tmp_path / "reports/own")} == {"measured"}


def test_what_is_no_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.flashbed").write_bytes(b"#!/usr/bin/env python3\nPK\3\4 and no more")
    env = {**os.environ, "FLASHBED_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [FLASHBED, "image", "import", "a.flashbed"], cwd=tmp_path, env=env, timeout=60, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "a.flashbed" in done.stderr
    assert "Traceback" not in done.stderr
    done = subprocess.run(
        [FLASHBED, "list"], cwd=tmp_path, env={**env, "FLASHBED_IMAGE": "b"}, timeout=60, capture_output=True, text=True
    )
    assert (done.returncode, "FLASHBED_IMAGE=b: No such file" in done.stderr) == (2, True)


def test_the_guests_of_studies_are_built_without_measuring(
    flashbed: Flashbed, fresh_cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text(STUDY)
    done = flashbed("image", "build", "own.toml")
    assert (done.returncode, done.stdout) == (0, "own: 2 repetitions can be measured\n"), done.stderr
    assert not list((fresh_cache / "results").rglob("*.json"))


def test_nothing_is_built_if_a_study_is_wrong(flashbed: Flashbed, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(STUDY)
    done = flashbed("image", "build", "own.toml", "nowhere.toml")
    assert done.returncode == 2
    assert "nowhere.toml" in done.stderr
    assert not done.stdout
