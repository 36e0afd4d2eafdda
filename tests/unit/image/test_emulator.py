# SPDX-License-Identifier: Apache-2.0
"""The emulator's source and its build requirements. Every test that boots a guest shows that it works."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from flashbed.common import paths
from flashbed.common.errors import SetupError
from flashbed.image import emulator
from tests.support.repository import REPOSITORY


def test_another_tarball_is_refused(tmp_path: Path) -> None:
    (tmp_path / "qemu_10.0+ds.orig.tar.xz").write_bytes(b"another")
    with pytest.raises(SetupError, match=r"another source of qemu than 7\.2's of Debian 12"):
        emulator._unpack([tmp_path / "qemu_10.0+ds.orig.tar.xz"], tmp_path / "tree")


@pytest.mark.parametrize(("tool", "package"), [("ninja", "ninja-build"), ("make", "make"), ("cc", "gcc")])
def test_a_tool_that_is_missing_is_told_with_its_package(
    tool: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **rest: None if name == tool else which(name, **rest))
    assert emulator.missing_packages() == [package]


def test_a_header_that_is_missing_is_told_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator, "HEADERS", {**emulator.HEADERS, "lost/lost.h": "liblost-dev"})
    assert emulator.missing_packages() == ["liblost-dev"]


def test_nothing_is_begun_that_cannot_be_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator, "missing_packages", lambda: ["ninja-build", "libfdt-dev"])
    with pytest.raises(SetupError, match="`apt-get install ninja-build libfdt-dev`"):
        emulator._fill(tmp_path, tmp_path)


def test_a_patch_says_why_and_under_which_licence() -> None:
    for patch in sorted((paths.emulator() / "patches").glob("*.patch")):
        head = patch.read_text().partition("\n--- ")[0]
        assert "SPDX-License-Identifier: GPL-2.0-or-later" in head, patch
        assert len(head.split()) > 12, patch


def test_each_file_of_the_emulator_has_its_place() -> None:
    files = {path.name for path in paths.emulator().iterdir() if path.is_file()}
    assert files == set(emulator.EMULATOR_FILES)


def test_only_a_changed_file_of_the_lab_is_placed_again(tmp_path: Path) -> None:
    tree, media = tmp_path / "tree", tmp_path / "media"
    shutil.copytree(paths.media(), media, ignore=shutil.ignore_patterns("build"))
    for place in emulator.EMULATOR_FILES.values():
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
    emulator.place_own(tree, paths.emulator(), media)
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*") if path.is_file()}
    assert len(before) > len(emulator.EMULATOR_FILES)
    (media / "src/flash.c").write_text("changed")
    emulator.place_own(tree, paths.emulator(), media)
    changed = [path for path, at_ns in before.items() if path.stat().st_mtime_ns != at_ns]
    assert changed == [tree / emulator.MEDIA_CORE / "flash.c"]
    assert changed[0].read_text() == "changed"


def test_what_setup_installs_is_what_the_build_needs() -> None:
    listed = (REPOSITORY / "setup/packages.txt").read_text().split()
    assert set(emulator.TOOLS.values()) | set(emulator.HEADERS.values()) <= set(listed)


class Digests(NamedTuple):
    """The digests in keys, by observing part, and the digest of the build."""

    keys: str
    observers: dict[str, str]
    built: str


def digests() -> Digests:
    observers = {name: emulator.observer_digest.__wrapped__(name) for name in emulator.OBSERVERS}
    return Digests(emulator.digest.__wrapped__(), observers, emulator._digest_of())


def after_change(changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Digests:
    before = digests()
    subprocess.run(["cp", "-r", paths.emulator(), tmp_path / "emulator"], check=True)
    monkeypatch.setattr(paths, "emulator", lambda: tmp_path / "emulator")
    assert digests() == before
    with (tmp_path / "emulator" / changed).open("a") as file:
        file.write("\n")
    return digests()


@pytest.mark.parametrize("changed", ["lab-clock.c", "lab-lines.c", "patches/80-counter.patch"])
def test_a_change_of_the_clock_is_another_emulator(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = digests(), after_change(changed, tmp_path, monkeypatch)
    assert after.keys != before.keys
    assert after.built != before.built
    assert after.observers == before.observers


@pytest.mark.parametrize("observer", emulator.OBSERVERS)
@pytest.mark.parametrize("kind", ["lab-{}.c", "lab-{}.h", "patches/??-{}.patch"])
def test_a_part_that_only_observes_is_built_anew_and_moves_no_other_key(
    observer: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (changed,) = paths.emulator().glob(kind.format(observer))
    name = changed.relative_to(paths.emulator()).as_posix()
    before, after = digests(), after_change(name, tmp_path, monkeypatch)
    assert after.keys == before.keys
    assert after.built != before.built
    assert {
        observer_ for observer_ in emulator.OBSERVERS if after.observers[observer_] != before.observers[observer_]
    } == {observer}


def test_what_remains_after_a_cut_is_in_the_keys_of_cells_with_cuts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (digests(), emulator.cuts_digest.__wrapped__())
    after = (after_change("lab-cuts.c", tmp_path, monkeypatch), emulator.cuts_digest.__wrapped__())
    assert after[0].keys == before[0].keys
    assert after[0].built != before[0].built
    assert after[1] != before[1]


Fill = Callable[[Path, Callable[[], object], list[str]], None]


def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fill: Fill) -> list[str]:
    """Return the order of events if `fill(folder, fetched, seen)` builds the emulator."""
    events: list[str] = []
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path))
    monkeypatch.setattr(emulator, "_fill", lambda root, folder, fetched: fill(folder, fetched, events))
    with emulator.beside():
        events.append("the rest")
    return events


def test_the_rest_begins_when_the_source_is_there_and_ends_with_the_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(folder: Path, fetched: Callable[[], object], events: list[str]) -> None:
        events.append("fetched")
        fetched()
        while "the rest" not in events:
            time.sleep(0.001)
        (folder / emulator.QEMU_PROGRAM).write_text("built")
        events.append("built")

    assert beside(tmp_path, monkeypatch, fill) == ["fetched", "the rest", "built"]
    assert emulator.program().read_text() == "built"


def test_what_fails_at_once_lets_nothing_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(_folder: Path, _fetched: object, _seen: list[str]) -> None:
        raise SetupError("no compiler")

    with pytest.raises(SetupError, match="no compiler"):
        beside(tmp_path, monkeypatch, fill)


def test_what_fails_later_is_told_behind_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def fill(_folder: Path, fetched: Callable[[], object], events: list[str]) -> None:
        fetched()
        while "the rest" not in events:
            time.sleep(0.001)
        begun.extend(events)
        raise SetupError("does not compile")

    with pytest.raises(SetupError, match="does not compile"):
        beside(tmp_path, monkeypatch, fill)
    assert begun == ["the rest"]
