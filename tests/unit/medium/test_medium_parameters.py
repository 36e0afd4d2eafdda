# SPDX-License-Identifier: Apache-2.0
"""A medium's parameters: each is listed with unit, range and meaning, and a wrong one is reported with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.image import hosttools
from flashbed.image.cache import Cache
from flashbed.image.hosttools import MediaTool
from flashbed.medium import parameter_list
from flashbed.profiles.library import Library
from flashbed.study.loading import load_study
from tests.support.facts import Facts

STUDY = """\
title      = "A study"
board      = "arm64-1000"
filesystem = "ext2"

[axes]
medium = ["usb-stick-2g", "{medium}"]

[workload]
tool    = "fio"
pattern = "write"
request = "4k"
file    = "64k"
"""

MEDIUM = """\
title          = "Mine"
kind           = "null"
capacity_bytes = "64M"
queue_depth    = 1
{more}
[source]
capacity_bytes = "assumed: a test"
queue_depth    = "assumed: a test"
{sources}
"""


@pytest.fixture(scope="module")
def tool() -> MediaTool:
    return hosttools.build(Cache(paths.cache_root() / "image"))


def complaint(folder: Path, tool: MediaTool, medium: str, **numbers: int) -> str:
    """Return the message about a study with the medium `medium`. The profile "mine" beside it has these numbers,
    too.
    """
    (folder / "profiles/media").mkdir(parents=True)
    more = "".join(f"{name} = {value}\n" for name, value in numbers.items())
    sources = "".join(f'{name} = "assumed: a test"\n' for name in numbers)
    (folder / "profiles/media/mine.toml").write_text(MEDIUM.format(more=more, sources=sources))
    file = folder / "study.toml"
    file.write_text(STUDY.format(medium=medium))
    with pytest.raises(InputError) as caught:
        parameter_list.check_study(load_study(file), tool)
    return caught.value.message.replace(f"{folder}/", "")


def test_an_unknown_parameter_is_told_with_file_line_and_the_nearest(tool: MediaTool, tmp_path: Path) -> None:
    message = complaint(tmp_path, tool, "mine", comand_ns=0, colour=3)
    assert Facts("profiles/media/mine.toml:5: comand_ns", 'did you mean "command_ns"?').within(message)
    assert Facts("profiles/media/mine.toml:6: colour", "no such parameter").within(message)


def test_a_parameter_of_another_kind_is_told_so(tool: MediaTool, tmp_path: Path) -> None:
    message = complaint(tmp_path, tool, "mine", command_ns=0, rpm=7200)
    assert message == Facts("profiles/media/mine.toml:6: rpm", 'kind = "disk"', '"null"')


def test_a_missing_parameter_is_told_with_its_meaning(tool: MediaTool, tmp_path: Path) -> None:
    message = complaint(tmp_path, tool, "mine")
    assert Facts("profiles/media/mine.toml:1: command_ns", "missing", "0", "10000000000").within(message)
    [parameter] = [parameter for parameter in tool.parameters if parameter.name == "command_ns"]
    assert message.endswith(f"; {parameter.meaning}")


def test_a_value_out_of_range_is_told_where_the_profile_says_it(tool: MediaTool, tmp_path: Path) -> None:
    message = complaint(tmp_path, tool, "mine", command_ns=0, queues=2000)
    assert message == "profiles/media/mine.toml:6: queues: 2000: allowed: 1 to 1024"


def test_a_value_of_the_study_is_told_where_the_study_says_it(tool: MediaTool, tmp_path: Path) -> None:
    message = complaint(tmp_path, tool, "usb-stick-2g:page_bytes=3000")
    assert Facts("study.toml:6: axes.medium[1]", "usb-stick-2g", "page_bytes", "3000").within(message)


@pytest.mark.parametrize("name", Library((paths.profiles(),)).names("medium"))
def test_shipped_media_are_taken(tool: MediaTool, name: str) -> None:
    parameter_list.check_selector(Library((paths.profiles(),)), name, tool)


def test_every_parameter_is_listed_with_unit_range_and_meaning(tool: MediaTool) -> None:
    listed = list(parameter_list.lines(tool.parameters))
    assert len(listed) == 2 * len(tool.parameters)
    assert "erase_ns: 0 to 10000000000 ns; must be there (flash, nand)" in listed
    assert "ftl: page, bast, fast, dftl; if absent page (flash)" in listed
    assert all(meaning.strip() for meaning in listed[1::2])
    assert not any(line.startswith("rpm") for line in parameter_list.lines(tool.parameters, "flash"))
    with pytest.raises(InputError, match='no kind of medium "dsk"; did you mean "disk"'):
        list(parameter_list.lines(tool.parameters, "dsk"))


def test_the_schema_names_every_parameter(tool: MediaTool) -> None:
    schema = parameter_list.schema(tool.parameters)
    properties = schema["properties"]
    assert {parameter.name for parameter in tool.parameters} <= set(properties)
    assert schema["additionalProperties"] is False
    assert properties["rpm"]["minimum"] == 60
    assert properties["rpm"]["description"].endswith("(kind disk; turns a minute)")
    assert properties["gc_policy"]["enum"] == ["greedy", "cost-benefit", "random", "d-choices"]
    of_disks = next(rule["then"]["required"] for rule in schema["allOf"] if "disk" in str(rule["if"]))
    assert {"rpm", "heads"} <= set(of_disks)
