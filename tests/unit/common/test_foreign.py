# SPDX-License-Identifier: Apache-2.0
"""Names and text from strangers: no name leads outside its directory, and no text moves a terminal's cursor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashbed.common import foreign
from flashbed.common.tomlfile import shown

NAMES = st.text(st.sampled_from("a./\\\0\n\x1b \u202e\udcff~"), max_size=12) | st.text(max_size=300)


@given(NAMES)
def test_no_name_leaves_its_folder(name: str) -> None:
    folder = Path("/a/folder")
    if foreign.name_fault(name):
        with pytest.raises(foreign.ForeignNameError):
            foreign.path_below(folder, name)
        return
    path = foreign.path_below(folder, name)
    assert os.path.normpath(path) == str(path) == f"{folder}/{name}"
    assert folder in path.parents
    assert str(path).isprintable()


@pytest.mark.parametrize(
    ("names", "which"),
    [(["a", "b/c", "b/d"], ""), (["a", "a"], "a"), (["a", "a/b"], "a/b"), (["a/b/c", "a/b"], "a/b"), (["ab", "a"], "")],
)
def test_names_that_cannot_stand_beside_each_other(names: list[str], which: str) -> None:
    assert foreign.name_conflict(names) == which


TEXT = st.text(st.characters() | st.sampled_from("\x1b\x07\x9b\r\n\t\0\u202e\u2028\ud800"))


@given(TEXT)
def test_text_is_printable(text: str) -> None:
    assert foreign.plain(text).isprintable()
    assert foreign.plain(text, "\n").replace("\n", "").isprintable()
    foreign.plain(text).encode()
    if text.isprintable():
        assert foreign.plain(text) == text


@given(TEXT)
def test_a_line_is_one_and_short(text: str) -> None:
    line = foreign.line(text)
    assert line.isprintable()
    assert len(line) <= foreign.MOST_OF_A_LINE + 3
    assert "  " not in line


def test_escapes_are_shown_by_their_number() -> None:
    assert foreign.plain("a\x1b[31mb\u202e") == r"a\x1b[31mb\x202e"
    assert foreign.line(" a\n\n b\t") == "a b"
    assert shown("a\x1bb\nc") == r"a\x1bb\nc"
