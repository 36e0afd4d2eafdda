# SPDX-License-Identifier: Apache-2.0
"""Programs for the guest: the recipe of fio, and that no test program is shipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.common import paths
from flashbed.image import guest_programs, toolchain

PATCH = "SPDX-License-Identifier: GPL-2.0-only\n\nbecause\n\n--- a/libfio.c\n"


class Recipes:
    """A stand-in for the cache that notes recipes and builds nothing."""

    def __init__(self) -> None:
        self.noted: list[Any] = []

    def entry(self, name: str, recipe: Any, fill: Callable[[Path], None], *, products: Sequence[str]) -> None:
        self.noted.append(recipe)


@pytest.fixture
def _own_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace guest/ by tmp_path, and the toolchain by a stand-in."""
    monkeypatch.setattr(paths, "guest", lambda: tmp_path)
    monkeypatch.setattr(toolchain, "sysroot", lambda cache, archive: SimpleNamespace(digests={}))
    monkeypatch.setattr(toolchain, "compiler", lambda cache, archive: SimpleNamespace(identity="gcc"))


@pytest.fixture
def recipe_of_fio(_own_guest: None) -> Callable[[str], Any]:
    """Return `recipe_of_fio(version)`, with tmp_path as guest/."""

    def recipe(version: str) -> Any:
        source = SimpleNamespace(files=["fio.dsc"], version=lambda package: version)
        cache: Any = Recipes()
        archive: Any = SimpleNamespace(resolve=lambda packages, **_: source)
        guest_programs.fio(cache, archive)
        return cache.noted[0]

    return recipe


def test_each_patch_of_fio_is_in_what_it_is_built_of(recipe_of_fio: Callable[[str], Any], tmp_path: Path) -> None:
    without = recipe_of_fio("3.33-3")
    folder = tmp_path / "patches" / "fio-3.33"
    folder.mkdir(parents=True)
    (folder / "pauses.patch").write_text(PATCH)
    with_one = recipe_of_fio("3.33-3")
    (folder / "pauses.patch").write_text(PATCH.replace("because", "another reason"))
    assert len({str(recipe) for recipe in (without, with_one, recipe_of_fio("3.33-3"))}) == 3
    # A patch is for the version that it was made for
    assert recipe_of_fio("3.39-1") == without


@pytest.mark.parametrize("build", [guest_programs.bonnie, guest_programs.fxmark])
@pytest.mark.usefixtures("_own_guest")
def test_a_program_is_made_of_its_source_and_its_header(tmp_path: Path, build: Callable[..., Any]) -> None:
    cache, source, header = Recipes(), tmp_path / f"{build.__name__}.c", tmp_path / "load.h"
    for source_text, header_text in (("a", "a"), ("b", "a"), ("b", "b")):
        source.write_text(source_text)
        header.write_text(header_text)
        build(cache, None)
    assert len({str(recipe) for recipe in cache.noted}) == 3


def test_patches_of_fio_have_fios_licence() -> None:
    patches = guest_programs.fio_patches("3.33-3")
    assert patches
    assert all(patch.read_text().startswith("SPDX-License-Identifier: GPL-2.0-only\n") for patch in patches)


def test_the_guest_ships_no_program_that_only_tests_use() -> None:
    shipped = {source.stem for source in paths.guest().glob("*.c")}
    assert shipped == {*guest_programs.BUILT, *guest_programs.OF_EACH_GUEST} - {"fio", "sfsload"}
