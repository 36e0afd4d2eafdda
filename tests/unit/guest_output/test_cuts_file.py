# SPDX-License-Identifier: Apache-2.0
"""The file of a cell's power cuts, and its metrics."""

from __future__ import annotations

import pytest

from flashbed.guest_output import power_cuts
from flashbed.guest_output.power_cuts import CUTS, Cut, CutOutcome
from flashbed.result.metrics import METRICS

CASES = [
    Cut(moment_ns=5, outcome=CutOutcome.SURVIVED, acknowledged=1, recovery_s=0.25),
    Cut(moment_ns=7, outcome=CutOutcome.REPAIRED, acknowledged=1, recovery_s=0.75),
    Cut(moment_ns=9, outcome=CutOutcome.REFUSED, acknowledged=2, note="mount: bad superblock"),
]


def test_the_file_holds_the_cuts() -> None:
    assert power_cuts.read({CUTS: power_cuts.to_json(CASES)}) == CASES


def test_metrics_count_outcomes_and_time_recoveries() -> None:
    metrics = power_cuts.metrics({CUTS: power_cuts.to_json(CASES)})
    assert metrics == {
        "cuts": 3.0,
        **dict.fromkeys(power_cuts.METRIC_OF.values(), 0.0),
        "cuts_survived": 1.0,
        "cuts_repaired": 1.0,
        "cuts_refused": 1.0,
        "recovery_mean_s": 0.5,
        "recovery_max_s": 0.75,
    }
    assert metrics.keys() <= METRICS.keys()


def test_each_outcome_has_a_metric() -> None:
    assert set(power_cuts.METRIC_OF) == set(CutOutcome)


def test_a_cell_without_cuts_has_no_metrics_of_cuts() -> None:
    assert power_cuts.metrics({"space.txt": b""}) == {}


@pytest.mark.parametrize(
    "form",
    [
        b'[{"moment_ns": 5, "outcome": "survived"}]',
        b'[{"moment_ns": 5, "outcome": "unknown", "acknowledged": 1}]',
        b'[{"moment_ns": 5, "acknowledged": 1}]',
        b'[{"moment_ns": 5, "outcome": "survived", "acknowledged": 1, "more": 1}]',
        b"[5]",
        b"{",
    ],
)
def test_another_form_of_the_file_is_refused(form: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        power_cuts.read({CUTS: form})


def test_the_bytes_of_the_file_stay_the_same() -> None:
    """Results of the store have them, and packs compare them."""
    cut = Cut(moment_ns=5, outcome=CutOutcome.LOST, acknowledged=1, recovery_s=0.028, note='"é"')
    assert power_cuts.to_json([cut]) == (
        b'[\n {\n  "moment_ns": 5,\n  "outcome": "acknowledged data lost",\n  "acknowledged": 1,\n'
        b'  "recovery_s": 0.028,\n  "note": "\\"\xc3\xa9\\""\n }\n]\n'
    )
