# SPDX-License-Identifier: Apache-2.0
"""Links an appliance's kernel again, with its first file system and its command line inside: one file that boots alone.

Kept by content. Knows neither settings nor what the archive holds.
"""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

from flashbed import image
from flashbed.common.digest import digest_bytes
from flashbed.common.progress import stage
from flashbed.image import cpio
from flashbed.image.command import run
from flashbed_appliance.shrinking import building as kernels
from flashbed_appliance.shrinking.architecture import Architecture
from flashbed_appliance.shrinking.fragment import Fragment, Setting

PLAIN, PACKED = "appliance.cpio", "appliance.cpio.xz"
"""The archive in the folder of objects: Linux's build takes files of these endings as they are."""

LINKED = "linked"


def linked(target: Architecture, kernel: Fragment, archive: bytes, line: str) -> Path:
    """What a loader takes: the kernel of these settings, which has been built, with `archive` inside. `line` is its
    command line: on x86_64 a loader's words come behind it, on arm64 they replace it.

    Takes a link, or longer if another kernel was compiled in the folder of objects since.
    """
    cache = image.open_cache()
    source, _ = kernels.unpacked_source(cache, image.open_archive())
    # What packs the kernel packs the archive better, and with two unpackings a machine of 24 MB ends in want of memory
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
    """bzImage unpacks itself. An Image is packed with gzip, which QEMU and U-Boot unpack."""
    content = built.read_bytes()
    return content if target.packs_itself else gzip.compress(content, 9, mtime=0)


def _inside(target: Architecture, archive: str, line: str) -> list[Setting]:
    options = {"CONFIG_INITRAMFS_SOURCE": f'"{archive}"', "CONFIG_CMDLINE": f'"{line}"'}
    if archive == PLAIN:
        options["CONFIG_INITRAMFS_COMPRESSION_NONE"] = "y"
    if target.name == "x86_64":
        options["CONFIG_CMDLINE_BOOL"] = "y"
    here = Path(__file__)
    return [Setting(option, value, "the appliance in one file", "Build", here, 0) for option, value in options.items()]
