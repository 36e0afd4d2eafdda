# SPDX-License-Identifier: Apache-2.0
"""Check and prepare a run under QEMU, so that every foreseeable failure comes before a kernel is built."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterator
from pathlib import Path

from flashbed.common import locks
from flashbed.common.errors import HostResourceError
from flashbed_appliance.nas import disks, kernels, ports, qemu
from flashbed_appliance.nas.ports import Ports
from flashbed_appliance.nas.settings import Network, Settings, UnsuitableError
from flashbed_appliance.nas.values import DHCP
from flashbed_appliance.shrinking.architecture import Architecture


@contextlib.contextmanager
def prepared(
    settings: Settings, target: Architecture, kernel: str, folder: Path, size_bytes: int, where: Ports
) -> Iterator[list[Path]]:
    """Yield the images of the disks in `folder`, and create those that are missing. In the block, `folder` is locked.

    Raises InputError, SetupError and HostResourceError for what cannot work.
    """
    qemu.program(target)
    machine = kernels.machine(kernel, settings, target)
    _check_network(settings.network)
    others = kernels.MACHINES[kernels.DEBIAN, target.name]
    _check_room(len(disks.files(settings.disks, folder, size_bytes)), machine, others)
    with _locked(folder):
        ports.check(where.listen, where.forwarded(settings))
        _check_way_back(settings.network, where.listen)
        yield disks.images(settings.disks, folder, size_bytes)


def _check_network(network: Network) -> None:
    """Check the settings against QEMU's user-mode network, which has one card and one small network."""
    if network.interface != "eth0":
        raise UnsuitableError(
            f'network.interface: under QEMU the only card is "eth0"; the settings name "{network.interface}". Give '
            '`nas run` settings with "eth0".'
        )
    if network.address == DHCP:
        return
    own = ipaddress.IPv4Interface(network.address)
    whole = ipaddress.IPv4Network(qemu.NETWORK)
    usual = own.ip in whole and str(own.ip) not in qemu.TAKEN
    if not usual or ipaddress.IPv4Address(qemu.CLIENT) not in own.network or not own.network.subnet_of(whole):
        raise UnsuitableError(
            f'network.address: under QEMU it must be "dhcp", or in {qemu.NETWORK} but not {", ".join(qemu.TAKEN)}, '
            f'such as "10.0.2.15/24"; the settings name "{network.address}". Give `nas run` settings with such an '
            "address."
        )


def _check_way_back(network: Network, listen: str) -> None:
    """Check that replies to clients have a route: QEMU hides a client's address only on this host's loopback."""
    if network.address == DHCP or network.gateway == qemu.CLIENT or ipaddress.IPv4Address(listen).is_loopback:
        return
    raise UnsuitableError(
        f"network.gateway: with --listen {listen} clients keep their own addresses, and replies go through "
        f'"{qemu.CLIENT}"; set gateway = "{qemu.CLIENT}", or address = "dhcp"'
    )


def _check_room(count: int, machine: str, debians: str) -> None:
    most = qemu.MACHINES[machine].disks
    if count > most:
        more = ", or use --kernel debian, whose machine has more" if count <= qemu.MACHINES[debians].disks else ""
        raise UnsuitableError(f"QEMU's {machine} has room for {most} disks, and there are {count}: use fewer{more}")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the directory of the disks: two machines on one disk would destroy its file system."""
    lock = locks.take(folder / ".lock")
    if lock is None:
        raise HostResourceError(f"{folder}: another appliance runs on these disks; give this one a --folder of its own")
    with lock:
        yield
