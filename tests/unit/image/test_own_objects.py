# SPDX-License-Identifier: Apache-2.0
"""A user's kernels are compiled once: objects are reused from any directory, and lines are located only on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import locks
from flashbed.image import changed_code, own_kernel
from flashbed.image.cache import Cache
from flashbed.image.changed_code import Changed
from flashbed.image.kernel import Kernel
from flashbed.image.kernel_sources import KernelSource, Sources
from flashbed.image.own_kernel import ObjectsFolder
from flashbed.profiles.kernel_choice import KernelChoice

CHOICE = KernelChoice("./linux", "6.1")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))


def source(home: str, tree: str = "1a2b", before: str | None = None) -> KernelSource:
    return KernelSource(tree, "linux", home, before)


def place(of: KernelSource, version: str = "6.1") -> Path:
    with own_kernel.objects_of(of, version) as work:
        return work.folder


def compiled(of: KernelSource, version: str = "6.1") -> Path:
    """Make a directory with the objects of this source."""
    folder = place(of, version)
    ObjectsFolder(folder).built.write_text(f"{of.tree} {version}")
    return folder


def test_each_home_has_objects_of_its_own() -> None:
    assert place(source("/a/linux")) == place(source("/a/linux", "3c4d"))
    assert place(source("/a/linux")) != place(source("/b/linux"))
    assert place(source("/a/linux")) != place(source("/a/linux"), "6.12")


def test_objects_of_the_same_source_are_taken_wherever_they_are() -> None:
    """A moved tree, or a second checkout, was compiled again completely to locate its lines."""
    there = compiled(source("/a/linux"))
    assert place(source("/b/linux")) == there
    assert place(source("/b/linux"), "6.1-debug") != there
    assert place(source("/b/linux", "3c4d")) != there
    own = compiled(source("/b/linux", "3c4d"))
    ObjectsFolder(own).built.write_text("1a2b 6.1")
    assert place(source("/b/linux")) == own  # its own come first
    ObjectsFolder(there).built.write_text("1a2b")  # by a flashbed that did not note the version
    assert place(source("/c/linux")) == own


def test_the_lock_is_that_of_the_folder_which_is_used() -> None:
    there = compiled(source("/a/linux"))
    with own_kernel.objects_of(source("/b/linux"), "6.1"):
        assert locks.take(there.with_name(f".{there.name}.lock")) is None


def test_lines_that_nobody_looked_for_are_not_known_and_nothing_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = source("/a/linux", before="0000")
    cache = Cache(tmp_path / "image")
    entry = cache.entry("linux-own", {}, lambda folder: (folder / "Image").write_text("x"))
    monkeypatch.setattr(Sources, "changes", lambda *_: "")
    looked: list[str] = []

    def look(*_: object) -> Changed:
        looked.append("at all")
        return Changed({"fs/one.c:1": [4]})

    monkeypatch.setattr(own_kernel, "compile_in", lambda *_: looked.append("compiled"))
    monkeypatch.setattr(changed_code, "locate", look)

    def changed(lines: bool) -> Changed | None:
        return own_kernel._changed(cache, Kernel(entry, "linux"), tree, "0000", CHOICE, "", lines)

    assert changed(False) is None
    assert looked == []
    located = changed(True)
    assert looked == ["compiled", "at all"]
    assert located
    assert located.code == {"fs/one.c:1": [4]}
    assert changed(False) == located  # what was looked for once is known
    assert looked == ["compiled", "at all"]
