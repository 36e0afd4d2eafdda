# SPDX-License-Identifier: Apache-2.0
"""bench/study_cost.py records what the repetitions cost that it measured."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from bench import study_cost
from bench.study_cost import StudyCost
from flashbed.execution import run


@pytest.mark.parametrize(
    ("stored", "failures", "measured"), [(0, [], 3), (1, [], 2), (3, [], None), (0, ["a record"], None)]
)
def test_a_record_counts_the_repetitions_that_were_measured(
    stored: int, failures: list[str], measured: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = tmp_path / "costs.json"
    records.write_text('{"raw-nand": {"repetitions": 1, "measured": 1, "cpu_s": 2}}')
    monkeypatch.setattr(study_cost, "RECORDS", records)
    monkeypatch.setattr(run, "prepare", lambda _: ["a repetition"] * 3)
    monkeypatch.setattr(run, "stored", lambda _: SimpleNamespace(records=["a result"] * stored))
    monkeypatch.setattr(run, "run", lambda _: SimpleNamespace(failures=failures))
    assert study_cost.main(["--only", "quick"]) == (1 if measured is None else 0)
    costs = study_cost.recorded()
    assert list(costs) == (["raw-nand"] if measured is None else ["quick", "raw-nand"])
    assert costs["raw-nand"] == StudyCost(1, 1, 2)
    if measured is not None:
        assert (costs["quick"].repetitions, costs["quick"].measured) == (3, measured)


def test_the_cost_of_all_repetitions_follows_from_the_measured_ones() -> None:
    assert StudyCost(repetitions=54, measured=36, cpu_s=790).whole_cpu_s == 1185


def test_a_part_of_the_seeds_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "costs.json").write_text("{}")
    monkeypatch.setattr(study_cost, "RECORDS", tmp_path / "costs.json")
    monkeypatch.setattr(run, "prepare", lambda study: ["a repetition of each cell"] * len(study.seeds))
    monkeypatch.setattr(run, "stored", lambda _: SimpleNamespace(records=[]))
    monkeypatch.setattr(run, "run", lambda _: SimpleNamespace(failures=[]))
    assert study_cost.main(["--only", "logger", "--seeds", "2"]) == 0
    cost = study_cost.recorded()["logger"]
    assert (cost.repetitions, cost.measured) == (3, 2)
