# SPDX-License-Identifier: Apache-2.0
"""Run `flashbed` in a process of its own, without the half second to a second that its imports take: the process is
forked from one that has imported the lab (command_server.py). So all these processes have one seed of hashes.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.support.fixture_types import FLASHBED

LIMIT_S = 300

cpu_s = 0.0
"""The CPU time of the commands that were forked so far, and of their children, as long as the process that forked them
has not ended. They are no children of this process.
"""


class ForkedCommands:
    """The process that forks. It starts with the first command. Close it."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._line: socket.socket | None = None
        self._cpu_s = 0.0

    def run(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Return the finished `flashbed WORDS`. Raises TimeoutError."""
        global cpu_s
        line = self._line or self._start()
        command = [FLASHBED, *words]
        request = {
            "command": command,
            "folder": str(folder),
            "environment": dict(environment),
            "largest_file": resource.getrlimit(resource.RLIMIT_FSIZE),
        }
        with (
            tempfile.TemporaryFile("w+") as out,
            tempfile.TemporaryFile("w+") as err,
            Path(os.devnull).open() as nothing,
        ):
            try:
                socket.send_fds(line, [json.dumps(request).encode()], [file.fileno() for file in (nothing, out, err)])
                status, spent = json.loads(line.recv(1 << 10))
            except BaseException:
                self.close()
                raise
            cpu_s += spent
            self._cpu_s += spent
            for file in (out, err):
                file.seek(0)
            return subprocess.CompletedProcess(command, status, out.read(), err.read())

    def _start(self) -> socket.socket:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._held.enter_context(ours)
        with its:
            script = Path(__file__).with_name("command_server.py")
            server = subprocess.Popen(
                [sys.executable, script, str(its.fileno())], pass_fds=[its.fileno()], stdin=subprocess.DEVNULL
            )
        self._held.callback(server.wait)
        self._held.callback(server.kill)
        ours.settimeout(LIMIT_S)
        self._line = ours
        return ours

    def close(self) -> None:
        global cpu_s
        self._held.close()
        cpu_s -= self._cpu_s  # the kernel adds it to that of this process's children
        self._line, self._cpu_s = None, 0.0
