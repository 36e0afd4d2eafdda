# SPDX-License-Identifier: Apache-2.0
"""A kernel that is none, or that cannot be built, is told in one message, and nothing of the user's is written to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.facts import Facts
from tests.support.fixture_types import Flashbed, StudyWriter

STUDY = """
    filesystem = "ext2"
    [workload]
    tool = "fio"
    pattern = "write"
    request = "64k"
    file = "256k"
"""

PATCH = """\
--- a/fs/one.c
+++ b/fs/one.c
@@ -1 +1 @@
-int one;
+int other;
"""

BAD_INPUT = 2


@pytest.fixture
def linux(tmp_path: Path) -> Path:
    """Return a directory that looks like a source tree, in git, with the tag v1."""
    folder = tmp_path / "linux"
    makefile = "VERSION = 6\nPATCHLEVEL = 1\n%config:\n\t@echo this is no Linux\n\t@false\n"
    files = {"Makefile": makefile, "Kconfig": "", "Kbuild": "", "arch/arm64/Makefile": "", "fs/one.c": "int one;\n"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    person = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    for words in (("init",), ("add", "."), (*person, "commit", "--message=v1"), ("tag", "v1")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    (tmp_path / "good.patch").write_text(PATCH)
    (tmp_path / "bad.patch").write_text(PATCH.replace("int one", "int two"))
    return folder


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("5.4", '--kernel 5.4: must be such as "6.1", not "5.4"; there are: 6.1, 6.12, '),
        ("./away", "--kernel ./away: away is not there"),
        (".", "--kernel .: . is no source tree of Linux: it has no Makefile"),
        ("./linux@v2", "git knows no revision v2 in linux"),
        ("6.1:patch=none.patch", "patch none.patch cannot be read: No such file or directory"),
        ("./linux:patch=good.patch,patch=bad.patch", "bad.patch: does not apply to linux@"),
        ("./linux@v1:patch=bad.patch", "patch failed: fs/one.c:1"),
    ],
)
def test_what_is_no_kernel(flashbed: Flashbed, study_file: StudyWriter, linux: Path, kernel: str, message: str) -> None:
    done = flashbed("run", study_file(STUDY), "--kernel", kernel)
    assert done.returncode == BAD_INPUT, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_study_says_it_with_its_line(flashbed: Flashbed, study_file: StudyWriter) -> None:
    done = flashbed("run", study_file(STUDY, kernel="./away"))
    assert done.returncode == BAD_INPUT
    assert "small.toml:5: kernel: " in done.stderr
    assert "away is not there" in done.stderr


@pytest.mark.parametrize("words", [["run"], ["image", "build"], ["image", "export"], ["pack"]])
def test_a_study_that_names_a_kernel_needs_leave(
    flashbed: Flashbed, study_file: StudyWriter, linux: Path, words: list[str]
) -> None:
    study = study_file(STUDY, kernel="./linux")
    done = flashbed(*words, study)
    assert done.returncode == BAD_INPUT
    assert f"kernel: make -C {linux}\n" in done.stderr
    assert f"flashbed allow {study} ./linux" in done.stderr
    done = flashbed("allow", study, "./linux")
    assert (done.returncode, done.stdout) == (0, f"allowed      ./linux  {study}:5: kernel: make -C {linux}\n")
    assert "this is no Linux" in flashbed(*words, study).stderr


def test_a_tree_that_cannot_be_configured(flashbed: Flashbed, study_file: StudyWriter, linux: Path) -> None:
    before = {path: path.read_bytes() for path in linux.rglob("*") if path.is_file()}
    (linux / "fs/one.c").write_text("int changed;\n")
    done = flashbed("run", study_file(STUDY), "--kernel", "./linux:patch=good.patch")
    assert done.returncode == BAD_INPUT
    assert "does not apply to linux (not committed)" in done.stderr
    done = flashbed("run", study_file(STUDY), "--kernel", "./linux")
    assert done.returncode == BAD_INPUT, done.stderr
    assert "linux: has changes that are not committed" in done.stderr
    assert 'kernel "./linux" (linux (not committed) ' in done.stderr
    assert Facts("configuration is for Linux 6.1 and 6.12", "6.1").within(done.stderr)
    assert "Traceback" not in done.stderr
    after = {path: path.read_bytes() for path in linux.rglob("*") if path.is_file()}
    assert {path for path in before if after.get(path) != before[path]} == {linux / "fs/one.c"}
    assert set(after) == set(before)
