# SPDX-License-Identifier: Apache-2.0
"""The flash of media beyond their capacity, and the caution about a share that no device has."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.medium import parameter_list
from flashbed.profiles.library import Library
from flashbed.profiles.profile import Flash, flash_of
from flashbed.study.loading import load_study

SHIPPED = Library((paths.profiles(),))
COPY = "emmc-32g-tlc:capacity_bytes=8G,used_bytes=0"


def test_shipped_media_have_as_much_flash_as_devices() -> None:
    flash_by_name = {name: flash_of(SHIPPED.medium(name)) for name in SHIPPED.names("medium")}
    stated = {name: flash for name, flash in flash_by_name.items() if flash}
    assert len(stated) >= 9
    assert not {name: flash.caution for name, flash in stated.items() if flash.caution}
    assert stated["sd-good"].raw_bytes == 8 << 30
    assert stated["sd-good"].over_provisioning_percent == pytest.approx(100 / 15)


@pytest.mark.parametrize(
    ("raw", "message"), [(1019, "1.9 %"), (1020, ""), (1300, ""), (1301, "30.1 %"), (4310, "331 %")]
)
def test_the_bounds(raw: int, message: str) -> None:
    caution = Flash(raw, 1000).caution
    assert (
        caution == ""
        if not message
        else caution.startswith(f"over-provisioning of {message}, where devices have 2 to 30")
    )
    assert ("hardly ever collects" in caution) == (raw > 1300)


def test_a_copy_that_keeps_its_flash_is_told_before_it_is_measured() -> None:
    [message] = parameter_list.caution(SHIPPED, COPY)
    assert "emmc-32g-tlc.toml:" in message
    assert "over-provisioning of 303 %" in message
    assert "blocks_per_die" in message


def test_a_study_is_told_of_the_line_that_says_it(tmp_path: Path) -> None:
    study = tmp_path / "own.toml"
    media = f'medium = ["sd-good", "{COPY}", "hdd-35-7200-320g"]'
    fixed = 'title = "t"\nboard = "arm64-1000"\nfilesystem = "ext2"\nseeds = 1\n'
    study.write_text(
        f'{fixed}[axes]\n{media}\n[workload]\ntool = "fio"\npattern = "read"\nfile = "4k"\nrequest = "4k"\n'
    )
    [message] = parameter_list.cautions(load_study(study))
    assert "own.toml:6" in message
    assert "over-provisioning of 303 %" in message
