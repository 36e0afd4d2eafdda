# SPDX-License-Identifier: Apache-2.0
"""What the model of the drive of studies/seo2020.toml gives to reads that no kernel stands before: the rate that the
study holds its file systems to is the arithmetic of its dies, and the model comes up to it.
"""

from __future__ import annotations

import random
from pathlib import Path

from flashbed.common import paths
from flashbed.image import hosttools
from flashbed.image.cache import Cache
from flashbed.study.loading import load_study
from pages.checks import LIBRARY, Bench

BLOCK, FILE, CHUNK = 4 << 10, 64 << 20, 1 << 20
UNDER_WAY = 120 * 8
"""Processes by their requests."""
READS = 200_000


def test_reads_under_way_keep_all_dies_busy(tmp_path: Path) -> None:
    """As many as 120 processes have, at random, of a file of 64 MiB."""
    study = load_study(paths.studies() / "seo2020.toml")
    (bound,) = {claim.value for claim in study.claims if "full rate" in claim.text}
    assert isinstance(bound, float | int)
    bench = Bench(hosttools.build(Cache(paths.cache_root() / "image")), tmp_path)
    bench.start_with(LIBRARY.medium("nvme-960pro-class:used_bytes=2G").core_parameters)
    bench.go_on([("write", at, CHUNK) for at in range(0, FILE, CHUNK)])
    draw = random.Random(1)
    reads = [("read", draw.randrange(FILE // BLOCK) * BLOCK, BLOCK) for _ in range(READS)]
    done = sorted(done for _, done in bench.times(reads, UNDER_WAY))
    steady = done[READS // 4 : READS * 3 // 4]
    rate = (len(steady) - 1) / (steady[-1] - steady[0]) * 1e9
    assert 0.97 * bound < rate < bound
