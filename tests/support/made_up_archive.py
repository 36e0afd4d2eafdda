# SPDX-License-Identifier: Apache-2.0
"""Debian's two archives as a mirror has them, in a folder: what a lock names, so that the real apt resolves each
request to the files that the lock has for it. Signed with a key of its own.

The files themselves are not there, but for those that are made here. Must not know who asks.
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

from flashbed.image.lockfile import File, Lockfile
from flashbed.image.mirrors import MAIN, SECURITY

OWNER = "the archive"

LISTS = ("binary-amd64/Packages", "binary-arm64/Packages", "source/Sources")

KEYS = "keys.gpg"
"""In the folder: what apt knows the archives by."""


def write(folder: Path, lock: Lockfile, signer: str = OWNER) -> None:
    """Both archives in `folder`, with all that the lock names, as they are called on a mirror; and the keys of their
    owner. The lists are signed by `signer`.
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


def package(folder: Path, origin: str, depends: str) -> File:
    """A package that is there, with nothing in it but what it depends on; `origin` is as a lock has it."""
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
    return File(file.name, hashlib.sha256(data).hexdigest(), len(data), origin)


def _index(lock: Lockfile) -> Mapping[tuple[str, str], dict[str, str]]:
    found: Mapping[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for architecture, asked in lock.requests.items():
        depends = dict(_depends({name: files for name, files in asked.items() if _has_dependencies(name)}))
        for request, files in asked.items():
            if request.startswith("source "):
                archive, stanza = _source(request.removeprefix("source "), files)
                found[archive, "source/Sources"][request] = stanza
                continue
            for one in files:
                archive, stanza = _binary(one, depends.get(_name(one), ()))
                found[archive, f"binary-{architecture}/Packages"][one.name] = stanza
    return found


def _has_dependencies(request: str) -> bool:
    return not request.startswith(("source ", "alone "))


def _depends(asked: Mapping[str, Iterable[File]]) -> Iterator[tuple[str, list[str]]]:
    """A package, and what it depends on: all else that its request came to. Of several in a request, the one that no
    other request came to.
    """
    names = {request: [_name(one) for one in files] for request, files in asked.items()}
    for request, found in names.items():
        elsewhere = {name for other, those in names.items() if other != request for name in those}
        wanted = request.split()
        owner = wanted[0] if len(wanted) == 1 else next(name for name in wanted if name not in elsewhere)
        yield owner, [name for name in found if name != owner]


def _name(one: File) -> str:
    return one.name.split("_")[0]


def _binary(one: File, depends: Iterable[str]) -> tuple[str, str]:
    """The archive that a package is in, and what its list says of it."""
    archive, _, path = one.origin.partition(" ")
    told = {
        "Package": _name(one),
        "Version": one.version,
        "Architecture": one.name.removesuffix(".deb").rpartition("_")[2],
        "Depends": ", ".join(depends),
        "Filename": unquote(path),
        "Size": str(one.size),
        "SHA256": one.sha256,
    }
    return archive, "".join(f"{key}: {value}\n" for key, value in told.items() if value)


def _source(name: str, files: Iterable[File]) -> tuple[str, str]:
    dsc = next(one for one in files if one.name.endswith(".dsc"))
    archive, _, path = dsc.origin.partition(" ")
    sums = "".join(f" {one.sha256} {one.size} {one.name}\n" for one in files)
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
    """What calls gpg, and gives what it prints, with a new key for each of these."""
    with tempfile.TemporaryDirectory() as home:  # the name of its helper's socket may not be long
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
