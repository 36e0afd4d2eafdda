# SPDX-License-Identifier: Apache-2.0
"""The cache of builds: two processes share a build, killed ones leave nothing, and damaged entries are built again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from flashbed.common.errors import HostResourceError, InterruptedByUser
from flashbed.image import cache as cache_module
from flashbed.image.cache import LISTING, Cache, Entry
from flashbed.image.kernel import Kernel
from flashbed.image.stores import BuiltOnly, NotBuilt

# Builds the entry "thing" in the cache argv[1], until there is a file argv[2]; "begun" is printed from inside.
BUILDER = """
import sys, time, logging
from pathlib import Path
from flashbed.image.cache import Cache
logging.basicConfig(format="%(message)s")
def fill(folder):
    (folder / "half").write_text("x" * 1000)
    print("begun", flush=True)
    while not Path(sys.argv[2]).exists():
        time.sleep(0.01)
    (folder / "half").rename(folder / "product")
Cache(Path(sys.argv[1])).entry("thing", {"a": 1}, fill)
"""


def builder(root: Path, until: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(cache_module.__file__).parents[2])}
    command = [sys.executable, "-c", BUILDER, str(root), str(until)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tree(root: Path) -> Entry:
    """Return a big entry with two products, such as a kernel tree."""

    def fill(folder: Path) -> None:
        for name in ("Image", "include/a.h", "include/deep/b.h"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"this is {name}")
        (folder / "link").symlink_to("include")

    return Cache(root).entry("tree", {"a": 1}, fill, products=["Image"])


def test_who_builds_nothing_waits_for_nobody(tmp_path: Path) -> None:
    root, go = tmp_path / "image", tmp_path / "go"
    with builder(root, go) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "begun\n"
        with pytest.raises(NotBuilt, match="is not built"):
            BuiltOnly(root).entry("thing", {"a": 1}, lambda _: None)
        go.touch()
    assert BuiltOnly(root).entry("thing", {"a": 1}, lambda _: None).path("product").exists()


def test_the_second_waits_for_the_first_and_says_so(tmp_path: Path) -> None:
    root, go = tmp_path / "image", tmp_path / "go"
    first = builder(root, go)
    assert first.stdout is not None
    assert first.stdout.readline() == "begun\n"
    second = builder(root, go)
    assert second.stderr is not None
    line = second.stderr.readline()
    assert "another run is making thing-" in line
    assert "waiting for it" in line
    go.touch()
    out, _ = second.communicate(timeout=30)
    assert (second.returncode, out) == (0, "")  # it has built nothing
    assert first.wait() == 0
    assert [path.name[0] for path in root.iterdir()] == ["t"]  # no lock is left


def test_what_a_killed_build_left_goes_at_the_next_run(tmp_path: Path) -> None:
    process = builder(tmp_path, tmp_path.parent / "never")
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    old = tmp_path / ".gone-0123456789abcdef-xyz_1234"  # as they were called before
    old.mkdir()
    (tmp_path / ".gone-0123456789abcdef.lock").touch()
    Cache(tmp_path).entry("other", {}, lambda folder: (folder / "product").touch())
    assert not old.exists()
    assert len(list(tmp_path.glob(".thing-*.part"))) == 1  # at work
    process.send_signal(signal.SIGKILL)
    process.communicate()
    # Another entry than the killed one, that is there already
    Cache(tmp_path).entry("other", {}, lambda _: pytest.fail("it is there"))
    assert [path.name[:5] for path in tmp_path.iterdir()] == ["other"]


def test_who_stops_a_build_does_not_wait_until_all_is_removed(tmp_path: Path) -> None:
    def stopped(folder: Path) -> None:
        (folder / "file").touch()
        raise InterruptedByUser("stopped")

    with pytest.raises(InterruptedByUser):
        Cache(tmp_path).entry("thing", {}, stopped)
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    Cache(tmp_path).entry("other", {}, lambda folder: (folder / "product").touch())
    assert [path.name[:5] for path in tmp_path.iterdir()] == ["other"]


def test_a_file_that_is_no_product_is_missed_by_who_builds_on_it(tmp_path: Path) -> None:
    damages: list[Callable[[Path], object]] = [Path.unlink, lambda path: path.write_text("short")]
    for damage in damages:
        whole = tree(tmp_path)
        damage(whole.path("include/deep/b.h"))
        again = tree(tmp_path)  # a run that builds nothing on top does not look
        kernel = Kernel(again, "1")
        assert kernel.tree == whole.folder / "linux"
        assert whole.path("include/deep/b.h").read_text() == "this is include/deep/b.h"


def test_a_manifest_with_another_recipe_is_damaged(tmp_path: Path) -> None:
    """A changed letter of a manifest that nobody reads otherwise: the entry would count as another one."""
    whole = tree(tmp_path)
    manifest = whole.path("MANIFEST.json")
    text = manifest.read_text()
    manifest.write_text(text.replace('"a": 1', '"a": 2'))
    assert tree(tmp_path) == whole
    assert manifest.read_text() == text


def test_a_thorough_look_mends(tmp_path: Path) -> None:
    whole = tree(tmp_path)
    whole.path("include/a.h").unlink()
    built = []

    def fill(folder: Path) -> None:
        built.append(folder)
        (folder / "Image").write_text("this is Image")

    Cache(tmp_path, thorough=True).entry("tree", {"a": 1}, fill, products=["Image"])
    Cache(tmp_path, thorough=True).entry("tree", {"a": 1}, fill, products=["Image"])
    assert len(built) == 1


@pytest.mark.parametrize("damage", ["", "x y\n", "1 stdio.h\n", None])
def test_whoever_builds_on_top_has_a_damaged_listing_mended(tmp_path: Path, damage: str | None) -> None:
    built = []

    def fill(folder: Path) -> None:
        built.append(folder)
        (folder / "stdio.h").write_text("x")
        (folder / "stdlib.h").write_text("xy")

    def entry() -> Entry:
        return Cache(tmp_path).entry("root", {}, fill, products=["stdio.h"])

    listing = entry().path(LISTING)
    assert listing.read_text() == "1 stdio.h\n2 stdlib.h\n"
    if damage is None:
        listing.unlink()
    else:
        listing.write_text(damage)
    entry()
    assert len(built) == 1
    entry().mend()
    entry().mend()
    assert len(built) == 2


def test_what_is_mended_is_the_same_or_told(tmp_path: Path) -> None:
    number = []

    def fill(folder: Path) -> None:
        number.append(1)
        (folder / "Image").write_text(f"{len(number)}")
        (folder / "a.h").touch()

    entry = Cache(tmp_path).entry("tree", {}, fill, products=["Image"])
    entry.path("a.h").unlink()
    with pytest.raises(HostResourceError, match="was damaged, and is made again; run again"):
        entry.mend()
    entry = Cache(tmp_path).entry("tree", {}, fill, products=["Image"])
    entry.mend()
    assert (entry.path("Image").read_text(), len(number)) == ("2", 2)


def test_a_big_tree_costs_a_run_nothing(tmp_path: Path) -> None:
    """An entry with many files, like a kernel tree. Only its products are checked: all files would take 45 ms."""

    def fill(folder: Path) -> None:
        (folder / "Image").write_text("x")
        for number in range(12_000):
            (folder / f"{number}.h").touch()

    def entry() -> Entry:
        return Cache(tmp_path).entry("tree", {}, fill, products=["Image"])

    entry()
    times = []
    for _ in range(5):
        begin = time.thread_time()
        entry()
        times.append(time.thread_time() - begin)
    assert min(times) < 0.02


def test_threads_share_too(tmp_path: Path) -> None:
    built = []

    def fill(folder: Path) -> None:
        built.append(folder)
        time.sleep(0.2)
        (folder / "product").touch()

    threads = [threading.Thread(target=lambda: Cache(tmp_path).entry("thing", {}, fill)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostResourceError, match="mend that, or use another folder"):
        Cache(tmp_path / "file" / "image").entry("thing", {}, lambda _: None)
