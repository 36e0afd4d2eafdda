# SPDX-License-Identifier: Apache-2.0
"""A medium that is kept is what medium.json says, whatever fails or is killed while it is changed."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from flashbed.profiles.stored_medium import locate
from tests.support.fixture_types import FLASHBED, Flashbed, Start
from tests.support.running import command_lines

IN_A_SPACE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
STICK = "usb-stick-2g:used_bytes=4M"


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["", " ", ".", "..", ".hidden", "x" * 300, "a\nb"])
@pytest.mark.parametrize("command", ["create", "inspect"])
def test_names_that_are_none(flashbed: Flashbed, fresh_cache: Path, name: str, command: str) -> None:
    done = flashbed("medium", command, name, *(["null-2g"] if command == "create" else []))
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("flashbed: medium ")
    assert "a medium has a name, such as worn" in done.stderr
    assert not (fresh_cache / "media").exists()


KILLED = {
    "precondition": ("precondition", "a", "--overwrite", "100000"),
    "cut": ("cut", "a", "--overwrite", "100000", "--at-request", "100000000", "--as", "b"),
    "create": ("create", "b", "nvme-960pro-class:condition=worn"),
}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("command", [*KILLED])
def test_killed_on_the_way(
    flashbed: Flashbed, start: Start, fresh_cache: Path, command: str, number: signal.Signals
) -> None:
    media = fresh_cache / "media"
    assert flashbed("medium", "create", "a", STICK).returncode == 0
    process = start("medium", *KILLED[command])
    deadline = time.monotonic() + 60
    while not (replay := replays(media)) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    if command == "precondition":  # its first step, filling, is over at once
        while len(json.loads((media / "a/medium.json").read_text())["made"]) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    before = content(media / "a")
    begin = time.monotonic()
    process.send_signal(number)
    process.communicate()
    while replay := replays(media):
        assert time.monotonic() - begin < 3, replay
        time.sleep(0.01)
    after = content(media / "a")
    assert {name: after[name] for name in ("state.bin", "data.img", "medium.json")} == {
        name: before[name] for name in ("state.bin", "data.img", "medium.json")
    }
    assert flashbed("medium", "create", "b", STICK).returncode == 0
    assert flashbed("medium", "age", "a", "--days", "1").returncode == 0
    assert files(media) == [f"{name}/{file}" for name in "ab" for file in ("data.img", "medium.json", "state.bin")]


def replays(media: Path) -> list[str]:
    """Return the command lines of flashbed-replay that work below `media`."""
    return command_lines("flashbed-replay", media)


def test_killed_between_the_state_and_what_is_told(flashbed: Flashbed, fresh_cache: Path) -> None:
    """The state has been renamed, medium.json not yet."""
    assert flashbed("medium", "create", "a", STICK).returncode == 0
    folder = fresh_cache / "media/a"
    (folder / "medium.json.new").write_text(json.dumps({"profile": STICK, "made": ["created", "3 days switched off"]}))
    assert "3 days switched off" in flashbed("medium", "inspect", "a").stdout
    assert files(folder) == ["data.img", "medium.json", "state.bin"]


def test_two_change_it_at_a_time(flashbed: Flashbed, start: Start, fresh_cache: Path) -> None:
    assert flashbed("medium", "create", "a", STICK).returncode == 0
    begun = [start("medium", "age", "a", "--days", str(days)) for days in (1, 2, 3)]
    for process in begun:
        assert process.wait() == 0
    made = locate(str(fresh_cache / "media/a"), Path()).origin().made
    assert sorted(made) == ["1 days switched off", "2 days switched off", "3 days switched off", "created"]
    assert not list((fresh_cache / "media").glob(".*"))


FULL = {
    # The disk has room for one medium and a little more, or for less than one
    "create": ("40k", "", ("create", "b", STICK)),
    "precondition": ("16M", "fill", ("precondition", "a")),
    "age": ("16M", "fill", ("age", "a", "--days", "3")),
    "cut": ("16M", "fill", ("cut", "a", "--as", "b")),
}


@pytest.mark.parametrize("command_name", [*FULL])
def test_the_disk_is_full(fresh_cache: Path, tmp_path: Path, command_name: str) -> None:
    if subprocess.run([*IN_A_SPACE, "true"], capture_output=True).returncode:
        pytest.skip("this host gives no name spaces to users")
    size, fill, command = FULL[command_name]
    media = fresh_cache / "media"
    media.mkdir()
    script = f'mount -t tmpfs -o size={size} tmpfs "$0" && cd "$0" || exit 99\n'
    if fill:
        script += f"{FLASHBED} medium create a {STICK} && {FLASHBED} medium precondition a --no-fill || exit 98\n"
        script += "cp a/state.bin before && head -c 32M /dev/zero > filler 2>/dev/null\n"
    script += (
        '"$@"; status=$?; find . -type f | sort >&2; [ ! -e before ] || cmp before a/state.bin || exit 97; exit $status'
    )
    done = subprocess.run(
        [*IN_A_SPACE, script, media, FLASHBED, "medium", *command],
        capture_output=True,
        text=True,
        env={**os.environ, "FLASHBED_CACHE": str(fresh_cache)},
        timeout=60,
    )
    assert done.returncode == 4, done.stderr
    first, *left = done.stderr.splitlines()
    assert first.startswith(f"flashbed: {media}/")
    assert "no room left on this disk" in first
    there = ["./a/data.img", "./a/medium.json", "./a/state.bin", "./before", "./filler"] if fill else []
    assert left == there


def test_a_thousand_overwrites_take_no_memory(flashbed: Flashbed) -> None:
    """256 million requests, which took 40 bytes each; the time is that of the first seconds."""
    assert flashbed("medium", "create", "a", "null-2g:capacity_bytes=64M").returncode == 0
    limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (600 << 20, limit[1]))
    try:
        done = flashbed("medium", "precondition", "a", "--overwrite", "1000")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)
    assert done.returncode == 0, done.stderr
