# SPDX-License-Identifier: Apache-2.0
"""The host's Debian packages of a pack's programs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from flashbed.common import programs
from flashbed.common.digest import digest_file
from flashbed.packs import gathering


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="this host has no packages of Debian")
def test_dpkg_is_asked_twice_for_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    run = programs.run

    def noted(command: Any, **words: Any) -> Any:
        calls.append(command[1])
        return run(command, **words)

    monkeypatch.setattr(programs, "run", noted)
    ours = tmp_path / "ours"
    ours.write_text("built here")
    true, grep = (Path(shutil.which(name) or "").resolve() for name in ("true", "grep"))
    lines = gathering.packages([grep, ours, true, true])
    assert calls == ["-S", "-W"]
    assert lines == sorted(lines)
    columns = {line.split("  ")[1]: line.split("  ") for line in lines}
    assert columns["ours"] == [digest_file(ours), "ours", "no known package"]
    assert columns["true"][2].startswith("coreutils ")
    assert columns["grep"][2].startswith("grep ")
    assert "(source grep " in columns["grep"][2]


def test_a_host_without_dpkg_has_no_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ours = tmp_path / "ours"
    ours.write_text("built here")
    assert gathering.packages([ours]) == [f"{digest_file(ours)}  ours  no known package"]
