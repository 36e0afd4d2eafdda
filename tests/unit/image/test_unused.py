# SPDX-License-Identifier: Apache-2.0
"""The cache's content, and which entries are removed: those that can be made again, were not used for long, and are not
in use.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from flashbed.commands import cached
from flashbed.common import locks
from flashbed.common.errors import HostResourceError
from flashbed.image import unused
from flashbed.image.cache import MANIFEST, Cache
from tests.support.facts import Facts

DAY_S = 86_400


def built(root: Path, name: str, unused_days: float = 0, place: str = "image") -> Path:
    """Make an entry of a build that was last used so long ago."""
    made = Cache(root / place).entry(name, {"of": name}, lambda to: (to / "product").write_bytes(bytes(50_000)))
    age(made.folder / MANIFEST, unused_days)
    return made.folder


def age(path: Path, days: float) -> None:
    then = time.time() - days * DAY_S
    os.utime(path, (then, then))


def objects(root: Path, name: str, unused_days: float) -> Path:
    """Make a directory in which kernels are compiled."""
    folder = root / name
    (folder / "linux").mkdir(parents=True)
    (folder / "built").touch()
    for path in (folder / "built", folder / "linux", folder):
        age(path, unused_days)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a cache with results, a kept medium and packages, all a year old."""
    for name in ("results/cells/aa", "media/mine", "elsewhere/a", "debian-arm64/cache", "kernels/sources.git"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("x")
        age(tmp_path / name / "file", 365)
    return tmp_path


def test_what_was_not_used_for_long_goes_and_nothing_that_cannot_be_made_again(root: Path) -> None:
    old = [built(root, "linux", 31), built(root, "worn", 40, "conditions"), objects(root / "kernels", "linux-1a", 31)]
    small = objects(root / "image", "linux-objects-arm64", 50)
    new = [built(root, "fio", 29), objects(root / "kernels", "linux-2b", 3)]
    lines = list(cached.removed(root, 30))
    assert [line.partition(":")[0] for line in lines[:-1]] == [
        f"image/{old[0].name}", "image/linux-objects-arm64", f"conditions/{old[1].name}", "kernels/linux-1a"
    ]  # fmt: skip
    assert lines[-1].startswith("4 entries removed, 1")
    assert not any(folder.exists() for folder in (*old, small))
    assert all(folder.exists() for folder in new)
    assert len(list(root.rglob("file"))) == 5
    assert [path.name for path in root.rglob(".*")] == []  # neither locks nor halves
    assert list(cached.removed(root, 30)) == ["0 entries removed, 0 bytes; no result was touched."]


def test_who_uses_an_entry_notes_it(root: Path) -> None:
    folder = built(root, "linux", 31)
    assert [entry.unused_days(time.time()) for entry in unused.entries(root)] == [31]
    Cache(root / "image").entry("linux", {"of": "linux"}, lambda _: None)
    assert [entry.unused_days(time.time()) for entry in unused.entries(root)] == [0]
    noted = (folder / MANIFEST).stat().st_mtime_ns
    Cache(root / "image").entry("linux", {"of": "linux"}, lambda _: None)
    assert (folder / MANIFEST).stat().st_mtime_ns == noted  # to an hour: a run asks for hundreds


def test_an_entry_that_another_run_has_stays(root: Path) -> None:
    folder = built(root, "linux", 31)
    with locks.wait_for(folder.with_name(f".{folder.name}.lock")):
        assert list(unused.remove(root, 30)) == []
    assert [name for name, _ in unused.remove(root, 30)] == [f"image/{folder.name}"]


def test_nothing_goes_while_a_run_is_under_way(root: Path) -> None:
    folder = built(root, "linux", 31)
    with locks.scratch(root / "work"), pytest.raises(HostResourceError, match="a run is under way"):
        list(unused.remove(root, 30))
    assert folder.exists()
    (root / "work/1a2b").mkdir()
    (root / "work/1a2b.lock").touch()  # of a run that was killed
    assert len(list(unused.remove(root, 30))) == 1


def test_what_lies_there_is_told_with_its_size(root: Path) -> None:
    built(root, "linux", 31)
    (root / "mine.txt").write_text("x")
    parts = {name: (size, meaning) for name, size, meaning in cached.parts(root)}
    assert next(iter(parts)) == "image"
    assert parts["results"][1] == "what was measured: never removed by itself"
    assert "Debian" in parts["debian-arm64"][1]
    assert parts["mine.txt"][1] == "not the lab's own"
    assert cached.advice(root).startswith("1 entry was not used for 30 days and can be made again (")
    assert cached.advice(root).endswith(": `flashbed cache --remove-unused 30` removes it.")
    list(unused.remove(root, 30))
    assert cached.advice(root) == Facts("Nothing", "unused for 30 days")
    assert cached.parts(root / "none") == []


def test_holes_and_links_take_nothing(tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "link").symlink_to("/usr")
    assert unused.on_disk(tmp_path) < 1 << 20
