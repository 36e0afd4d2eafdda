# SPDX-License-Identifier: Apache-2.0
"""The prices of a small kernel's options, their tables, and two kernels side by side: all from made-up figures."""

import re
import subprocess
from pathlib import Path

import pytest

from flashbed.common.errors import InputError, SetupError
from flashbed.common.page import PageTable
from flashbed.image import command
from flashbed.image.cache import Entry
from flashbed.report.html import render_page
from flashbed_appliance.shrinking import (
    architecture,
    comparison,
    kernel_build,
    memory,
    packing,
    prices,
    purposes,
    tables,
)
from flashbed_appliance.shrinking.comparison import KernelSide
from flashbed_appliance.shrinking.fragment import ConfigSetting, Fragment
from flashbed_appliance.shrinking.packing import Sizes
from flashbed_appliance.shrinking.price_list import Figures
from flashbed_appliance.shrinking.prices import Price
from flashbed_appliance.shrinking.sizes import Share
from flashbed_appliance.shrinking.variants import Variant
from tests.support.repository import REPOSITORY

BASE = {"CONFIG_NET": "y", "CONFIG_INET": "y", "CONFIG_EXT4_FS": "m", "CONFIG_IPV6": "n"}
WHOLE = Variant(image=1000, raw=3000, modules={"ext4": 300, "nfsd": 50}, free_kib=16000, config=BASE)


def _setting(option: str, value: str, group: str = "Network") -> ConfigSetting:
    return ConfigSetting(option, value, "A reason.", group, Path("some.config"), 1)


def test_a_price_is_what_the_option_adds_with_all_that_goes_with_it() -> None:
    without = Variant(600, 2000, {"ext4": 300}, 17000, "", {**BASE, "CONFIG_NET": "n", "CONFIG_INET": "n"})
    price = prices.figures(_setting("CONFIG_NET", "y"), WHOLE, without)
    assert (price.image, price.modules, price.ram_kib) == (400, 50, 1000)
    assert price.also == ("CONFIG_INET",)


def test_what_is_in_the_image_counts_and_not_what_another_program_packed_before(tmp_path: Path) -> None:
    """The objects of a kernel packed by gzip were made from those of one packed by xz, whose file is still there."""
    target = architecture.named("x86_64")
    holder = tmp_path / target.holder
    holder.parent.mkdir(parents=True)
    for ending in ("xz", "gz"):
        (holder.parent / f"vmlinux.bin.{ending}").write_text(ending)
    holder.write_text('input_data:\n.incbin "arch/x86/boot/compressed/vmlinux.bin.gz"\ninput_data_end:\n')
    assert kernel_build.packed_part(target, tmp_path).read_text() == "gz"

    holder.write_text("input_data:\n")
    with pytest.raises(SetupError, match=r"piggy\.S: includes no packed kernel"):
        kernel_build.packed_part(target, tmp_path)


def test_what_is_left_out_costs_what_it_would_add() -> None:
    with_it = Variant(1250, 3500, WHOLE.modules, 15900, "", {**BASE, "CONFIG_IPV6": "y"})
    price = prices.figures(_setting("CONFIG_IPV6", "n"), WHOLE, with_it)
    assert (price.image, price.modules, price.ram_kib, price.also) == (250, 0, 100, ())


def test_a_module_costs_its_own_bytes() -> None:
    without = Variant(990, 2990, {"nfsd": 50}, 16000, "", {**BASE, "CONFIG_EXT4_FS": "n"})
    price = prices.figures(_setting("CONFIG_EXT4_FS", "m"), WHOLE, without)
    assert (price.image, price.modules, price.ram_kib) == (10, 300, 0)


def test_what_cannot_be_changed_alone_has_a_reason_and_no_price() -> None:
    setting = _setting("CONFIG_NET", "y")
    price = prices.figures(setting, WHOLE, Variant(why_not="cannot be left out"))
    assert (price.image, price.ram_kib, price.why_not) == (None, None, "cannot be left out")
    rows = tables.unpriced_table([Price(setting, price)]).rows
    assert rows == [("NET", "built in", "cannot be left out")]
    assert tables.price_table([Price(setting, price)]).rows == []


def test_the_dearest_comes_first_and_unknown_memory_is_a_dash() -> None:
    cheap = Price(_setting("CONFIG_UNIX", "y"), Figures(100, 0, also=tuple(f"CONFIG_{letter}" for letter in "ABCDEF")))
    dear = Price(_setting("CONFIG_INET", "y"), Figures(90_000, -20, 512))
    rows = tables.price_table([cheap, dear]).rows
    assert rows == [
        ("INET", "built in", "-", "+90,000", "-20", "+512"),
        ("UNIX", "built in", "A, B, C, D and 2 more", "+100", "0", "-"),
    ]


def test_an_option_that_the_fragment_does_not_set_has_no_price() -> None:
    with pytest.raises(InputError, match="--option CONFIG_SOUND: the fragment does not set it"):
        prices.sweep(architecture.named("arm64"), Fragment([_setting("CONFIG_NET", "y")]), ["CONFIG_SOUND"])


def test_what_serves_is_the_image_and_the_modules_of_the_server() -> None:
    sizes = Sizes(1_000_000, 3_000_000, {"nfsd": 40_000, "sunrpc": 50_000, "ext4": 200_000}, {"xz": 990_000})
    assert sizes.server == 1_090_000
    rows = tables.size_table(sizes).rows
    assert rows[0] == ("the kernel, not packed", "3,000,000", "")
    assert rows[-1] == ("image and NFS server, xz (with the modules nfsd, sunrpc)", "1,090,000", "")


@pytest.mark.parametrize("name", sorted(architecture.ALL))
def test_what_packs_can_be_unpacked_and_a_program_that_fails_has_no_figure(name: str, tmp_path: Path) -> None:
    file = tmp_path / "kernel"
    file.write_bytes(b"the same again and again " * 4000)
    known = packing.programs(architecture.named(name))
    made = command.packed_bytes(file, known[packing.XZ])
    assert 0 < made < 1000
    unpacked = f"{' '.join(known[packing.XZ])} < {file} | xz -dc | cmp - {file}"
    subprocess.run(["bash", "-c", f"set -o pipefail; {unpacked}"], check=True)
    with pytest.raises(SetupError, match=r"no such option|unrecognized|invalid"):
        command.packed_bytes(file, ("xz", "--no-such-option", "-c"))


def test_what_packs_and_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("image", "image"), ("raw", "the same again and again " * 4000)):
        (tmp_path / name).write_text(text)
    programs = {**packing.PROGRAMS, "lzo": ("no-such-lzop", "-9", "-c"), "zstd": ("xz", "--no-such-option")}
    monkeypatch.setattr(packing, "PROGRAMS", programs)
    kernel = kernel_build.SmallKernel(architecture.named("arm64"), Entry(tmp_path, {}), "")
    sizes = packing.sizes(kernel)
    assert "lzo" not in sizes.by
    assert sizes.lacking["lzo"] == "no-such-lzop is not installed"
    assert sizes.lacking["zstd"] == "this xz does not support --no-such-option"
    assert ("packed by lzo", "not measured: no-such-lzop is not installed", "") in tables.size_table(sizes).rows
    side = KernelSide("nas", Fragment([]), {}, sizes, [])
    assert "lzo (no-such-lzop is not installed)" in comparison.tables(side, side)[0].note


def test_who_makes_the_page_of_sizes_has_all_that_packs() -> None:
    rule = (REPOSITORY / "Makefile").read_text().partition("\n$(STAMP)-dev:")[2]
    packages = set(rule.partition("setup/debian")[2].split("\n")[0].split())
    assert {command[0] for command in packing.PROGRAMS.values()} - {"gzip"} < packages  # gzip is in each Debian


def test_small_folders_share_a_row_and_all_add_up() -> None:
    shares = [Share("net/ipv4", 200_000, 10, 90_000), Share("usr", 100, 0, 60), Share("io", 50, 1, 70)]
    rows = tables.subsystem_table(shares).rows
    assert rows == [
        ("net/ipv4", "200,000", "90,000", "10"),
        ("2 others", "150", "130", "1"),
        ("all", "200,150", "90,130", "11"),
    ]


def test_the_three_columns() -> None:
    settings = Fragment(
        [
            _setting("CONFIG_NET", "y"),
            _setting("CONFIG_E1000", "m"),
            _setting("CONFIG_IPV6", "n"),
            _setting("CONFIG_NR_CPUS", "2", "Processor"),
        ]
    )
    assert tables.column_table(settings).rows == [
        ("Network", "NET", "E1000", "IPV6"),
        ("Processor", "NR_CPUS=2", "-", "-"),
    ]


def _side(name: str, settings: list[ConfigSetting], config: dict[str, str], image: int, net: int) -> KernelSide:
    sizes = Sizes(image, 3 * image, {"ext4": 300}, {"xz": image})
    return KernelSide(
        name, Fragment(settings), config, sizes, [Share("net/ipv4", net, 0, net), Share("mm", 500, 0, 300)]
    )


def test_two_kernels_side_by_side() -> None:
    a = _side("nas", [_setting("CONFIG_NET", "y")], BASE, 1000, 2000)
    more = {**BASE, "CONFIG_IPV6": "y", "CONFIG_IPV6_SIT": "y"}
    b = _side("nas+six", [_setting("CONFIG_IPV6", "y")], more, 1250, 2600)
    assert comparison.differing(a, b) == {"CONFIG_IPV6": ("n", "y"), "CONFIG_IPV6_SIT": ("n", "y")}
    size, folders, groups, options = comparison.tables(a, b)
    assert ("image, xz", "1,000", "1,250", "+250") in size.rows
    assert folders.rows == [("net/ipv4", "2,000", "2,600", "+600")]
    assert groups.rows == [("Network", "1"), (comparison.FOLLOWS, "1")]
    assert options.rows == [("Network", "IPV6", "n", "y"), (comparison.FOLLOWS, "IPV6_SIT", "n", "y")]


def test_memory_is_read_from_the_console() -> None:
    console = "[boot]\r\nMemTotal:          20480 kB\r\nMemFree:           17000 kB\r\nBuffers: 0 kB\r\n"
    assert memory.reported(console) == 17000
    lists = "Node 0, zone    DMA32\r\n  pagesets\r\n    cpu: 0\r\n              count: 99\r\n"
    assert memory.reported(console + lists) == 17396  # pages on the lists of CPUs are free, too
    with pytest.raises(SetupError, match="its last lines:\nKernel panic"):
        memory.reported("Kernel panic - not syncing\n")


def test_the_page_shows_what_the_tables_say_and_nothing_breaks_out() -> None:
    shown = [PageTable("T", ("a", "b"), [("<x>", "1")]), PageTable("Empty", ("a",), [])]
    text = render_page("nas & more", ["A line."], shown)
    assert "nas &amp; more" in text
    assert "&lt;x&gt;" in text
    assert "Empty" not in text


def test_words_for_kernels(tmp_path: Path) -> None:
    target = architecture.named("x86_64")
    own = tmp_path / "own.config"
    own.write_text("# It is wanted.\nCONFIG_IPV6=y\n")
    both = purposes.wanted(f"nas+{own}", target)
    assert both["CONFIG_IPV6"].value == "y"
    assert purposes.wanted("nas", target)["CONFIG_IPV6"].value == "n"
    assert "CONFIG_ACPI" in purposes.wanted("nas+pc", target)
    with pytest.raises(InputError, match="'nos' is neither 'nas', nor a study"):
        purposes.wanted("nos", target)
    for word, message in (("nas+", "a word is missing beside a +"), ("+nas", "a word is missing"), ("", "is empty")):
        with pytest.raises(InputError, match=re.escape(f"kernel {word!r}: {message}")):
            purposes.wanted(word, target)
    whole = tmp_path / "whole.config"
    whole.write_text("#\n# Automatically generated file; DO NOT EDIT.\n#\nCONFIG_NET=y\n")
    with pytest.raises(InputError, match=r"whole\.config: is a complete \.config"):
        purposes.wanted(str(whole), target)
