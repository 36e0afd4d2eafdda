# SPDX-License-Identifier: Apache-2.0
"""Modules and kernels that a study brings: where their source lies, their names, and the user's permission."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.execution.repetition import program_set
from flashbed.image import guest_image, guest_parts, modules
from flashbed.profiles.library import Library
from flashbed.study import host_commands
from flashbed.study.loading import load_study
from flashbed.study.plan import key, plan
from tests.support.made_up_kernel import PATCH, make
from tests.support.samples import write, write_study

EXT2 = (paths.profiles() / "filesystems/ext2.toml").read_text()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))


def study(folder: Path, source: str = "my-source", module: str = "mine") -> Path:
    line = f'module = "{module}"\nmodule_source = "{source}"\n'
    write(folder / "profiles/filesystems/mine.toml", EXT2.replace("\n[mount]", f"\n{line}[mount]", 1))
    write(folder / "my-source/Kbuild", "obj-m := mine.o other.o\n")
    return write_study(folder, ("ext2:block=4k", "mine:block=4k"))


def test_a_source_lies_beside_the_folder_of_profiles(tmp_path: Path) -> None:
    cells = [cell for cell in plan(load_study(study(tmp_path))) if cell.filesystem.module == "mine"]
    assert {cell.filesystem.module_source for cell in cells} == {tmp_path / "my-source"}
    assert program_set(cells[0]).own_modules == (("mine", tmp_path / "my-source"),)


def test_where_it_lies_is_in_no_key(tmp_path: Path) -> None:
    keys = [[key(cell, {}) for cell in plan(load_study(study(tmp_path / name)))] for name in ("a", "b")]
    assert keys[0] == keys[1]


def test_a_folder_that_is_not_there_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mine\.toml:\d+: module_source: .*away is no folder"):
        load_study(study(tmp_path, source="away"))


def test_a_source_needs_the_name_of_a_module(tmp_path: Path) -> None:
    path = study(tmp_path)
    profile = tmp_path / "profiles/filesystems/mine.toml"
    profile.write_text(profile.read_text().replace('module = "mine"\n', ""))
    with pytest.raises(InputError, match="module_source: needs module"):
        load_study(path)


def test_a_folder_that_makes_no_such_module_is_told_before_anything_is_built(tmp_path: Path) -> None:
    sets = [program_set(cell) for cell in plan(load_study(study(tmp_path, module="absent")))]
    with pytest.raises(InputError, match=r"absent does not come out of .*: it makes mine, other"):
        guest_image.build("6.1", sets)
    (tmp_path / "my-source/Kbuild").unlink()
    with pytest.raises(InputError, match=r"it has no Kbuild with a line obj-m := NAME\.o"):
        guest_image.build("6.1", sets)


def test_one_study_has_one_module_of_a_name(tmp_path: Path) -> None:
    first, second = (guest_parts.ProgramSet((), (), ("mine",), (), (("mine", tmp_path / name),)) for name in ("a", "b"))
    with pytest.raises(InputError, match="mine is made from two folders"):
        guest_image.build("6.1", [first, second])


@pytest.mark.parametrize(
    ("name", "text", "makes"),
    [
        ("Kbuild", "obj-m := one.o two.o\n", ("one", "two")),
        ("Makefile", "obj-m += one.o\nobj-m += two.o\n", ("one", "two")),
        ("Kbuild", "obj-y := one.o\n", ()),
        ("README", "obj-m := one.o\n", ()),
    ],
)
def test_a_folder_says_what_it_makes(name: str, text: str, makes: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path / name, text)
    assert modules.made_in(tmp_path) == makes


def test_what_a_study_builds_here_needs_leave(tmp_path: Path) -> None:
    loaded = load_study(study(tmp_path))
    with pytest.raises(InputError, match=rf"make -C {tmp_path}/my-source\n.*flashbed allow .* mine") as caught:
        host_commands.check(loaded)
    assert "mine.toml:" in caught.value.message
    for command in host_commands.foreign(loaded):
        command.allow()
    host_commands.check(load_study(study(tmp_path)))


def test_so_does_a_tree_that_it_names_and_none_that_its_user_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "linux")
    path = with_kernel(tmp_path, "./linux")
    with pytest.raises(InputError, match=f"sample.toml:.*: kernel: make -C {tmp_path}/linux\n.*allow .* ./linux"):
        host_commands.check(load_study(path))
    host_commands.check(load_study(path, kernels=["./linux"]))
    host_commands.check(load_study(path, kernels=["6.12"]))
    for command in host_commands.chosen(load_study(path), ["./linux"]):
        command.allow()
    write(tmp_path / "linux/fs/two.c", "int x;")
    host_commands.check(load_study(path))


def test_a_patch_that_changes_needs_leave_anew(tmp_path: Path) -> None:
    write(tmp_path / "x.patch", PATCH)
    path = with_kernel(tmp_path, "6.1:patch=x.patch")
    for command in host_commands.foreign(load_study(path)):
        command.allow()
    host_commands.check(load_study(path))
    write(tmp_path / "x.patch", PATCH.replace("changed", "again"))
    with pytest.raises(InputError, match=r"make of Linux 6\.1 with x\.patch"):
        host_commands.check(load_study(path))


def with_kernel(folder: Path, kernel: str) -> Path:
    path = write_study(folder)
    path.write_text(f'kernel = "{kernel}"\n{path.read_text()}')
    return path


def test_shipped_profiles_bring_no_source() -> None:
    library = Library((paths.profiles(),))
    assert all(library.filesystem(name).module_source is None for name in library.names("filesystem"))
    assert all(library.scheduler(name).module_source is None for name in library.names("scheduler"))
