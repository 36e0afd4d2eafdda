# SPDX-License-Identifier: Apache-2.0
"""A sweep over options with a made-up kernel: what was measured is kept, and what was stopped goes on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from flashbed import image
from flashbed.common.errors import InputError, InterruptedByUser, SetupError
from flashbed.image.cache import Cache, Entry
from flashbed.shrinking import architecture, building, fragment, memory, packing, price_list, prices, variants
from flashbed.shrinking.fragment import Fragment
from flashbed.shrinking.prices import Price

WEIGHT = {"CONFIG_NET": 1000, "CONFIG_INET": 400, "CONFIG_UNIX": 50, "CONFIG_IPV6": 300, "CONFIG_MMU": 0}
"""Bytes that an option adds to the made-up image."""

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
    """Stands for Kconfig, the compiler and QEMU. `compiled` has the options of each build."""

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
    def left(_: object, file: Path) -> memory.Memory:
        return memory.Memory(20_000, 20_000 - 10 * len(fragment.values(file.read_text())))


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeUpKernel:
    made = MadeUpKernel(tmp_path)
    root = tmp_path / "cache"
    root.mkdir()
    monkeypatch.setattr(image, "open_cache", lambda kind=Cache: kind(root))
    monkeypatch.setattr(image, "open_archive", lambda: None)
    monkeypatch.setattr(building, "unpacked_source", lambda *_: (Entry(tmp_path / "source", {}), "1"))
    monkeypatch.setattr(building, "recipe", lambda *words: {"settings": words[-1]})
    monkeypatch.setattr(building, "configure", made.configure)
    monkeypatch.setattr(building, "compile_kernel", made.compile)
    monkeypatch.setattr(building, "collect", made.collect)
    monkeypatch.setattr(packing, "packed", made.packed)
    monkeypatch.setattr(memory, "identity", lambda _: "made up")
    monkeypatch.setattr(memory, "left", made.left)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    return made


@pytest.fixture
def wanted(tmp_path: Path) -> Fragment:
    file = tmp_path / "made-up.config"
    file.write_text(TEXT)
    return fragment.read([file])


def _by_option(found: list[Price]) -> dict[str, Price]:
    return {one.setting.option: one for one in found}


def test_each_switch_has_its_price_and_a_number_has_none(kernel: MadeUpKernel, wanted: Fragment) -> None:
    found = _by_option(prices.sweep(TARGET, wanted))
    assert {option: one.image for option, one in found.items()} == {
        "CONFIG_NET": 1450,
        "CONFIG_INET": 400,
        "CONFIG_UNIX": 50,
        "CONFIG_IPV6": 300,
        "CONFIG_MMU": None,
    }
    assert found["CONFIG_NET"].also == ("CONFIG_INET", "CONFIG_UNIX")
    assert found["CONFIG_MMU"].why_not == "cannot be left out: another option or the architecture makes it y"
    assert [found[option].ram_kib for option in ("CONFIG_NET", "CONFIG_UNIX", "CONFIG_IPV6")] == [30, 10, 10]
    # As it is, its objects looked at again, and four others: MMU was seen in the configuration
    assert len(kernel.compiled) == 6
    # The module is the same in all of them
    assert kernel.packed_files.count("md.ko") == 1


def test_options_of_few_objects_come_first(
    kernel: MadeUpKernel, wanted: Fragment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variants, "FEW_OBJECTS", 1)
    notes = tmp_path / "cache/linux-objects-made-up"
    for name, option in {"a": "NET", "b": "NET", "c": "INET", "d": "INET", "e": "INET", "f": "IPV6"}.items():
        (notes / name).mkdir(parents=True)
        (notes / name / ".x.o.cmd").write_text(f"deps := $(wildcard include/config/{option})\n")
    prices.sweep(TARGET, wanted)
    without = [set(WEIGHT) - on - {"CONFIG_IPV6"} for on in kernel.compiled[2:]]
    # Without NET there is no INET either, so that as many depend on it; IPV6 is one that comes in
    assert without == [{"CONFIG_UNIX"}, set(), {"CONFIG_NET", "CONFIG_INET", "CONFIG_UNIX"}, {"CONFIG_INET"}]


def test_a_sweep_that_was_stopped_goes_on_where_it_was(kernel: MadeUpKernel, wanted: Fragment) -> None:
    kernel.stop_after = 4
    with pytest.raises(InterruptedByUser):
        prices.sweep(TARGET, wanted)
    told = _by_option(prices.sweep(TARGET, wanted, stored=True))
    assert [option for option, one in told.items() if one.image is not None] == ["CONFIG_NET", "CONFIG_INET"]
    assert told["CONFIG_UNIX"].why_not == "not measured yet"
    kernel.stop_after = None
    whole = prices.sweep(TARGET, wanted)
    assert len(kernel.compiled) == 7
    assert prices.sweep(TARGET, wanted) == whole
    assert len(kernel.compiled) == 7


def test_only_what_is_asked_for_is_built(kernel: MadeUpKernel, wanted: Fragment) -> None:
    [found] = prices.sweep(TARGET, wanted, ["CONFIG_UNIX"])
    assert (found.setting.option, found.image) == ("CONFIG_UNIX", 50)
    assert len(kernel.compiled) == 3


def test_several_at_a_time_tell_the_same_and_leave_no_copy(
    kernel: MadeUpKernel, wanted: Fragment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    at_once = prices.sweep(TARGET, wanted)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    assert prices.sweep(TARGET, wanted) == at_once
    assert list((tmp_path / "cache/variants").iterdir()) == []
    objects = tmp_path / "cache/linux-objects-made-up/.config"
    assert set(fragment.values(objects.read_text())) == {option for option in WEIGHT if option != "CONFIG_IPV6"}


def test_a_variant_that_does_not_build_says_so_and_the_others_go_on(kernel: MadeUpKernel, wanted: Fragment) -> None:
    kernel.breaks_without = "CONFIG_INET"
    found = _by_option(prices.sweep(TARGET, wanted))
    assert found["CONFIG_INET"].why_not == "the kernel does not build: x.c:1: error: no such type"
    assert found["CONFIG_UNIX"].image == 50


def test_a_variant_whose_source_is_not_there_says_so(
    kernel: MadeUpKernel, wanted: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compile_kernel(target: object, source: Path, objects: Path, *rest: object) -> None:
        if "CONFIG_UNIX=y" not in (objects / ".config").read_text():
            raise InputError("an option compiles x.c, which is not there")
        kernel.compile(target, source, objects, *rest)

    monkeypatch.setattr(building, "compile_kernel", compile_kernel)
    found = _by_option(prices.sweep(TARGET, wanted))
    assert found["CONFIG_UNIX"].why_not == "an option compiles x.c, which is not there"
    assert found["CONFIG_INET"].image is not None


def test_a_variant_that_does_not_boot_has_a_price_in_bytes_only(
    kernel: MadeUpKernel, wanted: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def left(target: object, file: Path) -> memory.Memory:
        if "CONFIG_UNIX=y" not in file.read_text():
            raise SetupError("the kernel did not come to its first program; the last that it said:\nno init")
        return kernel.left(target, file)

    monkeypatch.setattr(memory, "left", left)
    found = _by_option(prices.sweep(TARGET, wanted))
    assert (found["CONFIG_UNIX"].image, found["CONFIG_UNIX"].ram_kib, found["CONFIG_UNIX"].why_not) == (50, None, "")
    assert found["CONFIG_INET"].ram_kib == 10


def test_memory_is_measured_again_without_a_build(
    kernel: MadeUpKernel, wanted: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when another QEMU is there, or another program looks."""
    first = prices.sweep(TARGET, wanted)
    monkeypatch.setattr(building, "compile_kernel", None)
    assert prices.sweep(TARGET, wanted) == first
    monkeypatch.setattr(memory, "identity", lambda _: "another")
    monkeypatch.setattr(memory, "left", lambda *_: memory.Memory(20_000, 7_000))
    assert all(one.ram_kib is None for one in prices.sweep(TARGET, wanted, stored=True))
    assert {one.ram_kib for one in prices.sweep(TARGET, wanted)} == {0, None}


def test_if_the_kernel_itself_does_not_boot_nothing_is_compared(
    kernel: MadeUpKernel, wanted: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def left(*_: object) -> memory.Memory:
        raise SetupError("the last that it said:\nno init")

    monkeypatch.setattr(memory, "left", left)
    with pytest.raises(SetupError, match="compared with does not boot: no init"):
        prices.sweep(TARGET, wanted)


def test_a_compiler_that_the_host_killed_is_no_word_on_the_option(
    kernel: MadeUpKernel, wanted: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise SetupError("`make` failed with exit status 2:\ngcc: fatal error: Killed signal terminated program cc1\n")

    with monkeypatch.context() as patched:
        patched.setattr(building, "compile_kernel", killed)
        with pytest.raises(SetupError, match="Killed"):
            prices.sweep(TARGET, wanted)
    assert _by_option(prices.sweep(TARGET, wanted))["CONFIG_UNIX"].image == 50


def test_what_the_list_has_of_this_very_kernel_is_not_measured_again(
    kernel: MadeUpKernel, wanted: Fragment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(price_list, "file_of", lambda name: tmp_path / f"{name}.jsonl")
    first = prices.sweep(TARGET, wanted)
    bench = variants.Bench(TARGET)
    recipe = bench.recipe(wanted.text)
    listed = {one.setting.option: one.figures for one in first if one.setting.option != "CONFIG_UNIX"}
    price_list.write(tmp_path / "made-up.jsonl", recipe, bench.machine, listed)
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    kernel.compiled.clear()
    found = prices.sweep(TARGET, wanted)
    assert [one.figures for one in found] == [one.figures for one in first]
    assert [one.setting.option for one in found if not one.listed] == ["CONFIG_UNIX"]
    assert len(kernel.compiled) == 3  # as it is, its objects looked at again, and the one that the list has not
    assert not any(one.listed for one in prices.sweep(TARGET, wanted, anew=True))
    assert len(kernel.compiled) == 7
    price_list.write(tmp_path / "made-up.jsonl", {**recipe, "compiler": "another"}, bench.machine, listed)
    assert not any(one.listed for one in prices.sweep(TARGET, wanted, stored=True))


def test_if_the_kernel_itself_does_not_build_nothing_is_compared(kernel: MadeUpKernel, wanted: Fragment) -> None:
    kernel.breaks_without = "CONFIG_IPV6"
    with pytest.raises(SetupError, match="the kernel that all are compared with: the kernel does not build"):
        prices.sweep(TARGET, wanted)
