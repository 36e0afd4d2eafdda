# SPDX-License-Identifier: Apache-2.0
"""Debian's two archives, as on a mirror, in a directory. They list what a lock names, so that the real apt resolves
each request to the lock's files. A key of their own signs them.

The listed files are missing, except those made here. Must not know who asks.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from flashbed.image.apt import MAIN, SECURITY
from flashbed.image.lockfile import ArchiveFile, Lockfile

OWNER = "the archive"

LISTS = ("binary-amd64/Packages", "binary-arm64/Packages", "source/Sources")

KEYS = "keys.gpg"
"""The file with the keys by which apt knows the archives."""


def write(folder: Path, lock: Lockfile, signer: str = OWNER) -> None:
    """Write both archives to `folder`, named as on a mirror, with everything that the lock names, and their owner's
    keys. `signer` signs the lists.
    """
    index = _index(lock)
    suites = {lock.suite: MAIN, f"{lock.suite}-updates": MAIN, f"{lock.suite}-security": SECURITY}
    with _keys({OWNER, signer}) as gpg:
        (folder / KEYS).write_bytes(gpg("--export", OWNER))
        for suite, archive in suites.items():
            place = folder / archive / "dists" / suite
            empty = suite.endswith("-updates")
            lists = {name: "" if empty else "\n".join(index[archive, name].values()) for name in LISTS}
            for name, text in lists.items():
                (place / "main" / name).parent.mkdir(parents=True, exist_ok=True)
                (place / "main" / name).write_text(text)
            (place / "Release").write_text(_release(suite, lists))
            (place / "InRelease").write_bytes(gpg("--local-user", signer, "--clearsign", "-o", "-", place / "Release"))


def package(folder: Path, origin: str, depends: str) -> ArchiveFile:
    """Make a package that contains only its dependencies. `origin` is as in a lock."""
    archive, _, path = origin.partition(" ")
    file = folder / archive / unquote(path)
    name, version, architecture = file.stem.split("_")
    control = folder / "package/DEBIAN/control"
    control.parent.mkdir(parents=True, exist_ok=True)
    control.write_text(
        f"Package: {name}\nVersion: {version}\nArchitecture: {architecture}\nDepends: {depends}\n"
        "Maintainer: nobody\nDescription: made up\n"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", folder / "package", file], check=True, capture_output=True)
    data = file.read_bytes()
    return ArchiveFile(file.name, hashlib.sha256(data).hexdigest(), len(data), origin)


def _index(lock: Lockfile) -> Mapping[tuple[str, str], dict[str, str]]:
    index: Mapping[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for architecture, requests in lock.requests.items():
        depends = dict(_depends({name: files for name, files in requests.items() if _has_dependencies(name)}))
        for request, files in requests.items():
            if request.startswith("source "):
                archive, stanza = _source(request.removeprefix("source "), files)
                index[archive, "source/Sources"][request] = stanza
                continue
            for file in files:
                archive, stanza = _binary(file, depends.get(_name(file), ()))
                index[archive, f"binary-{architecture}/Packages"][file.name] = stanza
    return index


def _has_dependencies(request: str) -> bool:
    return not request.startswith(("source ", "alone "))


def _depends(requests: Mapping[str, Iterable[ArchiveFile]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each package with its dependencies: everything else in its request's result. Of several packages in a
    request, take one that brings these only into results that have them anyway.
    """
    names = {request: [_name(file) for file in files] for request, files in requests.items()}
    for request, packages in names.items():
        around = {name: [set(other) for other in names.values() if name in other] for name in request.split()}
        fitting = (name for name, others in around.items() if all(other >= set(packages) for other in others))
        owner = request if request in around else next(fitting)
        yield owner, [name for name in packages if name != owner]


def _name(file: ArchiveFile) -> str:
    return file.name.split("_")[0]


def _binary(file: ArchiveFile, depends: Iterable[str]) -> tuple[str, str]:
    """Return the archive of a package, and its entry in the list."""
    archive, _, path = file.origin.partition(" ")
    fields = {
        "Package": _name(file),
        "Version": file.version,
        "Architecture": file.name.removesuffix(".deb").rpartition("_")[2],
        "Depends": ", ".join(depends),
        "Filename": unquote(path),
        "Size": str(file.size),
        "SHA256": file.sha256,
    }
    return archive, "".join(f"{key}: {value}\n" for key, value in fields.items() if value)


def _source(name: str, files: Iterable[ArchiveFile]) -> tuple[str, str]:
    dsc = next(file for file in files if file.name.endswith(".dsc"))
    archive, _, path = dsc.origin.partition(" ")
    sums = "".join(f" {file.sha256} {file.size} {file.name}\n" for file in files)
    return archive, (
        f"Package: {name}\nBinary: {name}\nVersion: {dsc.version}\nFormat: 3.0 (quilt)\nArchitecture: any\n"
        f"Directory: {unquote(path.rpartition('/')[0])}\nChecksums-Sha256:\n{sums}"
    )


def _release(suite: str, lists: Mapping[str, str]) -> str:
    sums = ""
    for name, text in lists.items():
        data = text.encode()
        sums += f" {hashlib.sha256(data).hexdigest()} {len(data)} main/{name}\n"
    head = f"Origin: Debian\nSuite: {suite}\nCodename: {suite}\nDate: Thu, 01 Jan 2026 00:00:00 UTC\n"
    return f"{head}Architectures: amd64 arm64\nComponents: main\nSHA256:\n{sums}"


@contextmanager
def _keys(owners: Iterable[str]) -> Iterator[Callable[..., bytes]]:
    """Yield a function that calls gpg and returns its output, with a new key for each owner."""
    with tempfile.TemporaryDirectory() as home:  # the name of the helper's socket must be short
        environment = {**os.environ, "GNUPGHOME": home}
        how = ("gpg", "--batch", "--quiet", "--no-tty", "--pinentry-mode", "loopback", "--passphrase", "")

        def gpg(*words: str | Path) -> bytes:
            return subprocess.run([*how, *words], env=environment, check=True, stdout=subprocess.PIPE).stdout

        try:
            for owner in owners:
                gpg("--quick-generate-key", owner, "ed25519", "sign", "never")
            yield gpg
        finally:
            subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=True)
