# SPDX-License-Identifier: Apache-2.0
"""Build an appliance: a kernel, and a packed initramfs with its programs and settings."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import atomic
from flashbed.common.errors import InputError, host_refusal
from flashbed.image import cpio, module_order, stores
from flashbed_appliance.data_files import appliance_data
from flashbed_appliance.nas import compiling, kernels, linking, programs
from flashbed_appliance.nas.kernels import ApplianceKernel
from flashbed_appliance.nas.settings import Settings
from flashbed_appliance.shrinking import architecture, fragment
from flashbed_appliance.shrinking.architecture import Architecture

BOOTABLE = "appliance"
KERNEL, INITRAMFS = "kernel", "initramfs.xz"

FOLDERS = ("/dev", "/proc", "/sys", "/run", "/tmp", "/root", "/etc")

APPLETS = (
    "[ ash awk basename blkdiscard blockdev cat chgrp chmod chown clear cp cut date dd df dirname dmesg du echo env "
    "expr false fdisk find free grep halt head hexdump hostname id ifconfig kill killall less ln ls lsmod md5sum "
    "mkdir mke2fs mknod more mount mv netstat nslookup od passwd poweroff printf ps pwd readlink reboot rm "
    "rmdir rmmod route sed seq sh sha256sum sleep sort stat sync tail tar tee test time top touch true "
    "umount uname uptime vi wc which xargs"
)
"""Applets of busybox for a person at the console. None replaces a program of the appliance."""


@dataclass(frozen=True)
class Appliance:
    """A built appliance."""

    architecture: Architecture
    kernel: Path
    initramfs: Path | None
    """The initramfs; None if the kernel contains it and its command line."""

    parts: Mapping[str, int]
    """Bytes of each part of the initramfs, not packed."""

    machine: str
    """QEMU's machine, one of qemu.MACHINES."""

    memory_mb: int
    """MB of RAM that are enough."""

    arguments: str = ""
    """Additional arguments on this kernel's command line."""

    @property
    def bytes(self) -> int:
        """Return the size of everything that a boot loader loads."""
        return sum(file.stat().st_size for file in (self.kernel, self.initramfs) if file)


def bootable(settings: Settings, name: str, folder: Path) -> Appliance:
    """Build the appliance for the architecture `name` (x86_64, arm64) as one file in `folder`, which is created.

    An existing file stays until the new one is complete. Raises InputError for an unknown architecture and for an
    unusable folder, and SetupError if the build fails.
    """
    target = architecture.named(name)
    _check_place(folder)
    kernel = kernels.named(kernels.SMALL, settings, target)
    contents = _contents(settings, kernel)
    line = compiling.command_line(settings.hardware, target.name)
    kernel_fragment = fragment.read(kernels.fragments(settings, target))
    linked = linking.linked(target, kernel_fragment, _archive(contents), line)
    _write(folder, {BOOTABLE: linking.for_loaders(target, linked)})
    memory = compiling.memory_mb(settings)
    return Appliance(target, folder / BOOTABLE, None, _sizes(contents), kernel.machine, memory)


def build(settings: Settings, name: str, folder: Path, kernel_name: str = kernels.SMALL) -> Appliance:
    """Build the appliance for the architecture `name` as two files, kernel and initramfs, for a trial under QEMU: other
    settings need no link, and the initramfs need not be the smallest. `kernel_name` is one of kernels.NAMES.

    Raises InputError for an unknown architecture or kernel, and SetupError if the build fails.
    """
    target = architecture.named(name)
    kernel = kernels.named(kernel_name, settings, target)
    contents = _contents(settings, kernel)
    initramfs_bytes = cpio.packed(_archive(contents), cpio.FASTEST)
    _write(folder, {KERNEL: linking.for_loaders(target, kernel.image), INITRAMFS: initramfs_bytes})
    initramfs, memory = folder / INITRAMFS, compiling.memory_mb(settings) + kernel.more_mb
    return Appliance(target, folder / KERNEL, initramfs, _sizes(contents), kernel.machine, memory, kernel.arguments)


def _sizes(contents: Mapping[str, list[cpio.Node]]) -> dict[str, int]:
    return {part: sum(len(node.data) for node in within) for part, within in contents.items()}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            atomic.write(folder / name, content)
    except OSError as error:
        raise host_refusal(folder, error) from None


def _check_place(folder: Path) -> None:
    """Check that the file can be written, before a kernel is built for it. Raises InputError and HostResourceError."""
    if (folder / BOOTABLE).is_dir():
        raise InputError(f"{folder / BOOTABLE}: is a directory, but the file needs this name; give another --to")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"--to {folder}: not a directory, or below a file; give a directory") from None
    except OSError as error:
        raise host_refusal(folder, error) from None


def _archive(contents: Mapping[str, list[cpio.Node]]) -> bytes:
    return cpio.archive(cpio.tree(node for part in contents.values() for node in part))


def _contents(settings: Settings, kernel: ApplianceKernel) -> dict[str, list[cpio.Node]]:
    """Return the files of the initramfs, by the part that they belong to."""
    cache, target = stores.open_cache(), kernel.architecture
    order = module_order.in_order(kernel.modules, compiling.modules_wanted(settings))
    program = programs.own(cache, target).read_bytes()
    parts = {
        "folders": [cpio.folder(path) for path in FOLDERS] + [cpio.character_device("/dev/console", 5, 1)],
        "init and exportd": [cpio.program("/init", program), cpio.link("/sbin/exportd", "/init")],
        "modules and settings": compiling.nodes(settings, {name: kernel.modules[name].read_bytes() for name in order}),
    }
    if settings.shell:
        binary = programs.busybox(cache, target).read_bytes()
        parts["busybox"] = [cpio.program("/bin/busybox", binary)]
        parts["busybox"] += [cpio.link(f"/bin/{applet}", "busybox") for applet in APPLETS.split()]
    if settings.users:
        parts["ssh"] = _below(programs.with_libraries(cache, target, *programs.DROPBEAR))
        parts["ssh"].append(cpio.link("/etc/dropbear", "/run"))
    if compiling.has_volumes(settings):
        parts["lvm"] = _below(programs.with_libraries(cache, target, *programs.LVM))
        parts["lvm"].append(cpio.file("/etc/lvm/lvm.conf", (appliance_data() / "lvm.conf").read_bytes()))
    return parts


def _below(root: Path) -> list[cpio.Node]:
    """Return the programs and libraries below a directory. If two files are equal, the second is a link."""
    name_of_content: dict[bytes, str] = {}
    nodes = []
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        content, name = path.read_bytes(), f"/{path.relative_to(root)}"
        first = name_of_content.setdefault(content, name)
        nodes.append(cpio.program(name, content) if first == name else cpio.link(name, first))
    return nodes
