# SPDX-License-Identifier: Apache-2.0
"""Messages about TOML files: each names the file, the line, the key and, for a typo, the nearest valid key."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import Field

from flashbed.common.errors import InputError
from flashbed.common.tomlfile import Problem, TomlFile, dotted, nearest
from flashbed.profiles.profile import Strict
from tests.support.samples import write


class Part(Strict):
    count: int = 1
    label: str | None = None


class Whole(Strict):
    title: str
    parts: dict[str, Part] = Field(default_factory=dict)
    rows: list[Part] = Field(default_factory=list)
    part: Part | None = None

    def problems(self) -> Iterator[Problem]:
        if self.title == "wrong":
            yield Problem(("title",), "is wrong")
            yield Problem(("rows", 1, "count"), "is wrong too")


def message(tmp_path: Path, text: str) -> str:
    path = write(tmp_path / "file.toml", text)
    with pytest.raises(InputError) as caught:
        TomlFile.read(path).validate(Whole)
    assert caught.value.exit_code == 2
    return caught.value.message.replace(f"{path}:", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('title = "a"\ntitel = "b"\n', '2: titel: no such key; did you mean "title"?'),
        ('title = "a"\nzzz = 1\n', "2: zzz: no such key; there are: part, parts, rows, title"),
        ("title = 1\n", "1: title: must be a string, not 1"),
        ("\n[part]\ncount = 2\n", "1: title: is missing"),  # what is missing is told at the first line
        ('title = "a"\n[part]\ncuont = 2\n', '3: part.cuont: no such key; did you mean "count"?'),
        ('title = "a"\n[part]\ncount = "2"\n', '3: part.count: must be a whole number, not "2"'),
        ('title = "a"\n[part]\ncount = true\n', "3: part.count: must be a whole number, not true"),
        ('title = "a"\npart = { label = "x",\n lable = 1 }\n', None),
        ('title = "a"\n[parts.one]\n[parts."two words"]\n\nlabl = "x"\n', '5: parts."two words".labl: no such key'),
        ('title = "a"\n[[rows]]\n[[rows]]\n# a comment\ncount = 1.5\n', "5: rows[1].count: must be a whole number"),
        ('title = "a"\nrows = [\n { count = 1 },\n { count = "x" },\n]\n', "4: rows[1].count: must be a whole"),
        ('title = "a"\nparts.one.cnt = 1\n', "2: parts.one.cnt: no such key"),
        ('"title" = "wrong"\n[[rows]]\n[[rows]]\ncount = 3\n', "1: title: is wrong\n4: rows[1].count: is wrong too"),
        ('title = "a"\nparts = 3\n', "2: parts: must be a table, not 3"),
    ],
)
def test_validation(tmp_path: Path, text: str, expected: str | None) -> None:
    if expected is None:  # TOML 1.0 has no line breaks in inline tables
        assert "not valid TOML" in message(tmp_path, text)
    else:
        assert message(tmp_path, text).startswith(expected)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = \n", 1), ("a = 1\nb = = 2\n", 2), ("a = 1\na = 2\n", 2), ('a = 1\nb = "x\n', 2), ("a = [1,\n2,\n", 3)],
)
def test_syntax(tmp_path: Path, text: str, line: int) -> None:
    path = write(tmp_path / "file.toml", text)
    with pytest.raises(InputError) as caught:
        TomlFile.read(path)
    assert caught.value.message.startswith(f"{path}:{line}: not valid TOML: ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        TomlFile.read(tmp_path / "absent.toml")
    with pytest.raises(InputError, match="is a folder"):
        TomlFile.read(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b'title = "\xff"')
    with pytest.raises(InputError, match="not UTF-8"):
        TomlFile.read(tmp_path / "binary.toml")


def test_windows_files(tmp_path: Path) -> None:
    (tmp_path / "file.toml").write_bytes(b'\xef\xbb\xbftitle = "a"\r\n[part]\r\ncuont = 1\r\n')
    file = TomlFile.read(tmp_path / "file.toml")
    with pytest.raises(InputError, match=r":3: part\.cuont"):
        file.validate(Whole)


def test_words() -> None:
    assert dotted(("axes", "filesystem", 0)) == "axes.filesystem[0]"
    assert dotted(("a b", "c")) == '"a b".c'
    assert nearest("fat61", ["fat16", "ext2"]) == '; did you mean "fat16"?'
    assert nearest("q", []) == ""


def test_sizes_are_told_by_size() -> None:
    assert nearest("5", ("16k", "1k", "4k", "64k")) == "; there are: 1k, 4k, 16k, 64k"
    assert nearest("5", ("b", "a", "4k")) == "; there are: 4k, a, b"
