# SPDX-License-Identifier: Apache-2.0
"""Packages of another architecture and sources from the host's own Debian mirror, without touching the host's package
database.

apt does the work (resolving, fetching, checking signatures) with state folders of its own below the cache. The exact
versions are
noted the first time and kept until an update is asked for, so that an image does not change under a study.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from flashbed.errors import SetupError
from flashbed.image.command import run

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
    """apt for one architecture, with its state below `root`."""

    def __init__(self, root: Path, architecture: str) -> None:
        self.root = root
        self.architecture = architecture
        self._lock = root / "versions.json"

    def forget_versions(self) -> None:
        """The next resolve asks the mirror again."""
        self._lock.unlink(missing_ok=True)

    def resolve(self, packages: Sequence[str], *, source: bool = False) -> Packages:
        """The files that `packages` and all they depend on come in: as noted, else as the mirror has them."""
        noted = json.loads(self._lock.read_text()) if self._lock.exists() else {}
        request = ("source " if source else "") + " ".join(packages)
        if request not in noted:
            lists = self.root / "state/lists"
            if not noted or not lists.exists():
                self._update()
            how = ["source", "--download-only"] if source else ["install", "-y"]
            with tempfile.TemporaryDirectory() as empty:  # apt leaves out what it finds downloaded
                out = self._apt(*how, "--print-uris", "-o", f"Dir::Cache::archives={empty}", *packages)
            noted[request] = sorted([m["file"], m["hash"]] for m in URI_LINE.finditer(out))
            if not noted[request]:
                raise SetupError(f"the Debian archive did not offer {request}")
            scratch = self._lock.with_suffix(".new")
            scratch.write_text(json.dumps(noted, indent=1, sort_keys=True))
            scratch.rename(self._lock)
        return Packages(tuple((name, digest) for name, digest in noted[request]))

    def fetch(self, packages: Sequence[str], resolved: Packages, *, source: bool = False) -> list[Path]:
        """Downloads what `resolve` named. Raises SetupError if the mirror no longer has it."""
        folder = self.root / ("sources" if source else "cache/archives")
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [folder / name for name, _ in resolved.files]
        if not all(path.exists() for path in wanted):
            if not (self.root / "state/lists").exists():
                self._update()
            if source:
                self._write_sources()
                self._apt("source", "--download-only", *packages, cwd=folder)
            else:
                self._apt("install", "-y", "--download-only", *packages)
        for path in wanted:
            if not path.exists():
                raise SetupError(
                    f"{path.name} is no longer on the mirror. "
                    "`flashbed image build --update` takes the versions of today."
                )
        return wanted

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
