# SPDX-License-Identifier: Apache-2.0
"""Checks of the doctor that need a made-up host: Debian's keys, and a host without a known mirror."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.commands import doctor, images
from flashbed.commands.doctor import HostCheck
from flashbed.common import programs
from flashbed.image import apt


def check_of(subject: str) -> HostCheck:
    return next(check for check in doctor.examine() if check.subject == subject)


def test_debian_s_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(apt.MIRRORS_VARIABLE, "http://127.0.0.1:9/debian/")
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path))
    keys = tmp_path / "keys.gpg"
    monkeypatch.setattr(apt, "KEYRING", keys)
    expected = HostCheck("Debian's keys", False, f"{keys} cannot be read", "apt-get install debian-archive-keyring")
    assert check_of("Debian's keys") == expected
    keys.touch()
    assert check_of("Debian's keys").fine


@pytest.mark.parametrize("imported", [True, False])
def test_a_host_with_an_imported_image_need_not_build(
    imported: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path))
    monkeypatch.setenv(apt.MIRRORS_VARIABLE, "http://127.0.0.1:9/debian/")
    if imported:
        checkers = tmp_path / "checkers" / "bin"
        checkers.mkdir(parents=True)
        (checkers / "e2fsck").write_text("#!/bin/sh\n")
        (checkers / "e2fsck").chmod(0o755)
    monkeypatch.setattr(programs, "find", lambda tool, first=None: _only_in(first, tool))
    checks = {check.subject: check for check in doctor.examine()}
    assert (checks["cc"].fine, checks["cc"].needed) == (False, not imported)
    assert (checks["setpriv"].fine, checks["setpriv"].needed) == (False, True)
    assert checks["e2fsck"].fine is imported


def _only_in(folder: Path | None, tool: str) -> Path | None:
    return place if folder is not None and (place := folder / tool).is_file() else None


@pytest.mark.parametrize("built", [True, False])
def test_a_host_whose_apt_knows_no_mirror(built: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(apt.MIRRORS_VARIABLE, raising=False)
    monkeypatch.setattr(apt, "run", lambda *_: "Ubuntu|noble|http://u.example/ubuntu/\n")
    monkeypatch.setattr(images, "is_built", lambda _: built)
    mirrors_check = check_of("mirrors of Debian")
    assert (mirrors_check.fine, mirrors_check.needed) == (False, not built)
    assert mirrors_check.detail == "apt knows of no Debian mirror on this machine"
    assert mirrors_check.remedy.endswith("set FLASHBED_DEBIAN to the address of a Debian mirror")
