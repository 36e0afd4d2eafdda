# SPDX-License-Identifier: Apache-2.0
"""The purposes that a kernel can be shrunk for, as the command line names them: "nas", a study, a fragment file, or
several joined by "+", where later settings apply.

Knows where fragments and studies are; must not know their contents.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from flashbed.common import own_file, paths
from flashbed.common.errors import InputError
from flashbed.study.loading import load_study
from flashbed_appliance.data_files import appliance_data
from flashbed_appliance.shrinking import fragment, kernel_build, stacks
from flashbed_appliance.shrinking.architecture import Architecture
from flashbed_appliance.shrinking.fragment import ConfigSetting, Fragment

NAS = "nas"
GENERATED = "Automatically generated file; DO NOT EDIT"


def wanted(word: str, target: Architecture) -> Fragment:
    """Return the settings of `word`, such as "nas", "nas+FILE" or "quick". Raises InputError."""
    parts = word.split("+")
    if not all(part.strip() for part in parts):
        where = "a word is missing beside a +" if len(parts) > 1 else "is empty"
        raise InputError(f"kernel {word!r}: {where}; give {NAS!r}, a study or a fragment, or several joined by +")
    return Fragment(setting for part in parts for setting in _settings(part, target, word))


def _settings(part: str, target: Architecture, word: str) -> Iterable[ConfigSetting]:
    if part == NAS:
        return fragment.read(kernel_build.nas_fragments(target.name))
    file, fragments = Path(part), appliance_data() / "kernel"
    shipped, study = fragments / f"{part}.config", paths.studies() / f"{part}.toml"
    is_name = "/" not in part and not own_file.is_there(file)
    if is_name and own_file.is_file(shipped):
        return fragment.read([shipped])
    if is_name and own_file.is_file(study):
        return stacks.fragment_of(load_study(study), target.name)
    if not own_file.is_there(file):
        raise InputError(
            f"{word}: {part!r} is neither {NAS!r}, nor a study (`flashbed list`), nor a fragment of the appliance "
            f"({', '.join(sorted(file.stem for file in fragments.glob('*.config')))}), nor a file; "
            "give one of these, or several joined by +"
        )
    if file.suffix == ".toml":
        return stacks.fragment_of(load_study(file), target.name)
    if own_file.is_file(file) and GENERATED.encode() in own_file.read(file)[:400]:
        raise InputError(
            f"{file}: is a complete .config, which has no reasons; write the options that you need into a fragment, "
            "each with its reason"
        )
    return fragment.read([file])
