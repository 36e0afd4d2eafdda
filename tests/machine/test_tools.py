# SPDX-License-Identifier: Apache-2.0
"""Tools other than fio, in a guest: they come to their end, and the medium's counters tell their phases apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

MIB = 1 << 20


def test_bonnie_plus_with_two_processes(
    fresh_cache: Path, study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    workload = '[workload]\ntool = "bonnie++"\nfile = "1M"\nprocesses = 2\nseeks = 50\n'
    [repetition] = run.prepare(load_study(study_file(workload, filesystem="ext2")))
    metrics = measure(repetition, tmp_path / "cell").result.measurement.metrics
    assert metrics["requested_bytes"] == 2 * (6 * MIB + 50 * 8192)
    assert 0 < metrics["char_output"] < metrics["char_input"]
    for name in ("char_output", "block_output"):  # a flush ends each, so nothing stays in memory
        assert 100 <= metrics[f"{name}_reached_percent"] < 110
    for name in ("char_input", "block_input", "random_seeks"):  # 2 MiB stay in the page cache
        assert metrics[f"{name}_reached_percent"] == 0


@pytest.mark.long
def test_iozones_sequence(fresh_cache: Path, study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    workload = '[axes]\nremount = [true, false]\n[workload]\ntool = "iozone"\nfile = "4M"\ninclude_flush = true\n'
    cold, warm = run.prepare(load_study(study_file(workload, filesystem="ext2")))
    first, second = (measure(w, tmp_path / w.key).result.measurement.metrics for w in (cold, warm))
    for finished in (first, second):
        assert 100 <= finished["write_reached_percent"] < 110
        assert 100 <= finished["rewrite_reached_percent"] < 110
        assert finished["reread_reached_percent"] == 0
    assert 100 <= first["read_reached_percent"] < 110
    assert second["read_reached_percent"] == 0
    assert first["write_s"] == second["write_s"] == pytest.approx(4 / first["write_bandwidth"])
