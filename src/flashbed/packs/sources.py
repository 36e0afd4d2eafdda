# SPDX-License-Identifier: Apache-2.0
"""What lies in a pack for who reads it, and for its licences: the study and its profiles, the lab's own sources, and
the names, versions and digests of all others. Nothing of it is needed to run it again.
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

  {lock:<22} each source and package of Debian's archive: version, SHA-256, size, and where it lies there;
  {blank:<22} Debian keeps all of them at snapshot.debian.org, by SHA-256 or by version
  lab/                   the lab's own sources: what makes QEMU the lab's emulator (GPL-2.0-or-later), the kernel's
  {blank:<22} configuration and patches, its modules and the patches of fio (GPL-2.0-only), the media core
  {blank:<22} (GPL-2.0-only OR MIT), the guest's scripts; each file says its own licence
  own/                   sources that the study brings: patches of the kernel, modules of profiles of its own
  own-kernels.txt        kernels that are made of such a patch or of a tree that the study names: what they are made of
  packages-of-host.txt   the emulator's libraries, the checkers and theirs, by SHA-256: the host's package that each
  {blank:<22} is from, with its version and its source's

The licences' texts are in LICENSES/; Debian's packages bring their own, in /usr/share/doc of each.
"""


def files(study: Study) -> dict[str, Path]:
    """By their place in the pack."""
    found = {f"{STUDY}/{study.path.name}": study.path}
    found |= {f"{STUDY}/profiles/{name}.toml": path for name, path in inputs.profiles_of(study)}
    found |= {f"{SOURCES}/lab/{name}": path for name, path in own_sources.files().items()}
    found |= {f"{SOURCES}/own/{name}": path for name, path in _of_modules(study)}
    return found | {f"{LICENCES}/{path.name}": path for path in sorted(paths.licences().glob("*.txt"))}


def _of_modules(study: Study) -> Iterator[tuple[str, Path]]:
    for module, folder in inputs.modules_of(study):
        for file in own_module.files(folder):
            yield f"{module}/{file.as_posix()}", folder / file


def texts(study: Study, of_host: Iterable[Path], kernels: Iterable[Kernel]) -> dict[str, bytes]:
    """Likewise, what is in no file; `of_host` are files that packages of this host have brought, `kernels` those that
    were measured.
    """
    lock = f"{study.name}.lock"
    found = {
        f"{SOURCES}/README.txt": _ABOUT.format(lock=lock, blank=""),
        f"{SOURCES}/{lock}": lockfile.text(inputs.lock_study(study)),
        f"{SOURCES}/packages-of-host.txt": "".join(f"{line}\n" for line in gathering.packages(of_host)),
    }
    if own := own_kernels(kernels):
        found[f"{SOURCES}/own-kernels.txt"] = own
    found |= {f"{STUDY}/jobs/{name}": text for name, text in (study.job or {}).items()}
    return {**patches(study), **{name: text.encode() for name, text in found.items()}}


def patches(study: Study) -> dict[str, bytes]:
    """Those of the user's, each by its SHA-256 and its name: two of them may have one name."""
    found = {patch for kernel in study.kernels.values() for patch in kernel.patches}
    return {f"{SOURCES}/own/{digest_bytes(one.data)[:12]}-{one.path.name}": one.data for one in found}


def own_kernels(kernels: Iterable[Kernel]) -> str:
    """A line for each of them that is made of a source of the user's."""
    told = {f"{one.package_version}: git's hash of all its source is {one.source}\n" for one in kernels if one.source}
    return "".join(sorted(told))
