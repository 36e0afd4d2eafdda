# SPDX-License-Identifier: Apache-2.0
"""Packages of another architecture and sources from the host's own Debian mirror, without touching the host's package
database.

apt does the work (resolving, fetching, checking signatures) with state folders of its own below the cache. The exact
versions are
noted the first time and kept until an update is asked for, so that an image does not change under a study.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from flashbed.common import locks
from flashbed.common.errors import SetupError, host_refusal
from flashbed.image.command import run

_log = logging.getLogger("flashbed")

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
URI_LINE = re.compile(r"'(?P<uri>[^']+)' (?P<file>\S+) \d+ ?(?P<hash>\S*)")


@dataclass(frozen=True)
class Packages:
    """A resolved set of files of the archive: (file name, hash) pairs, dependencies before dependents."""

    files: tuple[tuple[str, str], ...]

    def version(self, package: str) -> str:
        """The version of one package in the set, such as 3.33-3."""
        for name, _ in self.files:
            if name.startswith(package + "_") and name.endswith((".deb", ".dsc")):
                return unquote(name.split("_")[1]).removesuffix(".dsc")
        raise SetupError(f"the Debian archive did not offer {package}")


class Archive:
    """apt for one architecture, with its state below `root`. Of several processes one at a time uses apt there."""

    def __init__(self, root: Path, architecture: str) -> None:
        self.root = root
        self.architecture = architecture
        self._noted = root / "versions.json"
        self._told = False

    def forget_versions(self) -> None:
        """The next resolve asks the mirror again."""
        with self._alone():
            try:
                self._noted.unlink(missing_ok=True)
            except OSError as error:
                raise host_refusal(self._noted, error) from None

    def resolve(self, packages: Sequence[str], *, source: bool = False, alone: bool = False) -> Packages:
        """The files that `packages` and all they depend on come in: as noted, else as the mirror has them. `alone`:
        without what they depend on.
        """
        request = ("source " if source else "alone " if alone else "") + " ".join(packages)
        if (files := self._read().get(request)) is None:
            with self._alone():
                if (files := self._read().get(request)) is None:
                    files = self._ask(request, packages, source=source, alone=alone)
        return Packages(tuple((name, digest) for name, digest in files))

    def fetch(
        self, packages: Sequence[str], resolved: Packages, *, source: bool = False, alone: bool = False
    ) -> list[Path]:
        """Downloads what `resolve` named, and again what is not what the mirror gave. Raises SetupError if the mirror
        no longer has it.
        """
        folder = self.root / ("sources" if source else "cache/archives")
        wanted = [folder / name for name, _ in resolved.files]
        with self._alone():
            if _damaged(folder, resolved):
                self._download(folder, packages, source=source, alone=alone)
            if missing := _damaged(folder, resolved):
                raise SetupError(
                    f"{missing[0].name} is no longer on the mirror. "
                    "`flashbed image build --update` takes the versions of today."
                )
        return wanted

    def _read(self) -> dict[str, list[list[str]]]:
        """What is noted. A file that is damaged counts as empty: apt's lists, which are kept, give the same again."""
        try:
            noted = json.loads(self._noted.read_text())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            noted = None
        if not isinstance(noted, dict):
            if not self._told:
                _log.warning("%s: damaged; the versions are noted again", self._noted)
            self._told = True
            return {}
        return {request: files for request, files in noted.items() if _are_files(files)}

    def _ask(self, request: str, packages: Sequence[str], *, source: bool, alone: bool) -> list[list[str]]:
        """Asks apt for the files, and notes them. To be called alone."""
        fresh = not self._has_lists() or not self._noted.exists()
        if fresh:
            self._update()
        try:
            found = self._offered(packages, source=source, alone=alone)
        except SetupError:
            if fresh:
                raise
            self._update()  # lists may be damaged, or older than the package
            found = self._offered(packages, source=source, alone=alone)
        if not found:
            raise SetupError(f"the Debian archive did not offer {request}")
        noted = json.dumps({**self._read(), request: found}, indent=1, sort_keys=True)
        scratch = self._noted.with_suffix(".new")
        try:
            scratch.write_text(noted)
            scratch.rename(self._noted)
        except OSError as error:
            raise host_refusal(scratch, error) from None
        return found

    def _offered(self, packages: Sequence[str], *, source: bool, alone: bool) -> list[list[str]]:
        how = ["source", "--download-only"] if source else ["download"] if alone else ["install", "-y"]
        with locks.scratch(self.root / "tmp") as empty:  # apt leaves out what it finds downloaded
            out = self._apt(*how, "--print-uris", "-o", f"Dir::Cache::archives={empty}", *packages)
        return sorted([m["file"], m["hash"]] for m in URI_LINE.finditer(out))

    def _download(self, folder: Path, packages: Sequence[str], *, source: bool, alone: bool) -> None:
        if not self._has_lists():
            self._update()
        if source:
            self._write_sources()
            folder.mkdir(parents=True, exist_ok=True)
            self._apt("source", "--download-only", *packages, cwd=folder)
        elif alone:
            folder.mkdir(parents=True, exist_ok=True)
            self._apt("download", *packages, cwd=folder)
        else:
            self._apt("install", "-y", "--download-only", *packages)

    def _has_lists(self) -> bool:
        """Whether apt has ever been told what the mirror has: a first `apt-get update` may have been killed."""
        return any((self.root / "state/lists").glob("*_Packages*"))

    def _alone(self) -> locks.Lock:
        """apt itself does not wait for its lock."""

        def say() -> None:
            _log.warning("another run is fetching packages from Debian; waiting for it")

        return locks.wait_for(self.root / ".lock", say)

    def unpack(self, debs: Sequence[Path], into: Path) -> None:
        """Unpacks binary packages over each other, as they would lie on a disk."""
        into.mkdir(parents=True, exist_ok=True)
        for deb in debs:
            run(["dpkg-deb", "-x", deb, into])

    def _apt(self, *arguments: str, cwd: Path | None = None) -> str:
        return run(["apt-get", *arguments], cwd=cwd, env={"APT_CONFIG": str(self._configuration())})

    def _update(self) -> None:
        self._write_sources()
        self._apt("update")

    def _configuration(self) -> Path:
        try:
            return self._write_configuration()
        except OSError as error:
            raise host_refusal(self.root, error) from None

    def _write_configuration(self) -> Path:
        for folder in ("state/lists/partial", "cache/archives/partial"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        (self.root / "status").touch()
        path = self.root / "apt.conf"
        path.write_text(
            f'APT::Architecture "{self.architecture}";\n'
            f'APT::Architectures {{ "{self.architecture}"; }};\n'
            'APT::Install-Recommends "false";\n'
            f'Dir::State "{self.root}/state";\n'
            f'Dir::State::status "{self.root}/status";\n'
            f'Dir::Cache "{self.root}/cache";\n'
            f'Dir::Etc::sourcelist "{self.root}/sources.list";\n'
            'Dir::Etc::sourceparts "-";\n'
            'Acquire::Languages "none";\n'
            'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";\n'
            'APT::Sandbox::User "root";\n'  # the cache need not be readable for apt's own user
        )
        return path

    def _write_sources(self) -> None:
        """The host's own Debian mirrors, with sources. Raises SetupError if it has none.

        Security updates come last: they list sources of packages that were rebuilt there and do not have them, and of
        the same version in two places apt takes the first.
        """
        fields = "$(REPO_URI) $(RELEASE) $(COMPONENT)|$(ORIGIN)"
        out = run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"])
        places = {line.split("|")[0] for line in out.splitlines() if line.endswith("|Debian")}
        places = {place for place in places if place.endswith(" main")}
        if not places:
            raise SetupError(
                "apt knows of no Debian mirror on this machine. Run `apt-get update`, or see sources.list(5)."
            )
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "sources.list").write_text(
            "".join(
                f"{kind} [signed-by={KEYRING}] {place}\n"
                for place in sorted(places, key=lambda place: ("security" in place, place))
                for kind in ("deb", "deb-src")
            )
        )


def _are_files(noted: Any) -> bool:
    """Whether this is what a request is noted as: pairs of a file's name and its hash, at least one."""
    if not isinstance(noted, list) or not noted:
        return False
    return all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair) for pair in noted
    )


def _damaged(folder: Path, resolved: Packages) -> list[Path]:
    """Those files that are not there or not what the mirror gave; the latter are removed, so that apt fetches them."""
    damaged = []
    for name, digest in resolved.files:
        path = folder / name
        if path.exists() and not _has_hash(path, digest):
            _log.warning("%s: damaged; it is fetched again", path)
            path.unlink()
        if not path.exists():
            damaged.append(path)
    return damaged


def _has_hash(path: Path, noted: str) -> bool:
    """`noted` as apt tells it, such as "MD5Sum:49b1..." or "SHA256:..."; other words cannot be checked."""
    kind, _, digest = noted.partition(":")
    algorithm = {"MD5Sum": "md5", "SHA1": "sha1", "SHA256": "sha256", "SHA512": "sha512"}.get(kind)
    if algorithm is None:
        return True
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest() == digest
