# SPDX-License-Identifier: Apache-2.0
"""The commands of the network-storage appliance: parse, call, print; nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flashbed.commands.terminal import out, say
from flashbed.common.units import parse_size

nas_app = typer.Typer(
    help="The network-storage appliance: a small kernel and little else, which serves files over NFS. "
    "docs/appliance.md has its settings, and how to put it on a board.",
    no_args_is_help=True,
)

File = Annotated[
    Path | None,
    typer.Argument(
        metavar="SETTINGS", help="A TOML file: network, disks, exports. Default: one for a trial on this host."
    ),
]
Architecture = Annotated[str, typer.Option("--architecture", "-a", metavar="NAME", help="x86_64 or arm64.")]


@nas_app.command("build")
def nas_build(
    file: File = None,
    architecture: Architecture = "x86_64",
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the file goes.")] = Path("nas"),
) -> None:
    """Build an appliance: one file, FOLDER/appliance, which firmware, a boot loader or QEMU starts."""
    from flashbed_appliance.nas import building, shipped

    settings = shipped.settings(file)
    with shipped.named(file):
        appliance = building.bootable(settings, architecture, to)
    for line in shipped.describe(settings, appliance):
        out.print(line)


@nas_app.command("run")
def nas_run(
    file: File = None,
    architecture: Architecture = "x86_64",
    kernel: Annotated[
        str,
        typer.Option(metavar="NAME", help="small, which is built the first time, or debian, which is only fetched."),
    ] = "small",
    folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where its disks are kept. Default: in the cache.")
    ] = None,
    size: Annotated[str, typer.Option(metavar="SIZE", help="Of each disk that is not there yet.")] = "256M",
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Of this host; others come to it by their own addresses.")
    ] = "127.0.0.1",
    nfs_port: Annotated[int, typer.Option(min=1, max=65535, help="Where NFS is on this host.")] = 20490,
    mount_port: Annotated[int, typer.Option(min=1, max=65535, help="Where the mount protocol is.")] = 20480,
    portmap_port: Annotated[int, typer.Option(min=1, max=65535, help="Where the portmapper is.")] = 20111,
    ssh_port: Annotated[int, typer.Option(min=1, max=65535, help="Where ssh is, if there are users.")] = 20022,
) -> None:
    """Start an appliance under QEMU, and say how to mount it. Ctrl-C ends it, and so does closing its terminal.

    Its disks are files, made and formatted the first time and kept. Needs no root.
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
