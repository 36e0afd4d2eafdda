# SPDX-License-Identifier: Apache-2.0
"""The steps of the repository's Containerfile as a shell script, for hosts that cannot make containers. It runs in a
root directory with a Debian 12 and a clone.
"""

from __future__ import annotations

import re
import sys

from tests.support.repository import REPOSITORY

FILE = REPOSITORY / "Containerfile"
KNOWN = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "VOLUME", "CMD"}


def instructions() -> list[tuple[str, str]]:
    """Return each instruction and its argument, in order."""
    text = re.sub(r"^\s*#.*\n", "", FILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    words = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    return [(word, argument) for word, argument in words]


def script(*more: str) -> str:
    """Return the script that builds the image, and then runs `more` as commands of a container. The clone is where COPY
    puts it.
    """
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
