# SPDX-License-Identifier: Apache-2.0
"""Debian's own kernel boots as it is: quick's stick and file systems, no module that is not Debian's, the same bytes
again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.execution import run
from flashbed.guest_output import cpu_samples
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL, KERNELS
from flashbed.study.loading import load_study
from tests.machine.test_determinism import repeats
from tests.support import guest_rig
from tests.support.fixture_types import Measure, StudyWriter

QUICK = tomllib.loads((paths.studies() / "quick.toml").read_text())
FILESYSTEMS = QUICK["axes"]["filesystem"]

LOADS = {
    "fat16:cluster=32k": ("randread", "fsync"),
    "ext2:block=4k": ("randwrite", "fsync-each"),
    "f2fs": ("write", "fsync-each"),
    "f2fs:mode=lfs": ("randwrite", "fsync"),
}
"""Patterns and flushes of quick's, one for each of its file systems."""

STUDY = """
    [workload]
    tool = "fio"
    pattern = "{}"
    flush = "{}"
    request = "4k"
    file = "512k"
"""

IN_EVERY_RUN = [("ext2:block=4k", 1), ("f2fs", 2)]
"""File systems, and the CPUs of their board."""
LONG = [
    pytest.param(filesystem, cpus, marks=pytest.mark.long)
    for filesystem in FILESYSTEMS
    for cpus in (1, 2)
    if (filesystem, cpus) not in IN_EVERY_RUN
]


def study(study_file: StudyWriter, filesystem: str, board: str, **top: str) -> Path:
    stick, _new = QUICK["axes"]["medium"]
    values = {"medium": stick, "scheduler": QUICK["scheduler"], "kernel": DEBIAN_KERNEL, **top}
    path: Path = study_file(STUDY.format(*LOADS[filesystem]), filesystem=filesystem, board=board, **values)
    return path


@pytest.mark.parametrize(("filesystem", "cpus"), [*IN_EVERY_RUN, *LONG])
def test_quick_s_stick_gives_the_same_bytes_again(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, filesystem: str, cpus: int
) -> None:
    (repetition,) = run.prepare(load_study(study(study_file, filesystem, f"{QUICK['board']}:cpus={cpus}")))
    repeats(measure, repetition, tmp_path, idle=1, loaded=1, among={"out/fio.json"})


MODULES = """
cat /proc/modules >/out/modules
cat /proc/sys/kernel/tainted >/out/tainted
cat /sys/module/usb_storage/parameters/delay_use >/out/delay
ls /lib/flashbed/kernel/cell >/out/left
"""

DRIVERS = {"usbcore", "xhci_pci", "usb_storage", "sd_mod"}


def test_a_guest_has_those_modules_of_debian_s_that_its_cell_needs(study_file: StudyWriter, tmp_path: Path) -> None:
    path = study(study_file, "fat16:cluster=32k", f"{QUICK['board']}:cpus=2", scheduler="bfq")
    (repetition,) = run.prepare(load_study(path))
    files = guest_rig.boot(guest_rig.new(repetition, tmp_path / "guest"), measure=MODULES).files
    loaded = {line.split()[0] for line in files["modules"].decode().splitlines()}
    assert loaded > {*DRIVERS, "bfq", "vfat", "nls_cp437", "nls_ascii"}
    assert not loaded & {"ext4", "f2fs", "nvme", "kyber_iosched"}
    assert files["tainted"] == b"0\n"  # none without Debian's signature, none from outside of the kernel's tree
    assert files["delay"] == b"0\n"  # as the command line says it
    assert files["left"] == b""


CALLS = """
    [workload]
    tool = "fxmark"
    tests = "random"
    file = "1M"
    processes = 1
    run_us = 20000
"""


@pytest.mark.parametrize("kernel", [KERNELS[0], DEBIAN_KERNEL])
def test_a_profile_names_the_functions_of_a_kernel_with_and_without_modules(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, kernel: str
) -> None:
    """Behind ext2 and a real interface 6.1 has no module at all, and Debian's package has no System.map."""
    (repetition,) = run.prepare(load_study(study_file(CALLS, filesystem="ext2", kernel=kernel)))
    (section,) = cpu_samples.sections(out_of(measure(repetition, tmp_path / "cell").files))
    assert section.samples.get(cpu_samples.UNKNOWN, 0) < 0.1 * sum(section.samples.values())


def out_of(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name.removeprefix("out/"): data for name, data in files.items()}


INTERFACES = ["nvme-960pro-class:used_bytes=2G", "sd-good", "emmc-64g:used_bytes=2G", "hdd-25-4200-ide-4g"]
OTHERS = ["ext4", "fat32", "exfat", "xfs", "nilfs2"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("medium", "filesystem", "scheduler"),
    [
        *((medium, "ext2", "kyber") for medium in INTERFACES),
        *(("usb-stick-2g", filesystem, "none") for filesystem in OTHERS),
    ],
)
def test_each_interface_and_each_file_system(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, medium: str, filesystem: str, scheduler: str
) -> None:
    top = {"medium": medium, "filesystem": filesystem, "scheduler": scheduler, "kernel": DEBIAN_KERNEL}
    (repetition,) = run.prepare(load_study(study_file(STUDY.format("randwrite", "fsync"), **top)))
    finished = measure(repetition, tmp_path / "cell")
    assert finished.result.measurement.metrics["medium_written_bytes"] >= 512 << 10
    assert not finished.result.check


def test_a_file_system_that_debian_has_not_is_told_with_its_line(study_file: StudyWriter, tmp_path: Path) -> None:
    own = (paths.profiles() / "filesystems/ext2.toml").read_text().replace('type = "ext2"', 'type = "reiser4"')
    (tmp_path / "profiles/filesystems").mkdir(parents=True)
    (tmp_path / "profiles/filesystems/mine.toml").write_text(own)
    path = study_file(STUDY.format("write", "fsync"), filesystem="mine", kernel=DEBIAN_KERNEL)
    with pytest.raises(Exception, match=r"mine\.toml:\d+: mount\.type: Debian's .* reiser4"):
        run.prepare(load_study(path))
