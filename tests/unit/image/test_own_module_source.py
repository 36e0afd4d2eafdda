# SPDX-License-Identifier: Apache-2.0
"""The files of a user's module that are built and digested, and the message of a failed build."""

from __future__ import annotations

import os
from pathlib import Path

from flashbed.image import own_module
from tests.support.samples import write

BUILT_IN = Path("/cache/.own-module-1.part/scratch/kernel/own-module")
MINE = Path("/home/me/mine")


def source(folder: Path) -> Path:
    write(folder / "Kbuild", "obj-m := mine.o\n")
    write(folder / "core/a.c", "int a;\n")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(file.as_posix() for file in own_module.files(folder))


def test_what_a_build_or_git_left_is_no_source(tmp_path: Path) -> None:
    folder = source(tmp_path / "mine")
    digest = own_module.digest(folder)
    for left in ("mine.ko", "mine.mod.c", "core/a.o", "core/.a.o.cmd", ".git/HEAD"):
        write(folder / left, "left\n")
    assert names(folder) == ["Kbuild", "core/a.c"]
    assert own_module.digest(folder) == digest


def test_each_byte_and_each_name_counts_and_no_place(tmp_path: Path) -> None:
    folder = source(tmp_path / "mine")
    digest = own_module.digest(folder)
    assert own_module.digest(source(tmp_path / "elsewhere/yours")) == digest
    (folder / "core/a.c").rename(folder / "core/b.c")
    renamed = own_module.digest(folder)
    write(folder / "core/b.c", "int b;\n")
    assert len({digest, renamed, own_module.digest(folder)}) == 3


def test_what_a_link_names_counts_and_is_copied(tmp_path: Path) -> None:
    """A directory may be shared by several modules: a change there is a change of each of them."""
    folder = source(tmp_path / "mine")
    write(tmp_path / "shared/b.h", "#define B 1\n")
    (folder / "shared").symlink_to(tmp_path / "shared")
    (folder / "back").symlink_to(folder)
    (folder / "nowhere").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "pipe")
    assert names(folder) == ["Kbuild", "core/a.c", "shared/b.h"]
    digest = own_module.digest(folder)
    own_module.copy(folder, tmp_path / "copy")
    assert names(tmp_path / "copy") == names(folder)
    assert not (tmp_path / "copy/shared").is_symlink()
    write(tmp_path / "shared/b.h", "#define B 2\n")
    assert own_module.digest(folder) != digest


def test_the_first_errors_are_told_at_their_places_in_the_users_folder() -> None:
    lines = [f"{BUILT_IN}/a.c:{line}:9: error: ‘x{line}’ undeclared\n" for line in range(1, 99)]
    message = own_module.errors(["make[1]: Entering\n", *lines, "make: *** [a.o] Error 1\n"], BUILT_IN, MINE)
    assert message == "; ".join(f"/home/me/mine/a.c:{line}:9: error: ‘x{line}’ undeclared" for line in (1, 2, 3))


def test_of_an_error_in_a_header_of_the_kernels_the_users_line_is_told() -> None:
    macro = [
        "./include/linux/export.h:27:21: error: the address will always evaluate as ‘true’\n",
        "   27 | #define THIS_MODULE (&__this_module)\n",
        f"{BUILT_IN}/super.c:258:13: note: in expansion of macro ‘THIS_MODULE’\n",
    ]
    message = own_module.errors(macro, BUILT_IN, MINE)
    assert message.startswith("./include/linux/export.h:27:21: error: the address ")
    assert message.endswith(" (from /home/me/mine/super.c:258)")
    included = [
        f"In file included from {BUILT_IN}/b.h:3,\n",
        f"                 from {BUILT_IN}/super.c:4:\n",
        "./include/linux/x.h:1:2: error: #error no\n",
    ]
    assert own_module.errors(included, BUILT_IN, MINE).endswith("#error no (from /home/me/mine/super.c:4)")


def test_what_modpost_and_make_say_is_told() -> None:
    lines = [
        f'ERROR: modpost: "nowhere" [{BUILT_IN}/mine.ko] undefined!\n',
        f"make[1]: *** No rule to make target '{BUILT_IN}/b.o', needed by '{BUILT_IN}/mine.o'.  Stop.\n",
        "make: *** [Makefile:2017: modpost] Error 2\n",
    ]
    message = own_module.errors(lines, BUILT_IN, MINE)
    assert message.startswith('ERROR: modpost: "nowhere" [/home/me/mine/mine.ko] undefined!; ')
    assert message.endswith("No rule to make target '/home/me/mine/b.o', needed by '/home/me/mine/mine.o'.  Stop.")
    assert own_module.errors(["all is well\n"], BUILT_IN, MINE) == ""
