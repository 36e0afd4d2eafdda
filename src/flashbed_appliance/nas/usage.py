# SPDX-License-Identifier: Apache-2.0
"""What is said of an appliance that runs under QEMU: the commands of a client on this host, those that work."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator

from flashbed_appliance.nas.ports import Ports
from flashbed_appliance.nas.settings import Export, Settings

NOTHING = "Nothing is exported: the settings have no [[exports]], so nobody can mount anything."


def lines(settings: Settings, ports: Ports, left_out: Collection[str] = ()) -> Iterator[str]:
    """How a client on this host uses each export that it may, and why not the others. `left_out`: paths that the
    appliance said it does not serve.
    """
    yield ""
    if not settings.exports:
        yield NOTHING
    for export in settings.exports:
        if f"/{export.disk}" in left_out:
            yield f"/{export.disk}: is not served, as no disk is mounted there; the log above says why"
        else:
            yield from _export(settings, export, ports)
    for user in settings.users:
        yield f"ssh -p {ports.ssh} {user.name}@{ports.reached_at}"
    yield "Ctrl-C ends it."
    yield ""


def _export(settings: Settings, export: Export, ports: Ports) -> Iterator[str]:
    path, client = f"/{export.disk}", ipaddress.IPv4Address(ports.seen_as)
    if not any(client in ipaddress.IPv4Network(named) for named in (*export.read_write, *export.read_only)):
        yield f"{path}: is not for this host, which comes as {client}; no line of its export names that address"
        return
    version, protocol = max(settings.nfs.versions), "tcp" if "tcp" in settings.nfs.transports else "udp"
    where = f"nfsport={ports.nfs}&mountport={ports.mount}"
    options = f"vers={version},nolock,proto={protocol},port={ports.nfs},mountproto={protocol},mountport={ports.mount}"
    if version == 4:  # it needs no other port
        where, options = f"version=4&nfsport={ports.nfs}", f"vers=4,proto=tcp,port={ports.nfs}"
    if not export.any_port:  # QEMU keeps the port that a client comes from
        yield f"{path}: is for reserved ports only (any_port), which root alone may have:"
    if protocol == "tcp" and version > 2:
        yield f"{'' if export.any_port else 'sudo '}nfs-ls 'nfs://{ports.reached_at}{path}?{where}'"
    else:
        yield f"{path}: is served by version {version} over {protocol}, which libnfs and many kernels have not:"
    yield f"sudo mount -t nfs -o {options} {ports.reached_at}:{path} /mnt"
