# SPDX-License-Identifier: Apache-2.0
"""The appliance's kernels: they are as small as is promised, they boot, and one that was compiled beside others is the
same as one that was compiled from nothing. Each builds a kernel: long.
"""

from pathlib import Path

import pytest

from flashbed.common.digest import digest_file
from flashbed.image import stores
from flashbed_appliance.shrinking import (
    architecture,
    comparison,
    fragment,
    kernel_build,
    memory,
    packing,
    prices,
    sizes,
)
from flashbed_appliance.shrinking.variants import Bench, OptionChange

MOST_BYTES = 1_100_000
"""Of the kernel that serves, packed by xz, with the NFS server."""

NAMES = sorted(architecture.ALL)

PRICED = ["CONFIG_UNIX98_PTYS", "CONFIG_FUTEX", "CONFIG_NFSD_V2"]
"""Options that are priced anew where they were not: one of a driver, one that adds, and one of few objects."""

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", NAMES)
def test_the_kernel_that_serves_is_small(name: str) -> None:
    sizes_of_kernel = packing.sizes(kernel_build.build(name))
    assert sizes_of_kernel.server <= MOST_BYTES
    assert sizes_of_kernel.image <= sizes_of_kernel.server


@pytest.mark.parametrize("name", NAMES)
def test_it_boots_in_a_machine_of_24_mib(name: str) -> None:
    target = architecture.named(name)
    if memory.machine(target) is None:
        pytest.skip("no QEMU here for this architecture; Debian's package qemu-system-x86 has it")
    free_kib = memory.free_kib(target, kernel_build.build(name).image)
    assert free_kib is not None
    assert 12 << 10 < free_kib < memory.RAM_MIB << 10


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_same_as_one_that_was_compiled_from_nothing(name: str, tmp_path: Path) -> None:
    target = architecture.named(name)
    kernel = kernel_build.build(name)
    source, _ = kernel_build.unpacked_source(stores.open_cache(), stores.open_archive())
    objects = tmp_path / "objects"
    kernel_build.configure(target, source.folder, objects, fragment.read(kernel_build.nas_fragments(name)).text)
    kernel_build.compile_kernel(target, source.folder, objects, lambda: None)
    assert digest_file(objects / target.image) == digest_file(kernel.image)


@pytest.mark.parametrize("option", PRICED)
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_that_was_priced_is_the_same_as_one_that_was_compiled_from_nothing(
    name: str, option: str, tmp_path: Path
) -> None:
    target = architecture.named(name)
    fragment_ = fragment.read(kernel_build.nas_fragments(name))
    prices.sweep(target, fragment_, [option], anew=True)
    change = OptionChange(option, prices.SWITCHED[fragment_[option].value])
    settings = fragment_.changed(*change)
    priced = Bench(target).stored(settings, change)
    source, _ = kernel_build.unpacked_source(stores.open_cache(), stores.open_archive())
    kernel_build.configure(target, source.folder, tmp_path / "objects", settings)
    kernel_build.compile_kernel(target, source.folder, tmp_path / "objects", lambda: None)
    assert priced is not None
    assert priced.digest == digest_file(tmp_path / "objects" / target.image)


@pytest.mark.parametrize("name", NAMES)
def test_all_bytes_of_it_have_a_folder(name: str) -> None:
    kernel = kernel_build.build(name)
    shares = comparison.shares_of(kernel)
    assert sum(share.image for share in shares) == kernel.raw.stat().st_size
    known = sum(share.packed_alone for share in shares if share.subsystem not in (sizes.ELSEWHERE, sizes.BETWEEN))
    assert known > 0.8 * sum(share.packed_alone for share in shares)


def test_an_option_has_a_price_and_it_is_kept() -> None:
    target = architecture.named("arm64")
    fragment_ = fragment.read(kernel_build.nas_fragments("arm64"))
    [priced] = prices.sweep(target, fragment_, ["CONFIG_UNIX98_PTYS"], anew=True)
    assert priced.figures.why_not == ""
    assert priced.figures.image is not None
    assert 0 < priced.figures.image < 50_000
    assert prices.sweep(target, fragment_, ["CONFIG_UNIX98_PTYS"], stored=True, anew=True) == [priced]
