# SPDX-License-Identifier: Apache-2.0
"""Run apt with its own state directories: ask what a suite offers, and fetch files by address and digest. Find the
mirrors: those that this host's own apt knows, for whichever release.

The host's package database is not touched, and root is not needed. A mirror has all releases, so the mirrors of a
Debian 13 host also serve Debian 12. The lab contains no address of a mirror. Must not know what is noted or locked.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import locks, programs
from flashbed.common.digest import digest_file
from flashbed.common.errors import SetupError, host_refusal
from flashbed.image.command import run
from flashbed.image.lockfile import ArchiveFile

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
"""The keys of all Debian releases that are still supported."""

KEYRING_PACKAGE = "debian-archive-keyring"
"""The package of the keys. Ubuntu has a package of the same name."""

MAIN, SECURITY = "debian", "debian-security"
"""Debian's two archives, by their names in an origin."""

MIRRORS_VARIABLE = "FLASHBED_DEBIAN"
"""The variable that names mirrors if apt knows no Debian mirror: addresses with spaces between them."""


@dataclass(frozen=True)
class Mirrors:
    """The addresses of the two archives, each with a final slash."""

    main: tuple[str, ...]
    security: tuple[str, ...] = ()

    def origin(self, address: str) -> str:
        """Return a file's origin, independent of its mirror: "debian pool/main/f/fio/fio_3.33-3.dsc". Raises SetupError
        if the address is of none of these mirrors.
        """
        for archive, bases in ((SECURITY, self.security), (MAIN, self.main)):
            for base in bases:
                if address.startswith(base):
                    return f"{archive} {address.removeprefix(base)}"
        raise SetupError(f"{address}: apt took this file from a mirror that is not in its list of mirrors")

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


def known_mirrors() -> Mirrors:
    """Return the mirrors of this host. Raises SetupError if it has none."""
    if configured := os.environ.get(MIRRORS_VARIABLE, "").split():
        return _sorted((address, "") for address in configured)
    fields = "$(ORIGIN)|$(RELEASE)|$(REPO_URI)"
    lines = run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"]).splitlines()
    places = (line.split("|") for line in lines if line.startswith("Debian|"))
    mirrors = _sorted((address, release) for _, release, address in places)
    if not mirrors.main:
        raise SetupError(
            "apt knows of no Debian mirror on this machine",
            remedy="run `apt-get update`, or see sources.list(5); on a system that is not Debian set "
            f"{MIRRORS_VARIABLE} to the address of a Debian mirror",
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


_log = logging.getLogger("flashbed")

URI_LINE = re.compile(r"'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) ?(?P<hash>\S*)")

HELPER = "apt-helper"
HELPER_FOLDER = "/usr/lib/apt"

PATIENCE_S = 4
"""The timeout in seconds of a stalled connection, when only the mirror's answer matters."""
MIRROR_TIMEOUT_S = 10
"""The total timeout in seconds, when only the mirror's answer matters."""


class Apt:
    """apt for one architecture and suite, with its state below `root`. One process at a time may use it."""

    def __init__(self, root: Path, architecture: str, suite: str) -> None:
        self._root = root
        self._architecture = architecture
        self._suite = suite

    def offered(self, packages: Sequence[str], *, source: bool, alone: bool) -> tuple[ArchiveFile, ...]:
        """Return the files of packages and, unless `alone`, of all packages that they depend on. Raises SetupError."""
        first_time = not self._has_lists()
        if first_time:
            self._update()
        try:
            files = self._files_of(packages, source=source, alone=alone)
        except SetupError:
            if first_time:
                raise
            self._update()  # the lists may be damaged, or older than the package
            files = self._files_of(packages, source=source, alone=alone)
        if not files:
            raise SetupError(f"the Debian archive did not offer {' '.join(packages)}")
        return files

    def obtain(self, wanted_files: Iterable[ArchiveFile]) -> list[ArchiveFile]:
        """Fetch the missing files, and return those that no mirror has. Raises SetupError if there is no mirror."""
        if not (lost := self.lacking(wanted_files)):
            return []
        for file in lost:
            if (path := self.place(file)).exists():
                warning = (
                    "%s: its SHA-256 is %.16s..., and not %.16s... as locked or noted; it stays until that is fetched"
                )
                _log.warning(warning, path, digest_file(path), file.sha256)
        of = known_mirrors()
        for attempt in range(max(len(of.main), len(of.security))):
            places = [(file, address) for file in lost for address in of.addresses(file.origin)[attempt : attempt + 1]]
            if places:
                self._download(places)
            lost = self.lacking(lost)
        return lost

    def lacking(self, wanted_files: Iterable[ArchiveFile]) -> list[ArchiveFile]:
        """Return the files that are missing, or present with another digest."""
        return [file for file in wanted_files if not _is_whole(self.place(file), file)]

    def place(self, file: ArchiveFile) -> Path:
        return self._root / ("cache/archives" if file.name.endswith(".deb") else "sources") / file.name

    def forget_lists(self) -> None:
        """Delete the lists, so that the next request asks the mirror."""
        locks.remove(self._root / "state/lists")

    def _files_of(self, packages: Sequence[str], *, source: bool, alone: bool) -> tuple[ArchiveFile, ...]:
        subcommand = ["source", "--download-only"] if source else ["download"] if alone else ["install", "-y"]
        with locks.scratch(self._root / "tmp") as empty:  # apt omits files that it finds downloaded
            out = self._apt(*subcommand, "--print-uris", "-o", f"Dir::Cache::archives={empty}", *packages)
        of = known_mirrors()
        return tuple(sorted(_offer(match, of) for match in URI_LINE.finditer(out)))

    def _download(self, wanted_files: Sequence[tuple[ArchiveFile, str]]) -> None:
        """Download each file from its address. Skip what is not available there. Replace an existing file only by the
        complete file.
        """
        configuration = self._configuration()
        with locks.scratch(self._root / "tmp") as folder:
            helper_arguments = [
                word
                for file, address in wanted_files
                for word in (address, folder / file.name, f"SHA256:{file.sha256}")
            ]
            try:
                run([_helper(), "download-file", *helper_arguments], env={"APT_CONFIG": str(configuration)})
            except SetupError as error:
                _log.info("%s", error.message)
            for file, _ in wanted_files:
                if _is_whole(folder / file.name, file):
                    self._take(folder / file.name, file)

    def _take(self, path: Path, file: ArchiveFile) -> None:
        try:
            path.replace(self.place(file))
        except OSError as error:
            raise host_refusal(self.place(file), error) from None

    def _has_lists(self) -> bool:
        """Return True if apt has this suite's lists. A first `apt-get update` may have been killed."""
        return any((self._root / "state/lists").glob(f"*_dists_{self._suite}_*_Packages*"))

    def _apt(self, *arguments: str) -> str:
        return run(["apt-get", *arguments], env={"APT_CONFIG": str(self._configuration())})

    def _update(self) -> None:
        check_keys()
        sources = known_mirrors().sources(self._suite)
        self._configuration()
        (self._root / "sources.list").write_text(sources)
        try:
            # otherwise a package would be called unknown while its mirror is down
            self._apt("update", "--error-on=any")
        except SetupError as error:
            if (why := _complaint(error.message)) is None:
                raise
            names = f"`flashbed doctor` says which mirrors answer; {MIRRORS_VARIABLE} names others"
            keys = f"`apt-get install {KEYRING_PACKAGE}` brings Debian's keys, in {KEYRING}"
            remedy = keys if "signatures" in why else names
            raise SetupError(f"the lists of Debian {self._suite} cannot be had: {why}. {remedy}.") from None

    def _configuration(self) -> Path:
        try:
            return self._write_configuration()
        except OSError as error:
            raise host_refusal(self._root, error) from None

    def _write_configuration(self) -> Path:
        root = self._root
        for folder in ("state/lists/partial", "cache/archives/partial", "sources"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "status").touch()
        path = root / "apt.conf"
        path.write_text(
            f'APT::Architecture "{self._architecture}";\n'
            f'APT::Architectures {{ "{self._architecture}"; }};\n'
            'APT::Install-Recommends "false";\n'
            f'Dir::State "{root}/state";\n'
            f'Dir::State::status "{root}/status";\n'
            f'Dir::Cache "{root}/cache";\n'
            f'Dir::Etc::sourcelist "{root}/sources.list";\n'
            'Dir::Etc::sourceparts "-";\n'
            'Acquire::Languages "none";\n'
            'Acquire::ForceHash "SHA256";\n'
            'Acquire::AllowReleaseInfoChange "true";\n'  # a stable suite becomes oldstable one day
            'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";\n'
            'APT::Sandbox::User "root";\n'  # the cache may be unreadable for apt's own user
        )
        return path


def refusal(address: str) -> str:
    """Return apt's reason why a file cannot be fetched from its address; "" if it can. The file is fetched as apt does,
    through the host's proxies, and thrown away. Raises SetupError without apt.
    """
    waits = [f"Acquire::{kind}::Timeout={PATIENCE_S}" for kind in ("http", "https")]
    options = [word for option in (*waits, "Acquire::Retries=0", "APT::Sandbox::User=root") for word in ("-o", option)]
    with tempfile.TemporaryDirectory() as folder:
        command = [_helper(), *options, "download-file", address, f"{folder}/file"]
        process = programs.run(command, limit_s=MIRROR_TIMEOUT_S, env={**os.environ, "LC_ALL": "C"}, errors="replace")
    if process.returncode == 0:
        return ""
    if process.returncode == programs.LATE:
        return f"no answer within {MIRROR_TIMEOUT_S} s"
    return (_complaint(process.stderr) or process.stderr.strip()).removeprefix(f"{address}: ")


def _is_whole(path: Path, file: ArchiveFile) -> bool:
    return path.exists() and digest_file(path) == file.sha256


def _complaint(output: str) -> str | None:
    """Return the first file that apt could not fetch or verify, with the reason; None if apt reports none."""
    match = re.search(r"^[EW]: (?:Failed to fetch|GPG error:) (.+)$", output, re.MULTILINE)
    return re.sub(r"(?<=\S)  +", ": ", match[1]).rstrip(". ") if match else None


def _helper() -> str:
    return shutil.which(HELPER, path=f"{os.environ.get('PATH', '')}:{HELPER_FOLDER}") or HELPER


def _offer(match: re.Match[str], of: Mirrors) -> ArchiveFile:
    kind, _, digest = match["hash"].partition(":")
    if kind != "SHA256":
        raise SetupError(f"the mirror gave no SHA-256 of {match['file']}; what it gives cannot be checked")
    return ArchiveFile(match["file"], digest, int(match["size"]), of.origin(match["uri"]))
