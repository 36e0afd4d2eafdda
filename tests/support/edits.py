# SPDX-License-Identifier: Apache-2.0
"""Change one place of a source, for tests of the effects of such a change."""

from __future__ import annotations

from pathlib import Path


def replace_once(path: Path, before: str, after: str) -> None:
    """Replace the text. Fail unless it is there exactly once: otherwise the source has changed."""
    text = path.read_text()
    assert text.count(before) == 1, f"{path} has {text.count(before)} times: {before}"
    path.write_text(text.replace(before, after))
