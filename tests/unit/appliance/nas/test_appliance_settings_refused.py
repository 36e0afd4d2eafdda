# SPDX-License-Identifier: Apache-2.0
"""Well-formed settings of an appliance that make no sense are refused with their line; so are settings that exceed the
limits of its first process.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed_appliance.data_files import appliance_data
from flashbed_appliance.nas import building, compiling, programs, settings
from flashbed_appliance.nas.settings import Settings

DISK = '[disks.data]\ndevice = "/dev/vda"\n'
EXPORT = '[[exports]]\ndisk = "data"\n'
STATIC = '[network]\naddress = "192.168.1.10/24"\ngateway = '
SET = EXPORT + "read_write = "


def key(kind: str = "ssh-ed25519", *, inside: str = "", fields: int = 1, cut: int = 0) -> str:
    """Return the line of a public key. `inside` is the type that its blob names."""
    parts = [(inside or kind).encode(), *[bytes(range(32))] * fields]
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return f"{kind} {base64.b64encode(blob[: len(blob) - cut]).decode()} ann@desk"


def user(name: str, line: str, more: str = "") -> str:
    return f'[[users]]\nname = "{name}"\n{more}keys = ["{line}"]\n'


def disks(count: int, line: str = 'device = "/dev/vd{0}"') -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "".join(f"[disks.d{number}]\n{line.format(letters[number])}\n" for number in range(count))


def read(folder: Path, text: str) -> Settings:
    (folder / "nas.toml").write_text(text)
    return settings.read(folder / "nas.toml")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('[network]\naddress = "192.168.1.0/24"\n', 2, "is the network's own address"),
        ('[network]\naddress = "192.168.1.255/24"\n', 2, "is the network's broadcast address"),
        ('[network]\naddress = "127.0.0.1/8"\n', 2, "is a loopback address"),
        ('[network]\naddress = "224.0.0.9/24"\n', 2, "is a multicast address"),
        ('[network]\naddress = "0.0.0.0/24"\n', 2, "is a reserved address"),
        ('[network]\naddress = "250.0.0.1/24"\n', 2, "is a reserved address"),
        ('[network]\ninterface = "lo"\n', 2, "is the loopback"),
        ('[log]\nsyslog = "224.0.0.1"\n', 2, 'log.syslog: "224.0.0.1" is a multicast address'),
        ('[log]\nsyslog = "0.0.0.0"\n', 2, "is a reserved address"),
        (SET + '["0.0.0.0"]\n', 3, 'exports[0].read_write[0]: "0.0.0.0" is a reserved address'),
        (SET + '["224.0.0.1"]\n', 3, "is a multicast address"),
        (SET + '["10.0.2.0/0.0.0.255"]\n', 3, "is no IPv4 address or network"),
        (
            'hostname = "NAS"\n',
            1,
            'hostname: "NAS" is no valid name: use small letters, digits and -, a letter first, at most 63',
        ),
        ('hostname = "a\\nb"\n', 1, r'hostname: "a\nb" is no valid name'),
        ('"a\\nb" = 1\n', 1, r'"a\nb": no such key'),
        (
            '[network]\ninterface = "eth-0"\n',
            2,
            'network.interface: "eth-0" is no valid name: use small letters and digits, a letter first, at most 15',
        ),
        ("[nfs]\nversions = []\n", 2, "must have at least 1 item, not 0"),
        ('[disks.data]\ndevice = "/dev/vda/"\n', 2, "is no device such as"),
        ('[disks.data]\ndevice = "/dev/vda\\n.."\n', 2, '"/dev/vda\\n.." is no device such as'),
        ('[disks.data]\ndevice = "/dev/null"\n', 2, '"/dev/null" is no disk; give one such as "/dev/vda"'),
        ('[disks.data]\ndevice = "/dev/tty0"\n', 2, '"/dev/tty0" is no disk'),
        ('[disks.Data]\ndevice = "/dev/vda"\n', 1, "disks.Data: is no valid name"),
        (DISK.replace("vda", "vg0/a") + '[disks.more]\nvolume = "vg0/a"\n', 3, "/dev/vg0/a is used twice"),
        (user("root", key(), "uid = 7\n"), 3, "users[0].uid: root has 0; leave it out"),
        (DISK + '[disks.part]\ndevice = "/dev/vda1"\n', 3, "/dev/vda1 and /dev/vda are a disk and its partition"),
        ('[disks.data]\ndevice = "/dev/sda"\n', 1, '/dev/sda is a disk of a PC; add hardware = "pc"'),
        (STATIC + '"192.168.2.1"\n', 3, "network.gateway: 192.168.2.1 is not in the network 192.168.1.0/24"),
        (STATIC + '"192.168.1.10"\n', 3, "is the appliance's own address"),
        (STATIC + '"192.168.1.255"\n', 3, "is the network's broadcast address"),
        ("[nfs]\nversions = [3, 2, 3]\n", 2, "nfs.versions[2]: 3 is given twice"),
        ('[nfs]\ntransports = ["tcp", "tcp"]\n', 2, "nfs.transports[1]: tcp is given twice"),
        (DISK + SET + '["10.0.0.1", "10.0.0.1/32"]\n', 5, "exports[0].read_write[1]: 10.0.0.1/32 is given twice"),
        (DISK + EXPORT + 'read_only = ["10.0.0.1", "10.0.0.1"]\n', 5, "read_only[1]: 10.0.0.1/32 is given twice"),
        (DISK + SET + '["10.0.0.1"]\nread_only = ["10.0.0.1"]\n', 6, "10.0.0.1/32 is in read_write too"),
        (user("ann", key()) + user("bob", key()), 4, 'users[1].uid: 1000 is the number of "ann"; give another'),
        (user("ann", "ssh-ed25519 " + "A" * 68), 3, "users[0].keys[0]: is a damaged key: the data after ssh-ed25519"),
        (
            user("ann", key(inside="ssh-rsa")),
            3,
            "users[0].keys[0]: is a damaged key: the data after ssh-ed25519 are of another kind",
        ),
        (user("ann", key(cut=3)), 3, "are incomplete"),
        (user("ann", key(fields=0) + "A" * 40), 3, "no public key of OpenSSH"),
        (user("ann", key().replace(" ann", "A ann")), 3, "are incomplete"),
        (disks(17), 33, f"disks.d16: is one disk too many: an appliance has at most {settings.MOST_DISKS}"),
        (disks(5, 'mirror = ["/dev/vd{0}", "/dev/vda{0}"]'), 10, "disks.d4.mirror: is one mirror too many"),
        *((f'[disks.{name}]\ndevice = "/dev/vda"\n', 1, f"uses /{name}") for name in sorted(settings.TAKEN)),
    ],
)
def test_what_makes_no_sense_is_told_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert message in caught.value.message
    assert caught.value.message.startswith(f"{tmp_path}/nas.toml:{line}:")


@pytest.mark.parametrize(
    "text",
    [
        STATIC + '"192.168.1.1"\n',
        '[network]\naddress = "10.1.2.0/31"\ngateway = "10.1.2.1"\n',
        '[network]\naddress = "10.1.2.3/32"\n',
        user("root", key()) + user("ann", key()),
        user("ann", key("ssh-rsa", fields=2)) + user("bob", key("ecdsa-sha2-nistp256", fields=2), "uid = 1001\n"),
        disks(16),
        disks(4, 'mirror = ["/dev/vd{0}", "/dev/vda{0}"]'),
    ],
)
def test_what_makes_sense_is_taken(tmp_path: Path, text: str) -> None:
    read(tmp_path, text)


def test_no_disk_lies_over_what_the_appliance_has_itself(tmp_path: Path) -> None:
    parsed = read(tmp_path, user("root", key()) + user("ann", key()))
    mine = [node.path for node in compiling.nodes(parsed, {"nfsd": b""})]
    there = [*mine, *building.FOLDERS, "/init", "/bin/sh", "/sbin/exportd", programs.DROPBEAR[1], programs.LVM[1]]
    assert {path.strip("/").split("/")[0] for path in there} <= settings.TAKEN


def test_the_limits_are_those_of_the_appliances_programs() -> None:
    def constant(file: str, name: str) -> int:
        match = re.search(rf"\b{name} = (\d+)", (appliance_data() / "user" / file).read_text())
        assert match is not None, f"{file} has no {name}"
        return int(match[1])

    assert constant("exportd/exports.h", "EXPORT_RULES") == settings.MOST_RULES
    assert constant("init/disks.c", "MOST") == settings.MOST_DISKS
    assert constant("init/mirror.c", "ARRAYS") == settings.MOST_MIRRORS
    assert constant("init/mirror.h", "MIRROR_MEMBERS") == settings.MOST_MEMBERS
