# SPDX-License-Identifier: Apache-2.0
"""The architectures that kernels are built for, and their differences."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from flashbed.common.errors import InputError
from flashbed.common.tomlfile import nearest
from flashbed.image.command import run


@dataclass(frozen=True)
class Architecture:
    """An architecture of the kernel. All paths are relative to the object directory.

    `name` is the value of ARCH, `target` the target of `make`. `image` is the file for a boot loader, and `raw` the
    file that is packed in it.
    """

    name: str
    prefix: str
    target: str
    image: str
    raw: str
    holder: str
    """The assembly file that includes the packed kernel, if the image unpacks itself (bzImage); empty if the loader
    unpacks it (Image.xz).
    """
    lzma2: str
    """xz's LZMA2 options for this architecture's code; any xz unpacks the result."""
    filter: str
    """xz's branch filter. Not every decompressor has it: Linux 6.1 has x86's, but not arm64's."""

    @property
    def packs_itself(self) -> bool:
        """True if the image unpacks itself."""
        return bool(self.holder)

    @functools.cached_property
    def compiler(self) -> str:
        """Return the versions of compiler and linker, which a build depends on besides its sources."""
        return " | ".join(run([f"{self.prefix}{tool}", "--version"]).splitlines()[0] for tool in ("gcc", "ld"))


ALL = {
    architecture.name: architecture
    for architecture in (
        Architecture(
            "x86_64",
            "x86_64-linux-gnu-",
            "bzImage",
            "arch/x86/boot/bzImage",
            "arch/x86/boot/compressed/vmlinux.bin",
            "arch/x86/boot/compressed/piggy.S",
            "preset=9e",
            "--x86",
        ),
        Architecture(
            "arm64",
            "aarch64-linux-gnu-",
            "Image",
            "arch/arm64/boot/Image",
            "arch/arm64/boot/Image",
            "",
            "preset=9e,lc=2,lp=2,pb=2",  # instructions of four bytes
            "--arm64",
        ),
    )
}


def named(name: str) -> Architecture:
    """Return the architecture of that name. Raises InputError if there is none."""
    if name not in ALL:
        raise InputError(f"architecture {name!r}: not supported{nearest(name, ALL)}")
    return ALL[name]
