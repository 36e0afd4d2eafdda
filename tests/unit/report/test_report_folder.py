# SPDX-License-Identifier: Apache-2.0
"""A report overwrites only an older report of the same study."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.commands import reporting
from flashbed.common.errors import InputError
from flashbed.report import folder as folders
from flashbed.report.folder import EXPORTS
from flashbed.study.loading import load_study
from tests.support.made_up_results import MANIFEST, made_up_frame, made_up_study, rows_of
from tests.support.samples import write_study
from tests.support.tabled import bring_up_to_date

NAMES = {*folders.REPORT_FILES, folders.RECORD}


def write(folder: Path, owner: str, **versions: str) -> None:
    study = made_up_study()
    manifest = replace(MANIFEST, versions={**MANIFEST.versions, **versions})
    bring_up_to_date(study, rows_of(made_up_frame(study)), manifest, folder, owner=owner)


def owner_of(path: Path, name: str = "my.toml") -> str:
    file = path / name
    file.parent.mkdir(exist_ok=True)
    file.touch()
    return folders.owner(path / "reports" / "my", file, shipped=False)


def test_a_report_is_written_over_its_older_self(tmp_path: Path) -> None:
    folder, study = tmp_path / "reports" / "my", owner_of(tmp_path)
    assert study == "../../my.toml"
    write(folder, study)
    write(folder, study, kernel="another")
    assert {path.name for path in folder.iterdir()} == NAMES
    assert set(json.loads((folder / folders.RECORD).read_text())["files"]) == set(folders.REPORT_FILES)


@pytest.mark.parametrize("name", [*EXPORTS, "report.html"])
def test_a_file_of_the_users_is_not_written_over(tmp_path: Path, name: str) -> None:
    """--out with a folder that has the user's own results.csv: the file was lost without a word."""
    (tmp_path / name).write_text("mine\n")
    with pytest.raises(InputError, match=f"{name}: was not written by flashbed, or was changed since"):
        write(tmp_path, owner_of(tmp_path / "elsewhere"))
    assert (tmp_path / name).read_text() == "mine\n"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]


def test_a_file_that_the_user_changed_is_not_overwritten(tmp_path: Path) -> None:
    folder, study = tmp_path / "reports" / "my", owner_of(tmp_path)
    write(folder, study)
    (folder / "results.csv").write_text("with a column of my own\n")
    with pytest.raises(InputError, match=r"results\.csv: was not written by flashbed"):
        write(folder, study, kernel="another")
    (folder / "results.csv").unlink()
    write(folder, study, kernel="another")
    assert (folder / "results.csv").is_file()


def test_two_studies_of_one_name_do_not_share_a_folder(tmp_path: Path) -> None:
    """The user's quick.toml and the shipped study both wrote reports/quick."""
    folder, own = tmp_path / "reports" / "my", owner_of(tmp_path)
    shipped = folders.owner(folder, Path("/any/my.toml"), shipped=True)
    moved = owner_of(tmp_path, "other/my.toml")
    write(folder, own)
    for study in (shipped, moved):
        with pytest.raises(InputError, match=r"another study, \.\./\.\./my\.toml; "):
            write(folder, study, kernel="another")
    (tmp_path / "my.toml").rename(tmp_path / "other" / "my.toml")  # it was only moved
    write(folder, moved, kernel="another")
    (folder / folders.RECORD).unlink()
    write(folder, shipped, kernel="a third")  # without a record it is not known to whom the report belongs
    with pytest.raises(InputError, match="has the report of another study, the shipped study my"):
        write(folder, moved)


def test_an_interrupted_report_still_belongs_to_its_study(tmp_path: Path) -> None:
    folder, study = tmp_path / "reports" / "my", owner_of(tmp_path)
    write(folder, study)
    folders.begin(folder, study)
    (folder / "results.csv").write_text("new")  # and the power fails
    write(folder, study, kernel="another")
    assert json.loads((folder / folders.RECORD).read_text())["study"] == study


def test_study_and_report_can_be_moved_together(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    write(tmp_path / "a" / "reports" / "my", owner_of(tmp_path / "a"))
    (tmp_path / "a").rename(tmp_path / "b")
    write(tmp_path / "b" / "reports" / "my", owner_of(tmp_path / "b"), kernel="another")


def test_the_directory_is_checked_before_anything_is_measured(tmp_path: Path) -> None:
    study = load_study(write_study(tmp_path))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.csv").write_text("mine")
    with pytest.raises(InputError, match="was not written by flashbed"):
        reporting.check_folder(study, tmp_path / "out")
    command: list[str | Path] = [Path(sys.executable).with_name("flashbed"), "run", study.path, "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, env={"FLASHBED_CACHE": str(tmp_path / "cache")}, capture_output=True)
    assert done.returncode == 2
    assert b"results.csv: was not written by flashbed" in done.stderr
    assert not (tmp_path / "cache").exists()


def test_the_report_names_imports_that_it_leaves_out(tmp_path: Path) -> None:
    study = made_up_study()
    sentence = "8 imported results of Windows XP are left out: of jobs that the study does not have now."
    rows = rows_of(made_up_frame(study))
    assert "Windows XP" not in bring_up_to_date(replace(study, claims=()), rows, MANIFEST, tmp_path).read_text()
    page = bring_up_to_date(replace(study, claims=()), rows, MANIFEST, tmp_path, left_out=[sentence]).read_text()
    section = page.partition('<section id="elsewhere"')[2].partition("</section>")[0]
    assert sentence in section
