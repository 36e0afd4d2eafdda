# SPDX-License-Identifier: Apache-2.0
"""Facts that a message has to hold, whatever its sentence is: names, figures, the file, the key, the command to run."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Facts:
    """They stand in this order, as whole words. No figure stands between them that is not one of them.

    `text == Facts("a", "2.8 times", "b")`: there is no figure before and behind them either.
    """

    def __init__(self, *facts: str) -> None:
        self.facts = facts
        self.pattern = r"[^\d]*?".join(map(_whole, facts))
        """For pytest.raises(match=...) too."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(rf"[^\d]*?{self.pattern}[^\d]*", other) is not None

    __hash__ = None  # type: ignore[assignment]

    def within(self, told: str | Iterable[str]) -> bool:
        """A part of the text, or of one of the texts, holds them."""
        return any(re.search(self.pattern, text) for text in ([told] if isinstance(told, str) else told))

    def __repr__(self) -> str:
        return f"Facts{self.facts}"


def _whole(fact: str) -> str:
    before = r"(?<!\w)" if fact[:1].isalnum() else ""
    return before + re.escape(fact) + (r"(?!\w)" if fact[-1:].isalnum() else "")
