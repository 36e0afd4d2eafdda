# SPDX-License-Identifier: Apache-2.0
"""Faults of the command line of `flashbed kernel` are reported before anything is built."""

import pytest

from tests.support.fixture_types import Flashbed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("shrink", "--for", "nos"), "nos: 'nos' is neither 'nas', nor a study"),
        (("shrink", "--for", "nas+none.config"), "'none.config' is neither"),
        (("shrink", "-a", "mips"), "architecture 'mips': not supported; there are: arm64, x86_64"),
        (("shrink", "--option", "CONFIG_NFS"), "--option CONFIG_NFS: the fragment does not set it"),
        (("shrink", "--option", "CONFIG_NR_CPUS"), "--option CONFIG_NR_CPUS: its value is 2"),
        (("compare", "nas", "nos"), "nos: 'nos' is neither"),
    ],
)
def test_a_wrong_word_is_one_message(flashbed: Flashbed, words: tuple[str, ...], message: str) -> None:
    done = flashbed("kernel", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
