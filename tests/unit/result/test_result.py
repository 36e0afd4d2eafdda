# SPDX-License-Identifier: Apache-2.0
"""A result as a type: what result.json holds, and what is read from it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashbed.result import evaluation
from flashbed.result.result import Measurement, Result, ResultError
from tests.support.facts import Facts
from tests.support.made_up_result import made_up_result

DOCUMENT: dict[str, Any] = {
    "key": "ab" * 32,
    "coordinates": {"filesystem": "ext2", "pattern": "read"},
    "seed": 3,
    "outcome": "measured",
    "reason": "",
    "check": None,
    "cell": {"medium": {"capacity_bytes": 4096, "used_bytes": 2048}, "seed": 3},
    "environment": {"kernel": "12"},
    "medium_bytes": 1024,
}
"""As results are kept since before there was the type."""


def test_a_result_comes_back_as_it_was_kept() -> None:
    result = Result.from_json(DOCUMENT)
    assert (result.key, result.seed, result.check, result.medium_bytes) == ("ab" * 32, 3, None, 1024)
    assert result.to_json() == DOCUMENT
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_what_follows_from_the_files_is_not_kept() -> None:
    measured = replace(made_up_result("k", {}), measurement=Measurement(mounted="ext2 rw", metrics={"bandwidth": 1.0}))
    assert measured.to_json() == made_up_result("k", {}).to_json()


WITH_INPUTS: dict[str, Any] = {
    "workload": {"tool": "no-such", "parameters": {}},
    "board": {"pio_sector_ns": 0, "nand_cycle_ps": 0},
    "medium": {},
}


def test_a_result_of_a_tool_that_is_not_installed_has_failed(tmp_path: Path) -> None:
    result = evaluation.with_measurement(Result.from_json({**DOCUMENT, "cell": WITH_INPUTS}), tmp_path)
    assert result.outcome == "failed"
    assert result.reason == Facts("no-such", "not installed", str(tmp_path))


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ({"workload": []}, "workload.tool"),
        ({"workload": {"tool": []}}, "workload.tool"),
        ({"workload": {"tool": "fio", "parameters": "x"}}, "workload.parameters"),
        ({"medium": None}, "medium"),
        ({"board": {"pio_sector_ns": 0}}, "board.nand_cycle_ps"),
    ],
)
def test_a_result_without_an_input_of_its_cell_has_failed(tmp_path: Path, missing: dict[str, Any], named: str) -> None:
    document = {**DOCUMENT, "cell": {**WITH_INPUTS, **missing}}
    result = evaluation.with_measurement(Result.from_json(document), tmp_path)
    assert result.outcome == "failed"
    assert result.reason == Facts(f'"{named}"', str(tmp_path))


@pytest.mark.parametrize(("known", "medium_bytes"), [(None, 2048), (512, 512)])
def test_a_result_of_before_does_not_tell_the_bytes_of_its_medium(known: int | None, medium_bytes: int) -> None:
    older = {name: value for name, value in DOCUMENT.items() if name != "medium_bytes"}
    assert Result.from_json(older, known).medium_bytes == medium_bytes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": 3}, 'has no "outcome", or one of another kind'),
        ({"outcome": "done"}, 'its "outcome" is unknown'),
        ({"cell": []}, 'has no "cell", or one of another kind'),
        ({"medium_bytes": "4k"}, 'its "medium_bytes" are no number'),
    ],
)
def test_what_is_no_result_says_why(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ResultError, match=message):
        Result.from_json({**DOCUMENT, **change})
    with pytest.raises(ResultError, match='has no "check"'):
        Result.from_json({name: value for name, value in DOCUMENT.items() if name != "check"})
    with pytest.raises(ResultError, match="is not a table"):
        Result.from_json([DOCUMENT])
