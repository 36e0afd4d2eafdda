# SPDX-License-Identifier: Apache-2.0
"""A repository that came with a stranger's study: git runs no program that it names, and reads it as any other."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from flashbed.common import git, programs
from flashbed.common.errors import InputError
from flashbed.common.git import GitError
from flashbed.execution import run
from flashbed.image.kernel_sources import KernelSource, Sources
from flashbed.profiles.kernel_choice import KernelProblem, read
from flashbed.result.store import open_store
from flashbed.study import host_commands
from flashbed.study.loading import load_study
from tests.support.made_up_kernel import PATCH, everything, make
from tests.support.samples import write_study
from tests.unit.image.hostile_repository import beside, make_home, make_tree, marks, trap_at

FROM_OUTSIDE = {
    "GIT_EXTERNAL_DIFF": "external",
    "GIT_SSH_COMMAND": "ssh",
    "GIT_EDITOR": "editor",
    "GIT_PAGER": "pager",
    "GIT_ASKPASS": "askpass",
    "GIT_PROXY_COMMAND": "proxy",
}


@pytest.fixture
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of programs that leave marks. `hostile_host` names them in home and environment."""
    traps = tmp_path / "traps"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # for the git that makes the repositories
    return traps


def hostile_host(folder: Path, traps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.setenv("HOME", str(make_home(folder / "home", traps)))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name, program in FROM_OUTSIDE.items():
        monkeypatch.setenv(name, str(trap_at(traps, program)))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap_at(traps, "fsmonitor")))
    monkeypatch.setenv("GIT_DIR", str(folder / "linux/.git"))


def all_that_the_lab_does(sources: Sources, base: Path, folder: str, revisions: bool = True) -> list[KernelSource]:
    """Read, patch, compare and check out a study's kernel in every way."""
    (base / "x.patch").write_text(PATCH)
    words = [f"./{folder}:patch=x.patch", f"./{folder}"] if folder != "bare.git" else []
    words += [f"./{folder}@two", f"./{folder}@one..two", f"./{folder}@HEAD~1:patch=x.patch"] if revisions else []
    trees = []
    for word in words:
        choice = read(word, base)
        assert choice.tree
        source = sources.patched(sources.of_tree(choice.tree), choice.patches)
        sources.check_out(source, base / "work", base / "index")
        if source.before:
            sources.changes(source, source.before)
        assert sources.text(source, "Makefile")
        trees.append(source)
    return trees


def test_the_traps_are_traps(tmp_path: Path, traps: Path) -> None:
    linux = make_tree(tmp_path / "linux", traps)
    for words in (("add", "Kbuild"), ("add", "fs/one.c"), ("status",), ("diff", "HEAD", "--", "fs/one.c")):
        subprocess.run(["git", *words], cwd=linux, capture_output=True, check=False)
    assert {"clean", "process", "fsmonitor", "post-index-change", "diff"} <= set(marks(traps))


@pytest.mark.parametrize("kind", ["linux", "beside", "deep/linux", "bare.git", "module", "plain"])
def test_no_program_of_a_repository_runs(
    kind: str, tmp_path: Path, traps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linux = make_tree(tmp_path / "linux", traps)
    if kind == "beside":
        beside(linux, tmp_path / "beside")
    elif kind == "deep/linux":
        linux.rename(tmp_path / "deep")
        make(tmp_path / "deep/linux")
    elif kind == "bare.git":
        (linux / ".git").rename(tmp_path / "bare.git")
    elif kind == "module":
        linux.rename(tmp_path / "module")
        (tmp_path / "module/.git").rename(tmp_path / "modules")
        (tmp_path / "module/.git").write_text("gitdir: ../modules\n")
    elif kind == "plain":
        linux.rename(tmp_path / "plain")
        (tmp_path / "plain/.git/HEAD").unlink()
    hostile_host(tmp_path, traps, monkeypatch)
    before = everything(tmp_path / kind)
    revisions = kind not in ("plain", "deep/linux")
    assert all_that_the_lab_does(Sources(tmp_path / "cache"), tmp_path, kind, revisions)
    assert marks(traps) == []
    assert everything(tmp_path / kind) == before


def test_it_is_read_as_the_same_tree_without_traps_is(
    tmp_path: Path, traps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linux = make_tree(tmp_path / "linux", traps)
    tame = make(tmp_path / "tame")
    for name in (".gitattributes", "fs/one.c", "fs/two.c", "fs/new.c", "Kbuild"):
        (tame / name).write_bytes((linux / name).read_bytes())
    hostile_host(tmp_path, traps, monkeypatch)
    shutil.rmtree(linux / "tools")
    sources = Sources(tmp_path / "cache")
    trees = [read(f"./{name}", tmp_path).tree for name in ("linux", "tame")]
    assert trees[0]
    assert trees[1]
    hostile, other = (sources.of_tree(tree) for tree in trees if tree)
    assert hostile.tree == other.tree
    assert "+int more;" in sources.changes(hostile, str(hostile.before))


def test_results_are_not_looked_up_by_a_source_that_is_not_allowed(
    tmp_path: Path, traps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tree(tmp_path / "linux", traps)
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache/results/cells/aa" / ("a" * 64)).mkdir(parents=True)
    path = write_study(tmp_path)
    path.write_text(path.read_text().replace("[axes]", 'kernel = "./linux"\n[axes]'))
    study = load_study(path)
    assert open_store().keys()

    def nothing_runs(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(programs, "started", nothing_runs)
    with pytest.raises(InputError, match=rf"make -C {tmp_path}/linux\n.*flashbed allow {path} \./linux"):
        run.stored(study)
    for command in host_commands.foreign(study):
        command.allow()
    with pytest.raises(AssertionError):
        run.stored(study)


def test_another_users_repository_above_a_tree_does_not_count(
    tmp_path: Path, traps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linux = make_tree(tmp_path / "linux", traps)
    found = git.find_repository(linux / "fs")
    assert found
    assert (found.top, found.prefix) == (linux, "fs")
    monkeypatch.setattr(git, "_owner", lambda path: 1 if path.name == ".git" else 0)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert git.find_repository(linux / "fs") is None
    monkeypatch.setattr(git, "_owner", lambda _: 1)  # a tree of somebody else's with its own repository
    assert git.find_repository(linux / "fs")


def test_what_the_lab_cannot_read_is_told(tmp_path: Path, traps: Path) -> None:
    linux = make_tree(tmp_path / "linux", traps)
    config = linux / ".git/config"
    config.write_text(f"{config.read_text()}[extensions]\n\tobjectFormat = sha256\n")
    with pytest.raises(KernelProblem, match="SHA-256"):
        read("./linux@two", tmp_path)
    choice = read("./linux", tmp_path)
    assert choice.tree
    with pytest.raises(InputError, match="SHA-256"):
        Sources(tmp_path / "cache").of_tree(choice.tree)
    (linux / ".git/reftable").mkdir()
    with pytest.raises(KernelProblem, match="reftable"):
        read("./linux@two", tmp_path)
    (linux / ".git/reftable").rmdir()
    config.write_text("[broken")
    with pytest.raises(GitError, match="bad config"), git.opened_repository(_found(linux)):
        pass


def _found(folder: Path) -> git.Repository:
    found = git.find_repository(folder)
    assert found
    return found


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path, traps: Path) -> None:
    linux = make_tree(tmp_path / "linux", traps)
    for name in ("config", "info/exclude", "index", "ORIG_HEAD", "packed-refs"):
        (linux / ".git" / name).unlink(missing_ok=True)
        os.mkfifo(linux / ".git" / name)
    sources = Sources(tmp_path / "cache")
    choice = read("./linux", tmp_path)
    assert choice.tree
    assert sources.of_tree(choice.tree).tree
    os.mkfifo(linux / ".git/objects/info/alternates")
    with pytest.raises(KernelProblem, match="alternates is no file"):
        read("./linux@two", tmp_path)
    (linux / ".git/objects/info/alternates").unlink()
    (linux / ".git/HEAD").unlink()
    os.mkfifo(linux / ".git/HEAD")
    assert sources.of_tree(choice.tree).before is None  # no repository


def test_a_repository_that_is_a_link_to_itself_is_none(tmp_path: Path) -> None:
    (tmp_path / ".git").symlink_to(".git")
    found = git.find_repository(tmp_path)
    assert found is None or found.folder != found.top


def test_a_working_tree_keeps_what_its_repository_says_of_files(tmp_path: Path, traps: Path) -> None:
    linux = make_tree(tmp_path / "linux", traps)
    (linux / "fs/one.c").chmod(0o755)
    with git.opened_repository(_found(linux)) as view:
        assert view.git("ls-files", "--modified", "--", "Makefile") == ""
        assert "filemode = true" in (view.directory / "config").read_text()
        assert "fsmonitor" not in (view.directory / "config").read_text()
