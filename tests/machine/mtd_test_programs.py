# SPDX-License-Identifier: Apache-2.0
"""Test programs of mtd-utils for the guest, built static from Debian's source package: its binary package leaves them
out. For tests.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from flashbed.common.progress import stage
from flashbed.image import toolchain
from flashbed.image.cache import Cache, Entry
from flashbed.image.command import run
from flashbed.image.debian import Archive

RECIPE_VERSION = 1
"""Raise it if `mtd` makes other programs of the same source, flags and table."""

MTD = {
    "integck": ("tests/fs-tests/integrity/integck.c", "lib/libubi.c"),
    "flash_readtest": ("tests/mtd-tests/flash_readtest.c", "lib/libmtd.c", "lib/libmtd_legacy.c"),
    "flash_stress": ("tests/mtd-tests/flash_stress.c", "lib/libmtd.c", "lib/libmtd_legacy.c"),
    "flash_torture": ("tests/mtd-tests/flash_torture.c", "lib/libmtd.c", "lib/libmtd_legacy.c"),
    "nandpagetest": ("tests/mtd-tests/nandpagetest.c", "lib/libmtd.c", "lib/libmtd_legacy.c"),
    "nandsubpagetest": ("tests/mtd-tests/nandsubpagetest.c", "lib/libmtd.c", "lib/libmtd_legacy.c"),
}
"""Sources of each program, besides lib/common.c."""

FLAGS = ("-std=gnu11", "-O2", "-w", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-DHAVE_EXECINFO_H", '-DVERSION="2"')
LINK_FLAGS = ("-static", "-s", "-Wl,--build-id=none")


def mtd(cache: Cache, archive: Archive) -> Entry:
    """Return an entry that has every program of MTD, by its name."""
    resolved = archive.resolve(["mtd-utils"], source=True)
    root, of_suite = toolchain.sysroot(cache, archive), toolchain.compiler(cache, archive)
    recipe = {
        "source": resolved.files,
        "sysroot": root.digests,
        "compiler": of_suite.identity,
        "flags": (*FLAGS, *LINK_FLAGS),
        "programs": MTD,
        "version": RECIPE_VERSION,
    }

    def fill(folder: Path) -> None:
        dsc = next(path for path in archive.fetch(["mtd-utils"], resolved, source=True) if path.suffix == ".dsc")
        tree = folder / "tree"
        with stage("Building test programs of mtd-utils"):
            run(["dpkg-source", "--no-check", "--no-copy", "-x", dsc, tree])  # apt has checked the signature
            compiler = [f"{toolchain.CROSS_PREFIX}gcc", f"--sysroot={root.folder}", *FLAGS, *LINK_FLAGS]
            compiler += [f"-ffile-prefix-map={tree}=."]
            compiler += [f"-I{tree / include}" for include in ("include", "ubi-utils/include")]
            for name, sources in MTD.items():
                files = [str(tree / source) for source in (*sources, "lib/common.c")]
                run([*compiler, "-o", str(folder / name), *files], env=of_suite.environment())
        shutil.rmtree(tree)

    return cache.entry(f"mtd-tests-{resolved.version('mtd-utils')}", recipe, fill, products=[*MTD])
