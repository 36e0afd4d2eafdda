# SPDX-License-Identifier: Apache-2.0
"""A change of an observer moves only the keys of the cells whose results have its observations."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import Mock

import pytest

from flashbed.execution import repetition
from flashbed.image import emulator
from flashbed.study.loading import load_study
from flashbed.study.plan import Cell, plan
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Needs
from tests.support.fixture_types import StudyWriter

CellOf = Callable[[str], Cell]

FXMARK = '[workload]\ntool = "fxmark"\ntests = "read-private"\nfile = "64K"\n'
FIO = '[workload]\ntool = "fio"\npattern = "write"\nrequest = "4k"\nfile = "4M"\n'


@pytest.fixture
def cell(study_file: StudyWriter) -> CellOf:
    def of(workload: str) -> Cell:
        (planned,) = plan(load_study(study_file(workload, filesystem="ext2")))
        return planned

    return of


def key(cell: Cell) -> str:
    image = Mock()
    image.media_tool.digest.return_value = "0"
    image.digest.return_value = {}
    return repetition.prepare(cell, image).key


@pytest.mark.parametrize(
    ("workload", "observer", "moves"),
    [
        (FXMARK, "profile", True),
        (FIO, "profile", False),
        (FXMARK, "watch", False),
        (FIO, "price", False),
    ],
)
def test_a_changed_observer_moves_the_keys_that_have_it(
    workload: str, observer: str, moves: bool, cell: CellOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key(cell(workload))
    observer_digest = emulator.observer_digest
    monkeypatch.setattr(
        emulator, "observer_digest", lambda name: "other" if name == observer else observer_digest(name)
    )
    assert (key(cell(workload)) != before) is moves


def test_noted_calls_are_in_the_keys_of_cells_that_need_them(cell: CellOf, monkeypatch: pytest.MonkeyPatch) -> None:
    without = key(cell(FIO))
    monkeypatch.setattr(type(WORKLOADS["fio"]), "needs", lambda *_: Needs(calls=True))
    before = key(cell(FIO))
    monkeypatch.setattr(emulator, "observer_digest", lambda name: "other" if name == "calls" else "0")
    assert len({without, before, key(cell(FIO))}) == 3
