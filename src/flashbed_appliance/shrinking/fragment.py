# SPDX-License-Identifier: Apache-2.0
"""A kernel configuration fragment: settings, each with the reason why it is so, in groups.

The files are plain Kconfig fragments (`CONFIG_X=y`, `# CONFIG_X is not set`), so that the kernel's own scripts read
them, too. A comment `#: words` begins a group; the comment lines right above a setting are its reason. Knows the format
only: which options there are, the kernel says when it is configured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import own_file
from flashbed.common.errors import InputError

SET = re.compile(r'(?P<option>CONFIG_\w+)=(?P<value>[ymn]|-?\d+|0x[0-9a-fA-F]+|"[^"]*")')
UNSET = re.compile(r"# (?P<option>CONFIG_\w+) is not set")
GROUP = "#: "
NO_GROUP = "Others"

COLUMNS = {"y": "built in", "m": "module", "n": "left out"}
"""The three columns that an option of yes, module or no can be in."""


@dataclass(frozen=True)
class Setting:
    """One option: `value` is y, m, n, a number or a quoted text, as Kconfig writes it."""

    option: str
    value: str
    reason: str
    group: str
    file: Path
    line: int

    @property
    def column(self) -> str:
        """built in, module, left out; or the value, of an option that has another."""
        return COLUMNS.get(self.value, self.value)

    @property
    def text(self) -> str:
        """As the kernel's own files have it."""
        return line_of(self.option, self.value)


class Fragment:
    """Settings in their order. Of an option that is set twice, a later file's word counts."""

    def __init__(self, settings: Iterable[Setting]) -> None:
        self._settings: dict[str, Setting] = {}
        for setting in settings:
            self._settings.pop(setting.option, None)
            self._settings[setting.option] = setting

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._settings.values())

    def __contains__(self, option: str) -> bool:
        return option in self._settings

    def __getitem__(self, option: str) -> Setting:
        return self._settings[option]

    @property
    def text(self) -> str:
        """What Kconfig is given."""
        return "".join(f"{setting.text}\n" for setting in self)

    def changed(self, option: str, value: str) -> str:
        """What Kconfig is given where one option has another value."""
        lines = [setting.text for setting in self if setting.option != option]
        return "".join(f"{line}\n" for line in (*lines, line_of(option, value)))


def line_of(option: str, value: str) -> str:
    """A setting as Kconfig writes it."""
    return f"# {option} is not set" if value == "n" else f"{option}={value}"


def read(files: Sequence[Path]) -> Fragment:
    """The settings of these files. Raises InputError: no such file, a line that is no setting, an option without a
    reason or twice in one file.
    """
    return Fragment(setting for file in files for setting in _settings(file))


def values(config: str) -> dict[str, str]:
    """What a whole .config says of each option that it names; n for one that is not set."""
    found = {}
    for line in config.splitlines():
        if match := SET.fullmatch(line):
            found[match["option"]] = match["value"]
        elif match := UNSET.fullmatch(line):
            found[match["option"]] = "n"
    return found


def _settings(file: Path) -> Iterator[Setting]:
    group, reason = NO_GROUP, ""
    seen: dict[str, int] = {}
    for number, line in enumerate(_lines(file), start=1):
        match = UNSET.fullmatch(line) or SET.fullmatch(line)
        if line.startswith(GROUP):
            group, reason = line.removeprefix(GROUP).strip(), ""
        elif match:
            option = match["option"]
            if option in seen:
                raise InputError(f"{file}:{number}: {option} stands in line {seen[option]} already; keep one of them")
            if not reason:
                raise InputError(f"{file}:{number}: {option} has no reason; write it as a comment right above it")
            seen[option] = number
            yield Setting(option, match.groupdict().get("value", "n"), reason, group, file, number)
            reason = ""
        elif line.startswith("#"):
            reason = f"{reason} {line.lstrip('# ')}".strip()
        elif line:
            raise InputError(
                f"{file}:{number}: {line[:60]!r} is no setting; write CONFIG_NAME=y, CONFIG_NAME=m, "
                '"# CONFIG_NAME is not set", or a number or a quoted text behind the ='
            )
        else:
            reason = ""


def _lines(file: Path) -> list[str]:
    try:
        return [line.strip() for line in own_file.read(file).decode().splitlines()]
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{file}: is a folder; name a fragment in it") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not a UTF-8 text; a fragment is a text of lines such as CONFIG_INET=y") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
