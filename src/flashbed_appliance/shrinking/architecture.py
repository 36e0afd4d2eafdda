# SPDX-License-Identifier: Apache-2.0
"""The architectures that kernels are built for, and the few things that differ between them."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from flashbed.common.errors import InputError
from flashbed.common.tomlfile import nearest
from flashbed.image.command import run


@dataclass(frozen=True)
class Architecture:
    """`name` is Linux's word for make; `image` is the file below the build that a boot loader takes, `raw` what
    is packed in it.
    """

    name: str
    prefix: str
    target: str
    image: str
    raw: str
    holder: str
    """The assembly, below the build, that takes in what the image unpacks of itself (bzImage); nothing if what loads it
    does that (Image.xz).
    """
    lzma2: str
    """xz's options for code of this architecture; any xz unpacks what they make."""
    filter: str
    """xz's filter for it, which not every program that unpacks has: Linux 6.1 has x86's, and not arm64's."""

    @property
    def packs_itself(self) -> bool:
        """Whether the image unpacks itself."""
        return bool(self.holder)

    @functools.cached_property
    def compiler(self) -> str:
        """What a build depends on besides its sources."""
        return " | ".join(run([f"{self.prefix}{tool}", "--version"]).splitlines()[0] for tool in ("gcc", "ld"))


ALL = {
    one.name: one
    for one in (
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
    """Raises InputError for an architecture that nothing is built for."""
    if name not in ALL:
        raise InputError(f"architecture {name!r}: there is none of that name here{nearest(name, ALL)}")
    return ALL[name]
