# SPDX-License-Identifier: Apache-2.0
"""The report's files repeat to the byte, are written anew when they must be, and are whole or absent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashbed.common import atomic
from flashbed.common.digest import digest_code
from flashbed.execution.coverage import LineCoverage
from flashbed.report import updating
from flashbed.report.folder import EXPORTS, is_current
from flashbed.report.inputs import Manifest
from flashbed.study.loading import Study
from tests.support.made_up_papers import paper_rows
from tests.support.made_up_plugin import installed
from tests.support.made_up_results import (
    CONSOLE,
    MANIFEST,
    made_up_elsewhere,
    made_up_frame,
    made_up_report,
    made_up_study,
    rows_of,
)
from tests.support.repository import REPOSITORY
from tests.support.samples import FILESYSTEM, load, replaced, write
from tests.support.tabled import bring_up_to_date, inputs_digest

FILES = ("report.html", *EXPORTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up_report(tmp_path_factory.mktemp("report")).parent


def test_other_real_times_make_a_report_stale() -> None:
    study, rows = made_up_study(), rows_of(made_up_frame(made_up_study()))
    elsewhere = made_up_elsewhere()
    before = inputs_digest(study, rows, MANIFEST, {}, elsewhere)
    elsewhere[0]["bandwidth"] += 1e-9
    assert before != inputs_digest(study, rows, MANIFEST, {}, elsewhere) != inputs_digest(study, rows, MANIFEST)


def test_the_same_results_give_the_same_bytes_in_any_order(folder: Path, tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study).sample(frac=1, random_state=3)
    consoles = dict.fromkeys(frame.loc[frame["outcome"] != "measured", "key"], CONSOLE)
    bring_up_to_date(study, rows_of(frame), MANIFEST, tmp_path, consoles, elsewhere=made_up_elsewhere())
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_rows_without_what_was_not_measured_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study)
    consoles = dict.fromkeys(frame.loc[frame["outcome"] != "measured", "key"], CONSOLE)
    rows = [{name: value for name, value in row.items() if value == value} for row in rows_of(frame)]
    measured = [row for row in rows if row["outcome"] == "measured"]
    for row in measured:  # a run's rows have whole numbers where a frame has 1.0
        row["requested_bytes"] = int(row["requested_bytes"])
    bring_up_to_date(study, rows, MANIFEST, tmp_path, consoles, elsewhere=made_up_elsewhere())
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_another_process_with_other_hashes_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    made_up = "from tests.support.made_up_results import made_up_report"
    code = f"import sys, pathlib; {made_up}; made_up_report(pathlib.Path(sys.argv[1]))"
    paths = os.pathsep.join([str(REPOSITORY), *sys.path])
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": paths, "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=environment)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_a_current_report_is_left_alone(folder: Path) -> None:
    before = {name: (folder / name).stat() for name in FILES}
    made_up_report(folder)
    after = {name: (folder / name).stat() for name in FILES}
    assert {name: (stat.st_mtime_ns, stat.st_ino) for name, stat in before.items()} == {
        name: (stat.st_mtime_ns, stat.st_ino) for name, stat in after.items()
    }


def changes() -> Iterator[Any]:
    study = made_up_study()
    rows = rows_of(made_up_frame(study))
    changed_rows = [dict(row) for row in rows]
    changed_rows[0]["bandwidth"] += 1e-9
    yield pytest.param(study, changed_rows, MANIFEST, id="a number")
    yield pytest.param(study, rows[1:], MANIFEST, id="a repetition less")
    yield pytest.param(study, rows, replace(MANIFEST, versions={"kernel": "6.1.193"}), id="a version")
    covered = replace(MANIFEST, coverage=[LineCoverage("linux 1a2b", lines=3, ran=2)])
    yield pytest.param(study, rows, covered, id="a changed line that ran")
    yield pytest.param(replace(study, question="Why?"), rows, MANIFEST, id="the study")
    yield pytest.param(replace(study, figures=study.figures[:1]), rows, MANIFEST, id="a figure less")


@pytest.mark.parametrize(("study", "rows", "manifest"), list(changes()))
def test_other_inputs_make_a_report_stale(study: Study, rows: list[dict[str, Any]], manifest: Manifest) -> None:
    same = made_up_study()
    assert inputs_digest(study, rows, manifest) != inputs_digest(same, rows_of(made_up_frame(same)), MANIFEST)


def with_own_profile(folder: Path, *pairs: tuple[str, str]) -> Study:
    """Return a study with a file system of the user's, whose profile has pieces of its text replaced."""
    write(folder / "profiles/filesystems/own.toml", replaced(FILESYSTEM, *pairs))
    return load(folder, ('"fat16:cluster=32k"', '"own"'))


def test_another_title_of_a_profile_makes_the_report_anew(tmp_path: Path) -> None:
    def report(title: str) -> str:
        study = with_own_profile(tmp_path, ("Some", title))
        return bring_up_to_date(study, paper_rows(study), MANIFEST, tmp_path / "report").read_text()

    assert "FS of ours" in report("FS of ours")
    assert "FS of theirs" in report("FS of theirs")


def test_a_file_system_that_compresses_from_now_on_makes_a_report_stale(tmp_path: Path) -> None:
    before, after = (
        inputs_digest(with_own_profile(tmp_path, ("options.mode", option)), [], MANIFEST)
        for option in ("options.mode", "options.compression")
    )
    assert before != after


def test_profiles_in_another_folder_leave_a_report_up_to_date(tmp_path: Path) -> None:
    digests = {inputs_digest(with_own_profile(tmp_path / name), [], MANIFEST) for name in ("here", "there")}
    assert len(digests) == 1


@pytest.mark.parametrize("name", ["report/page.css", "study/loading.py", "workload/fio/jobs.py"])
def test_other_code_of_any_room_makes_a_report_stale(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("a\n")
    before = digest_code.__wrapped__(tmp_path)
    path.write_text("b\n")
    assert digest_code.__wrapped__(tmp_path) != before


@pytest.mark.parametrize("file", ["plugged.py", "plugged/deeper/rules.py", "plugged/figures.json"])
@pytest.mark.parametrize("group", ["commands", "workloads"])
def test_other_code_of_a_plugin_makes_a_report_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, file: str
) -> None:
    def digest(content: str) -> str:
        path.write_text(content)
        updating._program.cache_clear()
        return inputs_digest(made_up_study(), [], MANIFEST)

    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.parent != tmp_path:
        (tmp_path / "plugged/__init__.py").touch()
    without = digest("1")
    point = f'[project.entry-points."flashbed.{group}"]\nx = "plugged:x"\n'
    monkeypatch.syspath_prepend(installed(tmp_path, f'[project]\nname = "plugged"\nversion = "1"\n{point}'))
    assert len({without, digest("1"), digest("2")}) == 3
    assert digest("1") == digest("1")
    updating._program.cache_clear()


def test_a_missing_export_makes_a_report_stale(tmp_path: Path) -> None:
    made_up_report(tmp_path)
    (tmp_path / "results.json").unlink()
    made_up_report(tmp_path)
    assert (tmp_path / "results.json").is_file()
    assert not is_current(tmp_path / "nowhere", "0")


def test_freshness_is_told_without_heavy_imports() -> None:
    code = "import sys, flashbed.report.updating; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"pandas", "numpy", "jinja2", "plotly"} & set(done.stdout.split())


def test_a_failure_leaves_the_old_report_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = made_up_report(tmp_path).read_bytes()

    def broken(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", broken)
    study = made_up_study()
    with pytest.raises(OSError, match="no space"):
        bring_up_to_date(study, rows_of(made_up_frame(study)), Manifest({"kernel": "other"}), tmp_path)
    assert (tmp_path / "report.html").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


def test_the_report_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    write = atomic.write

    def watched(path: Path, content: bytes) -> None:
        order.append(path.name)
        write(path, content)

    monkeypatch.setattr(atomic, "write", watched)
    made_up_report(tmp_path)
    assert order[-1] == "report.html"
    assert sorted(order) == sorted(FILES)


def test_a_set_among_the_inputs_has_one_order() -> None:
    """Another process has another order of sets, and the same results give the same bytes."""
    assert updating._plain(frozenset("gfedcba")) == list("abcdefg")
