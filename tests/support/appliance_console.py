# SPDX-License-Identifier: Apache-2.0
"""An appliance with a shell on its console, in which a test reads the kernel's counters and the free memory."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from flashbed_appliance.nas import building, disks, qemu, settings
from flashbed_appliance.nas.ports import Ports
from tests.support.appliance_machines import SIZE_BYTES
from tests.support.careful_client import LIMIT_S, started

DONE = "done {}."
PAGE_KIB = 4


class Console:
    """The shell on the serial line."""

    def __init__(self, machine: subprocess.Popen[str], log: list[str]) -> None:
        self._machine, self._log, self._asked = machine, log, 0

    def ask(self, command: str) -> str:
        """Return the output of a command. A command of more than 60 characters would wrap, and of_the_log() would not
        find it.
        """
        self._asked += 1
        begin, done = len(self._log), DONE.format(self._asked)
        assert self._machine.stdin is not None
        self._machine.stdin.write(f'{command}; echo do""ne {self._asked}.\n')
        self._machine.stdin.flush()
        end = time.monotonic() + 30
        while done not in "".join(self._log[begin:]):
            assert time.monotonic() < end, "".join(self._log[begin:])
            time.sleep(0.05)
        return "".join(self._log[begin:])

    def free_kib(self) -> int:
        return self._number(r"MemFree: +(\d+) kB", "grep MemFree: /proc/meminfo")

    def spare_kib(self) -> int:
        """Return the free memory in KiB, lists of the CPUs included, and memory that the kernel can free at once:
        cached files of disks and their names, and the server's cache of replies.
        """
        names = ("MemFree", "Active(file)", "Inactive(file)", "SReclaimable")
        pages = re.findall(r"^ +count: +(\d+)", self.ask("grep ' count:' /proc/zoneinfo"), re.MULTILINE)
        kept = self._number(r"^mem usage: +(\d+)", "cat /proc/fs/nfsd/reply_cache_stats") // 1024
        meminfo = self.ask("cat /proc/meminfo")
        free = sum(_found(rf"^{re.escape(name)}: +(\d+) kB", meminfo) for name in names)
        return free + PAGE_KIB * sum(int(count) for count in pages) + kept

    def settled_kib(self) -> int:
        """Return the same once no closed connection is left. Linux keeps connections that it closed itself for a
        minute.
        """
        end = time.monotonic() + 150
        while self._number(r"^TCP: .* tw (\d+)", "grep TCP: /proc/net/sockstat"):
            assert time.monotonic() < end, "connections that have ended are kept for longer than Linux says"
            time.sleep(1)
        return self.spare_kib()

    def entries(self, cache: str) -> int:
        return self._number(r"^(\d+)\s*$", f"grep -c . /proc/net/rpc/{cache}/content")

    def calls_to_nfsd(self) -> dict[str, int]:
        """Return the datagrams and the TCP records that have reached the NFS server since its start, whatever their
        content.
        """
        line = self.ask("grep net /proc/net/rpc/nfsd")
        return {"udp": _found(r"^net \d+ (\d+) \d+", line), "tcp": _found(r"^net \d+ \d+ (\d+)", line)}

    def datagrams_lost(self) -> int:
        """Return the UDP datagrams that were lost since the start: the socket's buffer was full, or the datagram was
        invalid.
        """
        lines = self.ask("grep Udp: /proc/net/snmp")
        names, values = (line.split() for line in re.findall(r"^Udp: .*$", lines, re.MULTILINE))
        return int(values[names.index("InErrors")])

    def _number(self, pattern: str, command: str) -> int:
        return _found(pattern, self.ask(command))


def of_the_log(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the log without those of the shell: prompt, command and output."""
    in_command = False
    for line in lines:
        in_command |= 'echo do""ne' in line
        if not in_command:
            yield re.sub(r"^(.*# )?(\x1b\[6n)?(\[ *\d+\.\d+\] )?", "", line.rstrip("\n"))
        in_command &= not line.startswith(DONE.split()[0])


def _found(pattern: str, text: str) -> int:
    match = re.search(pattern, text, re.MULTILINE)
    assert match is not None, text
    return int(match[1])


@contextlib.contextmanager
def machine(
    architecture: str, folder: Path, text: str, ports: Ports, netdev: str = "", limit_s: float = LIMIT_S
) -> Iterator[tuple[Console, list[str]]]:
    """Run a machine with these settings. Yield its console, and its log, which grows. `netdev` replaces QEMU's own
    network.
    """
    (folder / "nas.toml").write_text(text)
    settings_ = settings.read(folder / "nas.toml")
    appliance = building.build(settings_, architecture, folder / "nas")
    images = disks.images(settings_.disks, folder, SIZE_BYTES)
    command = qemu.command(appliance, images, ports.forwarded(settings_), "127.0.0.1", ["-serial", "stdio"])
    if netdev:
        command[command.index("-netdev") + 1] = netdev
    log: list[str] = []
    with started(command, log, limit_s=limit_s) as running:
        yield Console(running, log), log
