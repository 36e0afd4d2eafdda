# SPDX-License-Identifier: Apache-2.0
"""The schema of an appliance's TOML file: network, disks, exports, users, and the rules between values.

values.py has the rules of single values; compiling.py uses the settings.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from flashbed.common.errors import InputError
from flashbed.common.tomlfile import Keys, Problem, TomlFile, nearest
from flashbed.profiles.profile import Strict
from flashbed_appliance.nas.values import (
    DHCP,
    Address,
    Clients,
    Device,
    HostName,
    InterfaceName,
    Key,
    OwnAddress,
    Server,
    UserName,
    Volume,
    no_machine,
    no_word,
)

_OF_A_PC = "/dev/sd"
"""How Linux's names of AHCI disks begin."""
TAKEN = {
    "bin", "dev", "etc", "home", "init", "lib", "lib32", "lib64", "proc", "root", "run", "sbin", "sys", "tmp", "usr",
    "var",
}  # fmt: skip
"""Directories that the appliance's own root has or may have: its own, and those of Debian's programs and libraries."""
MOST_RULES, MOST_DISKS, MOST_MIRRORS, MOST_MEMBERS = 256, 16, 4, 8
"""Limits of init and exportd: appliance/user/exportd/exports.h, init/disks.c, init/mirror.c and init/mirror.h."""


class UnsuitableError(InputError):
    """Valid settings that the requested kernel or machine does not support."""


class Network(Strict):
    """The appliance's network interface."""

    address: OwnAddress = Field(default=DHCP, description='"dhcp", or an IPv4 address with its prefix length')
    gateway: Address | None = Field(default=None, description="the default route, only with a static address")
    interface: InterfaceName = Field(default="eth0", description="Linux's name of the interface")


class NfsSettings(Strict):
    """The kernel's NFS server."""

    versions: list[Literal[2, 3, 4]] = Field(default=[3, 2], min_length=1, description="NFS versions")
    transports: list[Literal["tcp", "udp"]] = Field(default=["tcp", "udp"], min_length=1, description="NFS transports")
    threads: int = Field(default=4, ge=1, le=64, description="threads of the kernel's server")


class Disk(Strict):
    """A file system; its mount point is the disk's name."""

    device: Device | None = Field(default=None, description="its block device")
    mirror: list[Device] = Field(default=[], max_length=MOST_MEMBERS, description="instead: the members of a RAID1")
    volume: Volume | None = Field(default=None, description="instead: a logical volume of LVM, GROUP/NAME")
    create_mirror: bool = Field(default=False, description="make a RAID1 of equal members without superblocks")
    filesystem: Literal["ext2", "ext4"] = Field(default="ext4", description="its file system")
    read_only: bool = Field(default=False, description="nothing is ever written to the disk")


class Export(Strict):
    """The clients that may mount a disk; no other client may."""

    disk: str = Field(description="the name of a disk in [disks]")
    read_write: list[Clients] = Field(default=[], description="IPv4 addresses and networks that may write")
    read_only: list[Clients] = Field(default=[], description="those that may only read")
    squash: Literal["root", "all", "none"] = Field(default="root", description="who is mapped to the anonymous user")
    anonymous_uid: int = Field(default=65534, ge=0, le=2**32 - 2, description="the anonymous user's number")
    anonymous_gid: int = Field(default=65534, ge=0, le=2**32 - 2, description="the anonymous user's group")
    any_port: bool = Field(default=False, description="clients need no reserved port: any of their users may connect")


class Log(Strict):
    """Where log lines go besides the serial line."""

    syslog: Server | None = Field(default=None, description="a syslog server, over UDP")


class User(Strict):
    """A user who may log in over ssh, with a key."""

    name: UserName = Field(description="the user's name; root is the administrator")
    uid: int = Field(default=1000, ge=1, le=65533, description="the user's number; root has 0")
    keys: list[Key] = Field(min_length=1, description="public keys of OpenSSH")


class Settings(Strict):
    """The settings of an appliance."""

    hostname: HostName = Field(default="nas", description="the host name")
    hardware: Literal["virtual", "pc"] = Field(
        default="virtual", description="virtio devices, or a PC with its firmware, disks and network cards"
    )
    network: Network = Field(default=Network())
    nfs: NfsSettings = Field(default=NfsSettings())
    disks: dict[str, Disk] = Field(default={}, description="file systems, by name")
    exports: list[Export] = Field(default=[], description="who may mount what; nothing is exported by default")
    log: Log = Field(default=Log())
    users: list[User] = Field(default=[], description="with users, the image has an ssh server")
    shell: bool = Field(default=True, description="a shell on the serial console, with busybox")

    def problems(self) -> Iterator[Problem]:
        """Yield the contradictions between values."""
        yield from self._network_problems()
        yield from _twice(("nfs", "versions"), self.nfs.versions)
        yield from _twice(("nfs", "transports"), self.nfs.transports)
        if 4 in self.nfs.versions and "tcp" not in self.nfs.transports:
            yield Problem(("nfs", "transports"), 'NFS version 4 runs on TCP only; add "tcp", or leave out version 4')
        yield from self._disk_problems()
        for number, export in enumerate(self.exports):
            yield from self._export_problems(number, export)
        yield from self._user_problems()
        if sum(len(export.read_write) + len(export.read_only) for export in self.exports) > MOST_RULES:
            yield Problem(("exports",), f"has more than {MOST_RULES} addresses; give networks")

    def _network_problems(self) -> Iterator[Problem]:
        key, gateway = ("network", "gateway"), self.network.gateway
        if gateway and self.network.address == DHCP:
            yield Problem(key, 'DHCP sets the gateway; leave it out, or give an address instead of "dhcp"')
        elif gateway:
            own, way_out = ipaddress.IPv4Interface(self.network.address), ipaddress.IPv4Address(gateway)
            if way_out not in own.network:
                yield Problem(key, f"{gateway} is not in the network {own.network}; give an address that is")
            elif way_out == own.ip:
                yield Problem(key, f"{gateway} is the appliance's own address; give the router's")
            elif why := no_machine(way_out, own.network):
                yield Problem(key, f"{gateway} is {why}; give the address of the router")

    def _user_problems(self) -> Iterator[Problem]:
        names: dict[str, int] = {}
        for number, user in enumerate(self.users):
            if user.name in names:
                yield Problem(("users", number, "name"), f'"{user.name}" is given twice')
            elif user.name != "root" and user.uid in names.values():
                other = next(name for name, uid in names.items() if uid == user.uid)
                yield Problem(("users", number, "uid"), f'{user.uid} is the number of "{other}"; give another')
            if user.name == "root" and "uid" in user.model_fields_set:
                yield Problem(("users", number, "uid"), "root has 0; leave it out")
            names.setdefault(user.name, 0 if user.name == "root" else user.uid)
        if self.users and not self.shell:
            yield Problem(("shell",), "users need the shell; set it to true, or leave out the users")

    def _disk_problems(self) -> Iterator[Problem]:
        seen: set[str] = set()
        mirrors = 0
        for number, (name, disk) in enumerate(self.disks.items()):
            key = ("disks", name)
            if why := no_word(name, 31, "-"):
                yield Problem(key, why)
            elif name in TAKEN:
                yield Problem(key, f"is no valid disk name: the appliance itself uses /{name}; give another")
            if [bool(disk.device), bool(disk.mirror), bool(disk.volume)].count(True) != 1:
                yield Problem(key, "needs exactly one of device, mirror and volume")
            if disk.create_mirror and not disk.mirror:
                yield Problem((*key, "create_mirror"), "is only valid with mirror")
            if len(disk.mirror) == 1:
                yield Problem((*key, "mirror"), "needs at least two devices")
            volume = disk.volume and f"/dev/{disk.volume}"  # finds a device that is the same volume
            for device in (*filter(None, [disk.device, volume]), *disk.mirror):
                yield from self._device_problems(key, device, seen)
                seen.add(device)
            mirrors += bool(disk.mirror)
            if disk.mirror and mirrors == MOST_MIRRORS + 1:
                yield Problem((*key, "mirror"), f"is one mirror too many: an appliance has at most {MOST_MIRRORS}")
            if number == MOST_DISKS:
                yield Problem(key, f"is one disk too many: an appliance has at most {MOST_DISKS}")

    def _device_problems(self, key: Keys, device: str, seen: set[str]) -> Iterator[Problem]:
        if device in seen:
            yield Problem(key, f"{device} is used twice")
        elif other := next((name for name in sorted(seen) if _is_part(name, device) or _is_part(device, name)), None):
            yield Problem(key, f"{device} and {other} are a disk and its partition; give two partitions or two disks")
        if self.hardware == "virtual" and device.startswith(_OF_A_PC):
            yield Problem(key, f'{device} is a disk of a PC; add hardware = "pc", or give one such as /dev/vda')

    def _export_problems(self, number: int, export: Export) -> Iterator[Problem]:
        if export.disk not in self.disks:
            yield Problem(
                ("exports", number, "disk"), f'no such disk: "{export.disk}"{nearest(export.disk, self.disks)}'
            )
        elif export.read_write and self.disks[export.disk].read_only:
            yield Problem(("exports", number, "read_write"), f'the disk "{export.disk}" is read_only')
        if export.disk in [other.disk for other in self.exports[:number]]:
            yield Problem(("exports", number, "disk"), f'"{export.disk}" is exported twice; merge the two exports')
        if not export.read_write and not export.read_only:
            yield Problem(("exports", number), "no client may mount it; give addresses in read_write or read_only")
        yield from _twice(("exports", number, "read_write"), export.read_write)
        yield from _twice(("exports", number, "read_only"), export.read_only)
        for client in sorted(set(export.read_write) & set(export.read_only)):
            yield Problem(("exports", number, "read_only"), f"{client} is in read_write too")


def _is_part(part: str, disk: str) -> bool:
    """True if one device is a partition of the other, by their names: vda1 of vda, nvme0n1p2 of nvme0n1."""
    return bool(re.fullmatch(rf"{re.escape(disk)}{'p' if disk[-1].isdigit() else ''}\d+", part))


def _twice(keys: Keys, values: Sequence[object]) -> Iterator[Problem]:
    """Yield a problem for each value that equals an earlier one."""
    for number, value in enumerate(values):
        if value in values[:number]:
            yield Problem((*keys, number), f"{value} is given twice; leave one out")


def read(path: Path) -> Settings:
    """Read and validate a settings file. Raises InputError, with file, line and key."""
    return TomlFile.read(path).validate(Settings)
