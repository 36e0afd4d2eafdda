# SPDX-License-Identifier: Apache-2.0
"""Claims and results worked out by hand, for tests of claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flashbed.analysis import Results, Words, judge
from flashbed.analysis.claim_words import evidence
from flashbed.result.metrics import METRICS
from flashbed.study.format import Claim
from flashbed.study.loading import Study
from tests.support.tabled import results_of

AXES = {"filesystem": ("a", "b", "c"), "pattern": ("read", "write"), "request": ("4k", "64k")}

Speeds = Mapping[str, Mapping[str, Iterable[float]]]


def results(speeds: Speeds, pattern: str = "write", **more: Any) -> Results:
    """Return results from {file system: {request: a bandwidth for each seed}}. A cell without numbers failed."""
    rows = []
    for filesystem, requests in speeds.items():
        for request, numbers in requests.items():
            cell = {"filesystem": filesystem, "pattern": pattern, "request": request, "key": "k", **more}
            if not numbers:
                rows.append({**cell, "seed": 1, "outcome": "failed", "reason": "mkfs: exit status 1"})
            rows += [
                {**cell, "seed": seed, "outcome": "measured", "reason": "", "bandwidth": number}
                for seed, number in enumerate(numbers, start=1)
            ]
    return results_of({**AXES, "filesystem": tuple(speeds), "pattern": (pattern,)}, rows)


def claim(**keys: Any) -> Claim:
    return Claim.model_validate({"text": "A claim.", "metric": "bandwidth", **keys})


def a_against_b(relation: str = ">", by: str = "", **more: Any) -> Claim:
    amount = {"by": by} if by else {}
    return claim(compare=[{"filesystem": "a"}, {"filesystem": "b"}], relation=relation, **amount, **more)


def ratios(*numbers: float, request: str = "4k") -> Results:
    """Return results of a and b with one seed for each ratio."""
    return results({"a": {request: [10 * number for number in numbers]}, "b": {request: [10.0] * len(numbers)}})


def said(claim_: Claim, results: Results) -> str:
    return evidence(judge(claim_, results), Words(results.axes))


EVERYWHERE = 7.0


def made_up(study: Study) -> Results:
    """Return the same number for each metric of each repetition, so that only flat and equal claims hold."""
    rows = [
        {**cell, "seed": seed, "outcome": "measured", "reason": "", "key": "k", **dict.fromkeys(METRICS, EVERYWHERE)}
        for cell in study.combinations()
        for seed in study.seeds
    ]
    return results_of(study.axes, rows)
