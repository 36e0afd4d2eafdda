# SPDX-License-Identifier: Apache-2.0
"""The emulator: QEMU from Debian's source tarball with the lab's clock (emulator/), built by the host's compiler and
cached.

The tarball of a version never changes, other than Debian's packaging around it, so what a guest sees does not depend on
the host's QEMU.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_file
from flashbed.common.errors import SetupError
from flashbed.common.progress import stage
from flashbed.image.cache import Cache, Entry, digest_tree
from flashbed.image.command import run
from flashbed.image.debian import Archive

SOURCE = "qemu"
TARBALL = "91aca71520040edc40b8d437aa3004dae614f58e286cf653ee8996c07af2962f"
"""SHA-256 of qemu_7.2+dfsg.orig.tar.xz."""

PROGRAM = "qemu-system-aarch64"
DEVICES = "lab"

OPTIONS: Sequence[str] = (
    "--target-list=aarch64-softmmu",
    "--without-default-features",
    "--enable-tcg",
    "--enable-system",
    "--disable-tools",
    "--disable-docs",
    "--disable-werror",
    "--enable-fdt=system",
    "--disable-install-blobs",
    "--without-default-devices",
    f"--with-devices-aarch64={DEVICES}",
)

OWN = {"lab-clock.c": "softmmu", "lab-clock.h": "include/sysemu", "devices.mak": "configs/devices/aarch64-softmmu"}
"""Files of emulator/, and the folder of QEMU's source that each goes to."""


def digest() -> str:
    """Of all that makes the emulator's answers, for the keys of results: tarball, own files, patches, options."""
    return f"{TARBALL[:16]}-{digest_tree(paths.emulator())[:16]}"


def build(cache: Cache, archive: Archive) -> Entry:
    """An entry with the emulator, stripped. Raises SetupError if the mirror has another tarball."""
    recipe = {
        "tarball": TARBALL,
        "sources": digest_tree(paths.emulator()),
        "options": OPTIONS,
        "compiler": run(["cc", "--version"]).splitlines()[0],
    }

    def fill(folder: Path) -> None:
        resolved = archive.resolve([SOURCE], source=True)
        files = archive.fetch([SOURCE], resolved, source=True)
        tarball = next((path for path in files if ".orig.tar" in path.name), None)
        if tarball is None or digest_file(tarball) != TARBALL:
            raise SetupError(f"the Debian archive has another {SOURCE} than the one that the lab's clock is made for")
        tree = folder / "tree"
        tree.mkdir()
        run(["tar", "-xf", tarball, "-C", tree, "--strip-components=1"])
        for patch in sorted((paths.emulator() / "patches").glob("*.patch")):
            run(["patch", "-p1", "--fuzz=0", "-d", tree, "-i", patch])
        for name, to in OWN.items():
            shutil.copy(paths.emulator() / name, tree / to / name.replace("devices", DEVICES))
        with stage("Building the emulator"):
            (tree / "build").mkdir()
            run(["../configure", *OPTIONS], cwd=tree / "build")
            run(["ninja", f"-j{os.cpu_count()}", PROGRAM], cwd=tree / "build")
        shutil.move(tree / "build" / PROGRAM, folder / PROGRAM)
        run(["strip", folder / PROGRAM])
        shutil.rmtree(tree)

    return cache.entry("emulator", recipe, fill, products=[PROGRAM])
