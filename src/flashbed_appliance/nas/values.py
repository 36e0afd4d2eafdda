# SPDX-License-Identifier: Apache-2.0
"""Validate single values of an appliance's settings: an address, a device, a key. settings.py has the rules between
values.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator

from flashbed.common.tomlfile import shown

DHCP = "dhcp"
_DEVICE = re.compile(r"(?=.{6,46}$)/dev/[a-z][a-z0-9_-]*(/[a-z0-9_-]+)*")
_NO_DISK = re.compile(r"/dev/(null|zero|full|u?random|console|kmsg|mem|port|ptmx|tty\w*|hwrng|watchdog\d*|rtc\d*)")
"""Usual names of Linux's character devices, which hold no file system."""
_VOLUME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9+_.-]{0,60}/[a-zA-Z0-9_][a-zA-Z0-9+_.-]{0,60}")
_KEY = re.compile(r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/=]{40,2000}( [ -~]{0,200})?")


def _clients(text: str) -> str:
    _, slash, length = text.partition("/")
    try:
        if slash and not length.isdigit():
            raise ValueError
        network = ipaddress.IPv4Network(text)
    except ValueError as error:
        why = "has bits beyond its prefix length" if "host bits" in str(error) else "is no IPv4 address or network"
        raise ValueError(f'"{text}" {why}; write "192.168.1.7" or "192.168.1.0/24"') from None
    if network.prefixlen == 32 and (why := no_machine(network.network_address, network)):
        raise ValueError(f'"{text}" is {why}; give the address of a machine, or a network: "0.0.0.0/0" is everybody')
    return str(network)


def _address(text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise ValueError(f'"{text}" is no IPv4 address such as "192.168.1.1"') from None


def _server(text: str) -> str:
    address = ipaddress.IPv4Address(_address(text))
    if why := no_machine(address, ipaddress.IPv4Network(address)):
        raise ValueError(f'"{text}" is {why}; give an address of a machine, such as "192.168.1.2"')
    return str(address)


def _own_address(text: str) -> str:
    if text == DHCP:
        return text
    try:
        interface = ipaddress.IPv4Interface(text)
    except ValueError:
        interface = None
    if interface is None or "/" not in text or not interface.network.prefixlen:
        raise ValueError(f'"{text}" is neither "dhcp" nor an address with its prefix length, such as "192.168.1.10/24"')
    if why := no_machine(interface.ip, interface.network):
        raise ValueError(f'"{text}" is {why}; give an address of a machine, such as "192.168.1.10/24"')
    return str(interface)


def no_machine(address: ipaddress.IPv4Address, network: ipaddress.IPv4Network) -> str:
    """Return why no machine of that network can have the address, as a noun phrase; empty if one can."""
    if address.is_loopback:
        return "a loopback address"
    if address.is_multicast:
        return "a multicast address"
    if address.is_unspecified or address.is_reserved or address in ipaddress.IPv4Network("0.0.0.0/8"):
        return "a reserved address"
    # A network of one or two addresses has no network or broadcast address (RFC 3021)
    if network.prefixlen < 31 and address == network.network_address:
        return "the network's own address"
    if network.prefixlen < 31 and address == network.broadcast_address:
        return "the network's broadcast address"
    return ""


def no_word(text: str, most: int, letters: str) -> str:
    """Return why `text` is no name of small letters, digits and `letters` with at most `most` characters; empty if it
    is one.
    """
    if re.fullmatch(rf"[a-z][a-z0-9{letters}]{{0,{most - 1}}}", text):
        return ""
    kinds = f"small letters, digits and {letters}" if letters else "small letters and digits"
    return f"is no valid name: use {kinds}, a letter first, at most {most} characters"


def _word(most: int, letters: str) -> Callable[[str], str]:
    def checked(text: str) -> str:
        if why := no_word(text, most, letters):
            raise ValueError(f'"{shown(text)}" {why}')
        return text

    return checked


def _interface(text: str) -> str:
    if text == "lo":
        raise ValueError('"lo" is the loopback, which no other machine reaches; give a network card, such as "eth0"')
    return text


def _device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise ValueError(f'"{text}" is no device such as "/dev/vda" or "/dev/sda1"')
    if _NO_DISK.fullmatch(text):
        raise ValueError(f'"{text}" is no disk; give one such as "/dev/vda" or "/dev/sda1"')
    return text


def _volume(text: str) -> str:
    if not _VOLUME.fullmatch(text):
        raise ValueError(f'"{text}" is no volume of LVM such as "vg0/data": give its group and its name')
    return text


def _key(text: str) -> str:
    line = text.strip()
    if not _KEY.fullmatch(line):
        raise ValueError("is no public key of OpenSSH; give the line of a file such as ~/.ssh/id_ed25519.pub")
    kind, blob = line.split(" ")[:2]
    fields = _key_fields(blob)
    if len(fields) < 2:
        raise ValueError(f"is a damaged key: the data after {kind} are incomplete; copy the line of the file again")
    if fields[0] != kind.encode():
        raise ValueError(
            f"is a damaged key: the data after {kind} are of another kind; copy the line of the file again"
        )
    return line


def _key_fields(blob: str) -> list[bytes]:
    """Return the length-prefixed fields of a public key (RFC 4253, 6.6); empty if they do not fill the key exactly."""
    try:
        data = base64.b64decode(blob, validate=True)
    except binascii.Error:
        return []
    fields, at = [], 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data) or at + 4 > len(data):
            return []
        fields.append(data[at + 4 : end])
        at = end
    return fields


Clients = Annotated[str, AfterValidator(_clients)]
Address = Annotated[str, AfterValidator(_address)]
Server = Annotated[str, AfterValidator(_server)]
OwnAddress = Annotated[str, AfterValidator(_own_address)]
InterfaceName = Annotated[str, AfterValidator(_interface), AfterValidator(_word(15, ""))]
HostName = Annotated[str, AfterValidator(_word(63, "-"))]
UserName = Annotated[str, AfterValidator(_word(31, "-"))]
Device = Annotated[str, AfterValidator(_device)]
Volume = Annotated[str, AfterValidator(_volume)]
Key = Annotated[str, AfterValidator(_key)]
