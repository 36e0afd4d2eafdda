# SPDX-License-Identifier: Apache-2.0
"""The steps of the repository's Containerfile, as a shell script for a root folder that has a Debian 12 and a clone:
for hosts on which no container can be made.
"""

from __future__ import annotations

import re
import sys

from tests.support.repository import REPOSITORY

FILE = REPOSITORY / "Containerfile"
KNOWN = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "VOLUME", "CMD"}


def instructions() -> list[tuple[str, str]]:
    """Each instruction and its argument, in order."""
    text = re.sub(r"^\s*#.*\n", "", FILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    found = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    return [(word, argument) for word, argument in found]


def script(*more: str) -> str:
    """What building the image runs, and `more` as commands of a container of it. The clone is where COPY puts it."""
    lines = ["set -eux"]
    for word, argument in instructions():
        assert word in KNOWN, word
        if word == "RUN":
            lines.append(f"{{ {argument}; }} || exit 1")
        elif word == "WORKDIR":
            lines.append(f"mkdir -p {argument} && cd {argument}")
        elif word == "ENV":
            lines.append(f"export {argument}")
        elif word == "VOLUME":
            lines.append(f"mkdir -p {argument}")
    return "\n".join([*lines, *more, ""])


if __name__ == "__main__":
    sys.stdout.write(script(*sys.argv[1:]))
