# SPDX-License-Identifier: Apache-2.0
"""A sweep over a made-up kernel that flashbed has a price list for, and the renewed list."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed_appliance.shrinking import kernel_build, memory, price_list, prices
from flashbed_appliance.shrinking.fragment import Fragment
from tests.support.facts import Facts
from tests.unit.appliance.shrinking.made_up_variants import TARGET, MadeUpKernel, fragment_of, installed

ALL = {"CONFIG_NET", "CONFIG_INET", "CONFIG_UNIX", "CONFIG_IPV6", "CONFIG_MMU"}


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeUpKernel:
    return installed(tmp_path, monkeypatch)


@pytest.fixture
def wanted_options(tmp_path: Path) -> Fragment:
    return fragment_of(tmp_path)


def begin(folder: Path, wanted_options: Fragment, options: Collection[str]) -> None:
    """Write a list of these options. The host has measured nothing yet."""
    prices.renew_list(TARGET, wanted_options, stored=False)
    file = price_list.file_of(TARGET.name)
    first, *rows = file.read_text().splitlines()
    file.write_text("".join(f"{line}\n" for line in (first, *(row for row in rows if _option(row) in options))))
    forget(folder)


def forget(folder: Path) -> None:
    shutil.rmtree(folder / "cache")
    (folder / "cache").mkdir()


def _option(row: str) -> str:
    return str(json.loads(row)["option"])


def options_of_list() -> set[str]:
    return {_option(row) for row in price_list.file_of(TARGET.name).read_text().splitlines()[1:]}


def test_what_the_list_has_is_not_measured_again(
    kernel: MadeUpKernel, wanted_options: Fragment, tmp_path: Path
) -> None:
    measured = [price.figures for price in prices.sweep(TARGET, wanted_options)]
    begin(tmp_path, wanted_options, ALL - {"CONFIG_UNIX"})
    kernel.compiled.clear()
    priced = prices.sweep(TARGET, wanted_options)
    assert [price.figures for price in priced] == measured
    assert [price.setting.option for price in priced if not price.listed] == ["CONFIG_UNIX"]
    assert len(kernel.compiled) == 3  # as it is, its objects looked at again, and the one that the list has not
    assert not any(price.listed for price in prices.sweep(TARGET, wanted_options, anew=True))
    assert len(kernel.compiled) == 7


def test_of_another_compiler_nothing_is_taken_and_that_is_told(
    kernel: MadeUpKernel,
    wanted_options: Fragment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    begin(tmp_path, wanted_options, ALL)
    monkeypatch.setattr(kernel_build, "recipe", lambda *words: {"config": words[-1], "compiler": "another"})
    assert not any(price.listed for price in prices.sweep(TARGET, wanted_options, stored=True))
    assert "another source, patch or compiler" in caplog.text
    with pytest.raises(InputError, match="is of another kernel; remove it"):
        prices.renew_list(TARGET, wanted_options, stored=True)
    assert options_of_list() == ALL


def test_the_list_of_another_purpose_is_nothing_to_tell(
    kernel: MadeUpKernel, wanted_options: Fragment, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begin(tmp_path, wanted_options, ALL)
    other = Fragment(setting for setting in wanted_options if setting.option != "CONFIG_UNIX")
    assert not any(price.listed for price in prices.sweep(TARGET, other, stored=True))
    assert caplog.text == ""


def test_a_list_grows_by_what_is_measured(kernel: MadeUpKernel, wanted_options: Fragment, tmp_path: Path) -> None:
    begin(tmp_path, wanted_options, {"CONFIG_NET"})
    prices.sweep(TARGET, wanted_options, ["CONFIG_UNIX"])
    priced = prices.renew_list(TARGET, wanted_options, stored=True)
    assert options_of_list() == {"CONFIG_NET", "CONFIG_UNIX"}
    assert {
        price.setting.option for price in priced if price.figures.why_not == prices.NOT_MEASURED
    } == ALL - options_of_list()


def test_memory_of_two_machines_is_not_in_one_list(
    kernel: MadeUpKernel, wanted_options: Fragment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tmp_path, wanted_options, {"CONFIG_NET"})
    before = price_list.file_of(TARGET.name).read_text()
    monkeypatch.setattr(memory, "identity", lambda _: "another")
    with pytest.raises(InputError, match=r"in another machine.*\n.*made up\nhere: another"):
        prices.renew_list(TARGET, wanted_options, stored=True)
    assert price_list.file_of(TARGET.name).read_text() == before


def test_a_list_that_this_host_contradicts_is_an_error(
    kernel: MadeUpKernel, wanted_options: Fragment, tmp_path: Path
) -> None:
    begin(tmp_path, wanted_options, {"CONFIG_NET"})
    file = price_list.file_of(TARGET.name)
    file.write_text(file.read_text().replace('"image": 1450', '"image": 1451'))
    prices.renew_list(TARGET, wanted_options, stored=True)  # it has measured nothing yet
    prices.sweep(TARGET, wanted_options, ["CONFIG_NET"], anew=True)
    with pytest.raises(InputError, match="CONFIG_NET: this host measured other figures") as caught:
        prices.renew_list(TARGET, wanted_options, stored=True)
    assert Facts("image +1,450 bytes", "modules +0 bytes", "RAM +30 KiB", "2 others").within(caught.value.message)
