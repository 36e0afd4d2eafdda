# SPDX-License-Identifier: Apache-2.0
"""The guest's parts repeat to the byte wherever they are built, and a broken part is noticed and built again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.image import guest_programs, hosttools, initramfs, kernel, modules
from flashbed.image.cache import MANIFEST, Cache
from flashbed.image.debian import Archive
from flashbed.image.kernel import Kernel

VERSION = "6.1"


@pytest.fixture
def archive() -> Archive:
    return Archive(paths.cache_root() / "debian-arm64", "arm64")


@pytest.fixture
def built(archive: Archive) -> Kernel:
    return kernel.build(Cache(paths.cache_root() / "image"), archive, VERSION)


def small_parts(cache: Cache, archive: Archive, built: Kernel) -> dict[str, dict[str, str]]:
    """Return the digests by part, except of the kernel and fio, whose builds take minutes."""
    module = modules.build(cache, built, "media_blk")
    ours = guest_programs.of_each_guest(cache, archive)
    tools = guest_programs.from_packages(cache, archive, ["dosfstools"], ["/sbin/mkfs.fat"])
    busybox = guest_programs.from_packages(cache, archive, ["busybox-static"], ["/bin/busybox"])
    made = {name: entry.path(name) for name, entry in ours.items()}
    files = initramfs.base_files(busybox.path("root/bin/busybox"), made)
    base = initramfs.archive(cache, "base", files, system=True)
    return {entry.folder.name: entry.digests for entry in (module, *ours.values(), tools, busybox, base)}


def test_two_builds_are_the_same_bytes(archive: Archive, built: Kernel, tmp_path: Path) -> None:
    """Modules are built in a copy, so the repository stays as it is."""
    before = sorted(path.name for path in (paths.kernel() / "media_blk").iterdir())
    there = small_parts(Cache(paths.cache_root() / "image"), archive, built)
    assert small_parts(Cache(tmp_path / "elsewhere"), archive, built) == there
    assert sorted(path.name for path in (paths.kernel() / "media_blk").iterdir()) == before


@pytest.mark.long
def test_two_builds_of_the_kernel_are_the_same_bytes(archive: Archive, built: Kernel, tmp_path: Path) -> None:
    assert kernel.build(Cache(tmp_path / "elsewhere"), archive, VERSION).entry.digests == built.entry.digests


@pytest.mark.long
def test_two_builds_of_fio_are_the_same_bytes(archive: Archive, tmp_path: Path) -> None:
    there = guest_programs.fio(Cache(paths.cache_root() / "image"), archive)
    assert guest_programs.fio(Cache(tmp_path / "elsewhere"), archive).digests == there.digests


def test_a_broken_entry_is_built_again(archive: Archive, built: Kernel, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    whole = modules.build(cache, built, "media_blk")
    product, manifest = whole.path("media_blk.ko"), whole.path(MANIFEST)
    contents = product.read_bytes()
    damages: dict[str, Callable[[], object]] = {
        "truncated": lambda: product.write_bytes(contents[:1000]),
        "missing": product.unlink,
        "no manifest": manifest.unlink,
        "half a manifest": lambda: manifest.write_text(manifest.read_text()[:30]),
    }
    for name, damage in damages.items():
        damage()
        assert modules.build(cache, built, "media_blk").path("media_blk.ko").read_bytes() == contents, name


def test_a_build_that_was_killed_leaves_nothing_that_counts(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def killed(folder: Path) -> None:
        (folder / "product").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.entry("thing", {"a": 1}, killed)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []
    entry = cache.entry("thing", {"a": 1}, lambda folder: (folder / "product").write_text("whole"))
    assert entry.path("product").read_text() == "whole"


def test_the_media_tool_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    tool = hosttools.build(Cache(paths.cache_root() / "image"))
    with pytest.raises(InputError, match="colour"):
        tool.create(tmp_path / "state", {"kind": "null", "colour": 1})
    assert not (tmp_path / "state").exists()
    assert {"kind", "capacity_bytes"} <= {parameter.name for parameter in tool.parameters}
