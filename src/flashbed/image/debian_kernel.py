# SPDX-License-Identifier: Apache-2.0
"""Debian's own kernel as it is installed: its binary package, with a tree that modules of ours are built against.

The tree is Debian's headers package with the programs of a kernel tree of ours that is built for this host, for
Debian's are for the guest's architecture. The modules that a server of files needs come with it, in the order in which
they load.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from flashbed.common.errors import SetupError
from flashbed.common.progress import stage
from flashbed.image import module_order
from flashbed.image.cache import Cache, digest_tree
from flashbed.image.command import run
from flashbed.image.debian import Archive
from flashbed.image.kernel import CONFIG, GEN_INIT_CPIO, IMAGE, SYMBOLS, TREE, Kernel

PACKAGE = "linux-image-arm64"
HEADERS = "linux-headers-arm64"
EMPTY = (PACKAGE, HEADERS)
"""What users install; they only depend on the packages of today's kernel."""

GROUPS = {
    "filesystem": ("crc32c_generic", "ext4"),
    "network": ("nfsd", "sch_netem", "veth"),
}
"""Modules by what wants them; what they depend on comes before them."""

GUEST_FOLDER = "/lib/flashbed/kernel"
"""Where the guest's scripts look for them: a folder for each group."""

LEFT_OUT = ("media_nand",)
"""Folders of kernel/ that cannot be built against it: its own raw NAND framework is a module."""


def build(cache: Cache, archive: Archive, ours: Kernel) -> Kernel:
    """The kernel that Debian installs; `ours` is one of the same version that the lab has built."""
    packages = wanted(archive)
    resolved = archive.resolve(packages, alone=True)
    recipe = {
        "packages": resolved.files,
        "ours": ours.entry.digests,
        "groups": GROUPS,
        "script": digest_tree(Path(__file__)),
    }

    def fill(folder: Path) -> None:
        with stage("Fetching Debian's own kernel"):
            archive.unpack(archive.fetch(packages, resolved), folder / "unpacked")
        _tree(folder / "unpacked", ours.tree, folder / TREE)
        _modules(folder / "unpacked" / "lib/modules", folder)
        shutil.rmtree(folder / "unpacked")

    entry = cache.entry("linux-debian", recipe, fill, products=[IMAGE, CONFIG, GEN_INIT_CPIO])
    files = {f"{GUEST_FOLDER}/{group}/{path.name}": path for group in GROUPS for path in _in(entry.folder / group)}
    version = resolved.version(next(name for name in packages if name.startswith("linux-image")))
    return Kernel(entry, version, LEFT_OUT, files, ours.environment)


def _in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.ko"))


def wanted(archive: Archive) -> list[str]:
    """The packages of the kernel and of its headers: those that Debian's two empty ones depend on."""
    debs = archive.fetch(EMPTY, archive.resolve(EMPTY, alone=True))
    said = " ".join(run(["dpkg-deb", "-f", deb, "Depends"]) for deb in debs)
    named = dict.fromkeys(re.findall(r"linux-(?:image|headers)-\d[^ ,]*-arm64", said))
    common = [name.removesuffix("arm64") + "common" for name in named if name.startswith("linux-headers")]
    if len(named) != 2:
        raise SetupError(f"{' and '.join(EMPTY)} depend on {said.strip()}, which names no kernel with its headers")
    return sorted((*named, *common))


def _tree(unpacked: Path, ours: Path, tree: Path) -> None:
    """Lays Debian's two folders of headers over one another, and the host's programs to them."""
    common, special = (next(unpacked.glob(f"usr/src/linux-headers-*-{name}")) for name in ("common", "arm64"))
    leave_out = shutil.ignore_patterns("scripts", "tools", ".kernelvariables")
    shutil.copytree(common, tree, ignore=leave_out)
    makefile = (tree / "Makefile").read_bytes()
    shutil.copytree(special, tree, ignore=leave_out, dirs_exist_ok=True)
    (tree / "Makefile").write_bytes(makefile)
    shutil.copytree(ours / "scripts", tree / "scripts")
    shutil.copy(tree / "arch/arm64/module.lds", tree / "scripts")
    (tree / "usr").mkdir(exist_ok=True)
    shutil.copy(ours / "usr/gen_init_cpio", tree / "usr")
    (image,) = unpacked.glob("boot/vmlinuz-*")
    (tree / "arch/arm64/boot").mkdir(parents=True, exist_ok=True)
    shutil.copy(image, tree.parent / IMAGE)
    (tree.parent / SYMBOLS).write_text("")  # Debian's are in a package of 700 MB


def _modules(folder: Path, to: Path) -> None:
    known = module_order.found_in(folder)
    for group, wanted in GROUPS.items():
        if lacking := [name for name in wanted if name not in known]:
            raise SetupError(f"{PACKAGE} has no module {lacking[0]}")
        (to / group).mkdir()
        for number, name in enumerate(module_order.in_order(known, wanted)):
            shutil.copy(known[name], to / group / f"{number:02}-{name}.ko")
