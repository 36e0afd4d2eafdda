# SPDX-License-Identifier: Apache-2.0
"""A process that has imported the lab, and forks for each `flashbed` that a test calls. The program of
forked_command.py.

It knows neither tests nor their other helpers: it is a script, so that the lab's modules are imported as the command
imports them.
"""

import atexit
import importlib
import json
import os
import pkgutil
import resource
import socket
import sys
from pathlib import Path
from typing import Any

import flashbed
from flashbed import entry

LONGEST = 1 << 17
"""Bytes of a request."""

FIRST = ("cli", "commands", "comparing", "execution", "packs", "report")
"""Rooms that are imported before the first fork, with the rooms below them. A plug-in's tools are loaded by the command
itself.
"""


def import_lab() -> None:
    for module in pkgutil.walk_packages(flashbed.__path__, "flashbed."):
        if module.name.split(".")[1] in FIRST:
            importlib.import_module(module.name)


def become(request: dict[str, Any], files: list[int]) -> None:
    """Make this forked process the one that was asked for."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    resource.setrlimit(resource.RLIMIT_FSIZE, request["largest_file"])
    sys.argv = request["command"]


def run() -> None:
    """Run the command, and end as Python does, but without the third of a second in which it tears down all modules."""
    status: Any = 0
    try:
        entry.main()
    except SystemExit as left:
        status = left.code or 0
        if not isinstance(status, int):
            raise
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    line = socket.socket(fileno=int(sys.argv[1]))
    sys.path[0] = str(Path(sys.executable).parent)
    import_lab()
    while True:
        message, files, *_ = socket.recv_fds(line, LONGEST, 3)
        if not message:
            return
        child = os.fork()
        if not child:
            line.close()
            become(json.loads(message), files)
            run()
        for file in files:
            os.close(file)
        _, status, usage = os.wait4(child, 0)
        line.send(json.dumps([os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime]).encode())


if __name__ == "__main__":
    main()
