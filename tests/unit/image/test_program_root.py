# SPDX-License-Identifier: Apache-2.0
"""The root of programs of the user's: its tree, the size of its region, and the programs that cannot run in it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from flashbed.common.digest import digest_bytes
from flashbed.image import program_root
from flashbed.image.guest_parts import PartError, ProgramSet, root_part
from flashbed.workload.base import Root, RootFile

MIB = 1 << 20


@pytest.mark.parametrize(
    ("image", "region", "head"),
    [
        (1, 4 * MIB, 2 * MIB),
        (2 * MIB, 4 * MIB, 2 * MIB),
        (2 * MIB + 1, 8 * MIB, 2 * MIB),
        (126 * MIB, 128 * MIB, 2 * MIB),
        (126 * MIB + 1, 256 * MIB, 4 * MIB),
        (1500 * MIB, 2048 * MIB, 32 * MIB),
    ],
)
def test_a_region_has_room_for_the_image_and_the_struct_pages(image: int, region: int, head: int) -> None:
    assert (program_root.region_bytes(image), program_root.head_bytes(region)) == (region, head)
    assert head >= region // 4096 * 64


def test_a_tree_of_packages_becomes_a_merged_system(tmp_path: Path) -> None:
    for name in ("bin/sh", "usr/bin/env", "lib/aarch64-linux-gnu/libc.so.6", "usr/lib/aarch64-linux-gnu/libm.so.6"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    program_root.complete(tmp_path)
    assert (tmp_path / "usr/bin/sh").read_text() == "bin/sh"
    assert (tmp_path / "bin").readlink() == Path("usr/bin")
    assert (tmp_path / "lib/aarch64-linux-gnu/libc.so.6").read_text() == "lib/aarch64-linux-gnu/libc.so.6"
    assert (tmp_path / "usr/lib/aarch64-linux-gnu/libm.so.6").is_file()
    assert (tmp_path / "etc/passwd").read_text().startswith("root:x:0:0:")
    assert {name for name in program_root.MOUNT_POINTS if (tmp_path / name).is_dir()} == {*program_root.MOUNT_POINTS}
    assert (tmp_path / "run").readlink() == Path("tmp")


def checked(tmp_path: Path, data: bytes, programs: tuple[str, ...] = ("/app/x",)) -> None:
    (tmp_path / "app").mkdir(exist_ok=True)
    (tmp_path / "app/x").write_bytes(data)
    (tmp_path / "usr/bin").mkdir(parents=True, exist_ok=True)
    (tmp_path / "usr/bin/dash").touch()
    (tmp_path / "usr/bin/env").touch()
    (tmp_path / "usr/bin/sh").unlink(missing_ok=True)
    (tmp_path / "usr/bin/sh").symlink_to("/usr/bin/dash")
    (tmp_path / "bin").unlink(missing_ok=True)
    (tmp_path / "bin").symlink_to("usr/bin")
    file = RootFile("/app/x", stat.S_IFREG | 0o755, digest_bytes(data))
    program_root.check(Root(files=(file,), programs=programs), tmp_path)


def test_a_program_of_another_architecture_is_refused(tmp_path: Path) -> None:
    program = Path("/bin/true").resolve().read_bytes()
    with pytest.raises(PartError, match=r"^/app/x .*x64.*arm64") as refused:
        checked(tmp_path, program)
    assert (refused.value.key, refused.value.name) == ("files", "/app/x")
    checked(tmp_path, program, programs=())  # as data it may be there
    with pytest.raises(PartError, match="is damaged"):
        checked(tmp_path, program[:40])


@pytest.mark.parametrize(
    "script", [b"#!/bin/sh\n", b"#! /bin/sh -e\n", b"#!/usr/bin/env sh\n", b"#!/usr/bin/env -S sh -e\n"]
)
def test_a_script_with_its_interpreter_is_accepted(tmp_path: Path, script: bytes) -> None:
    checked(tmp_path, script)


@pytest.mark.parametrize(
    ("script", "missing"),
    [(b"#!/usr/bin/python3\n", "/usr/bin/python3"), (b"#!/usr/bin/env python3\n", "python3"), (b"#!/app\n", "/app")],
)
def test_a_script_without_its_interpreter_is_refused(tmp_path: Path, script: bytes, missing: str) -> None:
    with pytest.raises(PartError, match=f"^/app/x is a script for {missing},"):
        checked(tmp_path, script)
    checked(tmp_path, script, programs=())


def test_a_program_that_a_command_starts_must_be_there(tmp_path: Path) -> None:
    checked(tmp_path, b"", programs=("sh", "/bin/sh", "/app/x"))
    with pytest.raises(PartError, match=r"^sqlite3 is no program of the root") as refused:
        checked(tmp_path, b"", programs=("sh", "sqlite3"))
    assert (refused.value.key, refused.value.name) == ("programs", "sqlite3")


def test_links_in_a_circle_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("/a")
    with pytest.raises(PartError, match=r"^/a/x is no program"):
        program_root.check(Root(programs=("/a/x",)), tmp_path)


def test_a_root_has_one_name_whatever_the_order_of_the_sets() -> None:
    one, other = Root(("sqlite3",)), Root(("python3",))
    assert root_part(one) == root_part(Root(("sqlite3",))) != root_part(other)
    assert ProgramSet((), (), root=one) != ProgramSet((), (), root=other)
