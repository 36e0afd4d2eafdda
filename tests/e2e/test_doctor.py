# SPDX-License-Identifier: Apache-2.0
"""flashbed doctor: what is missing on this machine is told with what mends it. Caches are in test_caches.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import web_folder
from tests.support.fixture_types import Flashbed

SETUP = 3
NO_MIRROR = "http://127.0.0.1:9/debian/"
"""Where nobody listens."""


def path_without(program: str, folder: Path) -> str:
    """Return a search path with all programs of this host except one. X11's packages bring /usr/bin/X11, a link to its
    own directory, so two entries of the path may have the same program.
    """
    folder.mkdir()
    for place in os.environ["PATH"].split(":"):
        for there in Path(place).iterdir() if Path(place).is_dir() else ():
            if there.name != program and not os.path.lexists(folder / there.name):
                (folder / there.name).symlink_to(there)
    return str(folder)


def findings(output: str) -> dict[str, tuple[str, str, str]]:
    """Return the state, the detail and the remedy by subject."""
    by_check: dict[str, tuple[str, str, str]] = {}
    subject = ""
    for line in output.splitlines():
        if line.startswith("  "):
            by_check[subject] = (*by_check[subject][:2], line.partition("-> ")[2])
        else:
            state, words = line[:7].strip(), line[9:]
            subject, _, detail = words.partition(": ")
            by_check[subject] = state, detail, ""
    return by_check


def test_nothing_is_missing_here(flashbed: Flashbed) -> None:
    done = flashbed("doctor")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("program", "subject", "package"),
    [("ninja", "what the emulator is built with", "ninja-build"), ("git", "git", "git")],
)
def test_a_program_that_is_missing(
    flashbed: Flashbed, tmp_path: Path, program: str, subject: str, package: str
) -> None:
    done = flashbed("doctor", PATH=path_without(program, tmp_path / "bin"))
    state, _, remedy = findings(done.stdout)[subject]
    assert (done.returncode, state, remedy) == (SETUP, "MISSING", f"apt-get install {package}")


def test_without_apt_no_mirror_is_asked(flashbed: Flashbed, tmp_path: Path) -> None:
    done = flashbed("doctor", PATH=path_without("apt-get", tmp_path / "bin"), FLASHBED_DEBIAN=NO_MIRROR)
    assert done.returncode == SETUP
    by_check = findings(done.stdout)
    assert by_check["apt-get"] == ("MISSING", "not installed", "apt-get install apt")
    assert "a mirror of debian" not in by_check


def test_a_mirror_that_does_not_answer_is_a_caution_where_all_is_built(flashbed: Flashbed) -> None:
    done = flashbed("doctor", FLASHBED_DEBIAN=NO_MIRROR)
    assert done.returncode == 0, done.stdout
    by_check = findings(done.stdout)
    state, detail, remedy = by_check["a mirror of debian"]
    assert state == "caution"
    assert detail.startswith(f"{NO_MIRROR}dists/bookworm/InRelease: Could not connect to 127.0.0.1:9")
    assert remedy == "set FLASHBED_DEBIAN to the addresses of mirrors that answer"
    remedy += ", one of them with debian-security at its end"
    assert by_check["a mirror of debian-security"] == ("caution", "none known", remedy)


def test_a_mirror_that_does_not_answer_is_missing_where_nothing_is_built(flashbed: Flashbed, tmp_path: Path) -> None:
    """The second one would do. Nothing is made."""
    (tmp_path / "debian/dists/bookworm").mkdir(parents=True)
    (tmp_path / "debian/dists/bookworm/InRelease").write_text("made up")
    with web_folder.served(tmp_path) as address:
        mirrors = f"{NO_MIRROR} {address}/debian {address}/debian-security"
        done = flashbed("doctor", FLASHBED_DEBIAN=mirrors, FLASHBED_CACHE=str(tmp_path / "none"))
    assert done.returncode == SETUP
    by_check = findings(done.stdout)
    assert by_check["a mirror of debian"] == ("ok", f"{address}/debian/dists/bookworm/InRelease", "")
    state, detail, remedy = by_check["a mirror of debian-security"]
    assert state == "MISSING"
    assert detail.startswith(f"{address}/debian-security/dists/bookworm-security/InRelease: 404")
    assert remedy.startswith("set FLASHBED_DEBIAN to ")
    assert not (tmp_path / "none").exists()
