# SPDX-License-Identifier: Apache-2.0
"""fio's results from elsewhere: impossible counts are refused, with the file and the fault."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flashbed.common.errors import InputError
from flashbed.external_results import exported_jobs, imported_results
from flashbed.study.loading import Study, load_study
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fio import output
from tests.support.generated_inputs import fio_document
from tests.support.samples import write_study

SOUND = fio_document("a")


def changed(way: str, value: Any, document: dict[str, Any] = SOUND) -> bytes:
    document = copy.deepcopy(document)
    *around, last = way.split(".")
    place: Any = document["jobs"][0]
    for key in around:
        place = place[key]
    place[last] = value
    return json.dumps(document).encode()


def test_a_sound_one_is_read() -> None:
    assert output.read_json(json.dumps(SOUND).encode()) == SOUND


@pytest.mark.parametrize(
    "value",
    [-1, -0.5, 2**63, 1e300, 10**4000, float("inf"), float("nan"), "9", None, True, []],
    ids=lambda value: str(value)[:10],
)
@pytest.mark.parametrize(
    "way", ["write.io_bytes", "write.runtime", "write.lat_ns.N", "write.lat_ns.bins.9000000", "usr_cpu"]
)
def test_no_count(way: str, value: Any) -> None:
    with pytest.raises(WorkloadOutputError, match=rf"jobs\[0\]\.{way} "):
        output.read_json(changed(way, value))


@pytest.mark.parametrize(
    ("ways", "message"),
    [
        ({"write.total_ios": 0}, r"jobs\[0\]\.write: \d+ bytes in 0 requests, and fio's largest has 4294967295"),
        ({"write.io_bytes": 2**62, "write.total_ios": 5}, "4611686018427387904 bytes in 5 requests"),
        (
            {"write.io_bytes": 2**50, "write.total_ios": 2**20, "write.runtime": 1},
            "in 1 ms, and no computer is as fast",
        ),
        ({"write.lat_ns.min": 5, "write.lat_ns.max": 4}, r"write\.lat_ns: its min is above its max"),
    ],
)
def test_counts_that_cannot_be_together(ways: dict[str, int], message: str) -> None:
    document = copy.deepcopy(SOUND)
    for way, value in ways.items():
        document = json.loads(changed(way, value, document))
    with pytest.raises(WorkloadOutputError, match=message):
        output.read_json(json.dumps(document).encode())


def test_what_a_job_was_told_is_text() -> None:
    """A job with runtime=5s has an option of the name of a count."""
    fio_output = {**SOUND, "jobs": [{**SOUND["jobs"][0], "job options": {"runtime": "5s"}}]}
    assert output.read_json(json.dumps(fio_output).encode()) == fio_output


@pytest.mark.parametrize("data", [b"", b"[]", b"1", b"\xff", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"])
def test_no_document(data: bytes) -> None:
    with pytest.raises(WorkloadOutputError, match="is not what fio writes"):
        output.read_json(data)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))
    return load_study(write_study(tmp_path))


def of_manifest(study: Study, folder: Path, change: Callable[[dict[str, Any]], Any]) -> str:
    exported_jobs.export(study, folder)
    manifest = folder / exported_jobs.JOBS_MANIFEST
    manifest.write_text(json.dumps(change(json.loads(manifest.read_text()))))
    with pytest.raises(InputError) as caught:
        imported_results.take_in(study, folder, "Windows XP")
    return caught.value.message


def with_entry(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda manifest: {**manifest, "jobs": [{**manifest["jobs"][0], key: value}]}


@pytest.mark.parametrize(
    "change",
    [
        *(with_entry("name", value) for value in ("..", "", "a\0b", "x/y", 1, None)),
        *(with_entry("folder", value) for value in ("..", ".")),
        with_entry("folder", []),
        lambda manifest: {**manifest, "jobs": manifest["jobs"][:1] * 2},
        lambda manifest: {**manifest, "jobs": {}},
        lambda manifest: {**manifest, "jobs": None},
        lambda manifest: {**manifest, "study": None},
        lambda manifest: [manifest],
        lambda manifest: {},
    ],
)
def test_a_manifest_that_is_none(study: Study, tmp_path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    assert str(tmp_path / "jobs" / exported_jobs.JOBS_MANIFEST) in of_manifest(study, tmp_path / "jobs", change)


def test_a_name_that_no_disk_can_have(study: Study, tmp_path: Path) -> None:
    assert "has no job nnn" in of_manifest(study, tmp_path / "jobs", with_entry("name", "n" * 400))


def test_a_deep_manifest(study: Study, tmp_path: Path) -> None:
    exported_jobs.export(study, tmp_path / "jobs")
    (tmp_path / "jobs" / exported_jobs.JOBS_MANIFEST).write_text("[" * 100_000)
    with pytest.raises(InputError, match="nested too deeply"):
        imported_results.take_in(study, tmp_path / "jobs", "Windows XP")
