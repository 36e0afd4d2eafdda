# SPDX-License-Identifier: Apache-2.0
"""From an appliance's settings to what its first process reads: /etc/nas.conf, carried out line by line, and the files
of users. appliance/user/ has the other side.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from flashbed.image import cpio
from flashbed_appliance.nas.settings import Disk, Export, Settings

READ_ONLY, ANY_PORT, ROOT_SQUASH, ALL_SQUASH = 1, 2, 4, 8
"""Flags of an export as the kernel has them (include/uapi/linux/nfsd/export.h)."""

LOCKD_PORT = 32768
"""Where the lock manager listens; a fixed one, for who has to let it through."""

MODULE_FOLDER = "/lib/modules"
VIRTUAL_MODULES = ("virtio_pci", "virtio_mmio", "virtio_blk", "virtio_net")
MIRROR_MODULES = ("raid1",)
VOLUME_MODULES = ("dm_mod", "dm_snapshot")
"""A volume that has snapshots cannot be had without the second one."""
PC_MODULES = ("ahci", "sd_mod", "e1000", "e1000e", "r8169")
"""What appliance/kernel/pc.config has."""
FILESYSTEM_MODULES = ("ext2", "ext4")
SERVER_MODULES = ("lockd", "nfsd")
ALL_MODULES = (*VIRTUAL_MODULES, *MIRROR_MODULES, *VOLUME_MODULES, *FILESYSTEM_MODULES, *SERVER_MODULES)
"""All that settings for a virtual machine can want."""


def modules_wanted(settings: Settings) -> list[str]:
    """What has to be in the kernel for these settings, whether built in or as a module."""
    wanted = [*VIRTUAL_MODULES]
    if settings.hardware == "pc":
        wanted += PC_MODULES
    if any(disk.mirror for disk in settings.disks.values()):
        wanted += MIRROR_MODULES
    if has_volumes(settings):
        wanted += VOLUME_MODULES
    wanted += sorted({disk.filesystem for disk in settings.disks.values()})
    return [*wanted, *SERVER_MODULES]


def memory_mb(settings: Settings) -> int:
    """Of a machine that has enough, as tried. One plain disk is served in 24 MB, but there clients that write much at
    once leave the kernel without memory, and it ends; LVM's program has room in 64.
    """
    return 64 if has_volumes(settings) else 48


def command_line(hardware: str, architecture: str) -> str:
    """What the kernel is told."""
    words = ["console=ttyAMA0" if architecture == "arm64" else "console=ttyS0"]
    if architecture == "x86_64" and hardware == "virtual":
        # No ACPI, and so no way to turn off: it starts anew instead, where QEMU ends. The kernel's check of its timer
        # counts ticks against instructions, and ends the machine where a busy host gave QEMU no time for them.
        words += ["nas.off=restart", "reboot=t", "no_timer_check"]
    # Of the kernel's messages those that say something; and all of ours
    return " ".join([*words, "loglevel=6", "printk.devkmsg=on", "panic=10"])


def has_volumes(settings: Settings) -> bool:
    """Whether a disk is a volume of LVM."""
    return any(disk.volume for disk in settings.disks.values())


def lines(settings: Settings, modules: Sequence[str]) -> list[str]:
    """Of /etc/nas.conf; `modules` are the names of those that are files, in the order to load them."""
    said = [f"hostname {settings.hostname}"]
    if settings.log.syslog:
        said.append(f"syslog {settings.log.syslog}")
    for module in modules:
        parameters = f" nlm_tcpport={LOCKD_PORT} nlm_udpport={LOCKD_PORT}" if module == "lockd" else ""
        said.append(f"module {MODULE_FOLDER}/{module}.ko{parameters}")
    network = settings.network
    said.append(f"network {network.interface} {network.address} {network.gateway or ''}".rstrip())
    mirrors = 0
    for name, disk in settings.disks.items():
        device = disk.device
        if disk.mirror:
            device = f"/dev/md{mirrors}"
            how = "create" if disk.create_mirror else "assemble"
            said.append(f"mirror md{mirrors} {how} {' '.join(disk.mirror)}")
            mirrors += 1
        if disk.volume:
            device = f"/dev/{disk.volume}"
            said.append(f"volume {disk.volume}")
        said.append(f"disk {device} /{name} {disk.filesystem} {'ro' if disk.read_only else 'rw'}")
    for export in settings.exports:
        said += _export_lines(export, settings.disks[export.disk])
    said.append("service /sbin/exportd")
    versions = ",".join(f"{'+' if version in settings.nfs.versions else '-'}{version}" for version in (2, 3, 4))
    said.append(f"nfsd {settings.nfs.threads} {versions} {' '.join(settings.nfs.transports)}")
    if settings.users:
        said.append("service /usr/sbin/dropbear -F -R -s -j -k")
    said.append("console /bin/sh -l" if settings.shell else "keyboard")
    return said


def export_number(path: str) -> int:
    """What names an export in file handles: it follows from the path, so that handles outlive a restart, and another
    order of exports.
    """
    return (zlib.crc32(path.encode()) & 0x7FFFFFFF) or 1


def _export_lines(export: Export, disk: Disk) -> list[str]:
    path = f"/{export.disk}"
    flags = {"root": ROOT_SQUASH, "all": ROOT_SQUASH | ALL_SQUASH, "none": 0}[export.squash]
    flags |= ANY_PORT if export.any_port else 0
    who = f"{export.anonymous_uid} {export.anonymous_gid}"
    kinds = ((export.read_write, READ_ONLY if disk.read_only else 0), (export.read_only, READ_ONLY))
    return [
        f"export {path} {export_number(path)} {flags | more} {who} {client}"
        for clients, more in kinds
        for client in clients
    ]


def nodes(settings: Settings, modules: Mapping[str, bytes]) -> list[cpio.Node]:
    """The files that hang on the settings: what the first process reads, its modules, mount points, users."""
    conf = "".join(f"{line}\n" for line in lines(settings, list(modules)))
    found = [cpio.file("/etc/nas.conf", conf.encode())]
    found += [cpio.file(f"{MODULE_FOLDER}/{name}.ko", content) for name, content in modules.items()]
    found += [cpio.folder(f"/{name}") for name in settings.disks]
    users = [f"{user.name}:*:{user.uid}:{user.uid}::/home/{user.name}:/bin/sh" for user in settings.users]
    users = [line for line in users if not line.startswith("root:")]
    found.append(cpio.file("/etc/passwd", "\n".join(["root:*:0:0::/root:/bin/sh", *users, ""]).encode()))
    groups = [f"{user.name}:*:{user.uid}:" for user in settings.users if user.name != "root"]
    found.append(cpio.file("/etc/group", "\n".join(["root:*:0:", *groups, ""]).encode()))
    for user in settings.users:
        home = "/root" if user.name == "root" else f"/home/{user.name}"
        found.append(cpio.file(f"{home}/.ssh/authorized_keys", "".join(f"{key}\n" for key in user.keys).encode()))
    return found
