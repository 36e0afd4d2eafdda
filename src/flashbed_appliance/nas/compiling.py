# SPDX-License-Identifier: Apache-2.0
"""Translate an appliance's settings to the files that its first process reads: /etc/nas.conf, which it executes line
by line, and the files of users. appliance/user/ has the other side.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from flashbed.image import cpio
from flashbed_appliance.nas.settings import Disk, Export, Settings

READ_ONLY, ANY_PORT, ROOT_SQUASH, ALL_SQUASH = 1, 2, 4, 8
"""The kernel's flags of an export (include/uapi/linux/nfsd/export.h)."""

LOCKD_PORT = 32768
"""Port of the lock manager. It is fixed, so that a packet filter can let it through."""

MODULE_FOLDER = "/lib/modules"
VIRTUAL_MODULES = ("virtio_pci", "virtio_mmio", "virtio_blk", "virtio_net")
MIRROR_MODULES = ("raid1",)
VOLUME_MODULES = ("dm_mod", "dm_snapshot")
"""A volume with snapshots cannot be activated without dm_snapshot."""
PC_MODULES = ("ahci", "sd_mod", "e1000", "e1000e", "r8169")
"""The modules of appliance/kernel/pc.config."""
FILESYSTEM_MODULES = ("ext2", "ext4")
SERVER_MODULES = ("lockd", "nfsd")
ALL_MODULES = (*VIRTUAL_MODULES, *MIRROR_MODULES, *VOLUME_MODULES, *FILESYSTEM_MODULES, *SERVER_MODULES)
"""Every module that settings for a virtual machine may need."""


def modules_wanted(settings: Settings) -> list[str]:
    """Return the names of the modules that these settings need, whether they are built in or files."""
    module_names = [*VIRTUAL_MODULES]
    if settings.hardware == "pc":
        module_names += PC_MODULES
    if any(disk.mirror for disk in settings.disks.values()):
        module_names += MIRROR_MODULES
    if has_volumes(settings):
        module_names += VOLUME_MODULES
    module_names += sorted({disk.filesystem for disk in settings.disks.values()})
    return [*module_names, *SERVER_MODULES]


def memory_mb(settings: Settings) -> int:
    """Return the MB of RAM that were enough in tests. 24 MB serve one plain disk, but clients that write much at once
    then exhaust the kernel's memory, and it panics. LVM's program needs 64 MB.
    """
    return 64 if has_volumes(settings) else 48


def command_line(hardware: str, architecture: str) -> str:
    """Return the kernel's command line."""
    words = ["console=ttyAMA0" if architecture == "arm64" else "console=ttyS0"]
    if architecture == "x86_64" and hardware == "virtual":
        # Without ACPI there is no power-off: the machine restarts instead, and QEMU ends. The kernel's timer check
        # counts ticks against instructions, and panics if a busy host gave QEMU no time for the ticks.
        words += ["nas.off=restart", "reboot=t", "no_timer_check"]
    # The kernel's messages up to KERN_NOTICE (5), and all of ours
    return " ".join([*words, "loglevel=6", "printk.devkmsg=on", "panic=10"])


def has_volumes(settings: Settings) -> bool:
    """True if a disk is a logical volume of LVM."""
    return any(disk.volume for disk in settings.disks.values())


def lines(settings: Settings, modules: Sequence[str]) -> list[str]:
    """Return the lines of /etc/nas.conf. `modules` are the names of the module files, in the order to load them."""
    conf = [f"hostname {settings.hostname}"]
    if settings.log.syslog:
        conf.append(f"syslog {settings.log.syslog}")
    for module in modules:
        parameters = f" nlm_tcpport={LOCKD_PORT} nlm_udpport={LOCKD_PORT}" if module == "lockd" else ""
        conf.append(f"module {MODULE_FOLDER}/{module}.ko{parameters}")
    network = settings.network
    conf.append(f"network {network.interface} {network.address} {network.gateway or ''}".rstrip())
    mirrors = 0
    for name, disk in settings.disks.items():
        device = disk.device
        if disk.mirror:
            device = f"/dev/md{mirrors}"
            how = "create" if disk.create_mirror else "assemble"
            conf.append(f"mirror md{mirrors} {how} {' '.join(disk.mirror)}")
            mirrors += 1
        if disk.volume:
            device = f"/dev/{disk.volume}"
            conf.append(f"volume {disk.volume}")
        conf.append(f"disk {device} /{name} {disk.filesystem} {'ro' if disk.read_only else 'rw'}")
    for export in settings.exports:
        conf += _export_lines(export, settings.disks[export.disk])
    conf.append("service /sbin/exportd")
    versions = ",".join(f"{'+' if version in settings.nfs.versions else '-'}{version}" for version in (2, 3, 4))
    conf.append(f"nfsd {settings.nfs.threads} {versions} {' '.join(settings.nfs.transports)}")
    if settings.users:
        conf.append("service /usr/sbin/dropbear -F -R -s -j -k")
    conf.append("console /bin/sh -l" if settings.shell else "keyboard")
    return conf


def export_number(path: str) -> int:
    """Return the number (fsid) of an export in file handles. It depends on the path only, so handles stay valid after a
    restart and in another order of exports.
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
    """Return the files that depend on the settings: /etc/nas.conf, modules, mount points, users' files."""
    conf = "".join(f"{line}\n" for line in lines(settings, list(modules)))
    files = [cpio.file("/etc/nas.conf", conf.encode())]
    files += [cpio.file(f"{MODULE_FOLDER}/{name}.ko", content) for name, content in modules.items()]
    files += [cpio.folder(f"/{name}") for name in settings.disks]
    users = [f"{user.name}:*:{user.uid}:{user.uid}::/home/{user.name}:/bin/sh" for user in settings.users]
    users = [line for line in users if not line.startswith("root:")]
    files.append(cpio.file("/etc/passwd", "\n".join(["root:*:0:0::/root:/bin/sh", *users, ""]).encode()))
    groups = [f"{user.name}:*:{user.uid}:" for user in settings.users if user.name != "root"]
    files.append(cpio.file("/etc/group", "\n".join(["root:*:0:", *groups, ""]).encode()))
    for user in settings.users:
        home = "/root" if user.name == "root" else f"/home/{user.name}"
        files.append(cpio.file(f"{home}/.ssh/authorized_keys", "".join(f"{key}\n" for key in user.keys).encode()))
    return files
