# SPDX-License-Identifier: Apache-2.0
"""Checks of the doctor that need a made-up host: Debian's keys, and a host without a known mirror."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.commands import doctor, images
from flashbed.commands.doctor import HostCheck
from flashbed.image import mirrors


def check_of(subject: str) -> HostCheck:
    return next(one for one in doctor.examine() if one.subject == subject)


def test_debian_s_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(mirrors.VARIABLE, "http://127.0.0.1:9/debian/")
    keys = tmp_path / "keys.gpg"
    monkeypatch.setattr(mirrors, "KEYRING", keys)
    expected = HostCheck("Debian's keys", False, f"{keys} cannot be read", "apt-get install debian-archive-keyring")
    assert check_of("Debian's keys") == expected
    keys.touch()
    assert check_of("Debian's keys").fine


@pytest.mark.parametrize("built", [True, False])
def test_a_host_whose_apt_knows_no_mirror(built: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mirrors.VARIABLE, raising=False)
    monkeypatch.setattr(mirrors, "run", lambda *_: "Ubuntu|noble|http://u.example/ubuntu/\n")
    monkeypatch.setattr(images, "is_built", lambda _: built)
    mirrors_check = check_of("mirrors of Debian")
    assert (mirrors_check.fine, mirrors_check.needed) == (False, not built)
    assert mirrors_check.detail == "apt knows of no Debian mirror on this machine"
    assert mirrors_check.remedy.endswith("set FLASHBED_DEBIAN to the address of a Debian mirror")
