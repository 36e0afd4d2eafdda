# SPDX-License-Identifier: Apache-2.0
"""Recipes of the build cache: no recipe depends on the text of Python code, but on version numbers and data.

A digest of a Python file would rebuild its entries, and move keys of results, after each change of a comment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed_appliance.data_files import appliance_data

REPOSITORY = Path(__file__).resolve().parents[3]

VERSION = "RECIPE_VERSION"

VERSIONED = {
    "src/flashbed/image/changed_code.py",
    "src/flashbed/image/cpio.py",
    "src/flashbed/image/debian_kernel.py",
    "src/flashbed/image/initramfs.py",
    "src/flashbed/image/module_code.py",
    "src/flashbed/image/module_order.py",
    "src/flashbed/image/modules.py",
    "src/flashbed/image/program_root.py",
    "src/flashbed/image/guest_programs.py",
    "src/flashbed_appliance/nas/kernels.py",
    "src/flashbed_appliance/nas/programs.py",
    "tests/machine/mtd_test_programs.py",
}
"""The modules whose steps decide what a cache entry holds, beyond the data in its recipe."""

DIGESTS = {"digest_tree", "digest_file"}


def _python_files(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """Return each file whose text has one of the words. To parse a file takes longer than to search it."""
    for folder in ("src", "tests"):
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if any(word in text for word in words):
                yield path.relative_to(REPOSITORY).as_posix(), ast.parse(text)


def _digests_python(tree: ast.Module) -> list[str]:
    """Return the calls in a module that digest the text of a Python module."""
    return [
        ast.unparse(call)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).rpartition(".")[2] in DIGESTS
        and any("__file__" in ast.unparse(argument) for argument in call.args)
    ]


@pytest.mark.parametrize("call", ["digest_tree(Path(__file__))", "cache.digest_file(Path(cpio.__file__).parent)"])
def test_a_digest_of_python_code_is_found(call: str) -> None:
    assert _digests_python(ast.parse(f"recipe = {{'script': {call}}}")) == [call]


def test_no_recipe_digests_python_code() -> None:
    assert {name: calls for name, tree in _python_files(*DIGESTS) if (calls := _digests_python(tree))} == {}


def test_each_listed_module_has_a_recipe_version() -> None:
    defined = {
        name
        for name, tree in _python_files(VERSION)
        for statement in tree.body
        if isinstance(statement, ast.Assign) and VERSION in map(ast.unparse, statement.targets)
    }
    assert defined == VERSIONED


def test_each_recipe_version_is_in_a_recipe() -> None:
    used = set()
    for name, tree in _python_files('"version"', "'version'"):
        for recipe in (node for node in ast.walk(tree) if isinstance(node, ast.Dict)):
            for key, value in zip(recipe.keys, recipe.values, strict=True):
                if key is not None and ast.unparse(key) == "'version'":
                    for part in value.elts if isinstance(value, ast.List) else [value]:
                        module = ast.unparse(part).removesuffix(VERSION).rstrip(".")
                        used.add(module or Path(name).stem)
    assert {Path(name).stem for name in VERSIONED} <= used


def test_no_directory_in_a_recipe_has_python_code() -> None:
    roots = [
        paths.emulator(),
        paths.guest(),
        *(paths.media() / part for part in ("include", "src", "host")),
        *(paths.sfsload() / part for part in ("Makefile", "src")),
        *(appliance_data() / "distil" / part for part in ("src", "Makefile", "compiler")),
    ]
    assert [path for root in roots for path in root.rglob("*.py")] == []
