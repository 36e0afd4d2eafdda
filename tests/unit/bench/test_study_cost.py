# SPDX-License-Identifier: Apache-2.0
"""bench/study_cost.py records a study that it measured from nothing, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench import study_cost
from flashbed.execution import run


@pytest.mark.parametrize(("stored", "failures", "status"), [([], [], 0), (["a result"], [], 1), ([], ["a record"], 1)])
def test_only_a_study_measured_from_nothing_is_recorded(
    stored: list[str], failures: list[str], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = tmp_path / "costs.json"
    records.write_text('{"raw-nand": {"repetitions": 1, "cpu_s": 2}}')
    monkeypatch.setattr(study_cost, "RECORDS", records)
    monkeypatch.setattr(run, "prepare", lambda _: ["a repetition", "another"])
    monkeypatch.setattr(run, "stored", lambda _: SimpleNamespace(records=stored))
    monkeypatch.setattr(run, "run", lambda _: SimpleNamespace(failures=failures))
    assert study_cost.main(["--only", "quick"]) == status
    recorded = json.loads(records.read_text())
    assert list(recorded) == (["raw-nand"] if status else ["quick", "raw-nand"])
    assert recorded["raw-nand"]["cpu_s"] == 2
