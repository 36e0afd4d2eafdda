# SPDX-License-Identifier: Apache-2.0
"""The compiler for kernels that differ in one option: it makes the same objects, and compiles most only once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from flashbed.common.errors import SetupError
from flashbed.image.cache import Cache
from flashbed_appliance.shrinking import architecture, distilling, kernel_build

TARGET = architecture.named("arm64")
GCC = f"{TARGET.prefix}gcc"

HEADER = """
#pragma once
static inline int unused(int a) { return a + %(unused)d; }
static inline int used(int a) { return a + %(used)d; }
"""
SOURCE = """
#include "header.h"
int f(int a) { return used(a) * __LINE__; }
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    cache = Cache(tmp_path_factory.mktemp("cache") / "image")
    return {**os.environ, **distilling.compiler(cache, TARGET).environment}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.c").write_text(SOURCE)
    change(tmp_path)
    return tmp_path


def change(folder: Path, unused: int = 1, used: int = 1) -> None:
    (folder / "header.h").write_text(HEADER % {"unused": unused, "used": used})


def compiled(folder: Path, environment: Mapping[str, str] | None = None) -> bytes:
    words = [GCC, "-O2", "-I.", "-Wp,-MMD,a.d", "-include", "header.h", "-DWORD=1", "-c", "-o", "a.o", "a.c"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(file.name for file in folder.iterdir()) == ["a.c", "a.d", "a.o", "header.h"]
    return (folder / "a.o").read_bytes()


def hits(environment: Mapping[str, str]) -> int:
    """Return the number of ccache's hits."""
    done = subprocess.run(["ccache", "--print-stats"], env=environment, capture_output=True, text=True, check=True)
    counts = dict(line.split("\t")[:2] for line in done.stdout.splitlines())
    return int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])


def test_the_object_is_what_the_compiler_makes_of_the_whole(environment: dict[str, str], folder: Path) -> None:
    compiled_whole = compiled(folder)
    assert compiled(folder, environment) == compiled_whole
    assert "header.h" in (folder / "a.d").read_text()


def test_what_a_file_does_not_use_may_change(environment: dict[str, str], folder: Path) -> None:
    first, before = compiled(folder, environment), hits(environment)
    change(folder, unused=2)
    assert compiled(folder, environment) == first
    assert hits(environment) == before + 1
    change(folder, used=2)
    assert compiled(folder, environment) != first
    assert hits(environment) == before + 1
    assert compiled(folder) == (folder / "a.o").read_bytes()


def test_other_words_for_the_compiler_are_other_objects(environment: dict[str, str], folder: Path) -> None:
    first, before = compiled(folder, environment), hits(environment)
    words = [GCC, "-Os", "-c", "-o", "a.o", "a.c"]
    subprocess.run(words, cwd=folder, env=environment, check=True)
    assert (folder / "a.o").read_bytes() != first
    assert hits(environment) == before


@pytest.mark.parametrize("text", ["int f(void) { return missing; }\n", "#error not for this\n", "int f(void) {\n"])
def test_what_does_not_compile_is_told_by_the_compiler(environment: dict[str, str], folder: Path, text: str) -> None:
    (folder / "a.c").write_text(text)
    words = [GCC, "-c", "-o", "a.o", "a.c"]
    distilled, compiled_whole = (
        subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True)
        for variables in (environment, os.environ)
    )
    assert compiled_whole.returncode != 0
    assert (distilled.returncode, distilled.stderr) == (compiled_whole.returncode, compiled_whole.stderr)
    assert not (folder / "a.o").exists()


@pytest.mark.parametrize("words", [["--version"], ["-E", "a.c"], ["-S", "-o", "-", "a.c"], ["-c", "-o", "a.o", "b.S"]])
def test_what_is_no_compilation_is_left_alone(environment: dict[str, str], folder: Path, words: list[str]) -> None:
    (folder / "b.S").write_text(".globl b\nb: nop\n")
    distilled, compiled_whole = (
        subprocess.run([GCC, *words], cwd=folder, env=variables, capture_output=True, check=True)
        for variables in (environment, os.environ)
    )
    assert distilled.stdout == compiled_whole.stdout


def test_who_has_no_ccache_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / GCC).write_text("#!/bin/sh\n")
    (tmp_path / GCC).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="ccache"):
        distilling.compiler(Cache(tmp_path / "image"), TARGET)


def kernel_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, becomes: str) -> list[Path]:
    """Return the objects that are left when a kernel with the image "before" is compiled from distilled texts."""
    first, objects, left = tmp_path / "first", tmp_path / "objects", list[Path]()
    image = first / TARGET.image
    image.parent.mkdir(parents=True)
    for folder in ("fs", "scripts"):
        (first / folder).mkdir()
        (first / folder / "a.o").touch()
        (first / folder / ".a.o.cmd").write_text("cmd := gcc -c -o a.o a.c\n\ndeps := b.h\n")
    (first / "fs/b.o").touch()
    (first / "fs/.b.o.cmd").write_text("cmd := gcc -c -o b.o b.S\n\ndeps := a.c\n")
    image.write_text("before")

    def compile_kernel(*_: object, environment: Mapping[str, str]) -> None:
        assert "DISTIL_COMPILER" in environment
        left.extend(sorted(path.relative_to(objects) for path in objects.rglob("*.o")))
        (objects / TARGET.image).write_text(becomes)

    monkeypatch.setattr(kernel_build, "compile_kernel", compile_kernel)
    for _ in range(2):
        distilling.check(TARGET, Cache(tmp_path / "image"), tmp_path, {"a": 1}, first, objects, lambda: None)
    return left


def test_a_whole_kernel_is_made_once_to_see_that_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that was compiled from C is compiled again, except the build's own programs."""
    left = kernel_made_anew(tmp_path, monkeypatch, "before")
    assert left == [Path("fs/b.o"), Path("scripts/a.o")]


def test_a_kernel_that_is_another_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SetupError, match="is not the kernel that the compiler makes"):
        kernel_made_anew(tmp_path, monkeypatch, "after")
