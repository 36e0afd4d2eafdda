# SPDX-License-Identifier: Apache-2.0
"""Write the text that `nas run` prints about a running appliance: the commands that work for a client on this host."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator

from flashbed_appliance.nas.ports import Ports
from flashbed_appliance.nas.settings import Export, Settings

NOTHING = "Nothing is exported: the settings have no [[exports]], so nobody can mount anything."


def lines(settings: Settings, ports: Ports, left_out: Collection[str] = ()) -> Iterator[str]:
    """Yield lines: the commands for each export that a client on this host may use, and for the others the reason.

    `left_out` has the paths that the appliance reported as not served.
    """
    yield ""
    if not settings.exports:
        yield NOTHING
    for export in settings.exports:
        if f"/{export.disk}" in left_out:
            yield f"/{export.disk}: not served, because no disk is mounted there; the log above says why"
        else:
            yield from _export(settings, export, ports)
    for user in settings.users:
        yield f"ssh -p {ports.ssh} {user.name}@{ports.reached_at}"
    yield "Ctrl-C ends it."
    yield ""


def _export(settings: Settings, export: Export, ports: Ports) -> Iterator[str]:
    path, client = f"/{export.disk}", ipaddress.IPv4Address(ports.seen_as)
    if not any(client in ipaddress.IPv4Network(named) for named in (*export.read_write, *export.read_only)):
        yield f"{path}: not exported to this host, whose address is {client}; no line of the export names it"
        return
    version, protocol = max(settings.nfs.versions), "tcp" if "tcp" in settings.nfs.transports else "udp"
    where = f"nfsport={ports.nfs}&mountport={ports.mount}"
    options = f"vers={version},nolock,proto={protocol},port={ports.nfs},mountproto={protocol},mountport={ports.mount}"
    if version == 4:  # it needs no other port
        where, options = f"version=4&nfsport={ports.nfs}", f"vers=4,proto=tcp,port={ports.nfs}"
    if not export.any_port:  # QEMU keeps a client's source port
        yield f"{path}: needs a reserved port (any_port is off), and only root may use one:"
    if protocol == "tcp" and version > 2:
        yield f"{'' if export.any_port else 'sudo '}nfs-ls 'nfs://{ports.reached_at}{path}?{where}'"
    else:
        yield f"{path}: served by version {version} over {protocol}, which libnfs and many kernels do not support:"
    yield f"sudo mount -t nfs -o {options} {ports.reached_at}:{path} /mnt"
