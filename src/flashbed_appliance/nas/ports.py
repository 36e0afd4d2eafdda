# SPDX-License-Identifier: Apache-2.0
"""Choose the ports of the QEMU host that are forwarded to the appliance's ports."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from flashbed.common.errors import InputError
from flashbed_appliance.nas import qemu
from flashbed_appliance.nas.qemu import Port
from flashbed_appliance.nas.settings import Settings
from flashbed_appliance.nas.values import DHCP

NFS, MOUNT, PORTMAP, SSH = 2049, 20048, 111, 22
OPTIONS = {NFS: "--nfs-port", MOUNT: "--mount-port", PORTMAP: "--portmap-port", SSH: "--ssh-port"}


@dataclass(frozen=True)
class Ports:
    """The ports and the address of this host that are forwarded to the appliance."""

    listen: str = "127.0.0.1"
    nfs: int = 20490
    mount: int = 20480
    portmap: int = 20111
    ssh: int = 20022

    def forwarded(self, settings: Settings) -> list[Port]:
        """Return the ports to forward for these settings; ssh only if there are users."""
        pairs = [(NFS, self.nfs), (MOUNT, self.mount), (PORTMAP, self.portmap)]
        own = settings.network.address
        to = "" if own == DHCP else str(ipaddress.IPv4Interface(own).ip)
        forwarded = [Port(protocol, *pair, to) for pair in pairs for protocol in ("tcp", "udp")]
        return [*forwarded, *([Port("tcp", SSH, self.ssh, to)] if settings.users else [])]

    @property
    def reached_at(self) -> str:
        """Return the address that a client on this host connects to."""
        return "127.0.0.1" if self.listen == "0.0.0.0" else self.listen

    @property
    def seen_as(self) -> str:
        """Return the address of a client on this host, as the appliance sees it: QEMU hides the loopback only."""
        return qemu.CLIENT if ipaddress.IPv4Address(self.reached_at).is_loopback else self.reached_at


def check(listen: str, ports: Sequence[Port]) -> None:
    """Check that QEMU can listen on these ports; QEMU's own error message names no option.

    Raises InputError for an invalid address, for a port that is given twice, and for a port that is in use.
    """
    try:
        address = ipaddress.IPv4Address(listen)
    except ValueError:
        raise InputError(
            f'--listen {listen}: not an IPv4 address; give one of this host, such as "127.0.0.1"'
        ) from None
    if address.is_multicast or address.is_reserved:
        raise InputError(f"--listen {listen}: no machine can have this address; give one of this host")
    taken: dict[tuple[str, int], str] = {}
    for port in ports:
        option = OPTIONS[port.inside]
        other = taken.setdefault((port.protocol, port.outside), option)
        if other != option:
            raise InputError(f"{option} {port.outside}: {other} has the same port; give another")
    for port in ports:
        _check_free(listen, port)


def _check_free(listen: str, port: Port) -> None:
    kind = socket.SOCK_STREAM if port.protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as trial:
        if kind == socket.SOCK_STREAM:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((listen, port.outside))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise InputError(
                    f"--listen {listen}: this host does not have this address; give one that it has"
                ) from None
            option = f"{OPTIONS[port.inside]} {port.outside} ({port.protocol})"
            raise InputError(f"{option} of {listen}: {error.strerror}; give another") from None
