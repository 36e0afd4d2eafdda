# SPDX-License-Identifier: Apache-2.0
"""The members of a pack for its readers and for its licences: the study and its profiles, the lab's own sources, and
the names, versions and digests of all other sources. Running the pack again needs none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_bytes
from flashbed.execution import inputs
from flashbed.image import lockfile, own_module, own_sources
from flashbed.image.kernel import Kernel
from flashbed.packs import gathering
from flashbed.study.loading import Study

STUDY, SOURCES, LICENCES = "study", "sources", "LICENSES"

_ABOUT = """\
The programs in this pack were built from these sources.

  {lock:<22} each source and package of Debian's archive: version, SHA-256, size and path;
  {blank:<22} snapshot.debian.org has all of them, by SHA-256 or by version
  lab/                   the lab's own sources: what turns QEMU into the lab's emulator (GPL-2.0-or-later), the
  {blank:<22} kernel's configuration, patches and modules and the patches of fio (GPL-2.0-only), the media
  {blank:<22} core (GPL-2.0-only OR MIT), the guest's scripts; each file names its licence
  own/                   the study's own sources: patches of the kernel, modules of its own profiles
  own-kernels.txt        kernels built from such a patch or from a source tree of the study: the hash of their source
  packages-of-host.txt   the emulator's libraries, the checkers and their libraries, by SHA-256: the host's package
  {blank:<22} of each, with its version and its source's version

The texts of the licences are in LICENSES/; Debian's packages have theirs in /usr/share/doc.
"""


def files(study: Study) -> dict[str, Path]:
    """Return the study, profiles, sources and licences, by path in the pack."""
    members = {f"{STUDY}/{study.path.name}": study.path}
    members |= {f"{STUDY}/profiles/{name}.toml": path for name, path in inputs.profiles_of(study)}
    members |= {f"{SOURCES}/lab/{name}": path for name, path in own_sources.files().items()}
    members |= {f"{SOURCES}/own/{name}": path for name, path in _of_modules(study)}
    return members | {f"{LICENCES}/{path.name}": path for path in sorted(paths.licences().glob("*.txt"))}


def _of_modules(study: Study) -> Iterator[tuple[str, Path]]:
    for module, folder in inputs.modules_of(study):
        for file in own_module.files(folder):
            yield f"{module}/{file.as_posix()}", folder / file


def texts(study: Study, of_host: Iterable[Path], kernels: Iterable[Kernel]) -> dict[str, bytes]:
    """Return the members that are in no file, by path in the pack. `of_host` are files from packages of this host, and
    `kernels` the measured kernels.
    """
    lock = f"{study.name}.lock"
    members = {
        f"{SOURCES}/README.txt": _ABOUT.format(lock=lock, blank=""),
        f"{SOURCES}/{lock}": lockfile.text(inputs.lock_study(study)),
        f"{SOURCES}/packages-of-host.txt": "".join(f"{line}\n" for line in gathering.packages(of_host)),
    }
    if own := own_kernels(kernels):
        members[f"{SOURCES}/own-kernels.txt"] = own
    members |= {f"{STUDY}/jobs/{name}": text for name, text in (study.job or {}).items()}
    return {**patches(study), **{name: text.encode() for name, text in members.items()}}


def patches(study: Study) -> dict[str, bytes]:
    """Return the user's kernel patches by path in the pack: SHA-256 and name, since two patches may have one name."""
    used = {patch for kernel in study.kernels.values() for patch in kernel.patches}
    return {f"{SOURCES}/own/{digest_bytes(patch.data)[:12]}-{patch.path.name}": patch.data for patch in used}


def own_kernels(kernels: Iterable[Kernel]) -> str:
    """Return a line for each kernel that is built from the user's own source."""
    lines = {
        f"{built.package_version}: git's hash of all its source is {built.source}\n"
        for built in kernels
        if built.source
    }
    return "".join(sorted(lines))
