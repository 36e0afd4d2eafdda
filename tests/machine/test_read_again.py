# SPDX-License-Identifier: Apache-2.0
"""A repetition keeps what the guest gave; what follows from it is worked out when it is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.guest_output import cpu_load
from flashbed.machine import qemu
from flashbed.result import evaluation
from flashbed.result.result import Measurement
from flashbed.study.loading import load_study
from tests.support.fixture_types import StudyWriter

STUDY = """
    [workload]
    tool = "fio"
    pattern = "write"
    file = "1M"
    request = "64k"
"""


def _change_code(monkeypatch: pytest.MonkeyPatch, percent: Callable[[object], float]) -> None:
    monkeypatch.setattr(cpu_load, "percent", percent)
    monkeypatch.setattr(evaluation, "digest_code", lambda: "0" * 64)


@pytest.mark.parametrize(("filesystem", "medium"), [("ext2", "usb-stick-2g"), ("jffs2", "slc-nand-64m:used_bytes=8M")])
def test_a_mended_formula_changes_the_report_and_runs_no_guest(
    study_file: StudyWriter, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch, filesystem: str, medium: str
) -> None:
    study = load_study(study_file(STUDY, filesystem=filesystem, medium=medium, seeds=1))
    [record] = run.run(study).records
    assert record.result.is_measured, record.result.reason
    [row] = run.rows(run.stored(study))
    kept = json.loads((record.folder / "result.json").read_text())
    assert not {field.name for field in fields(Measurement)} & set(kept)
    assert row.metrics["requested_bytes"] == 1 << 20
    assert 50 < row.metrics["space_free_percent"] < 100

    _change_code(monkeypatch, lambda _: 123.0)
    monkeypatch.setattr(qemu, "run", lambda *_: pytest.fail("a guest was started"))
    done = run.run(study)
    assert done.measured_now == 0
    assert run.rows(done) == [replace(row, metrics={**row.metrics, "cpu_percent": 123.0})]


def test_what_cannot_be_read_any_more_has_failed_and_says_so(
    study_file: StudyWriter, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = load_study(study_file(STUDY, filesystem="ext2", seeds=1))
    [record] = run.run(study).records

    def broken(_: object) -> float:
        raise KeyError("idle.before")

    _change_code(monkeypatch, broken)
    [row] = run.rows(run.stored(study))
    assert row.outcome == "failed"
    message = f"its output cannot be read: it has no 'idle.before'; remove {record.folder} to measure it again"
    assert row.reason == message
