# SPDX-License-Identifier: Apache-2.0
"""The kernel that a study's text names, and the messages about a text that names none."""

from pathlib import Path

import pytest

from flashbed.profiles.kernel_choice import KernelProblem, read
from tests.support import made_up_kernel
from tests.support.made_up_kernel import PATCH, commit, git, make


def problem(text: str, base: Path) -> str:
    with pytest.raises(KernelProblem) as refusal:
        read(text, base)
    return str(refusal.value)


@pytest.mark.parametrize("text", ["6.1", "6.12", "6.1-debug", "6.1-nas", "6.1-debian"])
def test_a_version_of_the_lab_is_none_of_the_users_own(text: str, tmp_path: Path) -> None:
    choice = read(text, tmp_path)
    assert (choice.version, choice.word, choice.is_own) == (text, text, False)


def test_a_package_takes_patches_in_their_order(tmp_path: Path) -> None:
    for name in ("b.patch", "a.patch"):
        (tmp_path / name).write_text(PATCH)
    choice = read("6.1:patch=b.patch,patch=a.patch", tmp_path)
    assert choice.is_own
    assert choice.word == "6.1"
    assert [patch.path.name for patch in choice.patches] == ["b.patch", "a.patch"]


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    make(tmp_path / "linux")
    choice = read("./linux", tmp_path)
    assert choice.tree
    assert (choice.version, choice.word, choice.tree.revision) == ("6.1", "own", None)


def test_a_revision_is_held_to_what_it_was_when_the_study_was_read(tmp_path: Path) -> None:
    linux = make(tmp_path / "linux")
    commit(linux, "one")
    (linux / "fs/one.c").write_text("")
    commit(linux, "two")
    trees = {name: git(linux, "rev-parse", f"{name}^{{tree}}") for name in ("one", "two")}
    choice = read("./linux@two", tmp_path)
    assert choice.tree
    assert (choice.tree.object_id, choice.tree.against_id) == (trees["two"], None)
    range_ = read("./linux@two..one", tmp_path)
    assert range_.tree
    assert (range_.tree.object_id, range_.tree.against_id) == (trees["one"], trees["two"])
    branch = read("./linux@HEAD", tmp_path)
    assert branch.tree
    assert branch.tree.object_id == trees["two"]


def test_a_tree_may_lie_deep_in_a_repository_and_have_an_at_in_its_path(tmp_path: Path) -> None:
    make(tmp_path / "board@home/linux")
    commit(tmp_path / "board@home", "one")
    choice = read("./board@home/linux@one", tmp_path)
    assert choice.tree
    assert choice.tree.revision == "one"
    assert choice.tree.object_id == git(tmp_path / "board@home", "rev-parse", "one:linux")
    assert read("./board@home/linux", tmp_path).tree


def test_a_tree_takes_patches_too(tmp_path: Path) -> None:
    make(tmp_path / "linux")
    (tmp_path / "x.patch").write_text(PATCH)
    choice = read("./linux:patch=x.patch", tmp_path)
    assert choice.tree
    assert len(choice.patches) == 1


def test_what_is_no_kernel_is_told(tmp_path: Path) -> None:
    linux = make(tmp_path / "linux")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    assert 'must be such as "6.1", not "5.10"' in problem("5.10", tmp_path)
    assert "./linux" in problem("linux", tmp_path)
    assert problem("./nothing", tmp_path).endswith("nothing is not there")
    assert "is no folder" in problem("./file", tmp_path)
    assert problem("./empty", tmp_path).endswith("is no source tree of Linux: it has no Makefile")
    (linux / "Makefile").write_text("all:\n")
    assert problem("./linux", tmp_path).endswith("it says no VERSION and PATCHLEVEL in its Makefile")


def test_what_is_no_revision_is_told(tmp_path: Path) -> None:
    linux = make(tmp_path / "linux")
    assert "is no git repository" in problem("./linux@v6.1", tmp_path)
    commit(linux, "one")
    assert "git knows no revision v6.1" in problem("./linux@v6.1", tmp_path)
    assert "git knows no revision --help" in problem("./linux@--help", tmp_path)
    assert "git knows no revision nine" in problem("./linux@nine..one", tmp_path)
    assert "ends with @" in problem("./linux@", tmp_path)
    (linux / "Kconfig").unlink()
    commit(linux, "two")
    assert problem("./linux@two", tmp_path).endswith("linux@two is no source tree of Linux: it has no Kconfig")


def test_what_is_no_patch_is_told(tmp_path: Path) -> None:
    (tmp_path / "words.patch").write_text("change it\n")
    (tmp_path / "x.patch").write_text(PATCH)
    assert "none.patch cannot be read: No such file" in problem("6.1:patch=none.patch", tmp_path)
    assert "words.patch is no patch" in problem("6.1:patch=words.patch", tmp_path)
    assert '"smp=off" is no option of a kernel; write patch=FILE' in problem("6.1:smp=off", tmp_path)
    assert "twice" in problem("6.1:patch=x.patch,patch=x.patch", tmp_path)
    assert "is not compiled here" in problem("6.1-debian:patch=x.patch", tmp_path)


def test_the_made_up_tree_is_of_the_version_that_it_says(tmp_path: Path) -> None:
    make(tmp_path / "linux", made_up_kernel.MAKEFILE.replace("PATCHLEVEL = 1", "PATCHLEVEL = 12"))
    assert read("./linux", tmp_path).version == "6.12"
