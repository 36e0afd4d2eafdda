# SPDX-License-Identifier: Apache-2.0
"""Where this host gets Debian's packages: the mirrors that its own apt knows, whichever release of Debian they serve
it.

A mirror has all releases side by side, so the addresses of a host of Debian 13 serve for Debian 12, too. No address of
a mirror is written down anywhere in the lab.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from flashbed.common.errors import SetupError
from flashbed.image.command import run

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
"""The keys of all releases of Debian that are still looked after."""

KEYRING_PACKAGE = "debian-archive-keyring"
"""Brings them; Ubuntu has a package of that name, too."""

MAIN, SECURITY = "debian", "debian-security"
"""Debian's two archives, as origins name them."""

VARIABLE = "FLASHBED_DEBIAN"
"""Names mirrors on a host whose apt knows none of Debian: addresses with a blank between them."""


@dataclass(frozen=True)
class Mirrors:
    """Addresses of the two archives, each with a slash at its end."""

    main: tuple[str, ...]
    security: tuple[str, ...] = ()

    def origin(self, address: str) -> str:
        """A file's place, whichever mirror it was offered on: "debian pool/main/f/fio/fio_3.33-3.dsc"."""
        for archive, bases in ((SECURITY, self.security), (MAIN, self.main)):
            for base in bases:
                if address.startswith(base):
                    return f"{archive} {address.removeprefix(base)}"
        raise SetupError(f"{address}: apt took this from no mirror that it was told of")

    def addresses(self, origin: str) -> list[str]:
        """Where that file may be had here."""
        archive, _, path = origin.partition(" ")
        return [base + path for base in (self.security if archive == SECURITY else self.main)]

    def lists(self, suite: str) -> dict[str, list[str]]:
        """Where each archive says what a suite has, by the archive's name: the file that apt reads first."""
        names = {MAIN: (self.main, suite), SECURITY: (self.security, f"{suite}-security")}
        return {
            archive: [f"{base}dists/{name}/InRelease" for base in bases] for archive, (bases, name) in names.items()
        }

    def sources(self, suite: str) -> str:
        """The lines of a sources.list for this suite, with sources of packages.

        Security updates come last: they list sources of packages that were rebuilt there and do not have them, and of
        the same version in two places apt takes the first.
        """
        places = [f"{base} {name} main" for base in self.main for name in (suite, f"{suite}-updates")]
        places += [f"{base} {suite}-security main" for base in self.security]
        return "".join(f"{kind} [signed-by={KEYRING}] {place}\n" for place in places for kind in ("deb", "deb-src"))


def known() -> Mirrors:
    """Those of this host. Raises SetupError if it has none."""
    if said := os.environ.get(VARIABLE, "").split():
        return _sorted((address, "") for address in said)
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
    """Raises SetupError without Debian's keys, by which apt knows a mirror's lists for Debian's own."""
    if not KEYRING.is_file():
        raise SetupError(f"{KEYRING} is not there: `apt-get install {KEYRING_PACKAGE}` brings Debian's keys")


def _sorted(places: Iterable[tuple[str, str]]) -> Mirrors:
    """By archive, each once; of addresses and the releases that the host has from them."""
    main: dict[str, None] = {}
    security: dict[str, None] = {}
    for address, release in places:
        whole = f"{address.rstrip('/')}/"
        of_security = "security" in release or whole.endswith(f"/{SECURITY}/")
        (security if of_security else main)[whole] = None
    return Mirrors(tuple(sorted(main)), tuple(sorted(security)))
