# SPDX-License-Identifier: Apache-2.0
"""Debian 13 in a directory, with its libraries and its compiler, without root, on a host with another Debian.

mmdebstrap makes it once, from the mirror of the host's apt. A user name space lets commands run in it. Must not know
what they do.
"""

from __future__ import annotations

import platform
import shutil
from collections.abc import Sequence
from pathlib import Path

from flashbed.common import paths
from flashbed.image.apt import KEYRING
from flashbed.image.cache import Cache
from flashbed.image.command import run
from tests.support import name_space

RELEASE = "trixie"

_ENTER = """
root=$1
shift
while [ "$1" != -- ]; do
    mkdir -p "$root$1"
    mount --rbind "$1" "$root$1"
    shift
done
shift
PATH=$PATH:/usr/sbin:/sbin
exec chroot "$root" "$@"
"""


def refusal() -> str:
    """Return why this host cannot have it, or why it would be no other Debian; "" if it can."""
    for program, package in {"mmdebstrap": "mmdebstrap", "newuidmap": "uidmap", "apt-get": "apt"}.items():
        if shutil.which(program) is None:
            return f"{program} is not installed: apt-get install {package}"
    if platform.freedesktop_os_release().get("VERSION_CODENAME") == RELEASE:
        return f"this host is {RELEASE} itself"
    if not _mirror():
        return "apt knows of no mirror of Debian on this host"
    return name_space.refusal()


def root(packages: Sequence[str]) -> Path:
    """Return its root directory with these packages. The first time takes about three minutes; then it is in the cache.

    Raises SetupError with the last lines of what failed.
    """
    recipe = {"release": RELEASE, "packages": sorted(packages)}

    def fill(folder: Path) -> None:
        archive = folder / "root.tar"
        source = f"deb [signed-by={KEYRING}] {_mirror()} {RELEASE} main"
        how = ["--quiet", "--mode=unshare", "--variant=essential", f"--include={','.join(sorted(packages))}"]
        run(["mmdebstrap", *how, "--aptopt=APT::Install-Recommends false", RELEASE, archive, source])
        tree = folder / "root"
        tree.mkdir()
        # The user who unpacks it owns all files, and may remove them
        run(["tar", "-C", tree, "-xf", archive, "--no-same-owner", "--exclude=./dev/*"])
        archive.unlink()

    products = ["root/etc/debian_version", "root/var/lib/dpkg/status"]
    return Cache(paths.cache_root() / "image").entry(f"debian-{RELEASE}", recipe, fill, products=products).path("root")


def _mirror() -> str:
    """Return the mirror of Debian itself, not of its updates, that the host's apt uses."""
    fields = "$(ORIGIN)|$(RELEASE)|$(REPO_URI)"
    lines = run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"]).splitlines()
    places = (line.split("|") for line in lines)
    own = [place for origin, release, place in places if origin == "Debian" and "-" not in release]
    return own[0] if own else ""


def inside(tree: Path, folders: Sequence[Path], command: Sequence[str | Path]) -> list[str]:
    """Return a command that runs with `tree` as its root, and sees these directories of the host at the same paths."""
    mounts = ["/dev", "/proc", *map(str, folders)]
    return [*name_space.NO_ROOT, "sh", "-ec", _ENTER, "sh", str(tree), *mounts, "--", *map(str, command)]
