# SPDX-License-Identifier: Apache-2.0
"""The errors of `flashbed nas run` before it builds a kernel, and the commands that it prints."""

from __future__ import annotations

import errno
import os
import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashbed.common import locks, programs
from flashbed.common.errors import HostResourceError, InputError, SetupError
from flashbed_appliance.nas import building, kernels, preparing, qemu, settings, usage
from flashbed_appliance.nas import disks as disk_images
from flashbed_appliance.nas.building import Appliance
from flashbed_appliance.nas.ports import Ports
from flashbed_appliance.nas.settings import Settings
from flashbed_appliance.shrinking import architecture

X86 = architecture.named("x86_64")
ARM = architecture.named("arm64")
SIZE = 16 << 20
DISK = '[disks.data]\ndevice = "/dev/vda"\n'
EXPORT = '[[exports]]\ndisk = "data"\nread_write = ["10.0.2.0/24"]\n'


@pytest.fixture(autouse=True)
def _qemu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for QEMU, which not every host has."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("qemu-system-x86_64", "qemu-system-aarch64"):
        (programs / name).symlink_to("/bin/false")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")


def read(folder: Path, text: str) -> Settings:
    (folder / "nas.toml").write_text(text)
    return settings.read(folder / "nas.toml")


def disks(count: int) -> str:
    return "".join(f'[disks.d{number}]\ndevice = "/dev/vd{chr(97 + number)}"\n' for number in range(count))


def free() -> Ports:
    """Return free ports of this host."""
    with socket.socket() as first, socket.socket() as second, socket.socket() as third:
        for line in (first, second, third):
            line.bind(("127.0.0.1", 0))
        return Ports("127.0.0.1", *(line.getsockname()[1] for line in (first, second, third)))


def refused(folder: Path, text: str, **how: Any) -> str:
    """Return the error message, and check that the directory of the disks is empty."""
    arguments: dict[str, Any] = {"target": X86, "kernel": "small", "size_bytes": SIZE, "where": free(), **how}
    place = folder / "disks"
    with (
        pytest.raises((InputError, SetupError, HostResourceError)) as caught,
        preparing.prepared(read(folder, text), folder=place, **arguments),
    ):
        pass
    assert not list(place.glob("*"))
    return caught.value.message


def test_disks_are_made_and_are_nobody_elses(tmp_path: Path) -> None:
    parsed, place = read(tmp_path, disks(2)), tmp_path / "disks"
    with preparing.prepared(parsed, X86, "small", place, SIZE, free()) as images:
        assert [image.name for image in images] == ["vda.img", "vdb.img"]
        there = sorted(file.name for file in place.iterdir())
        with (
            pytest.raises(HostResourceError, match=r"another appliance runs on these disks; .* --folder"),
            preparing.prepared(parsed, X86, "small", place, SIZE, free()),
        ):
            pass
        assert sorted(file.name for file in place.iterdir()) == there
    lock = locks.take(place / ".lock")
    assert lock is not None
    lock.release()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('hardware = "pc"\n[disks.data]\ndevice = "/dev/sda"\n', "under QEMU the disks are /dev/vda"),
        ('[disks.data]\nvolume = "vg0/data"\n', "disks/vda.img: no such file"),
        ('[network]\ninterface = "eth1"\n', 'network.interface: under QEMU the only card is "eth0"'),
        ('[network]\naddress = "192.168.1.10/24"\n', "10.0.2.0/24"),
        ('[network]\naddress = "10.0.2.2/24"\n', "network.address: under QEMU"),
        ('[network]\naddress = "10.0.2.20/28"\n', "network.address: under QEMU"),
        ('[network]\naddress = "10.0.2.15/8"\n', "network.address: under QEMU"),
    ],
)
def test_settings_that_qemu_cannot_have_are_told(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


def test_answers_need_a_way_back_to_clients_elsewhere(tmp_path: Path) -> None:
    fixed = DISK + '[network]\naddress = "10.0.2.15/24"\n'
    everywhere = replace(free(), listen="0.0.0.0")
    for text in (fixed, fixed + 'gateway = "10.0.2.7"\n'):
        assert 'gateway = "10.0.2.2"' in refused(tmp_path, text, where=everywhere)
    for text, where in ((fixed, free()), (fixed + 'gateway = "10.0.2.2"\n', everywhere), (DISK, everywhere)):
        with preparing.prepared(read(tmp_path, text), X86, "small", tmp_path / "more", SIZE, where) as images:
            assert images


def test_a_version_that_debians_kernel_does_not_serve_is_told(tmp_path: Path) -> None:
    only_2 = DISK + "[nfs]\nversions = [2]\n"
    assert "nfs.versions: Debian's kernel does not serve 2; add 3" in refused(tmp_path, only_2, kernel="debian")


def test_options_that_cannot_be_had_are_told(tmp_path: Path) -> None:
    assert "--kernel smal: is none of" in refused(tmp_path, DISK, kernel="smal")
    assert "--size: a disk needs at least 8M" in refused(tmp_path, DISK, size_bytes=1 << 20)
    for kernel in ("small", "debian"):
        assert '"pc": a PC is x86_64' in refused(tmp_path, 'hardware = "pc"\n', target=ARM, kernel=kernel)
    assert "--listen ::1: not an IPv4 address" in refused(tmp_path, DISK, where=Ports("::1"))
    assert "--listen 203.0.113.9: this host does not have" in refused(tmp_path, DISK, where=Ports("203.0.113.9"))
    for nobodys in ("224.0.0.1", "255.255.255.255"):
        assert f"--listen {nobodys}: no machine can have" in refused(tmp_path, DISK, where=Ports(nobodys))
    same = Ports("127.0.0.1", nfs=20490, mount=20490)
    assert "--mount-port 20490: --nfs-port has the same port" in refused(tmp_path, DISK, where=same)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"--nfs-port {port} (tcp)" in refused(tmp_path, DISK, where=Ports(nfs=port))


def test_a_machine_of_qemus_has_room_for_so_many_disks(tmp_path: Path) -> None:
    assert "QEMU's microvm has room for 7 disks, and there are 8" in refused(tmp_path, disks(8))
    for how in ({"target": ARM}, {"kernel": "debian"}, {"text": disks(7)}):
        arguments: dict[str, Any] = {"target": X86, "kernel": "small", "text": disks(16), **how}
        parsed = read(tmp_path, str(arguments.pop("text")))
        with preparing.prepared(parsed, folder=tmp_path / "more", size_bytes=SIZE, where=free(), **arguments) as images:
            assert len(images) == len(parsed.disks)
    mirrors = "".join(f"[disks.d{n}]\nmirror = {[f'/dev/v{n}{m}' for m in range(8)]}\n" for n in range(4))
    assert "under QEMU there are at most 26" in refused(tmp_path, mirrors)


def test_a_folder_where_a_disk_s_image_would_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "vda.img").mkdir()
    with pytest.raises(InputError, match=r"vda\.img: is a directory"):
        disk_images.files(read(tmp_path, DISK).disks, tmp_path, SIZE)


def test_a_place_where_the_one_file_cannot_be_is_told_before_a_kernel_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "named", lambda *_: pytest.fail("a kernel is built"))
    (tmp_path / "file").write_text("")
    (tmp_path / "full" / "appliance").mkdir(parents=True)
    for place, message in (
        ("file", "--to .*file: not a"),
        ("file/below", "--to .*below: not a"),
        ("full", "full/appliance: is a"),
    ):
        with pytest.raises(InputError, match=message):
            building.bootable(read(tmp_path, DISK), "x86_64", tmp_path / place)


def test_what_was_built_stays_until_the_new_file_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    building._write(there, {"appliance": b"old"})

    def full(file: Path, _: bytes) -> None:
        file.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(HostResourceError, match="no room left"):
        building._write(there, {"appliance": b"new"})
    assert [(file.name, file.read_bytes()) for file in there.iterdir()] == [("appliance", b"old")]


def test_a_full_disk_of_the_host_is_told_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mke2fs = tmp_path / "mke2fs"
    mke2fs.write_text("#!/bin/sh\necho 'mke2fs: No space left on device while writing'\nexit 1\n")
    mke2fs.chmod(0o755)
    monkeypatch.setattr(programs, "find", lambda _: mke2fs)
    assert refused(tmp_path, DISK).startswith(f"{tmp_path}/disks: no room left on this disk (")


def test_errors_of_the_hosts_disk_are_the_guests(tmp_path: Path) -> None:
    appliance = Appliance(X86, tmp_path / "kernel", None, {}, "microvm", 24)
    command = qemu.command(appliance, [tmp_path / "vda.img"], [], "127.0.0.1", [])
    [drive] = [word for word in command if word.startswith("if=none,id=disk0,")]
    assert {"werror=report", "rerror=report"} <= set(drive.split(","))


def test_a_command_tells_it_and_has_built_nothing(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("flashbed")
    words: list[str | Path] = ["nas", "run", "--folder", tmp_path / "disks", "--listen", "here"]
    done = subprocess.run(
        [program, *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "FLASHBED_CACHE": str(tmp_path)},
    )
    assert done.returncode == 2
    assert re.fullmatch(r'flashbed: --listen here: .*"127.0.0.1"\n', done.stderr)


def test_a_command_names_the_file_of_settings_that_do_not_suit(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text('hardware = "pc"\n')
    program = Path(sys.executable).with_name("flashbed")
    for words in (("run", "--folder", tmp_path / "disks"), ("build", "--to", tmp_path / "nas")):
        command: list[str | Path] = [program, "nas", *words, tmp_path / "my.toml", "-a", "arm64"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert done.stderr.startswith(f'flashbed: {tmp_path}/my.toml: hardware = "pc": a PC is x86_64')


def told(folder: Path, text: str, ports: Ports | None = None) -> list[str]:
    return list(usage.lines(read(folder, text), ports or Ports()))[1:-2]


def test_commands_are_those_that_work(tmp_path: Path) -> None:
    libnfs, linux = told(tmp_path, DISK + EXPORT + "any_port = true\n")
    assert libnfs == "nfs-ls 'nfs://127.0.0.1/data?nfsport=20490&mountport=20480'"
    assert linux.endswith("-o vers=3,nolock,proto=tcp,port=20490,mountproto=tcp,mountport=20480 127.0.0.1:/data /mnt")
    why, linux = told(tmp_path, DISK + EXPORT + 'any_port = true\n[nfs]\ntransports = ["udp"]\n')
    assert why.startswith("/data: served by version 3 over udp, ")
    assert "proto=udp,port=20490,mountproto=udp," in linux
    assert "tcp" not in linux
    why, linux = told(tmp_path, DISK + EXPORT + "any_port = true\n[nfs]\nversions = [2]\n")
    assert "by version 2 over tcp" in why
    assert "vers=2," in linux


def test_an_export_for_root_or_for_others_is_named_with_the_reason(tmp_path: Path) -> None:
    why, libnfs, linux = told(tmp_path, DISK + EXPORT)
    assert why.startswith("/data: needs a reserved port (any_port is off)")
    assert libnfs.startswith("sudo nfs-ls ")
    assert linux.startswith("sudo mount ")
    others = EXPORT.replace("10.0.2.0/24", "192.168.1.0/24")
    (only,) = told(tmp_path, DISK + others)
    assert only.startswith("/data: not exported to this host, whose address is 10.0.2.2;")


def test_who_forgot_the_exports_is_told(tmp_path: Path) -> None:
    assert told(tmp_path, DISK) == [usage.NOTHING]


def test_the_loopback_is_hidden_and_no_other_address(tmp_path: Path) -> None:
    assert "whose address is 192.168.1.5;" in told(tmp_path, DISK + EXPORT, Ports("192.168.1.5"))[0]
    assert "nfs://127.0.0.1/data?" in told(tmp_path, DISK + EXPORT, Ports("0.0.0.0"))[1]


def test_a_static_address_is_what_ports_lead_to(tmp_path: Path) -> None:
    parsed = read(tmp_path, '[network]\naddress = "10.0.2.20/24"\n')
    assert {port.to for port in Ports().forwarded(parsed)} == {"10.0.2.20"}
    assert {port.to for port in Ports().forwarded(read(tmp_path, ""))} == {""}
