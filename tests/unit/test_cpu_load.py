# SPDX-License-Identifier: Apache-2.0
"""CPU load from idle times, worked out by hand."""

from __future__ import annotations

import pytest

from flashbed.guest_output import cpu_load


def noted(now: int, idle: int, iowait: int) -> bytes:
    return f"now at {now} nsecs\n  .idle_sleeptime : {idle} nsecs\n  .iowait_sleeptime: {iowait} nsecs\n".encode()


def test_what_is_not_idle_is_load() -> None:
    out = {cpu_load.BEFORE: noted(1_000, 100, 50), cpu_load.MEASURED: noted(2_000, 400, 500)}
    assert cpu_load.percent(out) == pytest.approx(25.0)


def test_without_times_there_is_no_load() -> None:
    with pytest.raises(ValueError, match="idle times"):
        cpu_load.percent({cpu_load.BEFORE: b"", cpu_load.MEASURED: b""})
