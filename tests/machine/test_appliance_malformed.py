# SPDX-License-Identifier: Apache-2.0
"""A hundred thousand calls that are none reach the appliance's NFS server, as it counts itself, and more its other
programs: all go on serving, no memory is lost, and the log stays short and plain.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from flashbed_appliance.data_files import appliance_data
from tests.support.appliance_console import Console, machine, of_the_log
from tests.support.appliance_machines import some_ports
from tests.support.malformed_calls import Sent, pester, pester_all
from tests.support.nfs_calls import MOUNT, NFS, OK, PORTMAP, Server

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

SETTINGS = (appliance_data() / "trial.toml").read_text()

CALLS, ROUND, WARM_UP = 100_000, 10_000, 10_000

LEAK_KIB, SECOND_KIB = 600, 200
"""The kernel's smallest piece of memory has eight bytes: lost at each call, it would be 781 KiB for those to the NFS
server alone, and 390 in the second half of them. On x86_64 136 were gone after the first half and 53 more after the
second, on arm64 298 and none. Answers and connections that are kept for a minute or two do not count.
"""

LIMIT_S = 3600

TROUBLE = re.compile(r"BUG:|Oops|WARNING:|Call Trace|Kernel panic|segfault|Out of memory|started again")

LINES_A_MINUTE = 21
"""Of exportd's: LOG_STRANGERS (appliance/user/common/log.h), and one that tells of those that were left out."""

OF_STRANGERS = re.compile(r"exportd: (10\.0\.2\.2 may not mount|\d+ more such lines were left out)")

TOO_LONG = re.compile(r"svc: \w+ nfsd RPC fragment too large: -?\d+$")
"""Linux lets ten of them pass in five seconds."""

OTHERS = re.compile(
    r".*(net_ratelimit: \d+ callbacks suppressed|random: crng init done)$"
    r"|clocksource: |.*Use 'tsc=unstable'\.$|sched_clock: |tsc: "
)
"""The second may come in the middle of what is typed. The others are a busy host's: its guest's clocks go by leaps."""

HUNG_UP = re.compile(r"rpc-srv/tcp: nfsd: got error -\d+ when sending \d+ bytes - shutting down socket$")
"""A client did, before it had its answer."""


def test_a_hundred_thousand_calls_do_no_harm(architecture: str, tmp_path: Path) -> None:
    ports, seed = some_ports(), int(os.environ.get("FLASHBED_SEED", "1"))
    server = Server("127.0.0.1", ports.nfs, ports.mount, ports.portmap)
    with machine(architecture, tmp_path, SETTINGS, ports, limit_s=LIMIT_S) as (console, log):
        status, root = server.mount_path(b"/data")
        assert status == OK
        console.ask("true")  # it greets before
        begin, begun = len(log), time.monotonic()
        sent = pester_all(server, WARM_UP, seed, root)
        free, lost = [console.settled_kib()], console.datagrams_lost()
        for half in (1, 2):
            for program in (MOUNT, PORTMAP):
                sent.add(pester(server, program, CALLS // 6, seed + half, root))
            sent.add(arrive(console, server, CALLS // 2, seed + half, root))
            free.append(console.settled_kib())
        minutes = (time.monotonic() - begun) / 60
        assert console.datagrams_lost() == lost
        print(f"KiB gone: {free[0] - free[1]} in the first half, {free[1] - free[2]} in the second")
        assert free[0] - free[2] < LEAK_KIB
        assert free[1] - free[2] < SECOND_KIB
        assert server.attributes(root) == OK
        assert server.mount_path(b"/data") == (OK, root)
        assert not TROUBLE.search("".join(log)), "".join(log)
        is_short_and_plain(list(of_the_log(log[begin:])), minutes, sent.lies)


def arrive(console: Console, server: Server, calls: int, seed: int, root: bytes) -> Sent:
    """Send calls until the server has counted `calls` malformed ones. Check that nearly all arrive. Calls behind one at
    which the server hangs up are lost.
    """
    before, sent, arrived = console.calls_to_nfsd(), Sent(), 0
    while arrived < calls:
        sent.add(pester(server, NFS, ROUND, seed + sent.changed.total(), root))
        now = console.calls_to_nfsd()
        datagrams, records = (now[way] - before[way] - sent.whole[way] for way in ("udp", "tcp"))
        assert datagrams > 0.99 * sent.changed["udp"], (datagrams, sent)
        assert records > 0.7 * sent.changed["tcp"], (records, sent)
        arrived = datagrams + records
    return sent


def is_short_and_plain(lines: list[str], minutes: float, lies: int) -> None:
    """Check that each line is of a known kind, and that no kind has more lines than allowed."""
    assert not [line for line in lines if not line.isprintable()]
    strangers = [line for line in lines if OF_STRANGERS.match(line)]
    assert 0 < len(strangers) <= LINES_A_MINUTE * (minutes + 1)
    assert len([line for line in lines if HUNG_UP.match(line)]) <= lies
    patterns = (OF_STRANGERS, HUNG_UP, TOO_LONG, OTHERS)
    assert not [line for line in lines if line and not any(kind.match(line) for kind in patterns)]
