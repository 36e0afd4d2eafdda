# SPDX-License-Identifier: Apache-2.0
"""Find the Debian mirrors of this host: those that its own apt knows, for whichever release.

A mirror has all releases, so the mirrors of a Debian 13 host also serve Debian 12. The lab contains no address of a
mirror.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from flashbed.common.errors import SetupError
from flashbed.image.command import run

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
"""The keys of all Debian releases that are still supported."""

KEYRING_PACKAGE = "debian-archive-keyring"
"""The package of the keys. Ubuntu has a package of the same name."""

MAIN, SECURITY = "debian", "debian-security"
"""Debian's two archives, by their names in an origin."""

VARIABLE = "FLASHBED_DEBIAN"
"""The variable that names mirrors if apt knows no Debian mirror: addresses with spaces between them."""


@dataclass(frozen=True)
class Mirrors:
    """The addresses of the two archives, each with a final slash."""

    main: tuple[str, ...]
    security: tuple[str, ...] = ()

    def origin(self, address: str) -> str:
        """Return a file's origin, independent of its mirror: "debian pool/main/f/fio/fio_3.33-3.dsc"."""
        for archive, bases in ((SECURITY, self.security), (MAIN, self.main)):
            for base in bases:
                if address.startswith(base):
                    return f"{archive} {address.removeprefix(base)}"
        raise SetupError(f"{address}: apt took this from no mirror that it was told of")

    def addresses(self, origin: str) -> list[str]:
        """Return the addresses of that file on this host's mirrors."""
        archive, _, path = origin.partition(" ")
        return [base + path for base in (self.security if archive == SECURITY else self.main)]

    def lists(self, suite: str) -> dict[str, list[str]]:
        """Return, by archive, the addresses of the suite's list that apt reads first."""
        names = {MAIN: (self.main, suite), SECURITY: (self.security, f"{suite}-security")}
        return {
            archive: [f"{base}dists/{name}/InRelease" for base in bases] for archive, (bases, name) in names.items()
        }

    def sources(self, suite: str) -> str:
        """Return the lines of a sources.list for this suite, with source packages.

        Security updates come last: they list source packages of rebuilt packages without having them, and if two places
        have the same version, apt takes the first.
        """
        places = [f"{base} {name} main" for base in self.main for name in (suite, f"{suite}-updates")]
        places += [f"{base} {suite}-security main" for base in self.security]
        return "".join(f"{kind} [signed-by={KEYRING}] {place}\n" for place in places for kind in ("deb", "deb-src"))


def known() -> Mirrors:
    """Return the mirrors of this host. Raises SetupError if it has none."""
    if configured := os.environ.get(VARIABLE, "").split():
        return _sorted((address, "") for address in configured)
    fields = "$(ORIGIN)|$(RELEASE)|$(REPO_URI)"
    lines = run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"]).splitlines()
    places = (line.split("|") for line in lines if line.startswith("Debian|"))
    mirrors = _sorted((address, release) for _, release, address in places)
    if not mirrors.main:
        raise SetupError(
            "apt knows of no Debian mirror on this machine. Run `apt-get update`, or see sources.list(5); on a system "
            f"that is not Debian set {VARIABLE} to the address of a Debian mirror."
        )
    return mirrors


def check_keys() -> None:
    """Raise SetupError if Debian's keys, with which apt verifies a mirror's lists, are missing."""
    if not KEYRING.is_file():
        raise SetupError(f"{KEYRING} is not there: `apt-get install {KEYRING_PACKAGE}` brings Debian's keys")


def _sorted(places: Iterable[tuple[str, str]]) -> Mirrors:
    """Return addresses by archive, each once. `places` are addresses with the releases that the host gets from them."""
    main: dict[str, None] = {}
    security: dict[str, None] = {}
    for address, release in places:
        with_slash = f"{address.rstrip('/')}/"
        of_security = "security" in release or with_slash.endswith(f"/{SECURITY}/")
        (security if of_security else main)[with_slash] = None
    return Mirrors(tuple(sorted(main)), tuple(sorted(security)))
