# SPDX-License-Identifier: Apache-2.0
"""Link an appliance's kernel again, with its initramfs and its command line inside: one file that boots alone.

The cache keeps it by content. Knows neither settings nor the content of the archive.
"""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

from flashbed.common.digest import digest_bytes
from flashbed.common.progress import stage
from flashbed.image import cpio, stores
from flashbed.image.command import run
from flashbed_appliance.shrinking import kernel_build as kernels
from flashbed_appliance.shrinking.architecture import Architecture
from flashbed_appliance.shrinking.fragment import ConfigSetting, Fragment

PLAIN, PACKED = "appliance.cpio", "appliance.cpio.xz"
"""Names of the archive in the object directory. Linux's build uses files with these extensions unchanged."""

LINKED = "linked"


def linked(target: Architecture, kernel: Fragment, archive: bytes, line: str) -> Path:
    """Return the file for a boot loader: the kernel of these settings, already built, with `archive` inside.

    `line` is its command line. On x86_64 the loader's arguments are appended to it; on arm64 they replace it. This
    takes one link, or longer if another kernel was compiled in the object directory since.
    """
    cache = stores.open_cache()
    source, _ = kernels.unpacked_source(cache, stores.open_archive())
    # The kernel's own compression packs the archive better, and unpacking twice exhausts a machine of 24 MB
    name, content = (PLAIN, archive) if target.packs_itself else (PACKED, cpio.packed(archive))
    wanted = Fragment([*kernel, *_inside(target, name, line)])

    def fill(folder: Path) -> None:
        with kernels.objects_of(target, cache) as objects, stage(f"Linking the appliance for {target.name}"):
            kernels.configure(target, source.folder, objects, wanted.text)
            kernels.check(wanted, objects)
            (objects / name).write_bytes(content)
            where = f"O={objects}"
            run(kernels.make(target, source.folder / "linux", where, target.target, jobs=os.cpu_count() or 1))
            shutil.copyfile(objects / target.image, folder / LINKED)

    recipe = {**kernels.recipe(target, source, wanted.text), "archive": digest_bytes(content)}
    return cache.entry(f"nas-linked-{target.name}", recipe, fill).path(LINKED)


def for_loaders(target: Architecture, built: Path) -> bytes:
    """Return the bytes for a boot loader: a bzImage as it is, or an Image packed by gzip, for QEMU and U-Boot."""
    content = built.read_bytes()
    return content if target.packs_itself else gzip.compress(content, 9, mtime=0)


def _inside(target: Architecture, archive: str, line: str) -> list[ConfigSetting]:
    options = {"CONFIG_INITRAMFS_SOURCE": f'"{archive}"', "CONFIG_CMDLINE": f'"{line}"'}
    if archive == PLAIN:
        options["CONFIG_INITRAMFS_COMPRESSION_NONE"] = "y"
    if target.name == "x86_64":
        options["CONFIG_CMDLINE_BOOL"] = "y"
    here = Path(__file__)
    return [
        ConfigSetting(option, value, "the appliance in one file", "Build", here, 0) for option, value in options.items()
    ]
