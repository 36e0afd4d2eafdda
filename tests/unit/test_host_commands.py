# SPDX-License-Identifier: Apache-2.0
"""A study is data: on this computer runs what shipped profiles run, and what its user has allowed by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import write, write_study

from flashbed import host_commands, paths, run
from flashbed.errors import InputError
from flashbed.study import Study, load_study

EXT2 = (paths.profiles() / "filesystems/ext2.toml").read_text()
SHIPPED = 'check     = "e2fsck -f -n {image}"'


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))


def study(folder: Path, check: str) -> Study:
    assert SHIPPED in EXT2
    write(folder / "profiles/filesystems/mine.toml", EXT2.replace(SHIPPED, f"check = '{check}'"))
    return load_study(write_study(folder, ("ext2:block=4k", "mine:block=4k")))


def test_what_shipped_profiles_run_needs_no_leave(tmp_path: Path) -> None:
    assert host_commands.known(paths.profiles()) >= {"e2fsck -f -n {image}", "fsck.fat -n {image}"}
    host_commands.check(study(tmp_path, "fsck.fat -n {image}"))
    host_commands.check(study(tmp_path, ""))


@pytest.mark.parametrize("check", ["touch /tmp/x {image}", "e2fsck -f -y {image}", "e2fsck -f -n  {image}"])
def test_any_other_command_is_refused_before_anything_is_measured(tmp_path: Path, check: str) -> None:
    mine = study(tmp_path, check)
    with pytest.raises(InputError) as caught:
        run.run(mine)
    assert caught.value.exit_code == 2
    file = tmp_path / "profiles/filesystems/mine.toml"
    assert f"{file}:9: check: {check}\n" in caught.value.message
    assert f"flashbed allow {tmp_path / 'sample.toml'} mine" in caught.value.message
    assert not (tmp_path / "cache").exists()  # nothing was built or even looked for


def test_what_is_allowed_is_the_text_of_one_command(tmp_path: Path) -> None:
    mine = study(tmp_path, "touch /tmp/x {image}")
    with pytest.raises(InputError, match=r'no file system "min" .*did you mean "mine"'):
        host_commands.chosen(mine, ["min"])
    for command in host_commands.chosen(mine, ["mine"]):
        command.allow()
    host_commands.check(mine)
    host_commands.check(study(tmp_path, "touch /tmp/x {image}"))
    with pytest.raises(InputError, match="flashbed allow"):
        host_commands.check(study(tmp_path, "touch /tmp/y {image}"))


def test_a_leave_that_was_changed_is_none(tmp_path: Path) -> None:
    [command] = host_commands.foreign(study(tmp_path, "touch /tmp/x {image}"))
    command.allow()
    [kept] = (tmp_path / "cache/allowed").iterdir()
    kept.write_text("touch /tmp/z {image}")
    assert not command.is_allowed
