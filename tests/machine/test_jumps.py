# SPDX-License-Identifier: Apache-2.0
"""The emulator remembers where a jump leads. A guest executes what lies there now."""

from __future__ import annotations

import pytest

from tests.support import bare_metal
from tests.support.bare_metal import Machine

KINDS = ("mapped elsewhere", "mapped elsewhere, all flushed", "written anew", "with a breakpoint", "one unmasked")
"""What becomes of the code that is called, by its number in jumps.c."""


@pytest.mark.parametrize("cpu", ["cortex-a53", "max"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_jump_leads_to_what_lies_there_now(kind: str, cpu: str) -> None:
    [[wrong, calls]] = bare_metal.run(Machine(1, cpu=cpu), bare_metal.built("jumps"), KINDS.index(kind), limit_s=60)
    assert (wrong, calls) == (0, 200)
