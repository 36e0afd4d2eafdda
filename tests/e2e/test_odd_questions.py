# SPDX-License-Identifier: Apache-2.0
"""Commands that are asked for what is not there, not whole or not one: a sentence, at once, and nothing is built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flashbed.execution import run as run_module
from flashbed.image.stores import NotBuilt
from flashbed.result.store import open_store
from flashbed.study.loading import load_study
from tests.support.facts import Facts
from tests.support.fixture_types import Flashbed, StudyWriter
from tests.support.made_up_result import made_up_result

STUDY = """
    [axes]
    request = ["4k", "8k"]
    [workload]
    tool = "fio"
    pattern = "write"
    file = "64k"
"""

RESULT: dict[str, object] = {
    **{"key": "ab" * 32, "outcome": "failed", "reason": "step format: exit status 1", "check": None},
    **{"coordinates": {}, "seed": 1, "metrics": {}, "medium": {}, "cell": {}, "environment": {}},
}


@pytest.fixture
def cold(tmp_path: Path) -> Path:
    (tmp_path / "cold").mkdir()
    return tmp_path / "cold"


def test_a_report_with_a_cold_cache_fetches_nothing(flashbed: Flashbed, cold: Path) -> None:
    done = flashbed("report", "quick", FLASHBED_CACHE=str(cold))
    assert [done.returncode, done.stderr] == [2, Facts("quick: nothing is measured", "`flashbed run quick`")]
    assert not [path for path in cold.rglob("*") if path.name.startswith(("linux", "apt"))]


def test_a_report_with_results_of_others_builds_no_guest(
    study_file: StudyWriter, cold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(cold))
    store = open_store()
    store.put(made_up_result("ab" * 32, {}), {})
    study = load_study(study_file(STUDY, filesystem="ext2"))
    with pytest.raises(NotBuilt):
        run_module.prepare(study, only_built=True)
    assert run_module.stored(study).records == []
    assert not list((cold / "image").glob("linux*"))
    assert not list(cold.glob("debian*/state"))


def test_failed_attempts_by_the_start_of_their_keys(flashbed: Flashbed, fresh_cache: Path) -> None:
    for key in ("ab" * 32, "ab" * 31 + "cd", "cd" * 32):
        folder = fresh_cache / "failures" / key
        folder.mkdir(parents=True)
        (folder / "result.json").write_text(json.dumps({**RESULT, "key": key}))
        (folder / "console.log").write_text("the end\n")
    assert Facts('"abab"', "2 keys of failed attempts", "abababababab", "abababababab").within(
        flashbed("show", "ABab").stderr
    )
    done = flashbed("show", "CDCD")
    assert done.returncode == 0
    assert "step format: exit status 1" in done.stdout
    for damage in ("{", "{}", "[]", "[" * 100_000, json.dumps({**RESULT, "cell": None})):
        (fresh_cache / "failures" / ("cd" * 32) / "result.json").write_text(damage)
        done = flashbed("show", "cdcd")
        assert done.returncode == 2
        assert "result.json: damaged; remove " in done.stderr
        assert "Traceback" not in done.stderr


def test_a_large_study_says_at_once_that_it_is_large(
    study_file: StudyWriter, fresh_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Keys of 100,000 repetitions take most of a minute."""
    axes = (
        f"[axes]\nrequest = {[f'{size}k' for size in range(4, 54)]}\nfile = {[f'{size}M' for size in range(1, 51)]}\n"
    )
    body = f"{axes}[workload]\ntool = 'fio'\npattern = 'write'\n"
    assert len(run_module.prepare(load_study(study_file(body, filesystem="ext2", seeds=1)))) == 2500
    assert "Planning" not in capsys.readouterr().err
    assert len(run_module.prepare(load_study(study_file(body, filesystem="ext2", seeds=2)))) == 5000
    output = capsys.readouterr().err
    assert output.startswith("Planning 5000 repetitions ...\nWorking out their keys ...\n")


def test_what_a_large_study_skips_is_not_promised(
    study_file: StudyWriter, fresh_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    requests, files = [f"{size}k" for size in range(4, 54)], [f"{size}M" for size in range(1, 51)]
    body = (
        f"skip = [{{ file = {files[1:]} }}]\n[axes]\nrequest = {requests}\nfile = {files}\n"
        "[workload]\ntool = 'fio'\npattern = 'write'\n"
    )
    assert len(run_module.prepare(load_study(study_file(body, filesystem="ext2", seeds=2)))) == 100
    assert capsys.readouterr().err.startswith("Planning at most 5000 repetitions ...\n")


def test_what_a_file_says_does_not_move_the_cursor(flashbed: Flashbed, study_file: StudyWriter) -> None:
    done = flashbed("run", study_file(STUDY, filesystem="ext2\x1b[2J"))
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "ext2\\x1b[2J" in done.stderr


def test_a_command_of_a_profile_beside_the_study(flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path) -> None:
    """The command is shown and not run. `allow` shows it too, and allows it by name, as a script would."""
    folder = tmp_path / "profiles/filesystems"
    folder.mkdir(parents=True)
    mark = tmp_path / "was run"
    (folder / "mine.toml").write_text(
        f'title = "m"\nneeds = "block"\nmkfs = ["false {{device}}"]\ncheck = "touch \'{mark}\' {{image}}"\n'
        '[mount]\ntype = "ext2"\n'
    )
    study = study_file(STUDY, filesystem="mine")
    done = flashbed("run", study)
    assert done.returncode == 2
    assert f"profiles/filesystems/mine.toml:4: check: touch '{mark}' {{image}}" in done.stderr
    assert done.stderr.rstrip().endswith(f"flashbed allow {study} mine")
    assert flashbed("allow", study).stdout.startswith("not allowed  mine  ")
    assert flashbed("run", study).returncode == 2
    assert flashbed("allow", study, "other").returncode == 2
    done = flashbed("allow", study, "mine")
    assert (done.returncode, done.stdout.split()[0]) == (0, "allowed")
    assert not mark.exists()
