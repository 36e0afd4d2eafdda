# SPDX-License-Identifier: Apache-2.0
"""The TOML formats of a board, a medium, a translation layer and a scheduler, and the common part of all profiles.

A profile is data. This room checks types and ranges, and that each number names its source. It must not know any chip,
board, layer or scheduler by name, nor where profiles lie (library.py), nor what a number does (the media core, QEMU).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from flashbed.common.tomlfile import Problem, Size, nearest, shown
from flashbed.common.units import describe_size, parse_size
from flashbed.profiles.condition import AGED, NEVER_WRITTEN, STEPS, Condition, condition_problems
from flashbed.profiles.stored_medium import StoredMedium

_MOST_MIPS = 100_000
"""The emulator's limit: a hundred instructions per ns."""
_SMALLEST_RAM_BYTES = 40 << 20
"""The guest's programs take up to 9 MB. ext2 with fio ran with 36 MiB, and did not with 34 MiB."""
_MOST_CPUS = 120
"""The tested number of guest CPUs. The guest's kernel takes 128 (guest/kernel.config)."""
_LONGEST_LINE_TRANSFER_NS = 10**6
"""The emulator's limit."""
_LONGEST_TRANSFER = 10**9
"""The limit of ns per sector and of ps per byte: more than any device needs, and as much as the drivers take."""
_SECTOR_BYTES: Mapping[str, tuple[int, ...]] = {"sata": (512,), "sd": (512,), "emmc": (512, 4096)}
"""The sector sizes of interfaces that do not take any size: QEMU's ide-hd and the standards of cards allow only these
(SD Physical Layer, high capacity; JEDEC JESD84-B51).
"""
_SD_UNIT_BYTES = 512 << 10
"""The unit of an SD card's capacity (CSD version 2, C_SIZE)."""
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")
"""A Debian package name by Debian policy (5.6.1). apt would read anything else as an option or a file."""
_PROGRAM = re.compile(r"(?:/[\w+,.@-]+)+", re.ASCII)


class Strict(BaseModel):
    """An immutable table in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=False, allow_inf_nan=False)


class Profile(Strict):
    """The common part of all profiles: a title for people, and the source of each number."""

    replaced: ClassVar[Mapping[str, str]] = {}
    """Maps each former key to advice on its replacement."""

    title: str = Field(min_length=1, description="a line for people; not part of any key")
    source: dict[str, str] = Field(
        default_factory=dict, description='where each number comes from; "assumed: why" where nothing states it'
    )

    def numbers(self) -> dict[str, int]:
        """Return the integers of the file, by key."""
        set_values = {name: getattr(self, name) for name in self.model_fields_set} | (self.model_extra or {})
        return {name: value for name, value in set_values.items() if type(value) is int}

    def _source_problems(self) -> Iterator[Problem]:
        for name in self.numbers():
            if not self.source.get(name, "").strip():
                yield Problem(
                    (name,), f'has no source; add {name} = "where it was read" under [source], or "assumed: why"'
                )
        set_keys = self.model_fields_set | set(self.model_extra or {})
        for name in self.source:
            if name not in set_keys:
                yield Problem(("source", name), "names no key of this file" + nearest(name, set_keys - {"source"}))


def package_problems(packages: Sequence[str], programs: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for each name that is no Debian package, and for each program without a full path."""
    for index, package in enumerate(packages):
        if not _PACKAGE.fullmatch(package):
            yield Problem(("packages", index), f'is no name of a Debian package: "{shown(package)}"')
    for index, program in enumerate(programs):
        if not program.startswith("/"):
            yield Problem(("programs", index), f'must be a full path, not "{shown(program)}": busybox shadows names')
        elif not _PROGRAM.fullmatch(program) or {".", ".."} & set(program.split("/")):
            yield Problem(("programs", index), f'is no plain full path: "{shown(program)}"')
    if programs and not packages:
        yield Problem(("packages",), "is missing: which Debian packages have the programs")


class Board(Profile):
    """A board: its CPU's speed, its memory, and how data come from the medium."""

    replaced: ClassVar[Mapping[str, str]] = {
        "instruction_ns": "write mips instead, million instructions a second: 1000 / instruction_ns"
    }

    mips: int = Field(ge=1, le=_MOST_MIPS, description="million instructions a second that the CPU executes")
    ram: Size = Field(ge=_SMALLEST_RAM_BYTES, description="memory of the board, bytes")
    cpu: str = Field(min_length=1, description="QEMU's name of the CPU model")
    cpus: int = Field(default=1, ge=1, le=_MOST_CPUS, description="CPUs that Linux sees, all of one speed")
    sockets: int = Field(default=1, ge=1, le=_MOST_CPUS, description="CPU packages, with equally many CPUs in each")
    threads_per_core: int = Field(default=1, ge=1, le=8, description="CPUs that are threads of one core")
    line_transfer_ns: int | None = Field(
        default=None,
        ge=1,
        le=_LONGEST_LINE_TRANSFER_NS,
        description="cost of a cache line's transfer between cores of a socket, ns; absent: no cost",
    )
    line_transfer_other_ns: int | None = Field(
        default=None,
        ge=1,
        le=_LONGEST_LINE_TRANSFER_NS,
        description="the same between two sockets, ns; absent: as within a socket",
    )
    transfer: Literal["dma", "pio"] = Field(description="who moves the data: the device, or the CPU")
    pio_sector_ns: int = Field(
        default=0,
        ge=0,
        le=_LONGEST_TRANSFER,
        description="block media: CPU time that moving a sector of 512 bytes over their port costs, ns",
    )
    nand_cycle_ps: int = Field(
        default=0,
        ge=0,
        le=_LONGEST_TRANSFER,
        description="raw NAND: shortest byte cycle of its controller, ps; 0 = any chip's own",
    )
    nand_unit: Literal["subpage", "page"] = Field(
        default="subpage", description="raw NAND: the least that its controller reads or programs with error correction"
    )
    nand_wait: Literal["interrupt", "poll"] = Field(
        default="interrupt",
        description="raw NAND: how the CPU waits for the chip: asleep, or asking again and again",
    )

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions, and numbers without a source."""
        yield from self._source_problems()
        if self.transfer == "pio" and not self.pio_sector_ns:
            yield Problem(("transfer",), '"pio" needs pio_sector_ns, the CPU time that moving a sector costs')
        if self.transfer == "dma" and self.pio_sector_ns:
            yield Problem(("pio_sector_ns",), 'belongs to transfer = "pio" only')
        parts = self.sockets * self.threads_per_core
        if self.cpus % parts:
            yield Problem(
                ("cpus",),
                f"{self.cpus} cannot be shared out evenly: sockets = {self.sockets} with threads_per_core = "
                f"{self.threads_per_core} need a multiple of {parts}",
            )
        yield from self._line_problems()

    def _line_problems(self) -> Iterator[Problem]:
        """Yield a problem for each cost of a line transfer that cannot occur."""
        if self.line_transfer_ns is None:
            if self.line_transfer_other_ns is not None:
                yield Problem(
                    ("line_transfer_other_ns",), "needs line_transfer_ns, what a handover within a socket costs"
                )
        elif self.cpus <= self.threads_per_core:
            only = "one CPU" if self.cpus == 1 else f"one core, of threads_per_core = {self.threads_per_core}"
            yield Problem(
                ("line_transfer_ns",), f"means nothing with {only}: leave it out, or give the board more cpus"
            )
        elif self.line_transfer_other_ns is not None and self.sockets == 1:
            yield Problem(("line_transfer_other_ns",), "means nothing with one socket: leave it out, or set sockets")


class Medium(Profile):
    """A medium: its kind, its size, and the parameters of its model. Only the media core understands those."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        strict=True,
        json_schema_extra={"patternProperties": {"_bytes$": {"type": ["integer", "string"]}}},
    )
    __pydantic_extra__: dict[str, int] = Field(init=False)
    _start: StoredMedium | None = PrivateAttr(default=None)
    _start_digest: str | None = PrivateAttr(default=None)

    kind: Literal["flash", "disk", "null", "nand"] = Field(description="the model in the media core")
    capacity_bytes: Size = Field(gt=0, description="size of the medium, bytes")
    used_bytes: Size = Field(default=0, ge=0, description="the part from its start that is used, bytes; 0 = all")
    interface: Literal["nvme", "usb", "sata", "sd", "emmc", "plain"] = Field(
        default="plain", description="the connection to the board"
    )
    condition: Condition = Field(default="fresh", description="earlier writes to the medium; all but aged: flash only")
    aged_fill_percent: int = Field(default=80, ge=10, le=95, description="aged: share of the space that files take, %")
    aged_passes: int = Field(default=2, ge=0, le=100, description="aged: how often the space is then overwritten")
    queue_depth: int = Field(default=1, ge=1, description="most requests that the device takes at a time")
    ftl: str | None = Field(default=None, min_length=1, description="flash: translation layer, a word of the core's")
    gc_policy: str | None = Field(default=None, min_length=1, description="flash: which block is collected, likewise")

    @model_validator(mode="before")
    @classmethod
    def _sizes_as_text(cls, data: Any) -> Any:
        """Parse sizes as text for every key that ends in _bytes, also for keys that only the core knows."""
        if not isinstance(data, dict):
            return data
        read = dict(data)
        for key, value in data.items():
            if key.endswith("_bytes") and isinstance(value, str) and key not in cls.model_fields:
                try:
                    read[key] = parse_size(value)
                except ValueError:
                    continue  # the field's own check reports it, with the key
        return read

    @property
    def size_bytes(self) -> int:
        """Return the bytes that a file system gets."""
        return self.used_bytes or self.capacity_bytes

    @property
    def provides(self) -> Literal["block", "mtd"]:
        """Return the type of device that the kernel makes of the medium, to match what a file system needs."""
        return "mtd" if self.kind == "nand" else "block"

    @property
    def parameters(self) -> dict[str, int | str]:
        """Return the parameters for the media core: the named numbers and words, and the numbers passed through."""
        # a raw chip has no request queue, and the core refuses parameters that it cannot use
        requests = self.provides == "block"
        named = {
            name: getattr(self, name)
            for name in ("capacity_bytes", "used_bytes", "queue_depth")
            if requests or name in self.model_fields_set - {"used_bytes"}  # a raw chip's driver uses a part of it
        }
        words = {"ftl": self.ftl, "gc_policy": self.gc_policy}
        return {**named, **{name: word for name, word in words.items() if word}, **(self.__pydantic_extra__ or {})}

    @property
    def start(self) -> StoredMedium | None:
        """Return the kept medium that cells start from; None: a new medium."""
        return self._start

    def moved_to(self, stored: StoredMedium) -> "Medium":
        """Return the medium with another place of the kept medium. The digest stays the same."""
        medium = self.model_copy()
        medium._start = stored
        return medium

    @property
    def start_digest(self) -> str | None:
        """Return the digest of `start` when the study was read."""
        return self._start_digest

    def starting_from(self, stored: StoredMedium) -> "Medium":
        """Return the medium with the state and content of `stored`. Raises InputError if they are missing."""
        medium = self.model_copy()
        medium._start, medium._start_digest = stored, stored.digest()
        return medium

    @property
    def core_parameters(self) -> dict[str, int | str]:
        """Return the kind and all parameters for the media core."""
        return {"kind": self.kind, **self.parameters}

    @property
    def conditioned(self) -> bool:
        """Return True if the whole device is written before a cell."""
        return bool(self._written_before)

    @property
    def aged(self) -> bool:
        """Return True if a cell's file system is used before the measurement."""
        return self.condition == AGED

    @property
    def _written_before(self) -> tuple[tuple[str, ...], ...]:
        return STEPS.get(self.condition, ()) if self.kind == "flash" else ()

    @property
    def begins(self) -> dict[str, Any]:
        """Return the part of a cell's key that says in which state the medium begins; {} for a new one."""
        if self._start_digest:
            return {"start": self._start_digest}
        if self.condition == NEVER_WRITTEN:
            return {}
        aged = {"aged_fill_percent": self.aged_fill_percent, "aged_passes": self.aged_passes} if self.aged else {}
        return {"condition": self.condition, "written_before": self._written_before, **aged}

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions, and numbers without a source."""
        yield from self._source_problems()
        if self.used_bytes > self.capacity_bytes:
            yield Problem(
                ("used_bytes",),
                f"{describe_size(self.used_bytes)} is more than capacity_bytes = {describe_size(self.capacity_bytes)}",
            )
        yield from condition_problems(self.kind, self.condition, self.model_fields_set)
        yield from self._interface_problems()

    def _interface_problems(self) -> Iterator[Problem]:
        """Yield a problem if the interface cannot have this medium."""
        if self.provides == "mtd":
            if "interface" in self.model_fields_set:
                yield Problem(
                    ("interface",), 'is for block media; leave it out, for kind = "nand" is on the board\'s controller'
                )
            return
        sector_bytes, known = self.parameters.get("sector_bytes", 512), _SECTOR_BYTES.get(self.interface)
        if known and sector_bytes not in known:
            sizes = " or ".join(map(str, known))
            yield Problem(
                ("sector_bytes",),
                f'must be {sizes} behind interface = "{self.interface}", not {sector_bytes}; or take another '
                'interface, such as "nvme" or "plain"',
            )
        if self.interface == "sd" and self.size_bytes % _SD_UNIT_BYTES:
            size = "used_bytes" if self.used_bytes else "capacity_bytes"
            yield Problem((size,), f'must be a multiple of 512k behind interface = "sd", not {self.size_bytes}')


MODULE_SOURCE = "directory of the module's source, beside the directory profiles/; absent: a module of the lab's"


class Scheduler(Profile):
    """An I/O scheduler of the kernel and the values of its tunables."""

    name: str = Field(min_length=1, description="value for /sys/block/DEV/queue/scheduler")
    module: str | None = Field(default=None, min_length=1, description="kernel module to load, if it is not built in")
    module_source: str | None = Field(default=None, min_length=1, description=MODULE_SOURCE)
    nr_requests: int | None = Field(
        default=None, ge=1, description="value for queue/nr_requests; absent: the kernel's default"
    )
    tunables: dict[str, int] = Field(
        default_factory=dict, description="written to /sys/block/DEV/queue/iosched/, in the kernel's own units"
    )


PLAIN = "plain"
"""The interface of a medium without a modelled one: the emulator's own disk and its driver."""


def interface(board: Board, medium: Medium) -> str:
    """Return the interface of a block medium.

    If the CPU moves the data itself, use the lab's own driver: with a real one, each word moved would leave the
    emulated CPU and return.
    """
    return PLAIN if board.transfer == "pio" else medium.interface


LEAST_PERCENT, MOST_PERCENT = 2.0, 30.0
"""In percent of the capacity. Outside of this range, hardly any device on the market fits the profile."""


@dataclass(frozen=True)
class Flash:
    """Bytes of a device's flash, with bad blocks, reserves and an SLC cache, and bytes of its capacity."""

    raw_bytes: int
    capacity_bytes: int

    @property
    def over_provisioning_percent(self) -> float:
        """Return the flash beyond the capacity, in percent of the capacity."""
        return 100.0 * (self.raw_bytes - self.capacity_bytes) / self.capacity_bytes

    @property
    def caution(self) -> str:
        """Return why so much flash is implausible and which keys to change; "" if it is plausible."""
        percent = self.over_provisioning_percent
        if LEAST_PERCENT <= percent <= MOST_PERCENT:
            return ""
        usual = f"{LEAST_PERCENT:.0f} to {MOST_PERCENT:.0f} %"
        effect = "hardly ever collects" if percent > MOST_PERCENT else "moves pages with nearly every write"
        return (
            f"over-provisioning of {percent:.3g} %, where devices have {usual}: it {effect}. "
            "Change blocks_per_die along with capacity_bytes, or show less of the device with used_bytes"
        )


def flash_of(medium: Medium) -> Flash | None:
    """Return the flash of a medium; None if it has no translation layer or no known geometry."""
    if medium.kind != "flash":
        return None
    numbers = medium.numbers()
    geometry = [numbers.get(name) for name in ("dies", "blocks_per_die", "pages_per_block", "page_bytes")]
    if None in geometry:
        return None
    return Flash(prod(filter(None, geometry)), medium.capacity_bytes)


class Translation(Profile):
    """The layer between raw flash and a file system that needs a block device. Without a device, there is none."""

    device: str | None = Field(default=None, min_length=1, description="the block device that it offers")
    module: str | None = Field(default=None, min_length=1, description="kernel module to load, if it is not built in")
    arguments: str = Field(default="", description="arguments of the module besides parameters")
    parameters: dict[str, int] = Field(
        default_factory=dict, description="parameters of the module that a study may set"
    )
    packages: tuple[str, ...] = Field(default=(), strict=False, description="Debian packages of its tools")
    programs: tuple[str, ...] = Field(default=(), strict=False, description="programs for the guest, absolute paths")
    commands: tuple[str, ...] = Field(
        default=(), strict=False, description="commands that make the layer on the flash {device}"
    )
    bad_blocks: bool = Field(
        default=True, description="true if the layer tolerates blocks that are bad from the factory"
    )
    logs_requests: bool = Field(default=False, description="its module takes record=N, for figures of requests")
    counters: str = Field(default="", description="file of the guest with its counters, a line name:value each")

    @property
    def module_arguments(self) -> str:
        """Return insmod's arguments after the module's file."""
        return " ".join([self.arguments, *(f"{name}={value}" for name, value in self.parameters.items())]).strip()

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions, and numbers without a source."""
        yield from self._source_problems()
        yield from package_problems(self.packages, self.programs)
        if self.device is None and (self.module or self.commands or self.counters):
            yield Problem(("device",), "is missing: the block device that the module and the commands make")
        if (self.arguments or self.parameters) and not self.module:
            yield Problem(("module",), "is missing: whose arguments these are")
        if self.parameters and not self.source.get("parameters", "").strip():
            yield Problem(("parameters",), 'has no source; add parameters = "..." under [source]')


def has_queue(medium: Medium, translation: Translation) -> bool:
    """Return True if requests pass the block layer, where a scheduler can order them. Raw flash bypasses it."""
    return medium.provides == "block" or translation.device is not None
