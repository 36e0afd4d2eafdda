# SPDX-License-Identifier: Apache-2.0
"""What one value of an appliance's settings may be: an address, a device, a key. What values mean together is
settings.py's.
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
"""Linux's devices of characters, by their usual names: no file system lies on one."""
_VOLUME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9+_.-]{0,60}/[a-zA-Z0-9_][a-zA-Z0-9+_.-]{0,60}")
_KEY = re.compile(r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/=]{40,2000}( [ -~]{0,200})?")


def _clients(text: str) -> str:
    _, slash, length = text.partition("/")
    try:
        if slash and not length.isdigit():
            raise ValueError
        found = ipaddress.IPv4Network(text)
    except ValueError as error:
        why = "has bits beyond its length" if "host bits" in str(error) else "is no IPv4 address or network"
        raise ValueError(f'"{text}" {why}; write "192.168.1.7" or "192.168.1.0/24"') from None
    if found.prefixlen == 32 and (why := no_machine(found.network_address, found)):
        raise ValueError(f'"{text}" is {why}; give a machine\'s, or a network: "0.0.0.0/0" is everybody')
    return str(found)


def _address(text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise ValueError(f'"{text}" is no IPv4 address such as "192.168.1.1"') from None


def _server(text: str) -> str:
    found = ipaddress.IPv4Address(_address(text))
    if why := no_machine(found, ipaddress.IPv4Network(found)):
        raise ValueError(f'"{text}" is {why}; give an address of a machine, such as "192.168.1.2"')
    return str(found)


def _own_address(text: str) -> str:
    if text == DHCP:
        return text
    try:
        found = ipaddress.IPv4Interface(text)
    except ValueError:
        found = None
    if found is None or "/" not in text or not found.network.prefixlen:
        raise ValueError(f'"{text}" is neither "dhcp" nor an address with its length, such as "192.168.1.10/24"')
    if why := no_machine(found.ip, found.network):
        raise ValueError(f'"{text}" is {why}; give an address of a machine, such as "192.168.1.10/24"')
    return str(found)


def no_machine(address: ipaddress.IPv4Address, network: ipaddress.IPv4Network) -> str:
    """What an address is that no machine of that network can have; empty if one can."""
    if address.is_loopback:
        return "an address of the loopback"
    if address.is_multicast:
        return "a multicast address"
    if address.is_unspecified or address.is_reserved or address in ipaddress.IPv4Network("0.0.0.0/8"):
        return "an address that nobody may have"
    # Of two addresses or one, none is spared (RFC 3021)
    if network.prefixlen < 31 and address == network.network_address:
        return "the network's own address"
    if network.prefixlen < 31 and address == network.broadcast_address:
        return "the network's broadcast address"
    return ""


def no_word(text: str, most: int, letters: str) -> str:
    """Why it is not one of small letters, digits and these letters, `most` long; empty if it is."""
    if re.fullmatch(rf"[a-z][a-z0-9{letters}]{{0,{most - 1}}}", text):
        return ""
    kinds = f"small letters, digits and {letters}" if letters else "small letters and digits"
    return f"is no name here: {kinds}, a letter first, {most} at most"


def _word(most: int, letters: str) -> Callable[[str], str]:
    def checked(text: str) -> str:
        if why := no_word(text, most, letters):
            raise ValueError(f'"{shown(text)}" {why}')
        return text

    return checked


def _interface(text: str) -> str:
    if text == "lo":
        raise ValueError('"lo" is the loopback, which nobody else reaches; give the card, such as "eth0"')
    return text


def _device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise ValueError(f'"{text}" is no device such as "/dev/vda" or "/dev/sda1"')
    if _NO_DISK.fullmatch(text):
        raise ValueError(f'"{text}" is no disk; give one such as "/dev/vda" or "/dev/sda1"')
    return text


def _volume(text: str) -> str:
    if not _VOLUME.fullmatch(text):
        raise ValueError(f'"{text}" is no volume of LVM such as "vg0/data": its group and its name')
    return text


def _key(text: str) -> str:
    line = text.strip()
    if not _KEY.fullmatch(line):
        raise ValueError("is no public key of OpenSSH: give the one line of a file such as ~/.ssh/id_ed25519.pub")
    kind, blob = line.split(" ")[:2]
    fields = _key_fields(blob)
    if len(fields) < 2:
        raise ValueError(f"is a damaged key: what follows {kind} is not whole; copy the line of the file again")
    if fields[0] != kind.encode():
        raise ValueError(f"is a damaged key: what follows {kind} is not of that kind; copy the line of the file again")
    return line


def _key_fields(blob: str) -> list[bytes]:
    """Of a public key (RFC 4253, 6.6): each with its length before it. None if they do not end where the key does."""
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
Interface = Annotated[str, AfterValidator(_interface), AfterValidator(_word(15, ""))]
HostName = Annotated[str, AfterValidator(_word(63, "-"))]
UserName = Annotated[str, AfterValidator(_word(31, "-"))]
Device = Annotated[str, AfterValidator(_device)]
Volume = Annotated[str, AfterValidator(_volume)]
Key = Annotated[str, AfterValidator(_key)]
