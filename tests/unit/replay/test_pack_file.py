# SPDX-License-Identifier: Apache-2.0
"""A pack on disk: the same contents give the same bytes, and every changed byte is noticed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashbed.common.digest import digest_bytes
from flashbed.common.errors import InputError
from flashbed.packs import making
from flashbed.replay import pack_file, standalone
from flashbed.replay.recipe import Recipe
from tests.support.facts import Facts
from tests.unit.replay.made_up_pack import BASE, KERNEL, recipe, result, write

ZIP64_BYTES = 20
"""The bytes between a member's name and its data."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("pack") / "a.flashbed")


def test_a_pack_says_what_was_put_into_it(whole: Path, tmp_path: Path) -> None:
    pack = pack_file.open_pack(whole)
    assert pack.recipes == [recipe()]
    assert pack.called(digest_bytes(KERNEL)) == "the kernel 6.1.1-1"
    assert pack.options(digest_bytes(KERNEL)) == {"CONFIG_NET": "y", "CONFIG_HZ": "100"}
    assert pack.options(digest_bytes(BASE)) == {}
    assert sorted(pack.result(recipe().key)) == ["console.log", "out/fio.json", "result.json"]
    pack.unpack(digest_bytes(BASE), tmp_path / "base")
    assert (tmp_path / "base").read_bytes() == BASE


def test_the_same_contents_give_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    assert write(tmp_path / "b.flashbed").read_bytes() == whole.read_bytes()


@given(place=st.floats(0, 1, exclude_max=True), other=st.integers(1, 255))
def test_no_changed_byte_goes_unseen(whole: Path, place: float, other: int) -> None:
    changed = bytearray(whole.read_bytes())
    changed[int(place * len(changed))] ^= other
    damaged = whole.with_name("damaged.flashbed")
    damaged.write_bytes(changed)
    with pytest.raises(InputError, match=r"damaged\.flashbed: is (damaged|not a pack)"):
        pack_file.open_pack(damaged)


def test_what_is_damaged_is_named(whole: Path, tmp_path: Path) -> None:
    changed = bytearray(whole.read_bytes())
    changed[changed.index(f"files/{digest_bytes(KERNEL)}".encode()) + 6 + 64 + ZIP64_BYTES + 5] ^= 1
    (tmp_path / "x.flashbed").write_bytes(changed)
    with pytest.raises(InputError, match=r"x\.flashbed: is damaged: the kernel 6\.1\.1-1 "):
        pack_file.open_pack(tmp_path / "x.flashbed")


@pytest.mark.parametrize(("place", "other"), [(-1, 1), (-1, 128), (-30, 255)])
def test_the_message_about_a_damaged_end(whole: Path, tmp_path: Path, place: int, other: int) -> None:
    """The message showed the first digits of two digests, which may be the same."""
    changed = bytearray(whole.read_bytes())
    changed[place] ^= other
    (tmp_path / "x.flashbed").write_bytes(changed)
    with pytest.raises(InputError) as caught:
        pack_file.open_pack(tmp_path / "x.flashbed")
    message = "is damaged: only the SHA-256 at its end was changed; get it again"
    assert caught.value.message == f"{tmp_path / 'x.flashbed'}: {message}"


@pytest.mark.parametrize("place", [0, 5, 22, 29, 45])
def test_a_change_outside_its_files_is_told_by_digests(whole: Path, tmp_path: Path, place: int) -> None:
    changed = bytearray(whole.read_bytes())
    changed[place] ^= 1
    (tmp_path / "x.flashbed").write_bytes(changed)
    with pytest.raises(InputError, match=r"is damaged: its SHA-256 is [0-9a-f]{12}\.\.\., not "):
        pack_file.open_pack(tmp_path / "x.flashbed")


def test_the_message_about_a_truncated_pack(whole: Path, tmp_path: Path) -> None:
    for length in range(65, whole.stat().st_size, 41):
        (tmp_path / "x.flashbed").write_bytes(whole.read_bytes()[:length])
        with pytest.raises(InputError) as caught:
            pack_file.open_pack(tmp_path / "x.flashbed")
        # After a cut right behind a digest in pack.json, that is taken for the pack's
        why = r"(it was truncated, or its end was changed|its SHA-256 is \w+\.\.\., not \w+\.\.\. as at its end)"
        message = f"is damaged: {why}(, and pack.json cannot be read)?; get it again"
        assert re.fullmatch(f".*/x.flashbed: {message}", caught.value.message), length


@pytest.mark.parametrize("length", [0, 1, 64, 65, 500, -1])
def test_a_truncated_pack_is_told(whole: Path, tmp_path: Path, length: int) -> None:
    (tmp_path / "x.flashbed").write_bytes(whole.read_bytes()[:length])
    with pytest.raises(InputError, match=r"x\.flashbed: is (damaged|not a pack).*get it again"):
        pack_file.open_pack(tmp_path / "x.flashbed")


@pytest.mark.parametrize(
    "of_another", [b"", b"a,b\n" * 50, b"#!/usr/bin/env python3\nprint()\n", b"PK\3\4" + bytes(99)]
)
def test_the_message_about_another_file_says_how_to_make_a_pack(tmp_path: Path, of_another: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(of_another)
    message = (
        r"x\.csv: is not a pack of flashbed\. `flashbed pack STUDY` makes one\. If the file was a pack, get it again\.$"
    )
    with pytest.raises(InputError, match=message):
        pack_file.open_pack(tmp_path / "x.csv")


def test_an_archive_of_others_is_no_pack(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("pack.json", "{}")
    with pytest.raises(InputError, match="is not a pack of flashbed"):
        pack_file.open_pack(tmp_path / "x.zip")


@pytest.mark.parametrize("name", ["none.flashbed", "."])
def test_what_is_no_file_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be read: "):
        pack_file.open_pack(tmp_path / name)


def test_a_pack_of_another_format_is_refused(tmp_path: Path) -> None:
    def later(contents: dict[str, Any], _: object) -> None:
        contents["format"] = 2

    with pytest.raises(InputError, match="is a pack of format 2; this flashbed reads format 1"):
        pack_file.open_pack(write(tmp_path / "x.flashbed", later))


def test_a_recipe_comes_back_from_json() -> None:
    assert Recipe.from_json(recipe().to_json()) == recipe()
    assert result()["key"] == recipe().key


def test_a_hole_becomes_a_hole(tmp_path: Path) -> None:
    hole = bytes(3 << 20) + b"end"

    def with_hole(_: object, members: dict[str, bytes]) -> None:
        members[f"files/{digest_bytes(hole)}"] = hole

    pack_file.open_pack(write(tmp_path / "x.flashbed", with_hole)).unpack(digest_bytes(hole), tmp_path / "to")
    assert (tmp_path / "to").read_bytes() == hole
    assert (tmp_path / "to").stat().st_blocks * 512 < 1 << 20


def test_modules_in_a_pack_import_only_each_other() -> None:
    """This includes late imports. rich may be missing."""
    rooms = {name.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for name in making.travelling()}
    for name in making.TRAVELS:
        for node in ast.walk(ast.parse((making.PACKAGE_FOLDER / name).read_text())):
            for imported in _imported(node):
                top = imported.partition(".")[0]
                assert top in sys.stdlib_module_names | {"flashbed", "rich"}, (name, imported)
                assert top != "flashbed" or imported in rooms or imported.rpartition(".")[0] in rooms, (name, imported)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return (
            [node.module or ""]
            if node.module and node.module.count(".") > 1
            else [f"{node.module}.{alias.name}" for alias in node.names]
        )
    return []


def test_a_pack_starts_on_bare_python(tmp_path: Path) -> None:
    def with_lab(_: object, members: dict[str, bytes]) -> None:
        members.update(making.starting())
        members.update({name: path.read_bytes() for name, path in making.travelling().items()})

    pack = write(tmp_path / "x.flashbed", with_lab)
    done = subprocess.run(
        [sys.executable, "-I", "-S", pack], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, timeout=60
    )
    assert Facts(f"{pack}: A title (made-up)", "1 repetitions", "flashbed 0.0", "SHA-256").within(done.stdout)
    assert done.stderr == Facts(f"{pack}: has no qemu-system-aarch64")
    assert done.returncode == 2


@pytest.mark.parametrize(
    "words", [("--cells", "0"), ("--cells", "x"), ("--jobs", "-1"), ("--limit", "nan"), ("--limit", "0")]
)
def test_bare_options_are_held_to_the_same_as_those_of_verify(
    tmp_path: Path, words: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["x.flashbed", *words])
    with pytest.raises(SystemExit) as ended:
        standalone.main(tmp_path / "x.flashbed")
    assert ended.value.code == 2
    assert f"argument {words[0]}: must be " in capsys.readouterr().err


def test_a_python_that_is_too_old_is_told_before_anything_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(sys, "version", "3.9.2 (main)")
    with pytest.raises(SystemExit) as ended:
        exec(making.starting()["__main__.py"])
    assert ended.value.code == 3
    assert capsys.readouterr().err == "this pack needs Python 3.11 or later; this is 3.9.2\n"
