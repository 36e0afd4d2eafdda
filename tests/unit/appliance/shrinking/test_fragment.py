# SPDX-License-Identifier: Apache-2.0
"""Fragments of a kernel configuration: valid and invalid ones."""

from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed_appliance.shrinking import architecture, fragment, kernel_build

GOOD = """# SPDX-License-Identifier: Apache-2.0
# What this file is for.

#: Network
# Sockets.
CONFIG_NET=y
# A card that
# is rare.
CONFIG_E1000=m

#: Left out
# Nobody speaks it.
# CONFIG_IPV6 is not set
# Room for two.
CONFIG_NR_CPUS=2
"""


def _file(folder: Path, text: str, name: str = "some.config") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_each_setting_has_its_reason_group_and_column(tmp_path: Path) -> None:
    read = fragment.read([_file(tmp_path, GOOD)])
    assert [(setting.option, setting.column, setting.group, setting.reason) for setting in read] == [
        ("CONFIG_NET", "built in", "Network", "Sockets."),
        ("CONFIG_E1000", "module", "Network", "A card that is rare."),
        ("CONFIG_IPV6", "left out", "Left out", "Nobody speaks it."),
        ("CONFIG_NR_CPUS", "2", "Left out", "Room for two."),
    ]
    assert read["CONFIG_IPV6"].line == 13


def test_kconfig_gets_settings_only(tmp_path: Path) -> None:
    read = fragment.read([_file(tmp_path, GOOD)])
    assert read.text == "CONFIG_NET=y\nCONFIG_E1000=m\n# CONFIG_IPV6 is not set\nCONFIG_NR_CPUS=2\n"
    assert read.changed("CONFIG_NET", "n").splitlines()[-1] == "# CONFIG_NET is not set"
    assert "CONFIG_NET=y" not in read.changed("CONFIG_NET", "n")


def test_the_later_file_has_the_last_word(tmp_path: Path) -> None:
    later = _file(tmp_path, "# Now it is wanted.\nCONFIG_IPV6=y\n", "later.config")
    read = fragment.read([_file(tmp_path, GOOD), later])
    assert read["CONFIG_IPV6"].value == "y"
    assert read["CONFIG_IPV6"].group == fragment.NO_GROUP
    assert "is not set" not in read.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CONFIG_NET=y\n", "some.config:1: CONFIG_NET has no reason"),
        ("# Why.\nCONFIG_NET=yes\n", "some.config:2: 'CONFIG_NET=yes' is no setting; write CONFIG_NAME=y"),
        ("# Why.\n\nCONFIG_NET=y\n", "some.config:3: CONFIG_NET has no reason"),
        ("# A.\nCONFIG_NET=y\n# B.\nCONFIG_NET=m\n", "some.config:4: CONFIG_NET is already set on line 2"),
        ("# A.\nNET=y\n", "some.config:2: 'NET=y' is no setting"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        fragment.read([_file(tmp_path, text)])
    assert message in caught.value.message


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.config: no such file"):
        fragment.read([tmp_path / "none.config"])
    with pytest.raises(InputError, match="is a directory"):
        fragment.read([tmp_path])
    (tmp_path / "binary").write_bytes(b"\x7fELF\xff")
    with pytest.raises(InputError, match="not UTF-8 text"):
        fragment.read([tmp_path / "binary"])


@pytest.mark.parametrize("name", sorted(architecture.ALL))
def test_shipped_fragments_give_a_reason_for_each_option(name: str) -> None:
    read = list(fragment.read(kernel_build.nas_fragments(name)))
    assert len(read) > 50
    assert all(setting.group != fragment.NO_GROUP for setting in read)


def test_values_of_a_whole_configuration() -> None:
    text = '#\n# Linux/x86 6.1\n#\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C="x y"\n'
    assert fragment.values(text) == {"CONFIG_A": "y", "CONFIG_B": "n", "CONFIG_C": '"x y"'}


def test_what_the_kernel_does_not_take_is_told(tmp_path: Path) -> None:
    read = fragment.read([_file(tmp_path, GOOD)])
    (tmp_path / ".config").write_text("CONFIG_NET=y\n# CONFIG_E1000 is not set\nCONFIG_NR_CPUS=2\n")
    with pytest.raises(InputError) as caught:
        kernel_build.check(read, tmp_path)
    assert caught.value.message.startswith(f"{tmp_path}/some.config:9: CONFIG_E1000=m: Linux 6.1 sets it to n: ")
    assert len(caught.value.message.splitlines()) == 1


def test_an_architecture_that_there_is_not() -> None:
    with pytest.raises(InputError, match='did you mean "x86_64"'):
        architecture.named("x86-64")
