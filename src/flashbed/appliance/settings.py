# SPDX-License-Identifier: Apache-2.0
"""The TOML file of an appliance: network, disks, exports, users. Shapes and contradictions; what comes of it is
compiling.py's.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from flashbed.common.tomlfile import Problem, TomlFile, nearest
from flashbed.profiles.profile import Strict

_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_TAKEN = {"bin", "dev", "etc", "lib", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "init"}
"""Folders of the appliance's own root."""
_DEVICE = re.compile(r"/dev/[a-z][a-z0-9/_-]{0,40}")
_VOLUME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9+_.-]{0,60}/[a-zA-Z0-9_][a-zA-Z0-9+_.-]{0,60}")
_KEY = re.compile(r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/=]{40,2000}( [ -~]{0,200})?")
_MOST_RULES = 256
"""As appliance/user/exportd/exports.h has it."""


def _clients(text: str) -> str:
    try:
        return str(ipaddress.IPv4Network(text))
    except ValueError as error:
        why = "has bits beyond its length" if "host bits" in str(error) else "is no IPv4 address or network"
        raise ValueError(f'"{text}" {why}; write "192.168.1.7" or "192.168.1.0/24"') from None


def _address(text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise ValueError(f'"{text}" is no IPv4 address such as "192.168.1.1"') from None


def _own_address(text: str) -> str:
    if text == "dhcp":
        return text
    try:
        found = ipaddress.IPv4Interface(text)
    except ValueError:
        found = None
    if found is None or "/" not in text or not found.network.prefixlen:
        raise ValueError(f'"{text}" is neither "dhcp" nor an address with its length, such as "192.168.1.10/24"')
    return str(found)


def _device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise ValueError(f'"{text}" is no device such as "/dev/vda" or "/dev/sda1"')
    return text


def _volume(text: str) -> str:
    if not _VOLUME.fullmatch(text):
        raise ValueError(f'"{text}" is no volume of LVM such as "vg0/data": its group and its name')
    return text


def _key(text: str) -> str:
    if not _KEY.fullmatch(text.strip()):
        raise ValueError("is no public key of OpenSSH: give the one line of a file such as ~/.ssh/id_ed25519.pub")
    return text.strip()


Clients = Annotated[str, AfterValidator(_clients)]
Address = Annotated[str, AfterValidator(_address)]
Device = Annotated[str, AfterValidator(_device)]
Volume = Annotated[str, AfterValidator(_volume)]


class Network(Strict):
    """Its own place in the network."""

    address: Annotated[str, AfterValidator(_own_address)] = Field(
        default="dhcp", description='"dhcp", or an IPv4 address with the length of its network'
    )
    gateway: Address | None = Field(default=None, description="the way out, with an address of its own only")
    interface: str = Field(default="eth0", pattern=r"^[a-z][a-z0-9]{0,14}$", description="Linux's name of it")


class Nfs(Strict):
    """How the kernel serves."""

    versions: list[Literal[2, 3, 4]] = Field(default=[3, 2], min_length=1, description="of NFS")
    transports: list[Literal["tcp", "udp"]] = Field(default=["tcp", "udp"], min_length=1, description="what it runs on")
    threads: int = Field(default=4, ge=1, le=64, description="threads of the kernel's server")


class Disk(Strict):
    """A file system; it is mounted at the disk's name."""

    device: Device | None = Field(default=None, description="the block device that it lies on")
    mirror: list[Device] = Field(default=[], max_length=8, description="instead: the members of a RAID1")
    volume: Volume | None = Field(default=None, description="instead: a logical volume of LVM, GROUP/NAME")
    create_mirror: bool = Field(default=False, description="members without superblocks, equal already, become one")
    filesystem: Literal["ext2", "ext4"] = Field(default="ext4", description="what it is formatted as")
    read_only: bool = Field(default=False, description="nothing is ever written to it")


class Export(Strict):
    """Who may mount a disk. Nobody may who is not named."""

    disk: str = Field(description="a name of [disks]")
    read_write: list[Clients] = Field(default=[], description="IPv4 addresses and networks that may write")
    read_only: list[Clients] = Field(default=[], description="those that may only read")
    squash: Literal["root", "all", "none"] = Field(default="root", description="whose calls are the anonymous user's")
    anonymous_uid: int = Field(default=65534, ge=0, le=2**32 - 2, description="its number")
    anonymous_gid: int = Field(default=65534, ge=0, le=2**32 - 2, description="its group's")
    any_port: bool = Field(default=False, description="clients need no reserved port: any user of theirs may ask")


class Log(Strict):
    """Where messages go beside the serial line."""

    syslog: Address | None = Field(default=None, description="a server that takes them over UDP")


class User(Strict):
    """Somebody who may log in over ssh, with a key."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,30}$", description="on the appliance; root administers it")
    uid: int = Field(default=1000, ge=1, le=65533, description="its number, if it is not root")
    keys: list[Annotated[str, AfterValidator(_key)]] = Field(min_length=1, description="public keys of OpenSSH")


class Settings(Strict):
    """All that an appliance is told."""

    hostname: str = Field(default="nas", pattern=r"^[a-z][a-z0-9-]{0,62}$", description="its name")
    hardware: Literal["virtual", "pc"] = Field(
        default="virtual", description="what it runs on: virtio devices, or a PC with its firmware, disks and cards"
    )
    network: Network = Field(default=Network())
    nfs: Nfs = Field(default=Nfs())
    disks: dict[str, Disk] = Field(default={}, description="file systems, by name")
    exports: list[Export] = Field(default=[], description="who may mount what; nothing is exported by itself")
    log: Log = Field(default=Log())
    users: list[User] = Field(default=[], description="with any, the image has an ssh server")
    shell: bool = Field(default=True, description="a shell on the serial console, and busybox for it")

    def problems(self) -> Iterator[Problem]:
        """Contradictions."""
        if self.network.gateway and self.network.address == "dhcp":
            yield Problem(("network", "gateway"), 'DHCP brings one; leave it out, or give an address instead of "dhcp"')
        if 4 in self.nfs.versions and "tcp" not in self.nfs.transports:
            yield Problem(("nfs", "transports"), 'NFS version 4 runs on TCP only; add "tcp", or leave out version 4')
        yield from self._disk_problems()
        for number, export in enumerate(self.exports):
            yield from self._export_problems(number, export)
        names = [user.name for user in self.users]
        for number, user in enumerate(self.users):
            if user.name in names[:number]:
                yield Problem(("users", number, "name"), f'"{user.name}" is there twice')
        if self.users and not self.shell:
            yield Problem(("shell",), "users log in to a shell; leave it on, or leave out the users")
        if sum(len(export.read_write) + len(export.read_only) for export in self.exports) > _MOST_RULES:
            yield Problem(("exports",), f"has more than {_MOST_RULES} addresses; give networks")

    def _disk_problems(self) -> Iterator[Problem]:
        seen: set[str] = set()
        for name, disk in self.disks.items():
            if not _NAME.fullmatch(name) or name in _TAKEN:
                yield Problem(
                    ("disks", name), "is no name for a disk: small letters, digits and -, and no folder of Linux's own"
                )
            if [bool(disk.device), bool(disk.mirror), bool(disk.volume)].count(True) != 1:
                yield Problem(("disks", name), "needs exactly one of device, mirror and volume")
            if disk.create_mirror and not disk.mirror:
                yield Problem(("disks", name, "create_mirror"), "belongs to mirror only")
            if len(disk.mirror) == 1:
                yield Problem(("disks", name, "mirror"), "needs at least two devices")
            for device in (*filter(None, [disk.device, disk.volume]), *disk.mirror):
                if device in seen:
                    yield Problem(("disks", name), f"{device} is used twice")
                seen.add(device)

    def _export_problems(self, number: int, export: Export) -> Iterator[Problem]:
        if export.disk not in self.disks:
            yield Problem(
                ("exports", number, "disk"), f'no such disk: "{export.disk}"{nearest(export.disk, self.disks)}'
            )
        elif export.read_write and self.disks[export.disk].read_only:
            yield Problem(("exports", number, "read_write"), f'the disk "{export.disk}" is read_only')
        if export.disk in [other.disk for other in self.exports[:number]]:
            yield Problem(("exports", number, "disk"), f'"{export.disk}" is exported twice; put the addresses into one')
        if not export.read_write and not export.read_only:
            yield Problem(("exports", number), "nobody may mount it: give addresses in read_write or read_only")
        for client in set(export.read_write) & set(export.read_only):
            yield Problem(("exports", number, "read_only"), f"{client} is in read_write too")


def read(path: Path) -> Settings:
    """Raises InputError, with file, line and key."""
    return TomlFile.read(path).validate(Settings)
