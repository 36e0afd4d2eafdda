# SPDX-License-Identifier: Apache-2.0
"""A job is root in its guest and may send anything. That fails its own cell, and nothing else."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.execution import repetition, scheduler
from flashbed.execution.attempt import Limits
from flashbed.execution.repetition import Finished
from flashbed.guest_output import request_log, system_calls
from flashbed.guest_output.assessment import Status
from flashbed.machine import outcomes, process, qemu
from flashbed.machine.outcomes import Outcome
from flashbed.result import evaluation
from flashbed.result.result import Measurement
from flashbed.result.store import Store
from tests.support.facts import Facts
from tests.unit.machine.test_machine_ends import files, run  # noqa: F401 (a fixture)
from tests.unit.machine.test_outbox import archive, box
from tests.unit.machine.test_outbox import file as member

LIMITS = Limits(30, 0)


def cell(name: str) -> Any:
    medium = SimpleNamespace(size_bytes=0)
    made = SimpleNamespace(coordinates={"name": name}, label=name, seed=1, medium=medium)
    return SimpleNamespace(cell=made, key=hashlib.sha256(name.encode()).hexdigest(), environment={}, beginning="")


class Guests:
    """A site of made-up guests, with an outcome for each cell's name."""

    guests = 1

    def __init__(self, outcomes: dict[str, Outcome]) -> None:
        self._outcomes = outcomes

    def next_of(self, left: Any) -> str:
        return str(next(iter(left)))

    def announce(self, wanted: Any, *, more: bool) -> None:
        pass

    def attempt(self, wanted: Any, limits: Limits, stop: threading.Event) -> Finished:
        return repetition._finished(wanted, self._outcomes[wanted.cell.label])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "user/cache"))
    monkeypatch.setattr(repetition, "cell_inputs", lambda _: {})
    monkeypatch.setattr(evaluation, "evaluate", lambda *_: Measurement())
    return tmp_path / "user/cache"


def everything_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def measured(cache: Path, outcomes: dict[str, Outcome]) -> dict[str, tuple[str, str]]:
    records = scheduler.measure(Store(cache / "results"), [cell(name) for name in outcomes], Guests(outcomes), LIMITS)
    return {record.repetition.cell.label: (record.result.outcome, record.result.reason) for record in records}


UP = "../" * 6 + "precious"


def test_an_archive_that_leads_out_of_its_folder(
    files: qemu.Files,  # noqa: F811
    cache: Path,
    tmp_path: Path,
) -> None:
    """Files of a failed guest were kept under the names of its archive, and a name with dots overwrote a user's
    file.
    """
    sent = box(tmp_path, archive(member("failed", b"measure: exit status 1\n"), member(UP, b"overwritten")))
    sent.rename(tmp_path / "sent.bin")
    outcome = run(files, f"cp {tmp_path}/sent.bin {files.state.parent}/outbox.bin")
    assert outcome.status == "failed"
    assert outcome.reason == Facts("leads out of its folder", f'"{UP}"')
    assert outcome.files == {}
    results = measured(cache, {"bad": outcome, "good": Outcome(Status.MEASURED, files={"a": b"1"})})
    assert results == {"bad": ("failed", outcome.reason), "good": ("measured", "")}


@pytest.mark.parametrize("status", [Status.FAILED, Status.MEASURED])
def test_a_name_that_came_past_the_reader(cache: Path, tmp_path: Path, status: Status) -> None:
    """The writer of files checks their names again."""
    (tmp_path / "user").mkdir()
    before = everything_below(tmp_path)
    outcomes = {"bad": Outcome(status, "why", files={UP: b"x", "fine": b"y"}), "good": Outcome(Status.MEASURED)}
    results = measured(cache, outcomes)
    assert results["bad"][0] == "failed"
    assert f"{UP}' leads out of its folder" in results["bad"][1]
    assert results["good"] == ("measured", "")
    assert {name for name in everything_below(tmp_path) - before if not name.startswith("user/cache/")} == set()


def test_names_of_the_labs_own_stay_the_labs(cache: Path) -> None:
    """A guest's files lie in a directory of their own."""
    outcome = Outcome(Status.FAILED, "why", files={"result.json": b"{}", "digests.txt": b"", "console.log": b""})
    assert measured(cache, {"a": outcome}) == {"a": ("failed", "why")}
    folder = scheduler.failure_folder(cell("a").key)
    assert '"reason": "why"' in (folder / "result.json").read_text()
    assert (folder / "out/result.json").read_bytes() == b"{}"


def test_a_console_without_an_end(files: qemu.Files, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(process, "MOST_WRITTEN", 1 << 20)
    outcome = run(files, f"while sleep 0.01; do head -c 100000 /dev/zero; done >{files.state.parent}/console.log")
    assert (outcome.status, outcome.reason) == ("failed", "the guest made console.log longer than 1M")
    assert len(outcome.console) == 1 << 20


def test_more_calls_than_the_lab_notes(files: qemu.Files, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(system_calls, "MOST_RAW", 1 << 20)
    outcome = run(files, f"while sleep 0.01; do head -c 100000 /dev/zero; done >{files.state.parent}/calls.raw")
    assert (outcome.status, outcome.reason) == ("failed", "the guest made calls.raw longer than 1M")


def test_notes_of_calls_that_are_none(tmp_path: Path, files: qemu.Files) -> None:  # noqa: F811
    qemu.command([], files, tmp_path, observers=qemu.Observers(calls=True))
    box(tmp_path, archive(member("x")))
    (tmp_path / process.COMPLAINT).touch()
    (tmp_path / system_calls.RAW_CALLS).write_bytes(b"x" * 50)
    outcome = qemu.outcome_of(files, tmp_path, 0, 1)
    assert outcome.status == "failed"
    assert system_calls.RAW_CALLS in outcome.reason


def test_reasons_are_one_printable_line() -> None:
    sent = {"failed": b"measure\x1b[2J\nforged line " + b"x" * 10**6, "measure.txt": b""}
    for reason in (
        qemu.failed_step(sent).reason,
        qemu._outcome(None, b"Kernel panic - not syncing: a\x1b[31m\x07", "").reason,
    ):
        assert reason.isprintable()
        assert len(reason) < 400


@pytest.mark.parametrize("symbols", [b"\xff\n", b"one\n", b"zz T name\n"])
def test_symbols_that_are_none(symbols: bytes) -> None:
    outcome = Outcome(
        Status.MEASURED, files={"module_symbols.txt": symbols, "profile.raw": b"1 1 0 9\nffff000000000000 1\n"}
    )
    assert outcomes.with_functions(outcome, None).status == "failed"


def test_a_log_of_requests_with_an_operation_that_there_is_not(tmp_path: Path) -> None:
    for name in ("idle.before", "idle.measured"):
        (tmp_path / name).write_text("now at 1 nsecs\n idle_sleeptime : 1 nsecs\n iowait_sleeptime : 1 nsecs\n")
    (tmp_path / request_log.REQUEST_LOG).write_bytes(request_log._ENTRY.pack(1, 2, 3, 4, 9, 0))
    with pytest.raises(ValueError, match="has an operation"):
        request_log.read(tmp_path)
