# SPDX-License-Identifier: Apache-2.0
"""docs/design.md is the house: its map names every room and every module, and none that is not there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
LAB = REPOSITORY / "src/flashbed"


def rooms_on_the_map() -> dict[str, set[str]]:
    """The rows of the table of rooms: a room, and the modules in its last column."""
    text = (REPOSITORY / "docs/design.md").read_text().partition("## Rooms")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w./]+)` \| .* \| ([^|]*)\|$", text, re.MULTILINE)
    return {room.rstrip("/"): set(re.findall(r"`(\w+)`", modules)) for room, modules in rows}


def test_the_map_names_every_room_and_module_and_no_other() -> None:
    there = {
        folder.name: {file.stem for file in folder.glob("*.py")} - {"__init__"}
        for folder in LAB.iterdir()
        if (folder / "__init__.py").is_file()
    }
    assert rooms_on_the_map() == {**there, "entry.py": set(), "cli.py": set()}
    assert {file.name for file in LAB.glob("*.py")} == {"__init__.py", "cli.py", "entry.py"}


def test_the_map_has_the_order_that_the_linter_holds() -> None:
    linter = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    [contract] = linter["contracts"]
    held = [name.strip().removeprefix("flashbed.") for layer in contract["layers"] for name in layer.split("|")]
    assert held == [room.removesuffix(".py") for room in rooms_on_the_map()]


def test_what_the_map_tells_to_touch_is_there() -> None:
    text = (REPOSITORY / "docs/design.md").read_text().partition("## To add something")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:[\w-]+/)+[\w.-]+\.\w+)`", text)
    assert len(named) > 8
    for name in named:
        if "NAME" in name:
            name = str(Path(name).parent)
        assert (REPOSITORY / name).exists() or (LAB / name).exists(), name


def test_no_line_of_the_docs_is_longer_than_120() -> None:
    """But for tables, pictures and what a command prints."""
    for page in (*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")):
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        assert not [line for line in prose.splitlines() if len(line) > 120 and not line.startswith(("|", "!["))], page
