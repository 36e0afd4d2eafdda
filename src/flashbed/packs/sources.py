# SPDX-License-Identifier: Apache-2.0
"""What lies in a pack for who reads it, and for its licences: the study and its profiles, the lab's own sources, and
the names, versions and digests of all others. Nothing of it is needed to run it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from flashbed.common import paths
from flashbed.execution import inputs
from flashbed.image import lockfile, own_sources
from flashbed.packs import libraries
from flashbed.study.loading import Study

STUDY, SOURCES, LICENCES = "study", "sources", "LICENSES"

_ABOUT = """\
The programs in this pack were built from these sources.

  {lock:<22} each source and package of Debian's archive: version, SHA-256, size, and where it lies there;
  {blank:<22} Debian keeps all of them at snapshot.debian.org, by SHA-256 or by version
  lab/                   the lab's own sources: what makes QEMU the lab's emulator (GPL-2.0-or-later), the kernel's
  {blank:<22} configuration and patches, its modules and the patches of fio (GPL-2.0-only), the media core
  {blank:<22} (GPL-2.0-only OR MIT), the guest's scripts; each file says its own licence
  packages-of-host.txt   packages of the host that the emulator's libraries and the checkers were taken from

The licences' texts are in LICENSES/; Debian's packages bring their own, in /usr/share/doc of each.
"""


def files(study: Study) -> dict[str, Path]:
    """By their place in the pack."""
    found = {f"{STUDY}/{study.path.name}": study.path}
    found |= {f"{STUDY}/profiles/{name}.toml": path for name, path in inputs.profiles_of(study)}
    found |= {f"{SOURCES}/lab/{name}": path for name, path in own_sources.files().items()}
    return found | {f"{LICENCES}/{path.name}": path for path in sorted(paths.licences().glob("*.txt"))}


def texts(study: Study, of_host: Iterable[Path]) -> dict[str, bytes]:
    """Likewise, what is in no file; `of_host` are files that packages of this host have brought."""
    lock = f"{study.name}.lock"
    found = {
        f"{SOURCES}/README.txt": _ABOUT.format(lock=lock, blank=""),
        f"{SOURCES}/{lock}": lockfile.text(inputs.lock_study(study)),
        f"{SOURCES}/packages-of-host.txt": "".join(f"{line}\n" for line in libraries.packages(of_host)),
    }
    found |= {f"{STUDY}/jobs/{name}": text for name, text in (study.job or {}).items()}
    return {name: text.encode() for name, text in found.items()}
