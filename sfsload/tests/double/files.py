# SPDX-License-Identifier: Apache-2.0
"""Files in memory, which a server of either version exports."""

from __future__ import annotations

FILE, FOLDER, LINK = 1, 2, 5
OK, NO_ENTRY, EXISTS, NOT_A_FOLDER, IS_A_FOLDER, STALE = 0, 2, 17, 20, 21, 70


class Refused(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


class Node:
    def __init__(self, number: int, kind: int, mode: int) -> None:
        self.number, self.kind, self.mode = number, kind, mode
        self.data = bytearray()
        self.names: dict[str, Node] = {}
        self.target = ""

    @property
    def size(self) -> int:
        return len(self.data) if self.kind == FILE else 4096


class Files:
    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.root = self._new(FOLDER, 0o755)

    def _new(self, kind: int, mode: int) -> Node:
        node = Node(len(self.nodes) + 1, kind, mode)
        self.nodes[node.number] = node
        return node

    def node(self, number: int) -> Node:
        if number not in self.nodes:
            raise Refused(STALE)
        return self.nodes[number]

    def look_up(self, folder: Node, name: str) -> Node:
        if folder.kind != FOLDER:
            raise Refused(NOT_A_FOLDER)
        if name not in folder.names:
            raise Refused(NO_ENTRY)
        return folder.names[name]

    def make(self, folder: Node, name: str, kind: int, mode: int) -> Node:
        """Make a file. An existing file stays, and is emptied. Anything else with this name is an error."""
        if folder.kind != FOLDER:
            raise Refused(NOT_A_FOLDER)
        there = folder.names.get(name)
        if there and (kind != FILE or there.kind != FILE):
            raise Refused(EXISTS)
        if there:
            there.data.clear()
            return there
        folder.names[name] = self._new(kind, mode)
        return folder.names[name]

    def remove(self, folder: Node, name: str) -> None:
        if self.look_up(folder, name).kind == FOLDER:
            raise Refused(IS_A_FOLDER)
        del folder.names[name]

    def write(self, node: Node, offset: int, data: bytes) -> None:
        if offset > len(node.data):
            node.data.extend(bytes(offset - len(node.data)))
        node.data[offset : offset + len(data)] = data

    def resize(self, node: Node, size: int) -> None:
        del node.data[size:]
        node.data.extend(bytes(size - len(node.data)))
