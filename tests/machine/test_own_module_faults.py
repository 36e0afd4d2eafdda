# SPDX-License-Identifier: Apache-2.0
"""A module of a study's that does not build, does not load, or registers another name: each is told in a sentence with
the profile's file and line, the key and the place in the source, and what was measured before stays.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import guest_rig, own_cache, own_module
from tests.support.edits import replace_once
from tests.support.fixture_types import StudyWriter

AXES = f'{guest_rig.STUDY}[axes]\nfilesystem = ["ext2", "mine"]\n'
CODE = "\treturn ram_aops.write_end("


@pytest.fixture
def home(tmp_path: Path, study_file: StudyWriter) -> Path:
    """Return the folder of a study with a module. Each test breaks the module's source."""
    own_cache.make(tmp_path)
    own_module.small(tmp_path)
    study_file(AXES, name="my")
    own_cache.said(tmp_path, "allow", "my.toml", "mine")
    return tmp_path


def told(home: Path, status: int) -> str:
    """Run the study, check its exit status, and return its output."""
    done = own_cache.flashbed(home, "run", "my.toml", "--out", "report")
    assert done.returncode == status, done.stdout + done.stderr
    return done.stderr.rstrip("\n")


def where(home: Path, key: str) -> str:
    """Return the name of a profile's line in messages: the first line that begins with the key's last word."""
    lines = (home / "profiles/filesystems/mine.toml").read_text().splitlines()
    number = next(at for at, line in enumerate(lines, start=1) if line.startswith(key.rpartition(".")[2]))
    return f"profiles/filesystems/mine.toml:{number}: {key}: "


def spoilt(home: Path, file: str, before: str, after: str) -> Path:
    path = home / own_module.SOURCE / file
    replace_once(path, before, after)
    return path


@pytest.mark.parametrize(
    ("file", "before", "after", "message"),
    [
        ("file.c", CODE, f"\tnonsense;\n{CODE}", "{file}:{line}:9: error: ‘nonsense’ undeclared"),
        (
            "file.c",
            CODE,
            f"\textern void nowhere(void);\n\tnowhere();\n{CODE}",
            'ERROR: modpost: "nowhere" [{folder}/mine.ko] undefined!',
        ),
        ("Kbuild", "super.o file.o", "supper.o file.o", "No rule to make target '{folder}/supper.o'"),
    ],
    ids=["compiler", "symbol", "file"],
)
def test_a_source_that_is_not_built(home: Path, file: str, before: str, after: str, message: str) -> None:
    path = spoilt(home, file, before, after)
    line = next((at for at, text in enumerate(path.read_text().splitlines(), 1) if text == "\tnonsense;"), 0)
    folder = home / own_module.SOURCE
    error = told(home, 2).splitlines()[-1]
    assert f"{where(home, 'module')}mine cannot be built from {folder} for the kernel 6.1" in error
    assert message.format(file=path, folder=folder, line=line) in error
    assert "scratch" not in error
    assert not (home / "report").exists()


def refuses(home: Path) -> str:
    spoilt(home, own_module.SUPER, "\terr = register_filesystem(&mine_type);\n", "\terr = -EBUSY;\n")
    message = f"the guest's kernel did not take mine, made from {home / own_module.SOURCE} (Device or resource busy): "
    return f"{where(home, 'module')}{message}"


def has_another_name(home: Path) -> str:
    spoilt(home, own_module.SUPER, '.name = "mine"', '.name = "yours"')
    return f'{where(home, "mount.type")}the guest knows no file system "mine"'


@pytest.mark.parametrize("spoil", [refuses, has_another_name])
def test_a_module_that_the_guest_refuses(home: Path, spoil: Callable[[Path], str]) -> None:
    message = spoil(home)
    lines = told(home, 1).splitlines()
    assert "1 of 2 repetitions have no measurement" in lines[-2]
    assert lines[-1].startswith(message)

    # What was measured before stays, and the next run goes on
    replace_once(home / "my.toml", ', "mine"]', "]")
    assert "1 repetitions, all measured before" in own_cache.said(home, "run", "my.toml", "--out", "report")
