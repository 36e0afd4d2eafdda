# SPDX-License-Identifier: Apache-2.0
"""Count the emulators that a program starts anywhere: `timeout` guards each, and a wrapper on the PATH replaces
`timeout`.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path


class CountedEmulators:
    """The emulators of all programs whose PATH is `path`."""

    def __init__(self, folder: Path) -> None:
        """Make `folder`, whose path must not have a blank."""
        folder.mkdir()
        self._log = folder / "log"
        self._log.touch()
        script = folder / "timeout"
        script.write_text(f"""#!/bin/sh\nprintf '%s\\n' "$*" >>{self._log}\nexec {shutil.which("timeout")} "$@"\n""")
        script.chmod(0o755)
        self.path = f"{folder}:{os.environ['PATH']}"

    def taken(self) -> tuple[int, int]:
        """Return how many emulators were started since the last call: as beginnings, and from power-on."""
        started = [line for line in self._log.read_text().splitlines() if " -kernel " in line]
        self._log.write_text("")
        beginnings = sum("orders=" in line for line in started)
        return beginnings, len(started) - beginnings
