# SPDX-License-Identifier: Apache-2.0
"""tests/support/facts.py finds the required facts of a message, and reports wrong ones."""

from __future__ import annotations

import re

import pytest

from tests.support.facts import Facts

TOLD = "For random write, a is 2.8 times as fast as b (2.0 to 4.0 over 2 request sizes)."


@pytest.mark.parametrize(
    "facts",
    [
        ("random write", "a is 2.8 times as fast as b", "2.0 to 4.0", "2 request sizes"),
        ("2.8", "2.0", "4.0", "2"),
    ],
)
def test_a_text_that_holds_the_facts(facts: tuple[str, ...]) -> None:
    assert Facts(*facts) == TOLD
    assert [Facts(*facts)] == [TOLD]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(("a is 2.9 times", "2.0", "4.0", "2"), id="another figure"),
        pytest.param(("2.8", "2.0", "4.0"), id="a figure that is none of them"),
        pytest.param(("2.8", "4.0", "2.0", "2"), id="another order"),
        pytest.param(("2.8", "b is", "2.0", "4.0", "2"), id="another name"),
        pytest.param(("2.8", "2.0", "4.0", "2 request size"), id="a part of a word"),
        pytest.param(("8", "2.0", "4.0", "2"), id="a part of a figure"),
    ],
)
def test_a_text_that_does_not(facts: tuple[str, ...]) -> None:
    assert Facts(*facts) != TOLD


def test_a_part_of_a_text_or_of_one_of_several() -> None:
    facts = Facts("2.0", "4.0")
    assert facts.within(TOLD)
    assert facts.within(["x", TOLD])
    assert not facts.within(["x", "2.0 and 3 and 4.0"])
    assert re.search(facts.pattern, TOLD)
    assert facts != 2.0
