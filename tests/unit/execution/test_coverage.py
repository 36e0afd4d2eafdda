# SPDX-License-Identifier: Apache-2.0
"""The report on changed lines, from the emulator's log of executed code."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.execution import coverage, run
from flashbed.image.cache import Entry
from flashbed.image.changed_code import Changed, NotLocated, Obstacle, from_json
from flashbed.image.kernel import Kernel
from flashbed.image.kernel_sources import ChangeUnknown
from flashbed.report.evidence import changed_lines
from tests.support.facts import Facts

LOG = """\
----------------
IN: 
0xffffffc008470724:  
OBJD-T: fd7bb9a9c00200b000001191
OBJD-T: f76303a9

----------------
IN: 
0xffffffc008471000:  
OBJD-T: 09090094
"""  # noqa: W291 (as the emulator writes it)

BEGIN = 0xFFFFFFC008470724
RAN = [(BEGIN, BEGIN + 16), (0xFFFFFFC008471000, 0xFFFFFFC008471004)]

CHANGED = Changed(
    {"fs/one.c:3": [BEGIN + 8], "fs/one.c:4": [BEGIN + 12, 5], "fs/one.c:9": [BEGIN + 16]},
    [(BEGIN, BEGIN + 20)],
    {"fs/two.c": NotLocated(Obstacle.NOT_IN_KERNEL)},
)


def test_the_emulators_log_gives_pieces_of_code() -> None:
    pieces = list(coverage.executed(LOG))
    assert [(address, len(code)) for address, code in pieces] == [(BEGIN, 16), (0xFFFFFFC008471000, 4)]
    assert pieces[0][1].startswith(bytes.fromhex("fd7bb9a9"))


def test_lines_that_ran_are_counted_and_the_others_named() -> None:
    coverage_of_change = coverage.line_coverage("linux 1a2b", CHANGED, [("a, seed 1", []), ("b, seed 1", RAN)])
    assert (
        coverage_of_change.lines,
        coverage_of_change.ran,
        coverage_of_change.first,
        list(coverage_of_change.never),
    ) == (3, 2, "b, seed 1", ["fs/one.c:9"])
    assert changed_lines(coverage_of_change) == Facts(
        "linux 1a2b", "2 of 3 changed lines ran", "first in b, seed 1", "not fs/one.c:9", "fs/two.c is no part"
    )


def test_a_patch_that_never_ran_makes_no_difference_meaningless() -> None:
    assert changed_lines(coverage.line_coverage("linux 1a2b", CHANGED, [("a", [(0, 4)])])) == Facts(
        "linux 1a2b", "none of the 3 changed lines ran", "fs/two.c is no part", "no difference means nothing"
    )
    nothing = Changed({}, (), {"fs/two.c": NotLocated(Obstacle.NOT_IN_KERNEL)})
    assert changed_lines(coverage.line_coverage("linux 1a2b", nothing, [])) == Facts(
        "linux 1a2b", "no changed line became code", "fs/two.c is no part", "no difference means nothing"
    )


def test_a_kernel_with_unknown_changes_gives_the_reason() -> None:
    guest = SimpleNamespace(kernel=Kernel(Entry(Path(), {}), "linux 1a2b", change_unknown=ChangeUnknown.NO_REPOSITORY))
    records: list[Any] = [SimpleNamespace(repetition=SimpleNamespace(image=guest))] * 2
    assert [changed_lines(line_coverage) for line_coverage in run._coverage(records)] == [
        Facts("linux 1a2b", "not known", "no git repository")
    ]


def test_a_file_of_too_many_objects_is_shown_with_their_number() -> None:
    reasons = {file: NotLocated(Obstacle.TOO_MANY_OBJECTS, 90) for file in ("include/a.h", "include/b.h")}
    coverage_of_change = coverage.line_coverage("linux 1a2b", Changed({}, (), reasons), [])
    assert changed_lines(coverage_of_change) == Facts("linux 1a2b", "include/a.h, include/b.h is part of 90 objects")


@pytest.mark.parametrize("why", ChangeUnknown)
def test_each_reason_for_unknown_changes_has_words(why: ChangeUnknown) -> None:
    assert changed_lines(coverage.LineCoverage("linux 1a2b", 0, 0, unknown=why)) == Facts("linux 1a2b", "not known: ")


@pytest.mark.parametrize("why", Obstacle)
def test_each_obstacle_has_words_and_is_kept(why: Obstacle) -> None:
    changed = Changed({}, [], {"fs/two.c": NotLocated(why, 41)}, (), (0, 0))
    assert from_json(json.dumps(changed.as_json())) == changed
    assert Facts("linux 1a2b", "; fs/two.c ").within(changed_lines(coverage.line_coverage("linux 1a2b", changed, [])))


def test_executed_code_is_kept_by_key_and_by_watched_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path))
    (tmp_path / "ran.log").write_text(LOG)
    coverage.keep("ab", CHANGED, tmp_path / "ran.log")
    assert coverage.kept("ab", CHANGED) == RAN
    assert coverage.kept("cd", CHANGED) is None
    other = Changed(CHANGED.code, [(BEGIN, BEGIN + 4)], {})
    assert coverage.kept("ab", other) is None, "other code was watched"
    next(tmp_path.rglob("ab.json")).write_text("{")
    assert coverage.kept("ab", CHANGED) is None, "a damaged note is none"


def test_changed_lines_are_kept_as_they_were() -> None:
    assert from_json(json.dumps(CHANGED.as_json())) == CHANGED
