# SPDX-License-Identifier: Apache-2.0
"""The placeholders of a user's commands."""

from __future__ import annotations

import pytest

from flashbed.workload.program import filled, placeholders

VALUES = {"rows": "100", "sync": "FULL"}


@pytest.mark.parametrize(
    ("text", "result", "names"),
    [
        ("a {rows} {sync}{rows}", "a 100 FULL100", ["rows", "sync", "rows"]),
        ("{{rows}} ${rows} ${{rows}}", "{rows} ${rows} ${{rows}}", []),
        ("awk '{{print}}' {other}", "awk '{print}' {other}", ["other"]),
        ("{ rows; } {1} {} {rows", "{ rows; } {1} {} {rows", []),
        ("{{rows} {rows}}", "{100 100}", ["rows", "rows"]),
    ],
)
def test_only_a_word_in_single_braces_is_one(text: str, result: str, names: list[str]) -> None:
    assert filled(text, VALUES) == result
    assert list(placeholders(text)) == names


def test_texts_of_lists_and_tables_are_filled_and_numbers_stay() -> None:
    table = {"command": "x {rows}", "start": 0.5, "environment": {"A": "{sync}"}, "more": ["{rows}", True]}
    assert filled([table], VALUES) == (
        {"command": "x 100", "start": 0.5, "environment": {"A": "FULL"}, "more": ("100", True)},
    )
    assert list(placeholders([table])) == ["rows", "sync", "rows"]
