# SPDX-License-Identifier: Apache-2.0
"""A sweep over options with a made-up kernel: measured prices are kept, and a stopped sweep continues."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from flashbed.common.errors import InputError, InterruptedByUser, SetupError
from flashbed_appliance.shrinking import fragment, kernel_build, memory, prices, variants
from flashbed_appliance.shrinking.fragment import Fragment
from flashbed_appliance.shrinking.prices import Price
from tests.support.facts import Facts
from tests.unit.appliance.shrinking.made_up_variants import TARGET, WEIGHT, MadeUpKernel, fragment_of, installed


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeUpKernel:
    return installed(tmp_path, monkeypatch)


@pytest.fixture
def wanted_options(tmp_path: Path) -> Fragment:
    return fragment_of(tmp_path)


def _by_option(priced: list[Price]) -> dict[str, Price]:
    return {price.setting.option: price for price in priced}


def test_each_switch_has_its_price_and_a_number_has_none(kernel: MadeUpKernel, wanted_options: Fragment) -> None:
    priced = _by_option(prices.sweep(TARGET, wanted_options))
    assert {option: price.figures.image for option, price in priced.items()} == {
        "CONFIG_NET": 1450,
        "CONFIG_INET": 400,
        "CONFIG_UNIX": 50,
        "CONFIG_IPV6": 300,
        "CONFIG_MMU": None,
    }
    assert priced["CONFIG_NET"].figures.also == ("CONFIG_INET", "CONFIG_UNIX")
    assert priced["CONFIG_MMU"].figures.why_not == Facts("cannot be left out", "makes it y")
    assert [priced[option].figures.ram_kib for option in ("CONFIG_NET", "CONFIG_UNIX", "CONFIG_IPV6")] == [30, 10, 10]
    # As it is, its objects looked at again, and four others: MMU was seen in the configuration
    assert len(kernel.compiled) == 6
    # The module is the same in all of them
    assert kernel.packed_files.count("md.ko") == 1


def test_options_of_few_objects_come_first(
    kernel: MadeUpKernel, wanted_options: Fragment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variants, "FEW_OBJECTS", 1)
    notes = tmp_path / "cache/linux-objects-made-up"
    for name, option in {"a": "NET", "b": "NET", "c": "INET", "d": "INET", "e": "INET", "f": "IPV6"}.items():
        (notes / name).mkdir(parents=True)
        (notes / name / ".x.o.cmd").write_text(f"deps := $(wildcard include/config/{option})\n")
    prices.sweep(TARGET, wanted_options)
    without = [set(WEIGHT) - on - {"CONFIG_IPV6"} for on in kernel.compiled[2:]]
    # Without NET there is no INET either, so that as many depend on it; IPV6 is one that comes in
    assert without == [{"CONFIG_UNIX"}, set(), {"CONFIG_NET", "CONFIG_INET", "CONFIG_UNIX"}, {"CONFIG_INET"}]


def test_a_sweep_that_was_stopped_goes_on_where_it_was(kernel: MadeUpKernel, wanted_options: Fragment) -> None:
    kernel.stop_after = 4
    with pytest.raises(InterruptedByUser):
        prices.sweep(TARGET, wanted_options)
    priced = _by_option(prices.sweep(TARGET, wanted_options, stored=True))
    assert [option for option, price in priced.items() if price.figures.image is not None] == [
        "CONFIG_NET",
        "CONFIG_INET",
    ]
    assert priced["CONFIG_UNIX"].figures.why_not == "not measured yet"
    kernel.stop_after = None
    whole = prices.sweep(TARGET, wanted_options)
    assert len(kernel.compiled) == 7
    assert prices.sweep(TARGET, wanted_options) == whole
    assert len(kernel.compiled) == 7


def test_only_what_is_asked_for_is_built(kernel: MadeUpKernel, wanted_options: Fragment) -> None:
    [priced] = prices.sweep(TARGET, wanted_options, ["CONFIG_UNIX"])
    assert (priced.setting.option, priced.figures.image) == ("CONFIG_UNIX", 50)
    assert len(kernel.compiled) == 3


def test_several_at_a_time_tell_the_same_and_leave_no_copy(
    kernel: MadeUpKernel, wanted_options: Fragment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    at_once = prices.sweep(TARGET, wanted_options)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    assert prices.sweep(TARGET, wanted_options) == at_once
    assert list((tmp_path / "cache/variants").iterdir()) == []
    objects = tmp_path / "cache/linux-objects-made-up/.config"
    assert set(fragment.values(objects.read_text())) == {option for option in WEIGHT if option != "CONFIG_IPV6"}


def test_a_variant_that_does_not_build_says_so_and_the_others_go_on(
    kernel: MadeUpKernel, wanted_options: Fragment
) -> None:
    kernel.breaks_without = "CONFIG_INET"
    priced = _by_option(prices.sweep(TARGET, wanted_options))
    assert priced["CONFIG_INET"].figures.why_not == "the kernel does not build: x.c:1: error: no such type"
    assert priced["CONFIG_UNIX"].figures.image == 50


def test_a_variant_whose_source_is_not_there_says_so(
    kernel: MadeUpKernel, wanted_options: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compile_kernel(target: object, source: Path, objects: Path, *rest: object) -> None:
        if "CONFIG_UNIX=y" not in (objects / ".config").read_text():
            raise InputError("an option compiles x.c, which is not there")
        kernel.compile(target, source, objects, *rest)

    monkeypatch.setattr(kernel_build, "compile_kernel", compile_kernel)
    priced = _by_option(prices.sweep(TARGET, wanted_options))
    assert priced["CONFIG_UNIX"].figures.why_not == "an option compiles x.c, which is not there"
    assert priced["CONFIG_INET"].figures.image is not None


def test_a_variant_that_does_not_boot_has_a_price_in_bytes_only(
    kernel: MadeUpKernel, wanted_options: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def free_kib(target: object, file: Path) -> int:
        if "CONFIG_UNIX=y" not in file.read_text():
            raise SetupError("the kernel did not come to its first program; the last that it said:\nno init")
        return kernel.free_kib(target, file)

    monkeypatch.setattr(memory, "free_kib", free_kib)
    priced = _by_option(prices.sweep(TARGET, wanted_options))
    one = priced["CONFIG_UNIX"].figures
    assert (one.image, one.ram_kib, one.why_not) == (50, None, "")
    assert priced["CONFIG_INET"].figures.ram_kib == 10


def test_memory_is_measured_again_without_a_build(
    kernel: MadeUpKernel, wanted_options: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example with another QEMU, or another program that measures."""
    first = prices.sweep(TARGET, wanted_options)
    monkeypatch.setattr(kernel_build, "compile_kernel", None)
    assert prices.sweep(TARGET, wanted_options) == first
    monkeypatch.setattr(memory, "identity", lambda _: "another")
    monkeypatch.setattr(memory, "free_kib", lambda *_: 7_000)
    assert all(price.figures.ram_kib is None for price in prices.sweep(TARGET, wanted_options, stored=True))
    assert {price.figures.ram_kib for price in prices.sweep(TARGET, wanted_options)} == {0, None}


def test_if_the_kernel_itself_does_not_boot_nothing_is_compared(
    kernel: MadeUpKernel, wanted_options: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def free_kib(*_: object) -> int:
        raise SetupError("the last that it said:\nno init")

    monkeypatch.setattr(memory, "free_kib", free_kib)
    with pytest.raises(SetupError, match="does not boot: no init"):
        prices.sweep(TARGET, wanted_options)


def test_a_compiler_that_the_host_killed_is_no_word_on_the_option(
    kernel: MadeUpKernel, wanted_options: Fragment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise SetupError("`make` failed with exit status 2:\ngcc: fatal error: Killed signal terminated program cc1\n")

    with monkeypatch.context() as patched:
        patched.setattr(kernel_build, "compile_kernel", killed)
        with pytest.raises(SetupError, match="Killed"):
            prices.sweep(TARGET, wanted_options)
    assert _by_option(prices.sweep(TARGET, wanted_options))["CONFIG_UNIX"].figures.image == 50


def test_if_the_kernel_itself_does_not_build_nothing_is_compared(
    kernel: MadeUpKernel, wanted_options: Fragment
) -> None:
    kernel.breaks_without = "CONFIG_IPV6"
    with pytest.raises(SetupError, match="the base kernel: the kernel does not build"):
        prices.sweep(TARGET, wanted_options)
