# SPDX-License-Identifier: Apache-2.0
"""A cache that cannot be used is told in one sentence, by every command and by `doctor`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import name_space
from tests.support.facts import Facts
from tests.support.fixture_types import FLASHBED

READ_ONLY = 'mount -t tmpfs tmpfs "$0" && mkdir "$0/cache" && mount -o remount,ro "$0" && exec "$@"'


def call(*command: str | Path, **environment: str | None) -> tuple[int, str]:
    """Exit status, and all that was said."""
    chosen = {key: value for key, value in {**os.environ, **environment}.items() if value is not None}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=chosen, timeout=60)
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "command", [("list",), ("show", "abc"), ("report", "quick"), ("medium", "create", "a", "null-2g")]
)
@pytest.mark.parametrize("place", ["~nosuch/x", "/dev/null/x", "/proc/x"])
def test_a_place_that_is_none(command: tuple[str, ...], place: str) -> None:
    status, output = call(FLASHBED, *command, FLASHBED_CACHE=place)
    assert status in (3, 4)
    assert place in output
    assert output.count("flashbed: ") == 1


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("~nosuch/x", "MISSING  the cache: FLASHBED_CACHE=~nosuch/x: there is no such user\n"),
        ("/dev/null/x", "MISSING  /dev/null/x: /dev/null is no folder\n"),
    ],
)
def test_doctor_tells(place: str, message: str) -> None:
    status, output = call(FLASHBED, "doctor", FLASHBED_CACHE=place)
    assert status == 3
    assert message in output
    assert "FLASHBED_CACHE to" in output.partition(message)[2].splitlines()[0]
    assert "make room" not in output


def test_a_read_only_disk(tmp_path: Path) -> None:
    name_space.wanted()
    cache = tmp_path / "cache"
    there = (*name_space.NO_ROOT, "sh", "-c", READ_ONLY, tmp_path, FLASHBED)
    for command in (("list",), ("report", "quick"), ("run", "quick"), ("medium", "create", "a", "null-2g")):
        status, output = call(*there, *command, FLASHBED_CACHE=str(cache))
        assert status == 4
        assert "Read-only file system; mend that, or use another folder" in output.splitlines()[-1]
    status, output = call(*there, "doctor", FLASHBED_CACHE=str(cache))
    assert status == 3
    assert f"MISSING  {cache}: {cache} lies on a disk that is read-only\n" in output


NOBODY = """
import pwd
def none(_):
    raise KeyError
pwd.getpwuid = none
from flashbed.cli import main
main()
"""


def test_no_home() -> None:
    """A user that the host does not know, as in many containers."""
    python = Path(FLASHBED).with_name("python")
    nobody = {"HOME": None, "FLASHBED_CACHE": None, "XDG_CACHE_HOME": None}
    status, output = call(python, "-c", NOBODY, "list", **nobody)
    assert status == 3
    assert output.splitlines()[-1] == Facts("flashbed: ", "HOME", "FLASHBED_CACHE")
    status, output = call(python, "-c", NOBODY, "doctor", **nobody)
    assert status == 3
    assert "MISSING  the cache: this user has no home (HOME is not set)\n" in output


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    """Root is held to the mode of its folders, too, where it has no capabilities."""
    place = tmp_path / "locked"
    place.mkdir()
    place.chmod(0o555)
    plain = ("setpriv", "--inh-caps=-all", "--bounding-set=-all") if os.getuid() == 0 else ()
    for command in (("list",), ("report", "quick"), ("medium", "create", "a", "null-2g")):
        status, output = call(*plain, FLASHBED, *command, FLASHBED_CACHE=f"{place}/x")
        assert status == 4
        assert Facts(f"flashbed: {place}/x", "Permission denied").within(output.splitlines()[-1])
    status, output = call(*plain, FLASHBED, "doctor", FLASHBED_CACHE=f"{place}/x")
    assert status == 3
    assert f"MISSING  {place}/x: {place} cannot be written by this user\n" in output
