# SPDX-License-Identifier: Apache-2.0
"""Samples of addresses become functions with counts."""

from __future__ import annotations

import pytest

from flashbed.guest_output import cpu_samples

SYMBOLS = """\
ffffffc008010000 T _stext
ffffffc008010100 t osq_lock
ffffffc008010180 t $x
ffffffc008010200 T rwsem_spin_on_owner.constprop.0
ffffffc008020000 D data
ffffffc000800000 t f2fs_map_blocks [f2fs]
"""

RAW = """\
10000 2 5000 105000
400100 3
ffffffc000800010 1
ffffffc008010100 4
ffffffc0080101f0 2
ffffffc008010204 2
10000 2 200000 250000
ffffffc008010300 1
"""


def sections() -> list[cpu_samples.SampleSection]:
    text = cpu_samples.named(RAW, SYMBOLS.splitlines())
    return cpu_samples.sections({cpu_samples.NAMED_SAMPLES: text.encode()})


def test_addresses_become_the_functions_that_they_lie_in() -> None:
    first, second = sections()
    assert first.samples == {
        "osq_lock": 6,
        cpu_samples.USER: 3,
        "rwsem_spin_on_owner": 2,
        "f2fs_map_blocks": 1,
    }
    assert second.samples == {"rwsem_spin_on_owner": 1}
    assert (second.period_ns, second.cpus, second.began_ns, second.ended_ns) == (10_000, 2, 200_000, 250_000)


def test_shares_are_of_the_time_in_which_cpus_were_busy() -> None:
    first, _ = sections()
    assert cpu_samples.metrics(first) == {
        "osq_lock_percent": 50,
        "rwsem_percent": pytest.approx(100 * 2 / 12),
        "spinning_percent": pytest.approx(100 * 8 / 12),
        "busy_cpus": pytest.approx(1.2),  # 12 samples of 10 us in 100 us
    }


def test_where_no_cpu_was_busy_there_are_no_shares() -> None:
    (idle,) = cpu_samples.sections({cpu_samples.NAMED_SAMPLES: b"10000 2 0 100000\n"})
    assert cpu_samples.metrics(idle) == {"busy_cpus": 0}


def test_a_guest_that_took_no_samples_has_no_section() -> None:
    assert cpu_samples.sections({}) == []
