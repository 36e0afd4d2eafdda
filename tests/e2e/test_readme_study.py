# SPDX-License-Identifier: Apache-2.0
"""The README's first own study, word for word: its file asks nothing, and its run ends with an answer all the same."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.fixture_types import Flashbed
from tests.support.repository import REPOSITORY

README = REPOSITORY / "README.md"


def test_it_ends_with_an_answer(flashbed: Flashbed, tmp_path: Path) -> None:
    """A slice of one load, so that three file systems and three seeds are nine guests."""
    [text] = re.findall(r"^```toml tested\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "my.toml").write_text(text)
    slice_ = ["--where", "pattern=write", "--where", "request=64k"]
    done = flashbed("run", "my.toml", *slice_)
    assert done.returncode == 0, done.stderr
    first, question, answer = done.stdout.splitlines()[:3]
    assert first.startswith("A slice, 3 of 18 cells: ")
    assert question == "Which file system?"
    assert re.search(r" is fastest: .* times as fast as |No clear difference between |Not decided: ", answer)
    report = next((tmp_path / "reports").glob("*/report.html")).read_text()
    assert "its file systems are compared by bandwidth" in report
    assert 'id="figure-1"' in report
    assert "All cells" in report
    assert flashbed("report", "my.toml", *slice_).stdout == done.stdout
