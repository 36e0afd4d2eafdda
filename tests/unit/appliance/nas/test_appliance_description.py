# SPDX-License-Identifier: Apache-2.0
"""An appliance's settings: what is refused, and the description that its first process gets."""

from __future__ import annotations

import lzma
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flashbed.common.errors import InputError
from flashbed.image import cpio
from flashbed_appliance.nas import (
    building,
    compiling,
    kernels,
    ports,
    qemu,
    running,
    settings,
    shipped,
    usage,
)
from flashbed_appliance.nas.disks import images
from flashbed_appliance.nas.ports import Ports
from flashbed_appliance.nas.settings import Settings
from flashbed_appliance.shrinking import architecture

DISK = '[disks.data]\ndevice = "/dev/vda"\n'
VOLUME = '[disks.data]\nvolume = "vg0/data"\n'
EXPORT = '[[exports]]\ndisk = "data"\nread_write = ["10.0.0.0/8"]\n'


def read(folder: Path, text: str) -> Settings:
    file = folder / "nas.toml"
    file.write_text(text)
    return settings.read(file)


def lines(folder: Path, text: str, *names: str) -> list[str]:
    return compiling.lines(read(folder, text), names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[disks.data]\n", "disks.data: needs exactly one of device, mirror and volume"),
        (DISK + 'mirror = ["/dev/vdb", "/dev/vdc"]\n', "needs exactly one of device, mirror and volume"),
        (DISK + 'volume = "vg0/data"\n', "needs exactly one of device, mirror and volume"),
        ('[disks.data]\nvolume = "data"\n', 'no volume of LVM such as "vg0/data"'),
        ('[disks.data]\nvolume = "vg0/../data"\n', "no volume of LVM"),
        (VOLUME + '[disks.more]\nvolume = "vg0/data"\n', "vg0/data is used twice"),
        ('[disks.data]\nmirror = ["/dev/vda"]\n', "at least two devices"),
        ('[disks.data]\nmirror = ["/dev/vda", "/dev/vda"]\n', "/dev/vda is used twice"),
        ('[disks.etc]\ndevice = "/dev/vda"\n', "disks.etc: is no valid disk name"),
        ('[disks.data]\ndevice = "vda"\n', 'no device such as "/dev/vda"'),
        ('[disks.data]\ndevice = "/dev/../etc/passwd"\n', "no device such as"),
        ('[disks.data]\ndevice = "/dev/vda"\nfilesystem = "xfs"\n', "ext2"),
        (DISK + '[[exports]]\ndisk = "date"\nread_write = ["10.0.0.0/8"]\n', 'did you mean "data"?'),
        (DISK + '[[exports]]\ndisk = "data"\n', "exports[0]: no client may mount it"),
        (DISK + EXPORT + EXPORT, "exported twice"),
        (DISK + '[[exports]]\ndisk = "data"\nread_write = ["10.0.0.1/8"]\n', '"10.0.0.1/8" has bits beyond'),
        (DISK + '[[exports]]\ndisk = "data"\nread_write = ["*"]\n', "no IPv4 address or network"),
        (DISK + EXPORT + 'read_only = ["10.0.0.0/8"]\n', "is in read_write too"),
        (DISK + "read_only = true\n" + EXPORT, 'the disk "data" is read_only'),
        ('[network]\ngateway = "10.0.0.1"\n', "network.gateway: DHCP sets"),
        ('[network]\naddress = "10.0.0.1"\n', 'neither "dhcp" nor an address'),
        ("[nfs]\nversions = [5]\n", "versions"),
        ('[nfs]\nversions = [4, 3]\ntransports = ["udp"]\n', "NFS version 4 runs on TCP only"),
        ("[nfs]\nthreads = 0\n", "at least 1"),
        ('[[users]]\nname = "ann"\nkeys = ["secret"]\n', "no public key of OpenSSH"),
        ("hostnam = 1\n", 'did you mean "hostname"?'),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert message in caught.value.message
    assert caught.value.message.startswith(f"{tmp_path}/nas.toml:")


def test_nothing_is_exported_by_itself(tmp_path: Path) -> None:
    for text in ("", DISK):
        assert not [line for line in lines(tmp_path, text) if line.startswith("export ")]


def test_an_export_squashes_root_and_wants_reserved_ports(tmp_path: Path) -> None:
    number = compiling.export_number("/data")
    conf = [line for line in lines(tmp_path, DISK + EXPORT) if line.startswith("export ")]
    assert conf == [f"export /data {number} 4 65534 65534 10.0.0.0/8"]
    more = EXPORT + 'read_only = ["1.2.3.4"]\nsquash = "none"\nany_port = true\n'
    conf = [line for line in lines(tmp_path, DISK + more) if line.startswith("export ")]
    assert conf == [
        f"export /data {number} 2 65534 65534 10.0.0.0/8",
        f"export /data {number} 3 65534 65534 1.2.3.4/32",
    ]


def test_lines_are_in_the_order_in_which_they_are_carried_out(tmp_path: Path) -> None:
    mirror = '[disks.data]\nmirror = ["/dev/vda", "/dev/vdb"]\n'
    conf = lines(tmp_path, mirror + EXPORT + '[log]\nsyslog = "10.0.0.9"\n', "raid1", "lockd", "nfsd")
    assert [line.split()[0] for line in conf] == [
        "hostname", "syslog", "module", "module", "module", "network", "mirror", "disk", "export", "service", "nfsd",
        "console",
    ]  # fmt: skip
    assert "mirror md0 assemble /dev/vda /dev/vdb" in conf
    assert "disk /dev/md0 /data ext4 rw" in conf
    assert "nfsd 4 +2,+3,-4 tcp udp" in conf


def test_users_bring_what_their_shells_need(tmp_path: Path) -> None:
    target = architecture.named("x86_64")
    plain = kernels.fragments(read(tmp_path, DISK), target)
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43
    parsed = read(tmp_path, f'{DISK}[[users]]\nname = "root"\nkeys = ["{key}"]\n')
    assert kernels.fragments(parsed, target) == [*plain, plain[0].with_name("users.config")]


def test_version_4_is_an_option_that_brings_its_part_of_the_kernel(tmp_path: Path) -> None:
    target = architecture.named("x86_64")
    plain = kernels.fragments(read(tmp_path, DISK), target)
    parsed = read(tmp_path, DISK + EXPORT + "[nfs]\nversions = [4, 3]\n")
    assert kernels.fragments(parsed, target) == [*plain, plain[0].with_name("nfs4.config")]
    assert "nfs4.config" not in [file.name for file in plain]
    assert "nfsd 4 -2,+3,+4 tcp udp" in compiling.lines(parsed, [])
    commands = "\n".join(usage.lines(parsed, Ports()))
    assert "nfs://127.0.0.1/data?version=4&nfsport=20490'" in commands
    assert "-o vers=4,proto=tcp,port=20490 127.0.0.1:/data" in commands


def test_a_console_without_a_shell_takes_words(tmp_path: Path) -> None:
    assert lines(tmp_path, "shell = false\n")[-1] == "keyboard"


def test_modules_of_raid_are_loaded_where_a_disk_is_a_mirror_only(tmp_path: Path) -> None:
    assert "raid1" not in compiling.modules_wanted(read(tmp_path, DISK))
    assert "raid1" in compiling.modules_wanted(read(tmp_path, '[disks.data]\nmirror = ["/dev/vda", "/dev/vdb"]\n'))


def test_a_volume_is_activated_before_it_is_mounted(tmp_path: Path) -> None:
    conf = lines(tmp_path, VOLUME, "dm_mod", "dm_snapshot", "ext4")
    assert conf.index("volume vg0/data") == conf.index("disk /dev/vg0/data /data ext4 rw") - 1


def test_what_volumes_need_is_there_with_volumes_only(tmp_path: Path) -> None:
    plain, volume = read(tmp_path, DISK), read(tmp_path, VOLUME)
    assert "dm_mod" not in compiling.modules_wanted(plain)
    assert "dm_mod" in compiling.modules_wanted(volume)
    assert (compiling.memory_mb(plain), compiling.memory_mb(volume)) == (48, 64)


def test_a_pc_has_drivers_of_its_own_and_is_x86_64(tmp_path: Path) -> None:
    assert "ahci" not in compiling.modules_wanted(read(tmp_path, DISK))
    parsed = read(tmp_path, 'hardware = "pc"\n')
    assert "ahci" in compiling.modules_wanted(parsed)
    with pytest.raises(InputError, match="a PC is x86_64"):
        building.build(parsed, "arm64", tmp_path)


def test_a_machine_that_cannot_turn_off_starts_anew() -> None:
    assert "nas.off=restart" in compiling.command_line("virtual", "x86_64")
    for hardware, name in (("pc", "x86_64"), ("virtual", "arm64")):
        assert "nas.off=restart" not in compiling.command_line(hardware, name)


def test_the_number_of_an_export_hangs_on_its_path_alone() -> None:
    assert compiling.export_number("/data") == compiling.export_number("/data")
    assert compiling.export_number("/data") != compiling.export_number("/date")
    assert all(0 < compiling.export_number(f"/d{number}") < 2**31 for number in range(1000))


def test_an_archive_is_what_cpio_reads(tmp_path: Path) -> None:
    nodes = [cpio.program("/bin/a", b"12345"), cpio.link("/bin/b", "a"), cpio.character_device("/dev/console", 5, 1)]
    packed = cpio.packed(cpio.archive(cpio.tree(nodes)))
    assert packed == cpio.packed(cpio.archive(cpio.tree(reversed(nodes))))
    (tmp_path / "archive").write_bytes(lzma.decompress(packed))
    listed = subprocess.run(
        ["python3", "-c", LISTING, tmp_path / "archive"], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert listed[:-1] == ["bin 40755 0", "bin/a 100755 5", "bin/b 120777 2", "dev 40755 0", "dev/console 20600 0"]


LISTING = """
import sys
data, at = open(sys.argv[1], "rb").read(), 0
while True:
    assert data[at : at + 6] == b"070701"
    field = [int(data[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
    name = data[at + 110 : at + 110 + field[11] - 1].decode()
    if name == "TRAILER!!!":
        break
    print(name, oct(field[1])[2:], field[6])
    at += (110 + field[11] + 3) // 4 * 4
    at += (field[6] + 3) // 4 * 4
"""


def test_disks_are_made_once_and_members_of_a_mirror_are_equal(tmp_path: Path) -> None:
    parsed = read(tmp_path, '[disks.data]\nmirror = ["/dev/vda", "/dev/vdb"]\n')
    first, second = images(parsed.disks, tmp_path, 16 << 20)
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size == 16 << 20
    assert not any(first.read_bytes()[-(128 << 10) :])  # room for a superblock
    first.write_bytes(b"kept")
    assert images(parsed.disks, tmp_path, 16 << 20)[0].read_bytes() == b"kept"


def test_disks_that_qemu_does_not_have_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="under QEMU the disks are /dev/vda"):
        images(read(tmp_path, 'hardware = "pc"\n[disks.data]\ndevice = "/dev/sda"\n').disks, tmp_path, 16 << 20)


def test_the_disks_of_volumes_are_those_that_are_there(tmp_path: Path) -> None:
    parsed = read(tmp_path, VOLUME + '[disks.more]\ndevice = "/dev/vda"\n').disks
    with pytest.raises(InputError, match=r"vdb\.img: no such file.* vg0/data"):
        images(parsed, tmp_path, 16 << 20)
    for name in ("vdb", "vdc", "vde"):
        (tmp_path / f"{name}.img").write_bytes(b"kept")
    assert [file.name for file in images(parsed, tmp_path, 16 << 20)] == ["vda.img", "vdb.img", "vdc.img"]


def test_ports_are_forwarded_from_this_host_alone() -> None:
    for port in Ports().forwarded(shipped.settings(None)):
        assert port.outside > 1023  # nobody needs root
    assert Ports().listen == "127.0.0.1"


def test_a_port_that_is_taken_is_told_with_its_option() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"--nfs-port {port} .*give another"):
            ports.check("127.0.0.1", [qemu.Port("tcp", ports.NFS, port)])


STANDS_FOR_QEMU = """
import sys
print("nas: ready 0.5 s after the kernel began", flush=True)
asked = 0
for line in sys.stdin:
    asked += line == "poweroff\\n"
    if asked == 2:
        break
print("nas: going down\\nnas: down", flush=True)
"""


def test_it_is_asked_again_to_go_down_until_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "ASK_AGAIN_S", 0.1)
    shown: list[str] = []
    with running._woken_by_signals() as woken, running._started([sys.executable, "-c", STANDS_FOR_QEMU]) as process:
        watched = running._Watched(process, shown.append, woken)
        watched.until_ready()
        assert watched.ready
        watched.end()
    assert watched.down
    assert shown[-2:] == ["nas: going down", "nas: down"]


@pytest.mark.parametrize("ready", [False, True])
def test_what_does_not_go_down_is_ended(monkeypatch: pytest.MonkeyPatch, ready: bool) -> None:
    """An appliance that never becomes ready, and one that serves, each get a limited time to shut down. Then QEMU is
    killed.
    """
    monkeypatch.setattr(running, "ASK_AGAIN_S", 0.1)
    monkeypatch.setattr(running, "START_S", 0.3)
    monkeypatch.setattr(running, "STOP_S", 0.2)
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    with running._woken_by_signals() as woken, running._started(sleeper) as process:
        watched = running._Watched(process, print, woken)
        watched.ready = ready
        watched.end()
    assert not watched.down
    assert process.returncode != 0


def test_a_signal_right_before_it_waits_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """`select` begins after the handler has run: only what was written then ends it."""
    handled: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: handled.append(number))
    wait = select.select

    def interrupted(*what: Any) -> Any:
        if not handled:
            os.kill(os.getpid(), signal.SIGUSR1)
        else:
            process.terminate()
        return wait(*what)

    monkeypatch.setattr(select, "select", interrupted)
    try:
        sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
        with running._woken_by_signals() as woken, running._started(sleeper) as process:
            running._Watched(process, print, woken).until_end()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert handled == [signal.SIGUSR1]


def test_the_trial_serves_nobody_but_this_host() -> None:
    trial = shipped.settings(None)
    clients = [client for export in trial.exports for client in (*export.read_write, *export.read_only)]
    assert clients == [f"{qemu.CLIENT}/32"]
