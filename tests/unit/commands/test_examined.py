# SPDX-License-Identifier: Apache-2.0
"""What the doctor finds where this host cannot be made so by its environment: Debian's keys, and no mirror known."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.commands import doctor, images
from flashbed.commands.doctor import HostCheck
from flashbed.image import mirrors


def found(subject: str) -> HostCheck:
    return next(one for one in doctor.examine() if one.subject == subject)


def test_debian_s_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(mirrors.VARIABLE, "http://127.0.0.1:9/debian/")
    keys = tmp_path / "keys.gpg"
    monkeypatch.setattr(mirrors, "KEYRING", keys)
    told = HostCheck("Debian's keys", False, f"{keys} cannot be read", "apt-get install debian-archive-keyring")
    assert found("Debian's keys") == told
    keys.touch()
    assert found("Debian's keys").fine


@pytest.mark.parametrize("built", [True, False])
def test_a_host_whose_apt_knows_no_mirror(built: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mirrors.VARIABLE, raising=False)
    monkeypatch.setattr(mirrors, "run", lambda *_: "Ubuntu|noble|http://u.example/ubuntu/\n")
    monkeypatch.setattr(images, "is_built", lambda _: built)
    told = found("mirrors of Debian")
    assert (told.fine, told.needed) == (False, not built)
    assert told.detail == "apt knows of no Debian mirror on this machine"
    assert told.remedy.endswith("set FLASHBED_DEBIAN to the address of a Debian mirror")
