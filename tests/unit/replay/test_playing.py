# SPDX-License-Identifier: Apache-2.0
"""The outcome of a pack's recipe if its guest is killed. No guest is started."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.execution import memory
from flashbed.execution.beginnings import Beginnings
from flashbed.guest_output.assessment import Status
from flashbed.machine import qemu
from flashbed.machine.beginning import Beginning
from flashbed.machine.outcomes import Outcome
from flashbed.profiles import stored_medium
from flashbed.replay import pack_file, playing
from flashbed.replay.playing import Unpacked
from flashbed.replay.recipe import Recipe
from tests.unit.replay.made_up_pack import JOB, recipe, write


def test_a_guest_killed_after_its_beginning_runs_from_power_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed beginning takes its guests with it, and looks the same."""
    resumed = replace(recipe(), check=None, load=recipe().archives[1][1])
    folder = tmp_path / "files"
    folder.mkdir()
    files = Unpacked(pack_file.open_pack(write(tmp_path / "x.flashbed")), folder)
    files.take(resumed.files, [])
    began: list[bytes] = []

    def killed(_: Beginning, load: bytes, *__: object) -> Outcome:
        began.append(load)
        return Outcome(Status.KILLED, "killed (signal 9): out of memory?")

    for name, stand_in in {"reach": lambda *_: None, "is_gone": False, "run": killed, "close": lambda _: None}.items():
        monkeypatch.setattr(Beginning, name, stand_in)
    monkeypatch.setattr(qemu, "run", lambda *_, **__: Outcome(Status.MEASURED, ""))
    beginnings = Beginnings(1, tmp_path)
    beginnings.announce(resumed.key, resumed.beginning, more=True)
    outcome = playing.play(resumed, files, tmp_path, 1, threading.Event(), memory.ON_DISK, beginnings)
    beginnings.close()
    assert began == [JOB]
    assert outcome.status == "measured"


@pytest.mark.parametrize("calls", [True, False])
def test_the_emulator_notes_what_the_recipe_says(calls: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe_ = replace(recipe(), check=None, calls=calls)
    assert Recipe.from_json(recipe_.to_json()) == recipe_
    folder = tmp_path / "files"
    folder.mkdir()
    files = Unpacked(pack_file.open_pack(write(tmp_path / "x.flashbed")), folder)
    files.take(recipe_.files, [])
    observed: list[qemu.Observers] = []

    def run(*_: object, observers: qemu.Observers) -> Outcome:
        observed.append(observers)
        return Outcome(Status.MEASURED, "")

    monkeypatch.setattr(qemu, "run", run)
    beginnings = Beginnings(1, tmp_path)
    assert playing.play(recipe_, files, tmp_path, 1, threading.Event(), memory.ON_DISK, beginnings).status == "measured"
    beginnings.close()
    assert observed == [qemu.Observers(samples=False, calls=calls)]


def test_a_guest_gets_the_root_of_its_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe_ = replace(recipe(), check=None, root=recipe().state)
    assert Recipe.from_json(recipe_.to_json()) == recipe_
    folder = tmp_path / "files"
    folder.mkdir()
    files = Unpacked(pack_file.open_pack(write(tmp_path / "x.flashbed")), folder)
    files.take(recipe_.files, [])
    roots: list[Path | None] = []

    def run(_: object, of_guest: qemu.Files, *__: object, **___: object) -> Outcome:
        roots.append(of_guest.root)
        return Outcome(Status.MEASURED, "")

    monkeypatch.setattr(qemu, "run", run)
    beginnings = Beginnings(1, tmp_path)
    assert playing.play(recipe_, files, tmp_path, 1, threading.Event(), memory.ON_DISK, beginnings).status == "measured"
    beginnings.close()
    assert roots == [files.file(recipe().state)]


@pytest.mark.parametrize("later", ["calls", "root", "cuts"])
def test_a_recipe_of_an_older_pack_lacks_later_fields(later: str) -> None:
    document = recipe().to_json()
    del document[later]
    assert Recipe.from_json(document) == recipe()


def test_the_files_of_a_medium_have_the_names_that_a_measurement_gave_them() -> None:
    """The checker's output names the content's file, and outputs are compared."""
    assert (playing.STATE, playing.DATA) == (stored_medium.STATE, stored_medium.DATA)
