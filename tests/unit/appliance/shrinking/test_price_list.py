# SPDX-License-Identifier: Apache-2.0
"""flashbed's own price lists."""

import json
from pathlib import Path

import pytest

from flashbed_appliance.shrinking import architecture, fragment, kernel_build, price_list, prices
from flashbed_appliance.shrinking.price_list import Figures, PriceList

RECIPE = {"source": "linux-1", "config": "CONFIG_NET=y"}
FIGURES = {
    "CONFIG_NET": Figures(400, 0, -4, ("CONFIG_INET", "CONFIG_UNIX")),
    "CONFIG_IPV6": Figures(0, 30, None),
    "CONFIG_MMU": Figures(why_not="cannot be left out"),
}


def test_what_is_written_is_read_and_of_the_same_kernel_only(tmp_path: Path) -> None:
    file = tmp_path / "new/made-up.jsonl"
    price_list.write(file, RECIPE, "QEMU 1", FIGURES)
    assert price_list.read(file, RECIPE) == PriceList("QEMU 1", FIGURES)
    newer, none = {**RECIPE, "source": "linux-2"}, tmp_path / "none.jsonl"
    assert [price_list.read(file, newer), price_list.read(none, RECIPE)] == [None, None]
    assert price_list.is_outdated(file, newer)
    assert not price_list.is_outdated(file, {**newer, "config": "CONFIG_NET=y\nCONFIG_INET=y"})
    assert not price_list.is_outdated(file, RECIPE)
    assert not price_list.is_outdated(none, RECIPE)


def test_an_option_is_a_line_and_what_is_nothing_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "made-up.jsonl"
    price_list.write(file, RECIPE, "QEMU 1", FIGURES)
    first, *rows = file.read_text().splitlines()
    assert json.loads(first)["machine"] == "QEMU 1"
    assert rows == [
        '{"option": "CONFIG_IPV6", "image": 0, "modules": 30}',
        '{"option": "CONFIG_MMU", "why_not": "cannot be left out"}',
        '{"option": "CONFIG_NET", "image": 400, "modules": 0, "ram_kib": -4, "also": ["CONFIG_INET", "CONFIG_UNIX"]}',
    ]


@pytest.mark.parametrize("name", sorted(architecture.ALL))
def test_the_lists_that_flashbed_comes_with_are_of_options_of_the_appliance(name: str) -> None:
    fragment_ = fragment.read(kernel_build.nas_fragments(name))
    rows = [json.loads(line) for line in price_list.file_of(name).read_text().splitlines()[1:]]
    assert rows
    for row in rows:
        assert fragment_[row["option"]].value in prices.SWITCHED
        assert row.get("why_not") != prices.NOT_MEASURED
