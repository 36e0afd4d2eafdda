# SPDX-License-Identifier: Apache-2.0
"""A directory that looks like a source tree of Linux, and a git repository of it."""

import subprocess
from pathlib import Path

MAKEFILE = "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 7\n"
SOURCE = "int first;\nint second;\nint third;\n"

PATCH = """\
--- a/fs/one.c
+++ b/fs/one.c
@@ -1,3 +1,3 @@
 int first;
-int second;
+int changed;
 int third;
"""


def make(folder: Path, version: str = MAKEFILE) -> Path:
    """Make the tree in a new directory."""
    files = {
        "Makefile": version,
        "Kconfig": "",
        "Kbuild": "",
        "arch/arm64/Makefile": "",
        "fs/one.c": SOURCE,
        ".gitignore": "*.o\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def git(folder: Path, *arguments: str) -> str:
    person = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    done = subprocess.run(["git", *person, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, tag: str) -> None:
    """Commit everything in the tree, with this tag."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", ".")
    git(folder, "commit", "--quiet", "--message", tag)
    git(folder, "tag", tag)


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return each file below a directory with its bytes and its time. git changes the time of an object that it writes
    again.
    """
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(folder)): (path.read_bytes(), 0 if "objects" in path.parts else path.stat().st_mtime_ns)
        for path in files
    }
