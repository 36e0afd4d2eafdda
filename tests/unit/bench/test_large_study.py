# SPDX-License-Identifier: Apache-2.0
"""bench/large_study.py measures the report of a shipped study only where all of its results are."""

from __future__ import annotations

from typing import Any

import pytest

from bench import large_study
from flashbed.execution import run
from flashbed.image.stores import NotBuilt


def test_a_study_whose_guest_is_not_built_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(*_: Any, **__: Any) -> Any:
        raise NotBuilt("the sysroot is not built")

    monkeypatch.setattr(run, "prepare", prepare)
    assert not large_study.is_measured("choi2014")


@pytest.mark.parametrize(("stored", "measured"), [(2, False), (3, True)])
def test_all_results_must_be_stored(monkeypatch: pytest.MonkeyPatch, stored: int, measured: bool) -> None:
    monkeypatch.setattr(run, "prepare", lambda *_, **__: [None] * 3)
    monkeypatch.setattr(run, "stored", lambda study: run.Run(study, [None] * stored, 0))  # type: ignore[list-item]
    assert large_study.is_measured("choi2014") == measured
