# SPDX-License-Identifier: Apache-2.0
"""A made-up result, for tests."""

from __future__ import annotations

from collections.abc import Mapping

from flashbed.guest_output.assessment import Status
from flashbed.result.result import Result


def made_up_result(
    key: str, coordinates: Mapping[str, str], outcome: Status = Status.MEASURED, reason: str = ""
) -> Result:
    return Result(key, dict(coordinates), 1, outcome, reason, None, {}, {}, 0)
