# SPDX-License-Identifier: Apache-2.0
"""A user's sources: named by content, with uncommitted changes and patches, without writing to the user's tree."""

from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.image.kernel_sources import ChangeUnknown, KernelSource, Sources
from flashbed.profiles.kernel_choice import read
from tests.support.made_up_kernel import PATCH, SOURCE, commit, everything, git, make


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path / "cache")


def of(sources: Sources, text: str, base: Path) -> KernelSource:
    choice = read(text, base)
    assert choice.tree
    return sources.patched(sources.of_tree(choice.tree), choice.patches)


def test_a_folder_is_what_git_would_commit_of_it(tmp_path: Path, sources: Sources) -> None:
    linux = make(tmp_path / "linux")
    commit(linux, "one")
    committed = of(sources, "./linux", tmp_path)
    assert committed.tree == of(sources, "./linux@one", tmp_path).tree == git(linux, "rev-parse", "one^{tree}")
    assert not committed.notes
    (linux / "fs/one.o").write_text("what a build leaves")
    assert of(sources, "./linux", tmp_path).tree == committed.tree
    (linux / "fs/one.c").write_text("int other;\n")
    (linux / "fs/new.c").write_text("int new;\n")
    changed = of(sources, "./linux", tmp_path)
    assert changed.before == committed.tree
    assert "not committed" in changed.notes[0]
    commit(linux, "two")
    assert of(sources, "./linux@two", tmp_path).tree == changed.tree


def test_nothing_is_written_to_the_users_tree(tmp_path: Path, sources: Sources) -> None:
    linux = make(tmp_path / "linux")
    commit(linux, "one")
    (linux / "fs/one.c").write_text(SOURCE + "int more;\n")
    (linux / "fs/new.c").write_text("int new;\n")
    (tmp_path / "x.patch").write_text(PATCH)
    before = everything(linux)
    source = of(sources, "./linux:patch=x.patch", tmp_path)
    sources.check_out(source, tmp_path / "work", tmp_path / "index")
    sources.changes(source, of(sources, "./linux@one", tmp_path).tree)
    assert everything(linux) == before


def test_a_folder_without_git_is_the_same_as_one_with_it(tmp_path: Path, sources: Sources) -> None:
    plain, repository = make(tmp_path / "plain"), make(tmp_path / "repository")
    commit(repository, "one")
    (plain / "fs/one.o").write_text("what a build leaves")
    assert of(sources, "./plain", tmp_path).tree == of(sources, "./repository", tmp_path).tree
    (plain / ".gitignore").write_text("/*\n")  # as in Debian's packages
    first = of(sources, "./plain", tmp_path).tree
    (plain / "fs/one.c").unlink()
    assert of(sources, "./plain", tmp_path).tree != first


def test_why_it_is_not_known_what_a_tree_is_a_change_of(tmp_path: Path, sources: Sources) -> None:
    plain, debian, begun = (make(tmp_path / name) for name in ("plain", "debian", "begun"))
    assert of(sources, "./plain", tmp_path).unknown is ChangeUnknown.NO_REPOSITORY
    (debian / ".gitignore").write_text("/*\n!/debian/\n")
    git(debian, "init", "--quiet")
    git(debian, "add", ".")
    git(debian, "commit", "--quiet", "--message", "one", "--allow-empty")
    (plain / ".gitignore").write_text((debian / ".gitignore").read_text())
    base = of(sources, "./debian", tmp_path)
    assert base.tree == of(sources, "./plain", tmp_path).tree  # all of it, and not what git has
    assert base.unknown is ChangeUnknown.IGNORED_BY_GIT
    git(begun, "init", "--quiet")
    assert of(sources, "./begun", tmp_path).unknown is ChangeUnknown.NOTHING_COMMITTED
    git(debian, "add", "--force", ".")
    git(debian, "commit", "--quiet", "--message", "two")
    assert of(sources, "./debian", tmp_path).unknown is None
    (tmp_path / "x.patch").write_text(PATCH)
    assert of(sources, "./plain:patch=x.patch", tmp_path).unknown is None  # of the tree without it


def test_the_tree_may_lie_deep_in_a_repository(tmp_path: Path, sources: Sources) -> None:
    make(tmp_path / "board/linux")
    commit(tmp_path / "board", "one")
    make(tmp_path / "alone")
    assert of(sources, "./board/linux", tmp_path).tree == of(sources, "./alone", tmp_path).tree


def test_a_patch_makes_the_tree_that_the_change_itself_would(tmp_path: Path, sources: Sources) -> None:
    linux = make(tmp_path / "linux")
    commit(linux, "one")
    (tmp_path / "x.patch").write_text(PATCH)
    patched = of(sources, "./linux@one:patch=x.patch", tmp_path)
    (linux / "fs/one.c").write_text(SOURCE.replace("second", "changed"))
    assert patched.tree == of(sources, "./linux", tmp_path).tree
    assert patched.before == git(linux, "rev-parse", "one^{tree}")
    assert patched.label == f"linux@one + x.patch {patched.tree[:12]}"
    assert "+int changed;" in sources.changes(patched, str(patched.before))


def test_a_patch_that_does_not_apply_is_named_with_its_place(tmp_path: Path, sources: Sources) -> None:
    make(tmp_path / "linux")
    (tmp_path / "good.patch").write_text(PATCH)
    (tmp_path / "bad.patch").write_text(PATCH.replace("second", "other"))
    (tmp_path / "away.patch").write_text(PATCH.replace("one.c", "away.c"))
    for name, place in (("bad.patch", "fs/one.c:1"), ("away.patch", "fs/away.c")):
        with pytest.raises(InputError) as refused:
            of(sources, f"./linux:patch=good.patch,patch={name}", tmp_path)
        assert str(tmp_path / name) in refused.value.message
        assert place in refused.value.message
        assert "does not apply" in refused.value.message


def test_only_what_differs_is_written_to_where_objects_are(tmp_path: Path, sources: Sources) -> None:
    make(tmp_path / "linux")
    (tmp_path / "x.patch").write_text(PATCH)
    base, patched = of(sources, "./linux", tmp_path), of(sources, "./linux:patch=x.patch", tmp_path)
    work, index = tmp_path / "work", tmp_path / "index"
    sources.check_out(base, work, index)
    (work / "fs/one.o").write_text("an object")
    before = everything(work)
    sources.check_out(patched, work, index)
    after = everything(work)
    assert {name for name in after if after[name] != before.get(name)} == {"fs/one.c"}
    (work / "fs/one.c").write_text("damaged")
    (tmp_path / "index.lock").write_text("")  # of a run that was killed
    sources.check_out(patched, work, index)
    assert (work / "fs/one.c").read_text() == SOURCE.replace("second", "changed")


def test_a_package_is_unpacked_once(tmp_path: Path, sources: Sources) -> None:
    unpacked = []

    def unpack(folder: Path) -> None:
        unpacked.append(folder)
        make(folder)

    folders = [sources.of_package("linux-source-6.1", version, unpack) for version in ("6.1.1-1", "6.1.1-1")]
    assert folders[0] == folders[1]
    assert len(unpacked) == 1
    make(tmp_path / "plain")
    assert folders[0].tree == of(sources, "./plain", tmp_path).tree
