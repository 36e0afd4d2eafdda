# SPDX-License-Identifier: Apache-2.0
"""A slice by command: it measures its cells only, says in a line what it lacks, and the whole study takes them over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.facts import Facts
from tests.support.fixture_types import Flashbed, StudyWriter

STUDY = """
    [axes]
    request = ["4k", "64k"]

    [workload]
    tool = "fio"
    pattern = "write"
    file = "256k"
    flush = "fsync"

    [answer]
    compare = "request"
    metric = "bandwidth"

    [[claim]]
    text = "Larger requests are faster."
    metric = "bandwidth"
    along = "request"
    relation = "rises"

    [[table]]
    title = "All"
    rows = "request"
    metric = "bandwidth"
"""

NOTE = "A slice, 1 of 2 cells: request 4k. Left out, for they need other cells too: the answer, 1 claim."


def test_a_slice_and_then_the_whole(flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(STUDY, filesystem="fat32", medium="sd-good:used_bytes=64M")
    first = flashbed("run", study, "--where", "request=4k")
    assert first.returncode == 0, first.stderr
    assert NOTE in first.stdout
    assert "1/1" in first.stderr
    assert NOTE in (tmp_path / "reports/small_request=4k/report.html").read_text()
    assert not (tmp_path / "reports/small").exists()

    again = flashbed("report", study, "--where", "request=4k")
    assert again.returncode == 0, again.stderr
    assert NOTE in again.stdout

    whole = flashbed("run", study)
    assert whole.returncode == 0, whole.stderr
    assert "1/1" in whole.stderr  # the other cell alone
    assert "A slice" not in whole.stdout

    wrong = flashbed("run", study, "--where", "request=5k")
    assert wrong.returncode == 2
    assert Facts("--where", '"5k"', 'axis "request"', "4k, 64k").within(wrong.stderr)


def test_requests_are_a_table_only_where_they_were_kept(
    flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path, fresh_cache: Path
) -> None:
    study = study_file(STUDY, filesystem="fat32", medium="sd-good:used_bytes=64M")
    assert flashbed("run", study, "--where", "request=64k").returncode == 0
    script = (
        "import flashbed\n"
        "frame = flashbed.results('small').dropna(subset=['bandwidth'])\n"
        "assert list(frame['request']) == ['64k']\n"
        "flashbed.requests(frame['key'].iloc[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert "kept no log of its requests; a [[trace]] in the study" in done.stderr, done.stderr
