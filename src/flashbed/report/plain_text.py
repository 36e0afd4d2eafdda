# SPDX-License-Identifier: Apache-2.0
"""What a guest or a tool printed, made fit to stand in a page. Must not know HTML."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]+[0-~]|[0-Z\\^-~])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain_text(text: str) -> str:
    """Console output as text: no terminal sequences, no control characters."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text))
