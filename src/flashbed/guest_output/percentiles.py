# SPDX-License-Identifier: Apache-2.0
"""Compute mean, percentiles and maximum of durations. Must not know what lasted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import fsum

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}


def names(prefix: str) -> tuple[str, ...]:
    """Return the names of the metrics that `of_samples` returns."""
    return tuple(f"{prefix}_{statistic}_us" for statistic in ("mean", *PERCENTILES, "max"))


def of_samples(prefix: str, samples_us: Sequence[float]) -> dict[str, float]:
    """Return mean, percentiles (nearest rank) and maximum of single samples, in us."""
    ordered = sorted(samples_us)
    ranks = {name: max(math.ceil(p / 100 * len(ordered)), 1) - 1 for name, p in PERCENTILES.items()}
    return {
        f"{prefix}_mean_us": fsum(ordered) / len(ordered),
        **{f"{prefix}_{name}_us": ordered[rank] for name, rank in ranks.items()},
        f"{prefix}_max_us": ordered[-1],
    }
