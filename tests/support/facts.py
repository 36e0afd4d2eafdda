# SPDX-License-Identifier: Apache-2.0
"""Facts that a message must contain, however it is worded: names, figures, the file, the key, the command to run."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Facts:
    """Facts in this order, as whole words, with no other figure between them.

    `text == Facts("a", "2.8 times", "b")` also requires that there is no figure before and after them.
    """

    def __init__(self, *facts: str) -> None:
        self.facts = facts
        self.pattern = r"[^\d]*?".join(map(_whole, facts))
        """The regular expression, for pytest.raises(match=...)."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(rf"[^\d]*?{self.pattern}[^\d]*", other) is not None

    __hash__ = None  # type: ignore[assignment]

    def within(self, texts: str | Iterable[str]) -> bool:
        """Return True if a part of the text, or of one of the texts, contains the facts."""
        return any(re.search(self.pattern, text) for text in ([texts] if isinstance(texts, str) else texts))

    def __repr__(self) -> str:
        return f"Facts{self.facts}"


def _whole(fact: str) -> str:
    before = r"(?<!\w)" if fact[:1].isalnum() else ""
    return before + re.escape(fact) + (r"(?!\w)" if fact[-1:].isalnum() else "")
