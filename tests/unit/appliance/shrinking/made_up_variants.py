# SPDX-License-Identifier: Apache-2.0
"""A made-up kernel for sweeps over options. Nothing is compiled, packed or booted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flashbed.common.errors import InterruptedByUser, SetupError
from flashbed.image import command, stores
from flashbed.image.cache import Cache, Entry
from flashbed_appliance.shrinking import architecture, distilling, fragment, kernel_build, memory, price_list
from flashbed_appliance.shrinking.fragment import Fragment

WEIGHT = {"CONFIG_NET": 1000, "CONFIG_INET": 400, "CONFIG_UNIX": 50, "CONFIG_IPV6": 300, "CONFIG_MMU": 0}
"""The bytes that each option adds to the made-up image."""

TEXT = "#: All\n" + "".join(
    f"# A reason.\n{fragment.line_of(option, value)}\n"
    for option, value in {
        "CONFIG_NET": "y",
        "CONFIG_INET": "y",
        "CONFIG_UNIX": "y",
        "CONFIG_IPV6": "n",
        "CONFIG_MMU": "y",
        "CONFIG_NR_CPUS": "2",
    }.items()
)
TARGET = architecture.Architecture("made-up", "made-up-", "Image", "Image", "Image", "", "preset=1", "--arm64")


class MadeUpKernel:
    """A stand-in for Kconfig, the compiler and QEMU. `compiled` has the options of each build."""

    def __init__(self, folder: Path) -> None:
        self.compiled: list[set[str]] = []
        self.packed_files: list[str] = []
        self.stop_after: int | None = None
        self.breaks_without = ""
        self._folder = folder

    def configure(self, _: object, __: Path, objects: Path, settings: str) -> None:
        objects.mkdir(parents=True, exist_ok=True)
        on = {option for option, value in fragment.values(settings).items() if value == "y"} | {"CONFIG_MMU"}
        if "CONFIG_NET" not in on:
            on -= {"CONFIG_INET", "CONFIG_UNIX", "CONFIG_IPV6"}
        (objects / ".config").write_text("".join(f"{option}=y\n" for option in sorted(on)))

    def compile(self, _: object, __: Path, objects: Path, *___: object) -> None:
        if self.stop_after is not None and len(self.compiled) >= self.stop_after:
            raise InterruptedByUser("stopped")
        on = set(fragment.values((objects / ".config").read_text()))
        self.compiled.append(on)
        if self.breaks_without and self.breaks_without not in on:
            raise SetupError("`make` failed with exit status 2:\nx.c:1: error: no such type\nmake: Error 1")

    def collect(self, _: object, objects: Path, folder: Path) -> None:
        for name in ("image", "raw"):
            (folder / name).write_text((objects / ".config").read_text())
        (folder / "modules").mkdir()
        (folder / "modules/md.ko").write_text("always the same")

    def packed(self, file: Path, _: object) -> int:
        self.packed_files.append(file.name)
        if file.suffix == ".ko":
            return 70
        return 5000 + sum(WEIGHT[option] for option in fragment.values(file.read_text()))

    @staticmethod
    def free_kib(_: object, file: Path) -> int:
        return 20_000 - 10 * len(fragment.values(file.read_text()))


def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeUpKernel:
    """Replace the real one until the test ends. The cache is tmp_path/cache."""
    made = MadeUpKernel(tmp_path)
    root = tmp_path / "cache"
    root.mkdir()
    monkeypatch.setattr(stores, "open_cache", lambda kind=Cache: kind(root))
    monkeypatch.setattr(stores, "open_archive", lambda: None)
    monkeypatch.setattr(kernel_build, "unpacked_source", lambda *_: (Entry(tmp_path / "source", {}), "1"))
    monkeypatch.setattr(kernel_build, "recipe", lambda *words: {"config": words[-1], "compiler": "one"})
    monkeypatch.setattr(kernel_build, "configure", made.configure)
    monkeypatch.setattr(kernel_build, "compile_kernel", made.compile)
    monkeypatch.setattr(kernel_build, "collect", made.collect)
    monkeypatch.setattr(distilling, "check", lambda *_: distilling.HostCompiler({}, "one"))
    monkeypatch.setattr(command, "packed_bytes", made.packed)
    monkeypatch.setattr(memory, "identity", lambda _: "made up")
    monkeypatch.setattr(memory, "free_kib", made.free_kib)
    monkeypatch.setattr(price_list, "file_of", lambda name: tmp_path / f"{name}.jsonl")
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    return made


def fragment_of(tmp_path: Path) -> Fragment:
    """Return the settings of the made-up kernel."""
    file = tmp_path / "made-up.config"
    file.write_text(TEXT)
    return fragment.read([file])
