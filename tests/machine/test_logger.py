# SPDX-License-Identifier: Apache-2.0
"""What docs/logger.md says becomes of a record that is flushed, in cells of the shipped study."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.execution import run
from flashbed.guest_output import request_log
from flashbed.guest_output.assessment import State
from flashbed.guest_output.request_log import OPERATIONS
from flashbed.study.loading import load_study
from flashbed.study.slicing import narrowed
from tests.support.fixture_types import Measure


@pytest.mark.parametrize(
    ("filesystem", "requests_a_record", "bytes_a_request"),
    [
        ("fat32", 2, 512),  # the record's sector, and the one with its length
        ("exfat", 2, 512),
        ("ext4", 3, 4096),  # the block, and the journal's commit in two requests
        ("f2fs", 2, 4096),  # the block, and the node that says where it lies
    ],
)
def test_a_record_becomes_few_requests(
    measure: Measure, tmp_path: Path, filesystem: str, requests_a_record: int, bytes_a_request: int
) -> None:
    study = load_study(paths.studies() / "logger.toml")
    part = narrowed(study, {"medium": ["sd-good"], "night": ["128k"], "filesystem": [filesystem]})
    finished = measure(run.prepare(part)[0], tmp_path / "cell")
    metrics = finished.result.measurement.metrics
    records = metrics["written_bytes"] / 512
    out = tmp_path / "out"
    for name, data in finished.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    log = request_log.read(out)
    writes = [request for request in log.requests if request.operation == OPERATIONS[1]]
    assert finished.result.check == ""
    assert min(request.length_bytes for request in writes) == bytes_a_request
    # The file that is read, the format's own tables and the unmount are a few requests beside them
    assert requests_a_record * records == pytest.approx(len(writes), rel=0.15)
    # ext4's merges begin at about the end of the 20 s; of the others too few fall into them
    assert filesystem == "ext4" or finished.result.measurement.settled.state != State.NOT_SETTLED
    # A record is committed by a write and a flush, which are two of the calls that latencies are of; no pause is in it
    assert metrics["commit_mean_us"] == pytest.approx(2 * metrics["latency_mean_us"], rel=0.01)
    assert metrics["commit_p99_us"] >= metrics["flush_p99_us"] > metrics["latency_p50_us"]


def test_the_nightly_read_lasts_and_its_file_is_written_before(measure: Measure, tmp_path: Path) -> None:
    """The read once ended within the 20 s, and its 200 MB counted as written for the records."""
    study = load_study(paths.studies() / "logger.toml")
    written = {}
    for night in study.axes["night"]:
        part = narrowed(study, {"medium": ["sd-good"], "night": [night], "filesystem": ["fat32:cluster=32k"]})
        written[night] = measure(run.prepare(part)[0], tmp_path / night).result
    day, late = written.values()
    for cell in (day, late):
        assert cell.measurement.metrics["written_bytes"] < 1 << 20  # at most 1,000 records of 512 bytes
        assert cell.measurement.metrics["medium_written_bytes"] < 4 << 20
    assert day.measurement.metrics["medium_read_bytes"] < 1 << 20
    # More than the file has: it was read from its beginning again, and only the end of the 20 s ended it
    assert late.measurement.metrics["medium_read_bytes"] > 200 << 20
