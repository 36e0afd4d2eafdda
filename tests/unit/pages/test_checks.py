# SPDX-License-Identifier: Apache-2.0
"""Measurements of one medium by the bench of docs/generated/accuracy.md do not affect each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.image import hosttools
from flashbed.image.cache import Cache
from pages.checks import LIBRARY, Bench, Request
from pages.device_replays import figures
from pages.device_rows import load

MEDIUM = LIBRARY.medium("sd-poor")
WRITES: list[Request] = [("write", at << 20, 4096) for at in (9, 2, 7, 4, 11, 0)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(hosttools.build(Cache(paths.cache_root() / "image")), tmp_path)


def test_a_measurement_leaves_the_medium_in_its_state(bench: Bench) -> None:
    bench.start(MEDIUM)
    new = bench.times(WRITES, 1)
    assert bench.times(WRITES, 1) == new
    bench.go_on(WRITES)
    written = bench.times(WRITES, 1)
    assert written != new
    assert bench.measure(WRITES).duration_ns == written[-1][1]
    assert bench.times(WRITES, 1) == written


def test_the_bench_goes_back_to_the_state_that_it_kept(bench: Bench) -> None:
    bench.start(MEDIUM)
    bench.keep()
    new = bench.times(WRITES, 1)
    bench.go_on(WRITES)
    bench.keep()
    written = bench.times(WRITES, 1)
    bench.go_on(WRITES[::-1])
    bench.go_back()
    assert bench.times(WRITES, 1) == written
    bench.start(MEDIUM)
    assert bench.times(WRITES, 1) == new


def test_rows_that_share_a_preparation_have_the_figures_of_each_alone(bench: Bench) -> None:
    replays = [row for row in load() if row.kind == "replay"]
    of_medium = [row for row in replays if row.medium == "sd-poor"]
    rows = [*of_medium[:5], *(row for row in replays if "against" in row.run)]
    assert len(rows) > 6
    assert figures(bench, rows) == {name: figure for row in rows for name, figure in figures(bench, [row]).items()}
