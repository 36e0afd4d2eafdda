# SPDX-License-Identifier: Apache-2.0
"""Two guests on a wire of their own: an appliance that serves, and a Linux that is its client.

The client's user space is the appliance's, too: its program answers the client's lock manager as it does the server's.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.image import cpio, module_order
from flashbed_appliance.nas import building as appliance_building
from flashbed_appliance.nas import compiling, disks, kernels, qemu, settings
from flashbed_appliance.shrinking import architecture, kernel_build

SERVER, CLIENT = "10.9.0.1", "10.9.0.2"
MODULES = ("virtio_pci", "virtio_blk", "virtio_net", "lockd", "nfsd", "nfsv3", "nfsv4", "nfs")
PC, MICROVM = "q35", "microvm,acpi=off,pcie=off,usb=off,rtc=on"
"""The machines: for Debian's kernel, and for a small kernel."""
SERVER_RAM = "48M"
"""With the 24 MB that are enough to start and to serve a little, the kernel panics here: "deadlocked on memory". Of the
13 MB that it leaves Linux 6.1 sets 4 aside for what cannot wait, and counts them as gone when they are not any more.
"""
NETWORK_OF_ITS_OWN = f'[network]\naddress = "{SERVER}/24"\n'
QUIET = "loglevel=6 printk.devkmsg=on panic=10"


@dataclass(frozen=True)
class Kernel:
    """A client's kernel for x86_64: its image, its modules by name, and its QEMU machine."""

    image: Path
    modules: dict[str, Path]
    machine: str


def debian_kernel(folder: Path) -> Kernel:
    """Fetch Debian's kernel from the mirror, and unpack it into `folder`."""
    return Kernel(*kernels.unpacked(architecture.named("x86_64"), folder), PC)


def small_kernel(more: Path) -> Kernel:
    """Return the appliance's own kernel with the options of the fragment `more`. The first build takes minutes."""
    built = kernel_build.build("x86_64", [*kernel_build.nas_fragments("x86_64"), more])
    return Kernel(built.image, {module_order.plain(name): path for name, path in built.modules.items()}, MICROVM)


def client_archive(kernel: Kernel, program: bytes, files: Iterable[cpio.Node], words: Sequence[str]) -> bytes:
    """Return the client's first file system. `words` is the command on its console, and `files` what it needs."""
    order = module_order.in_order(kernel.modules, MODULES)
    loads = []
    for name in order:
        ports = f" nlm_tcpport={compiling.LOCKD_PORT} nlm_udpport={compiling.LOCKD_PORT}" if name == "lockd" else ""
        loads.append(f"module /lib/modules/{name}.ko{ports}")
    lines = ["hostname client", *loads, f"network eth0 {CLIENT}/24", "service /sbin/exportd", "nfsd 1 +3 tcp udp"]
    lines.append(f"console {' '.join(words)}")
    nodes = [cpio.folder(path) for path in ("/dev", "/proc", "/sys", "/run", "/tmp")]
    nodes += [cpio.program("/init", program), cpio.link("/sbin/exportd", "/init"), *files]
    nodes += [cpio.file(f"/lib/modules/{name}.ko", kernel.modules[name].read_bytes()) for name in order]
    nodes += [cpio.character_device("/dev/console", 5, 1), cpio.file("/etc/nas.conf", "\n".join(lines).encode())]
    return cpio.archive(cpio.tree(nodes))


def served(text: str, folder: Path) -> tuple[list[str], list[Path]]:
    """Return the command of an appliance with these settings, and the images of its disks."""
    (folder / "nas.toml").write_text(text)
    settings_ = settings.read(folder / "nas.toml")
    appliance = appliance_building.build(settings_, "x86_64", folder / "nas")
    images = disks.images(settings_.disks, folder / "nas", 64 << 20)
    return qemu.command(appliance, images, [], "127.0.0.1", ["-serial", "stdio"]), images


def client_command(kernel: Kernel, initramfs: Path, port: int) -> list[str]:
    """Return QEMU's command for the client, on the wire at `port` of this host."""
    card = "virtio-net-device" if kernel.machine == MICROVM else "virtio-net-pci"
    return [
        *("qemu-system-x86_64", "-M", kernel.machine, "-cpu", "max", "-accel", "tcg", "-m", "512M", "-nodefaults"),
        *("-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-kernel", str(kernel.image), "-initrd", str(initramfs)),
        *("-append", f"console=ttyS0 nas.off=restart reboot=t ipv6.disable=1 {QUIET}"),
        *("-netdev", f"socket,id=net0,connect=127.0.0.1:{port}"),
        *("-device", f"{card},netdev=net0,mac=52:54:00:12:34:02"),
    ]


def on_a_wire(command: Sequence[str], port: int) -> list[str]:
    """Return the command of an appliance on that wire, with SERVER_RAM.

    Its disks do not flush to the host's disk, although most NFS calls end with a flush: no power fails here.
    """
    words = list(command)
    words[words.index("-m") + 1] = SERVER_RAM
    for number, word in enumerate(words):
        if word.startswith("user,id=net0"):
            words[number] = f"socket,id=net0,connect=127.0.0.1:{port}"
        elif word.startswith("if=none,id=disk"):
            words[number] += ",cache=unsafe"
    return words


def run_pair(server: Sequence[str], client: Sequence[str], seconds: int) -> tuple[str, str]:
    """Return what server and client wrote on their consoles, once the client has shut itself down."""
    serving = _start(server, seconds)
    written: list[str] = []
    reader = threading.Thread(target=lambda: written.extend(serving.stdout or ()), daemon=True)
    reader.start()
    try:
        asking = _start(client, seconds)
        client_console = asking.communicate()[0]
    finally:
        while serving.poll() is None and serving.stdin is not None and "nas: down" not in "".join(written):
            with contextlib.suppress(OSError):
                serving.stdin.write("\npoweroff\n")
                serving.stdin.flush()
            time.sleep(3)
        with contextlib.suppress(subprocess.TimeoutExpired):
            serving.wait(timeout=30)
        serving.terminate()
        serving.wait()
        reader.join()
    return "".join(written), client_console


def _start(command: Sequence[str], seconds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", "timeout", "-k", "5", str(seconds), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
