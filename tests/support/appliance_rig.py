# SPDX-License-Identifier: Apache-2.0
"""Run the appliance as a user does, by `flashbed nas run`, for a test that is its client."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.nfs_calls import Server

READY_S = 240
"""The longest time without a line on a busy host. A build of a kernel prints a line every ten seconds."""


@dataclass
class Appliance:
    """A running appliance: its process, its log so far, its ports."""

    process: subprocess.Popen[str]
    server: Server
    lines: list[str] = field(default_factory=list)

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def url(self, path: str = "") -> str:
        """Return the URL of a path for libnfs."""
        where = f"nfsport={self.server.nfs}&mountport={self.server.mount}"
        return f"nfs://{self.server.address}/data{path}?{where}"

    def url_4(self, path: str) -> str:
        """Return the URL of a path, from the root of NFS version 4."""
        return f"nfs://{self.server.address}{path}?version=4&nfsport={self.server.nfs}"

    def wait_for(self, words: str, seconds: float, *, of_silence: bool = False) -> None:
        """Wait until the log has these words. With `of_silence`, the time starts again with each line."""
        end, lines = time.monotonic() + seconds, 0
        while words not in self.log:
            assert self.process.poll() is None, self.log
            if of_silence and len(self.lines) > lines:
                end, lines = time.monotonic() + seconds, len(self.lines)
            assert time.monotonic() < end, f"no {words!r} within {seconds} s in:\n{self.log}"
            time.sleep(0.05)

    def stop(self) -> int:
        """End the appliance as Ctrl-C does. Return the command's exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=90)


@contextlib.contextmanager
def running(folder: Path, settings: str | None = None, *options: str) -> Iterator[Appliance]:
    """Run an appliance. `settings` is the text of its file; without it, the appliance is the trial's."""
    ports = free_ports(3)
    words = ["nas", "run", *options, "--folder", str(folder)]
    if settings is not None:
        (folder / "nas.toml").write_text(settings)
        words.append(str(folder / "nas.toml"))
    for name, port in zip(("nfs", "mount", "portmap"), ports, strict=True):
        words += [f"--{name}-port", str(port)]
    program = os.environ.get("FLASHBED_NAS") or Path(sys.executable).with_name("flashbed")
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    appliance = Appliance(process, Server("127.0.0.1", *ports))
    reader = threading.Thread(target=lambda: appliance.lines.extend(process.stdout or ()), daemon=True)
    reader.start()
    try:
        appliance.wait_for("Ctrl-C ends it.", READY_S, of_silence=True)
        yield appliance
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=90)
        reader.join(timeout=10)


def libnfs(*words: str | Path) -> str:
    """Return the output of a libnfs program, which must succeed."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def free_ports(count: int) -> list[int]:
    """Return ports that are free now, for TCP and UDP."""
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            tcp = stack.enter_context(socket.socket())
            tcp.bind(("127.0.0.1", 0))
            udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                udp.bind(tcp.getsockname())
                ports.append(tcp.getsockname()[1])
        return ports
