# SPDX-License-Identifier: Apache-2.0
"""What `import flashbed` offers to scripts: what is no study and no key gets one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import flashbed
from flashbed.common.errors import InputError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (None, "requests(None): wants the key of a repetition as a text; the column key of results() has it"),
        (123, "requests(123): wants the key"),
        (b"ab", "requests(b'ab'): wants the key"),
        (["ab"] * 1000, "requests(['ab', 'ab', "),
        ("", '"" is not the start of a key'),
        ("quick", '"quick" is not the start of a key: a key has the digits 0-9 and a-f'),
        ("ab\0", "is not the start of a key"),
        ("abc", 'no result with a key that starts with "abc"'),
    ],
)
def test_what_is_no_key(key: Any, said: str) -> None:
    with pytest.raises(InputError) as told:
        flashbed.requests(key)
    assert said in str(told.value)
    assert len(str(told.value)) < 400
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (None, 'results(None): wants the name of a study or its file, such as results("quick")'),
        (7, "results(7): wants"),
        (b"quick", "results(b'quick'): wants"),
        ("", "results(''): wants"),
        (["quick"], "results(['quick']): wants"),
        ("quik", "quik: no such file, and no shipped study of that name"),
        (Path("none/there.toml"), "none/there.toml: no such file"),
        ("a\0b", "no such file"),
    ],
)
def test_what_is_no_study(study: Any, said: str) -> None:
    with pytest.raises(InputError) as told:
        flashbed.results(study)
    assert said in str(told.value)


def test_a_study_of_which_nothing_is_measured_is_an_empty_frame() -> None:
    assert flashbed.results("quick").empty
