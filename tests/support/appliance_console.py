# SPDX-License-Identifier: Apache-2.0
"""An appliance whose console a test types at: its shell tells what the kernel has counted, and what memory is left."""

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
        """What it says. More than 60 characters would be folded where the line ends, and not be found by of_the_log."""
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
        """What is free, on the lists of CPUs too, and what would be at once if it were asked for: files of disks and
        their names that are kept in memory, and the answers that the server keeps for calls that come again.
        """
        names = ("MemFree", "Active(file)", "Inactive(file)", "SReclaimable")
        pages = re.findall(r"^ +count: +(\d+)", self.ask("grep ' count:' /proc/zoneinfo"), re.MULTILINE)
        kept = self._number(r"^mem usage: +(\d+)", "cat /proc/fs/nfsd/reply_cache_stats") // 1024
        said = self.ask("cat /proc/meminfo")
        free = sum(_found(rf"^{re.escape(name)}: +(\d+) kB", said) for name in names)
        return free + PAGE_KIB * sum(int(count) for count in pages) + kept

    def settled_kib(self) -> int:
        """The same, when no connection is kept that has ended: Linux keeps those that it ended itself for a minute."""
        end = time.monotonic() + 150
        while self._number(r"^TCP: .* tw (\d+)", "grep TCP: /proc/net/sockstat"):
            assert time.monotonic() < end, "connections that have ended are kept for longer than Linux says"
            time.sleep(1)
        return self.spare_kib()

    def entries(self, cache: str) -> int:
        return self._number(r"^(\d+)\s*$", f"grep -c . /proc/net/rpc/{cache}/content")

    def calls_to_nfsd(self) -> dict[str, int]:
        """Datagrams, and records over TCP, that have reached the NFS server since its start, whatever is in them."""
        said = self.ask("grep net /proc/net/rpc/nfsd")
        return {"udp": _found(r"^net \d+ (\d+) \d+", said), "tcp": _found(r"^net \d+ \d+ (\d+)", said)}

    def datagrams_lost(self) -> int:
        """Of UDP, since the start: for which a socket had no room, and such as no socket takes."""
        said = self.ask("grep Udp: /proc/net/snmp")
        names, values = (line.split() for line in re.findall(r"^Udp: .*$", said, re.MULTILINE))
        return int(values[names.index("InErrors")])

    def _number(self, pattern: str, command: str) -> int:
        return _found(pattern, self.ask(command))


def of_the_log(lines: Iterable[str]) -> Iterator[str]:
    """Those that are not the console's, which was asked for something: its prompt, the command, what it said."""
    asked = False
    for line in lines:
        asked |= 'echo do""ne' in line
        if not asked:
            yield re.sub(r"^(.*# )?(\x1b\[6n)?(\[ *\d+\.\d+\] )?", "", line.rstrip("\n"))
        asked &= not line.startswith(DONE.split()[0])


def _found(pattern: str, said: str) -> int:
    found = re.search(pattern, said, re.MULTILINE)
    assert found is not None, said
    return int(found[1])


@contextlib.contextmanager
def machine(
    architecture: str, folder: Path, said: str, ports: Ports, netdev: str = "", limit_s: float = LIMIT_S
) -> Iterator[tuple[Console, list[str]]]:
    """Its console, and its log as it grows. `said`: its settings. `netdev`: in place of QEMU's own network."""
    (folder / "nas.toml").write_text(said)
    wanted = settings.read(folder / "nas.toml")
    appliance = building.build(wanted, architecture, folder / "nas")
    images = disks.images(wanted.disks, folder, SIZE_BYTES)
    command = qemu.command(appliance, images, ports.forwarded(wanted), "127.0.0.1", ["-serial", "stdio"])
    if netdev:
        command[command.index("-netdev") + 1] = netdev
    log: list[str] = []
    with started(command, log, limit_s=limit_s) as running:
        yield Console(running, log), log
