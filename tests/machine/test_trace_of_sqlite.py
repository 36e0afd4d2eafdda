# SPDX-License-Identifier: Apache-2.0
"""SQLite traced by strace in a guest, and replayed in another, asks the medium for the same requests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from flashbed.guest_output import medium_counters
from flashbed.traces import call_trace, strace
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Needs
from flashbed.workload.trace import CALL_RECORDS, TRACE
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

STUDY = 'workload = { tool = "trace", trace = "none.trace", pace = "fast" }\n'
NO_CALL = "flashbed trace 1\n0 0 0 sync = 0\n"
INSERTS = 40
SQL = f"CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB); {'INSERT INTO t(b) VALUES(randomblob(300)); ' * INSERTS}"
TRACED = f"""\
cat >/tmp/sql <<'END'
PRAGMA journal_mode={{mode}};
PRAGMA synchronous=FULL;
{SQL}
END
strace -f -ttt -T -yy -s 0 -o /out/strace sqlite3 /mnt/x.db </tmp/sql
"""
TOLERANCE = 0.03


def asked(files: Mapping[str, bytes]) -> dict[str, int]:
    """Return the requests that the medium got under the load and its flush, by the names of its counters."""
    load = medium_counters.of_load(files)
    return {name: count for name, count in load.items() if name.startswith("host_") or name in OF_RAW_CHIPS}


OF_RAW_CHIPS = ("flash_programmed_pages", "flash_erased_blocks")


@pytest.mark.parametrize("mode", ["DELETE", pytest.param("TRUNCATE", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("filesystem", "medium"),
    [
        ("ext4", "emmc-64g:used_bytes=1G"),
        ("f2fs", "emmc-64g:used_bytes=1G"),
        ("ubifs:compression=none", "slc-nand-256m"),
    ],
)
def test_the_medium_gets_the_same_requests(
    filesystem: str,
    medium: str,
    mode: str,
    study_file: StudyWriter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs = Needs(packages=("sqlite3", "strace"), programs=("/usr/bin/sqlite3", "/usr/bin/strace"))
    monkeypatch.setattr(type(WORKLOADS["trace"]), "needs", lambda *_: needs)
    (tmp_path / "none.trace").write_text(NO_CALL)
    study = study_file(STUDY, filesystem=filesystem, medium=medium)
    original = guest_rig.boot(
        guest_rig.new(study, tmp_path / "original"), prepare="true\n", measure=TRACED.format(mode=mode)
    ).files
    imported = strace.imported(original["strace"].decode(), "strace", "/mnt")
    assert (imported.not_replayed, imported.remarks) == ({}, [])
    assert imported.trace.many("fdatasync") >= 3 * INSERTS
    replayed = guest_rig.boot(
        guest_rig.new(study, tmp_path / "replayed"), beside={TRACE: call_trace.written(imported.trace).encode()}
    ).files
    metrics = WORKLOADS["trace"].metrics(replayed)
    assert metrics["differing_calls"] == 0
    assert metrics["written_bytes"] == imported.trace.moved("write", "pwrite")
    assert len(replayed[CALL_RECORDS]) == 32 * len(imported.trace.calls)
    expected, replayed_requests = asked(original), asked(replayed)
    assert sum(expected.values()) > 0
    for name, count in expected.items():
        assert replayed_requests[name] == pytest.approx(count, rel=TOLERANCE, abs=1), (
            name,
            expected,
            replayed_requests,
        )
