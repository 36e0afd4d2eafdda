# SPDX-License-Identifier: Apache-2.0
"""The combinations of a study's axes are computed once, although every claim, figure and table asks for them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flashbed.study import format
from flashbed.study.format import Where, combinations


def test_they_are_worked_out_once_and_each_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    matches = format.matches

    def counted(cell: Mapping[str, str], entry: Where) -> bool:
        calls.append(cell)
        return matches(cell, entry)

    monkeypatch.setattr(format, "matches", counted)
    axes = {"filesystem": ("ext2", "fat16"), "once": ("4k", "8k", "16k")}
    skip = [{"filesystem": ("fat16",), "once": ("8k", "16k")}]
    first = list(combinations(axes, skip))
    assert [tuple(cell.values()) for cell in first] == [
        ("ext2", "4k"), ("ext2", "8k"), ("ext2", "16k"), ("fat16", "4k")
    ]  # fmt: skip
    assert len(calls) == 6
    first[0]["once"] = "changed"
    again = list(combinations(dict(axes), list(skip)))
    assert again[0] == {"filesystem": "ext2", "once": "4k"}
    assert len(calls) == 6
    assert len(list(combinations(axes, []))) == 6
