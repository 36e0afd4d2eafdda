# SPDX-License-Identifier: Apache-2.0
"""A made-up apt-get and apt-helper: they know every package whose name does not begin with "no-", and deliver all but
those with "gone" in the name.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from flashbed.image import apt
from flashbed.image.lockfile import ArchiveFile

# Like apt-get it refuses to work beside another one; it knows every package whose name does not begin with "no-".
APT = """#!/usr/bin/env python3
import fcntl, hashlib, os, re, sys, time
from pathlib import Path
words = sys.argv[1:]
with open(os.environ["APT_LOG"], "a") as log:
    log.write(" ".join(words) + "\\n")
if words[0] == "indextargets":
    print("Debian|bookworm|http://deb.example/debian/")
    print("Other|bookworm|http://other.example/")
    sys.exit()
if words[0] == "download-file":
    for address, place, digest in zip(words[1::3], words[2::3], words[3::3]):
        data = f"package {Path(address).name.partition('_')[0]}".encode()
        if digest == f"SHA256:{hashlib.sha256(data).hexdigest()}" and "gone" not in address:
            Path(place).write_bytes(data)
        else:
            Path(place + ".FAILED").write_bytes(data)
    sys.exit(100)
root = Path(re.search('Dir::State "(.*)/state"', Path(os.environ["APT_CONFIG"]).read_text())[1])
lock = open(root / "apts-own-lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit("E: Could not get lock. It is held by another process")
time.sleep(0.2)
lists = root / "state/lists/mirror_dists_bookworm_main_Packages.lz4"
if words[0] == "update":
    lists.write_text("")
    sys.exit()
names = [word for word in words[1:] if not word.startswith("-") and "::" not in word and word != "source"]
for name in names:
    if name.startswith("no-") or not lists.exists():
        sys.exit(f"E: Unable to locate package {name}")
    data = f"package {name}".encode()
    told = f"{len(data)} SHA256:{hashlib.sha256(data).hexdigest()}"
    print(f"'http://deb.example/debian/pool/{name}_1.deb' {name}_1_arm64.deb {told}")
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put them first on the path. Return the file that logs the requests."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("apt-get", "apt-helper"):
        (tools / name).write_text(APT.replace("/usr/bin/env python3", sys.executable))
        (tools / name).chmod(0o755)
    monkeypatch.setattr(apt, "KEYRING", tools / "apt-get")
    monkeypatch.delenv(apt.MIRRORS_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("APT_LOG", str(folder / "log"))
    return folder / "log"


def package(name: str, version: str = "1") -> ArchiveFile:
    """Return a package as they offer it, with version 1."""
    data = f"package {name}".encode()
    origin = f"debian pool/{name}_{version}.deb"
    return ArchiveFile(f"{name}_{version}_arm64.deb", hashlib.sha256(data).hexdigest(), len(data), origin)
