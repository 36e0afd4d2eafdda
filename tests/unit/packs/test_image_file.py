# SPDX-License-Identifier: Apache-2.0
"""packs/image_file.py: a file carries cache entries unchanged, and programs of the host with their dependencies."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.image.cache import AskedEntry, Cache, Entry, noting
from flashbed.packs import image_file, making
from flashbed.replay import pack_file

TRUE = Path(shutil.which("true") or "/bin/true").resolve()


class Host:
    """A cache of its own. FLASHBED_CACHE names it inside the `with` block."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self._monkeypatch = root, monkeypatch
        (root / "image").mkdir(parents=True)
        self.built: list[str] = []

    def __enter__(self) -> Cache:
        self._monkeypatch.setenv("FLASHBED_CACHE", str(self.root))
        return Cache(self.root / "image")

    def __exit__(self, *_: object) -> None:
        pass

    def tool(self, cache: Cache, compiler: str) -> Entry:
        """Make an entry with a program of the host."""

        def fill(folder: Path) -> None:
            self.built.append("tool")
            shutil.copy(TRUE, folder / "tool")

        return cache.entry("tool", {"sources": "1"}, fill, of_host=lambda: {"compiler": compiler})

    def kernel(self, cache: Cache) -> Entry:
        """Make an entry with one file that is a product, and one that is left out."""

        def fill(folder: Path) -> None:
            self.built.append("kernel")
            (folder / "a").mkdir()
            (folder / "a/Image").write_bytes(b"kernel")
            (folder / "a/large").write_bytes(b"object")

        return cache.entry("linux", {"config": "y"}, fill, products=["a/Image"])


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Host, Host]:
    return Host(tmp_path / "one", monkeypatch), Host(tmp_path / "other", monkeypatch)


def export(host: Host, to: Path) -> Path:
    with host as cache, noting() as requested:
        host.tool(cache, "gcc 12")
        host.kernel(cache)
    (to.parent / "scratch").mkdir()
    image_file.write(to, requested, [TRUE], to.parent / "scratch")
    return to


def test_another_host_builds_nothing_of_what_is_taken_in(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    maker, importer = hosts
    exported = export(maker, tmp_path / "a.flashbed")
    with importer as cache:
        done = image_file.take_in(exported)
        assert (len(done.new), done.known) == (3, ())
        assert image_file.take_in(exported).new == ()
        kernel, tool = importer.kernel(cache), importer.tool(cache, "clang 19")
    assert importer.built == []
    assert kernel.path("a/Image").read_bytes() == b"kernel"
    assert not kernel.path("a/large").exists()
    for program in (tool.path("tool"), paths.checkers() / TRUE.name):
        assert program.read_text().startswith("#!/bin/sh\n")
        assert subprocess.run([program], env={}, check=True).returncode == 0
    assert stat.S_IMODE(kernel.path("a/Image").stat().st_mode) == 0o644


def test_whoever_builds_on_top_of_an_entry_has_the_rest_of_it_made(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    maker, importer = hosts
    exported = export(maker, tmp_path / "a.flashbed")
    with importer as cache:
        image_file.take_in(exported)
        kernel = importer.kernel(cache)
        kernel.mend()
    assert importer.built == ["kernel"]
    assert kernel.path("a/large").read_bytes() == b"object"


def test_the_same_image_twice_has_the_same_bytes(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    exported = export(hosts[0], tmp_path / "a.flashbed")
    (tmp_path / "again").mkdir()
    assert export(hosts[0], tmp_path / "again/a.flashbed").read_bytes() == exported.read_bytes()


def test_what_is_built_here_is_not_exchanged_for_it(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    maker, importer = hosts
    exported = export(maker, tmp_path / "a.flashbed")
    with importer as cache:
        kernel = importer.kernel(cache)
        done = image_file.take_in(exported)
        assert (done.known, done.different) == ((kernel.folder.name,), ())
        assert importer.kernel(cache).path("a/large").exists()


def test_what_was_built_here_with_other_bytes_is_told(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    maker, importer = hosts
    exported = export(maker, tmp_path / "a.flashbed")
    with importer as cache:
        kernel = cache.entry("linux", {"config": "y"}, lambda folder: (folder / "Image").write_bytes(b"mine"))
        assert image_file.take_in(exported).different == (kernel.folder.name,)
    assert kernel.path("Image").read_bytes() == b"mine"


def test_an_entry_here_without_a_readable_manifest_is_replaced(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    maker, importer = hosts
    exported = export(maker, tmp_path / "a.flashbed")
    with importer as cache:
        kernel = importer.kernel(cache)
        (kernel.folder / "MANIFEST.json").write_text("{")
        assert kernel.folder.name in image_file.take_in(exported).new
        assert importer.kernel(cache).path("a/Image").read_bytes() == b"kernel"
    assert importer.built == ["kernel"]
    assert [path.name for path in kernel.folder.parent.iterdir() if path.name.startswith(".")] == []


def test_a_damaged_program_of_another_host_is_built_here(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    maker, importer = hosts
    exported = export(maker, tmp_path / "a.flashbed")
    with importer as cache:
        image_file.take_in(exported)
        importer.tool(cache, "gcc 14").path("tool").write_text("#!/bin/sh\nexit 1\n")
        assert importer.tool(cache, "gcc 14").path("tool").read_bytes() == TRUE.read_bytes()
    assert importer.built == ["tool"]


def test_other_versions_that_were_noted_here_are_kept_and_told(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    maker, importer = hosts
    for host, version in ((maker, "1"), (importer, "2")):
        (host.root / "debian-arm64").mkdir()
        notes = {"fio": [{"version": version}], f"of {version}": []}
        (host.root / "debian-arm64/packages.json").write_text(json.dumps(notes))
    exported = export(maker, tmp_path / "a.flashbed")
    with importer:
        assert image_file.take_in(exported).other_packages == ("fio",)
    noted = json.loads((importer.root / "debian-arm64/packages.json").read_text())
    assert noted == {"fio": [{"version": "2"}], "of 1": [], "of 2": []}


Image = dict[str, Any]


def _first_file(contents: Image, name: str) -> None:
    files = contents["image"]["entries"][0]["files"]
    files[name] = files.pop(next(iter(files)))


@pytest.mark.parametrize(
    "change",
    [
        lambda contents: _first_file(contents, "../../outside"),
        lambda contents: _first_file(contents, "/outside"),
        lambda contents: _first_file(contents, "MANIFEST.json"),
        lambda contents: contents["image"]["entries"][0].update(name="../outside"),
        lambda contents: contents["image"]["entries"][0].update(products=[]),
        lambda contents: contents["image"].update(packages={"../outside": {}}),
        lambda contents: contents.pop("image"),
        lambda contents: contents.update(image=[]),
    ],
)
def test_an_image_that_would_write_elsewhere_is_refused(
    hosts: tuple[Host, Host], tmp_path: Path, change: Callable[[Image], object]
) -> None:
    """Also if all its digests match."""
    whole = pack_file.open_sealed(export(hosts[0], tmp_path / "a.flashbed"))
    contents = {name: value for name, value in whole.contents.items() if name != "members"}
    change(contents)
    making.write(tmp_path / "b.flashbed", contents, {}, {name: whole.read(name) for name in whole.members})
    with hosts[1], pytest.raises(InputError, match=r"b\.flashbed: is no image"):
        image_file.take_in(tmp_path / "b.flashbed")
    assert list((hosts[1].root / "image").iterdir()) == []


def test_a_damaged_image_takes_nothing_in(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    exported = export(hosts[0], tmp_path / "a.flashbed")
    data = bytearray(exported.read_bytes())
    data[len(data) // 2] ^= 1
    exported.write_bytes(bytes(data))
    with hosts[1], pytest.raises(InputError, match="damaged"):
        image_file.take_in(exported)
    assert list((hosts[1].root / "image").iterdir()) == []


def test_an_image_is_no_pack(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="flashbed image import"):
        pack_file.open_pack(export(hosts[0], tmp_path / "a.flashbed"))


def test_requested_entries_are_noted(hosts: tuple[Host, Host]) -> None:
    with hosts[0] as cache:
        hosts[0].kernel(cache)
        with noting() as noted:
            kernel = hosts[0].kernel(cache)
        hosts[0].tool(cache, "gcc 12")
    assert noted == [AskedEntry("linux", {"config": "y"}, of_host=False, folder=kernel.folder)]
