# SPDX-License-Identifier: Apache-2.0
"""Cells of the shipped studies that cut the power: one of each file system on each translation, in each study, ends,
and so does the one that once did not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.execution import run
from flashbed.study.loading import load_study
from flashbed.study.plan import Cell, plan
from tests.support.fixture_types import Measure

pytestmark = pytest.mark.long

Coordinates = dict[str, str]


def kinds(study: str) -> Iterator[Coordinates]:
    """Yield the first cell with random writes of each medium, file system and translation, in the order of the plan."""
    kinds_seen = set()
    for cell in cutting(study):
        kind = tuple(cell.coordinates.get(axis) for axis in ("medium", "filesystem", "translation"))
        if cell.coordinates["pattern"] == "randwrite" and kind not in kinds_seen:
            kinds_seen.add(kind)
            yield dict(cell.coordinates)


def cutting(study: str) -> list[Cell]:
    """Return the cells of the first seed whose power is cut."""
    cells = plan(load_study(paths.studies() / f"{study}.toml"))
    return [cell for cell in cells if cell.power_cut and cell.seed == cells[0].seed]


def studies() -> list[str]:
    """Return the shipped studies that cut the power."""
    names = sorted(file.stem for file in paths.studies().glob("*.toml"))
    return [name for name in names if load_study(paths.studies() / f"{name}.toml").power_cut]


CASES = [(study, coordinates) for study in studies() for coordinates in kinds(study)]


def test_the_studies_that_cut_are_here() -> None:
    assert {study for study, _ in CASES} >= {"ftl", "raw-nand"}
    assert any(c["filesystem"] == "ubifs:compression=none" and "23" in c["medium"] for s, c in CASES if s == "ftl")


@pytest.mark.parametrize(("study", "coordinates"), CASES, ids=[" ".join((s, *c.values())) for s, c in CASES])
def test_a_cell_ends(measure: Measure, tmp_path: Path, study: str, coordinates: Coordinates) -> None:
    shipped = run.prepare(load_study(paths.studies() / f"{study}.toml"))
    (planned,) = [
        repetition
        for repetition in shipped
        if repetition.cell.coordinates == coordinates and repetition.cell.seed == shipped[0].cell.seed
    ]
    finished = measure(planned, tmp_path / "cell", limit_s=600)
    assert "the power is: off" in finished.files["out/cut.txt"].decode()
    if coordinates["translation"] != "mtdblock":  # it writes blocks back as a whole, and may lose what was safe
        assert finished.result.measurement.metrics["mount_after_cut_s"] > 0
