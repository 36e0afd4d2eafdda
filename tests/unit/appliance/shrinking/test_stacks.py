# SPDX-License-Identifier: Apache-2.0
"""The options of a study's kernel: those that its cells need, and no others."""

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from flashbed_appliance.shrinking import architecture, fragment, purposes, stacks
from tests.support.facts import Facts

ARM64 = architecture.named("arm64")
STUDY = """
title = "t"
question = "q"
axes.filesystem = [{filesystems}]
board = "arm64-1000"
medium = "{medium}"
scheduler = "{scheduler}"
workload = {{ tool = "fio", pattern = "write", request = "4k", file = "64k" }}
"""


def _values(folder: Path, filesystems: str, medium: str = "usb-stick-2g", scheduler: str = "none") -> dict[str, str]:
    file = folder / "own.toml"
    file.write_text(STUDY.format(filesystems=filesystems, medium=medium, scheduler=scheduler))
    return {setting.option: setting.value for setting in purposes.wanted(str(file), ARM64)}


def test_each_option_of_a_part_is_in_the_guests_kernel_and_in_one_part_only() -> None:
    guests = fragment.values((paths.guest() / "kernel.config").read_text())
    named = [option for part in stacks.parts() for option in part.options]
    assert set(named) <= set(guests)
    assert len(named) == len(set(named))


def test_file_systems_and_schedulers_that_no_cell_has_are_left_out(tmp_path: Path) -> None:
    values = _values(tmp_path, '"ext2", "fat16"', scheduler="bfq")
    assert (values["CONFIG_EXT2_FS"], values["CONFIG_VFAT_FS"], values["CONFIG_IOSCHED_BFQ"]) == ("y", "y", "y")
    assert (values["CONFIG_EXT4_FS"], values["CONFIG_UBIFS_FS"], values["CONFIG_MQ_IOSCHED_KYBER"]) == ("n", "n", "n")
    assert (values["CONFIG_MTD"], values["CONFIG_BLOCK"]) == ("n", "y")
    assert "CONFIG_JFFS2_FS_DEBUG" not in values
    assert "CONFIG_CRYPTO" not in values


def test_what_others_bring_along_is_added_where_they_are_not(tmp_path: Path) -> None:
    assert _values(tmp_path, '"f2fs"')["CONFIG_CRYPTO"] == "y"


def test_raw_chips_bring_their_drivers(tmp_path: Path) -> None:
    values = _values(tmp_path, '"ubifs"', medium="slc-nand-64m")
    assert (values["CONFIG_MTD_RAW_NAND"], values["CONFIG_MTD_UBI"], values["CONFIG_MISC_FILESYSTEMS"]) == (
        "y",
        "y",
        "y",
    )
    assert (values["CONFIG_JFFS2_FS"], values["CONFIG_EXT2_FS"]) == ("n", "n")


@pytest.mark.parametrize("study", sorted(path.stem for path in paths.studies().glob("*.toml")))
def test_what_the_studies_mount_and_schedule_has_a_part_or_needs_none(study: str) -> None:
    without_a_part = {"none", "block", "yaffs2", "anticipatory", "cfq"}  # modules of the lab's own
    known = {word for part in stacks.parts() for word in part.needed_by} | without_a_part
    cells = plan(load_study(paths.studies() / f"{study}.toml"))
    words = {word for cell in cells for word in (cell.filesystem.mount_type, cell.scheduler.name, cell.medium.provides)}
    assert words <= known


def test_each_shipped_study_has_a_fragment() -> None:
    refused = {}
    for file in sorted(paths.studies().glob("*.toml")):
        try:
            settings = stacks.fragment_of(load_study(file), "arm64")
        except InputError as error:
            refused[file.stem] = error.message
        else:
            assert settings["CONFIG_BLOCK"].value == "y"
    assert refused == {}


def test_a_server_of_files_keeps_its_network_and_what_its_server_needs(caplog: pytest.LogCaptureFixture) -> None:
    options = {setting.option: setting for setting in purposes.wanted("lee2002", ARM64)}
    for option in ("NET", "INET", "NFSD", "NFSD_V2", "NETWORK_FILESYSTEMS", "EXT2_FS", "FHANDLE", "VETH"):
        assert options[f"CONFIG_{option}"].value == "y"
    assert options["CONFIG_NFSD"].file == paths.guest() / "kernel-nas.config"
    (said,) = caplog.messages
    assert said.startswith(str(paths.studies() / "lee2002.toml"))
    assert Facts('kernel = "6.1-debian"', "24 of 78 cells are ignored").within(said)


def test_cells_with_another_version_of_linux_do_not_count(caplog: pytest.LogCaptureFixture) -> None:
    options = purposes.wanted("choi2014", ARM64)
    assert options["CONFIG_VFAT_FS"].file == paths.guest() / "kernel.config"
    assert 'kernel = "6.12": 192 of 1317 cells are ignored' in caplog.text


def test_a_study_of_one_kernel_of_ours_says_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _values(tmp_path, '"ext2"')
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("kernels", "told"),
    [
        (
            '"6.12"',
            'kernel = "6.12": only kernels that the lab builds from Linux 6.1 (6.1, 6.1-debug, 6.1-nas, 6.1-program)',
        ),
        ('"6.1", "6.1-debug", "6.12"', 'kernel = "6.1", "6.1-debug": these have several'),
    ],
)
def test_kernels_of_which_not_one_configuration_is_left(tmp_path: Path, kernels: str, told: str) -> None:
    file = tmp_path / "own.toml"
    text = STUDY.format(filesystems='"ext2"', medium="usb-stick-2g", scheduler="none")
    file.write_text(text.replace("axes.filesystem", f"axes.kernel = [{kernels}]\naxes.filesystem"))
    with pytest.raises(InputError) as caught:
        purposes.wanted(str(file), ARM64)
    assert f"{file}: {told}" in caught.value.message


def test_the_kernel_that_looks_for_its_own_bugs_has_what_that_adds(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    text = STUDY.format(filesystems='"ext2"', medium="usb-stick-2g", scheduler="none")
    file.write_text(f'{text}kernel = "6.1-debug"\n')
    added = fragment.values((paths.guest() / "kernel-debug.config").read_text())
    options = {setting.option: setting.value for setting in purposes.wanted(str(file), ARM64)}
    assert added.items() <= options.items()
    assert options["CONFIG_BLOCK"] == "y"


def test_a_study_is_for_the_labs_own_architecture() -> None:
    with pytest.raises(InputError, match="a study's guests are arm64; leave out --architecture x86_64"):
        purposes.wanted("quick", architecture.named("x86_64"))
