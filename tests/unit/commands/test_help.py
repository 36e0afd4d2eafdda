# SPDX-License-Identifier: Apache-2.0
"""Texts of --help are whole sentences. Only the terminal's width wraps them; line ends of the source do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from flashbed import cli


def commands(group: Any) -> Iterator[Any]:
    for command in group.commands.values():
        yield command
        yield from commands(command) if hasattr(command, "commands") else ()


def test_a_paragraph_of_help_is_one_line() -> None:
    helps = list(commands(typer.main.get_command(cli.app)))
    assert len(helps) > 15
    for command in helps:
        paragraphs = command.help.split("\n\n")
        assert all(paragraph.endswith((".", ")")) for paragraph in paragraphs), command.name
        assert [paragraph for paragraph in paragraphs if "\n" in paragraph] == [], command.name
