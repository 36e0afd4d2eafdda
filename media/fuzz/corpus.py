#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""A fuzzer's corpus as one text file: a line of base64 for each input, the shortest first.

corpus.py unpack FILE FOLDER     write each input to a file that is named by its digest; remove all other files
corpus.py pack FOLDER FILE       write the shortest inputs, as many as the text file may hold
"""

import base64
import hashlib
import sys
from pathlib import Path

MOST_BYTES = 200_000


def unpack(file: Path, folder: Path) -> None:
    """Make the directory contain exactly the file's inputs. A missing file has none."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    lines = file.read_text().split() if file.exists() else []
    for line in lines:
        data = base64.b64decode(line, validate=True)
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def pack(folder: Path, file: Path) -> None:
    """Write the shortest inputs, and print how many did not fit."""
    inputs = {path.read_bytes() for path in folder.iterdir()}
    lines = [base64.b64encode(data).decode() for data in sorted(inputs, key=lambda data: (len(data), data)) if data]
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > MOST_BYTES:
            break
        kept.append(line)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in kept))
    print(f"{file}: {len(kept)} inputs, {len(lines) - len(kept)} longer ones left out")


if __name__ == "__main__":
    action, source, target = sys.argv[1:]
    {"pack": pack, "unpack": unpack}[action](Path(source), Path(target))
