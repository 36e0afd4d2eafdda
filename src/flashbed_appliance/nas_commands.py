# SPDX-License-Identifier: Apache-2.0
"""The commands of the network-storage appliance: parse, call, print; nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flashbed.commands.terminal import out, say
from flashbed.common.units import parse_size

nas_app = typer.Typer(
    help="The network-storage appliance: a small kernel that serves files over NFS. "
    "docs/appliance.md explains its settings and how to boot it on a board.",
    no_args_is_help=True,
)

SettingsFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="SETTINGS", help="A TOML file: network, disks, exports. Default: settings for a trial on this host."
    ),
]
ApplianceArchitecture = Annotated[str, typer.Option("--architecture", "-a", metavar="NAME", help="x86_64 or arm64.")]


@nas_app.command("build")
def nas_build(
    file: SettingsFile = None,
    architecture: ApplianceArchitecture = "x86_64",
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="Directory for the file.")] = Path("nas"),
) -> None:
    """Build an appliance: one file, FOLDER/appliance, that firmware, a boot loader or QEMU starts."""
    from flashbed_appliance.nas import building, shipped

    settings = shipped.settings(file)
    with shipped.named(file):
        appliance = building.bootable(settings, architecture, to)
    for line in shipped.describe(settings, appliance):
        out.print(line)


@nas_app.command("run")
def nas_run(
    file: SettingsFile = None,
    architecture: ApplianceArchitecture = "x86_64",
    kernel: Annotated[
        str,
        typer.Option(metavar="NAME", help="small is compiled the first time; debian is only downloaded."),
    ] = "small",
    folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Directory of the disk images. Default: in the cache.")
    ] = None,
    size: Annotated[
        str, typer.Option(metavar="SIZE", help="Size of each disk image that does not exist yet.")
    ] = "256M",
    listen: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address of this host to listen on; clients keep their own addresses."),
    ] = "127.0.0.1",
    nfs_port: Annotated[int, typer.Option(min=1, max=65535, help="Port of NFS on this host.")] = 20490,
    mount_port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the mount protocol on this host.")] = 20480,
    portmap_port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the portmapper on this host.")] = 20111,
    ssh_port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port of ssh on this host, if there are users.")
    ] = 20022,
) -> None:
    """Start an appliance under QEMU and print how to mount it. Ctrl-C or closing the terminal ends it.

    The disks are image files, created and formatted at the first run, then kept. Needs no root.
    """
    from flashbed_appliance.nas import building, preparing, running, shipped
    from flashbed_appliance.nas.ports import Ports
    from flashbed_appliance.shrinking import architecture as architectures

    settings, target = shipped.settings(file), architectures.named(architecture)
    try:
        size_bytes = parse_size(size)
    except ValueError as error:
        raise typer.BadParameter(f"--size: {error}") from None
    place, ports = folder or shipped.folder(architecture), Ports(listen, nfs_port, mount_port, portmap_port, ssh_port)
    with shipped.named(file), preparing.prepared(settings, target, kernel, place, size_bytes, ports) as images:
        appliance = building.build(settings, architecture, place, kernel)
        running.run(settings, appliance, images, ports, say)
