# SPDX-License-Identifier: Apache-2.0
"""The README's own studies, word for word: their files ask nothing, and their runs end with an answer all the same."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.fixture_types import Flashbed
from tests.support.repository import REPOSITORY

README = REPOSITORY / "README.md"


def written(name: str, folder: Path) -> None:
    """Write the study that the README prints under this name."""
    [text] = re.findall(rf"^```toml tested\n(# {name}\n.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    (folder / name).write_text(text)


def test_the_first_ends_with_an_answer(flashbed: Flashbed, tmp_path: Path) -> None:
    """A slice of one load, so that three file systems and three seeds are nine guests."""
    written("my.toml", tmp_path)
    slice_ = ["--where", "pattern=write", "--where", "request=64k"]
    done = flashbed("run", "my.toml", *slice_)
    assert done.returncode == 0, done.stderr
    first, question, answer = done.stdout.splitlines()[:3]
    assert first.startswith("A slice, 3 of 18 cells: ")
    assert question == "Which file system?"
    assert re.search(r"fastest.* times as fast|No clear difference|Not decided", answer)
    report = next((tmp_path / "reports").glob("*/report.html")).read_text()
    assert "its file systems are compared by bandwidth" in report
    assert 'id="figure-1"' in report
    assert "All cells" in report
    assert flashbed("report", "my.toml", *slice_).stdout == done.stdout


def test_the_second_gives_the_factors_that_the_readme_names(flashbed: Flashbed, tmp_path: Path) -> None:
    """All of it but two seeds: eight guests fewer."""
    written("rows.toml", tmp_path)
    study = tmp_path / "rows.toml"
    study.write_text(study.read_text().replace("seeds  = 3", "seeds  = 1"))
    done = flashbed("run", "rows.toml")
    assert done.returncode == 0, done.stderr
    factors = re.findall(r"(\S+) is fastest for journal (\w+): (\S+) times as fast", done.stdout)
    assert factors == [("ext4", "delete", "3.8"), ("F2FS", "wal", "1.55")]
    assert "with a write-ahead log, F2FS is 1.55 times" in README.read_text()
    report = (tmp_path / "reports" / "rows" / "report.html").read_text()
    assert "/mnt/log.db-journal" in report
