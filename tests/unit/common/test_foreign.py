# SPDX-License-Identifier: Apache-2.0
"""Names and text from strangers: no name leads outside its directory, and no text moves a terminal's cursor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashbed.common import foreign_names, foreign_text
from flashbed.common.tomlfile import shown

NAMES = st.text(st.sampled_from("a./\\\0\n\x1b \u202e\udcff~"), max_size=12) | st.text(max_size=300)


@given(NAMES)
def test_no_name_leaves_its_folder(name: str) -> None:
    folder = Path("/a/folder")
    if foreign_names.fault(name):
        with pytest.raises(foreign_names.ForeignNameError):
            foreign_names.below(folder, name)
        return
    path = foreign_names.below(folder, name)
    assert os.path.normpath(path) == str(path) == f"{folder}/{name}"
    assert folder in path.parents
    assert str(path).isprintable()


@pytest.mark.parametrize(
    ("names", "which"),
    [(["a", "b/c", "b/d"], ""), (["a", "a"], "a"), (["a", "a/b"], "a/b"), (["a/b/c", "a/b"], "a/b"), (["ab", "a"], "")],
)
def test_names_that_cannot_stand_beside_each_other(names: list[str], which: str) -> None:
    assert foreign_names.conflict(names) == which


TEXT = st.text(st.characters() | st.sampled_from("\x1b\x07\x9b\r\n\t\0\u202e\u2028\ud800"))


@given(TEXT)
def test_text_is_printable(text: str) -> None:
    assert foreign_text.plain(text).isprintable()
    assert foreign_text.plain(text, "\n").replace("\n", "").isprintable()
    foreign_text.plain(text).encode()
    if text.isprintable():
        assert foreign_text.plain(text) == text


@given(TEXT)
def test_a_line_is_one_and_short(text: str) -> None:
    said = foreign_text.line(text)
    assert said.isprintable()
    assert len(said) <= foreign_text.MOST_OF_A_LINE + 3
    assert "  " not in said


def test_escapes_are_shown_by_their_number() -> None:
    assert foreign_text.plain("a\x1b[31mb\u202e") == r"a\x1b[31mb\x202e"
    assert foreign_text.line(" a\n\n b\t") == "a b"
    assert shown("a\x1bb\nc") == r"a\x1bb\nc"
