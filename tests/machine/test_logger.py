# SPDX-License-Identifier: Apache-2.0
"""What docs/logger.md says becomes of a record that is flushed, in cells of the shipped study."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed import paths, request_log, run
from flashbed.request_log import OPERATIONS
from flashbed.slicing import narrowed
from flashbed.study import load_study


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
    measure, tmp_path: Path, filesystem: str, requests_a_record: int, bytes_a_request: int
) -> None:
    study = load_study(paths.studies() / "logger.toml")
    part = narrowed(study, {"medium": ["sd-good"], "night": ["128k"], "filesystem": [filesystem]})
    finished = measure(run.prepare(part)[0], tmp_path / "cell")
    metrics = finished.result["metrics"]
    records = metrics["written_bytes"] / 512
    out = tmp_path / "out"
    for name, data in finished.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    log = request_log.read(out)
    writes = [request for request in log.requests if request.operation == OPERATIONS[1]]
    assert finished.result["check"] == ""
    assert min(request.length_bytes for request in writes) == bytes_a_request
    # The file that is read, the format's own tables and the unmount are a few requests beside them
    assert requests_a_record * records == pytest.approx(len(writes), rel=0.15)
