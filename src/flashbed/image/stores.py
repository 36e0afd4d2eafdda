# SPDX-License-Identifier: Apache-2.0
"""Open the two stores of this host: the cache of what is built, and Debian's packages. Each can also be opened to look
things up without fetching or building. Must not know what is in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import SetupError
from flashbed.image.cache import Cache
from flashbed.image.debian import Archive, Packages
from flashbed.image.toolchain import ARCHITECTURE


class NotBuilt(SetupError):
    """A part of the guest is missing, and nothing may be fetched or built."""


class BuiltOnly(Cache):
    """A cache that only looks up entries, and does not wait for a build."""

    def _check_builds(self, final: Path) -> None:
        raise NotBuilt(f"{final.name} is not built")

    def _build(self, final: Path, *_: object) -> None:
        self._check_builds(final)


class NotedOnly(Archive):
    """An archive that only looks up noted or locked requests."""

    def resolve(self, packages: Sequence[str], *, source: bool = False, alone: bool = False) -> Packages:
        if (known := self.known(packages, source=source, alone=alone)) is None:
            raise NotBuilt("nothing is fetched from Debian's archive here")
        return known

    def fetch(self, packages: Sequence[str], resolved: Packages, *, source: bool = False) -> list[Path]:
        if self.lacks(resolved):
            raise NotBuilt("nothing is fetched from Debian's archive here")
        return super().fetch(packages, resolved, source=source)


def open_archive(kind: type[Archive] = Archive) -> Archive:
    """Return the archive of Debian's packages for the guest, and of sources."""
    return kind.below(paths.cache_root(), ARCHITECTURE)


def open_cache(kind: type[Cache] = Cache, *, thorough: bool = False) -> Cache:
    """Return the cache of everything that is built. Raises SetupError if no kernel can be built in its directory."""
    root = paths.cache_root() / "image"
    if any(character.isspace() or character == ":" for character in str(root)):
        raise SetupError(
            f"{root}: a kernel cannot be built below a path with a blank or a colon; "
            "set FLASHBED_CACHE to another folder"
        )
    return kind(root, thorough=thorough)
