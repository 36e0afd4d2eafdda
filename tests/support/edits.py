# SPDX-License-Identifier: Apache-2.0
"""Changes of one place of a source, for tests of what they bring about."""

from __future__ import annotations

from pathlib import Path


def replace_once(path: Path, before: str, after: str) -> None:
    """Fails if the place is not there, or is there twice: then the source has moved on."""
    text = path.read_text()
    assert text.count(before) == 1, f"{path} has {text.count(before)} times: {before}"
    path.write_text(text.replace(before, after))
