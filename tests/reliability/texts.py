"""Broken and odd text files, made from a good one: annotations, tables, logs, results.

`SPOILED` changes a file's bytes whatever they mean; `VALUES` are what a field of a row may hold
by mistake. With them every file that a command reads can be met by the same faults.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

DEEP = 100_000
"""Brackets in a nested text: more than any parser follows."""

GIANT = 10_000_000
"""Characters of a giant text."""


def _middle(data: bytes, piece: bytes) -> bytes:
    """Put bytes where the first text begins, behind its quotation mark or the first comma."""
    for mark in (b'": "', b",", b" "):
        place = data.find(mark)
        if place >= 0:
            return data[: place + len(mark)] + piece + data[place + len(mark) :]
    return data + piece


def _reencoded(encoding: str) -> Callable[[bytes], bytes]:
    return lambda data: data.decode("utf-8", "replace").encode(encoding, "replace")


SPOILED: Mapping[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "only spaces": lambda data: b" \n\t\n",
    "BOM": lambda data: b"\xef\xbb\xbf" + data,
    "two BOMs": lambda data: b"\xef\xbb\xbf" * 2 + data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "CR alone": lambda data: data.replace(b"\n", b"\r"),
    "UTF-16": _reencoded("utf-16"),
    "UTF-16 without BOM": _reencoded("utf-16-le"),
    "UTF-32": _reencoded("utf-32"),
    "Latin-1": lambda data: _middle(data, "café ".encode("latin-1")),
    "Shift JIS": lambda data: _middle(data, "猫が跳ぶ".encode("shift-jis")),
    "broken UTF-8": lambda data: _middle(data, b"\xc3\x28\xff"),
    "surrogates in UTF-8": lambda data: _middle(data, b"\xed\xa0\x80"),
    "escaped surrogate": lambda data: _middle(data, b"\\ud800"),
    "null character": lambda data: _middle(data, b"\x00"),
    "escaped null": lambda data: _middle(data, b"\\u0000"),
    "control characters": lambda data: _middle(data, b"\x01\x1b[31m\x07"),
    "escaped controls": lambda data: _middle(data, b"\\u001b[31m\\u0007\\n\\r\\t"),
    "line separators": lambda data: _middle(data, "\u2028\u2029\x85".encode()),
    "HTML": lambda data: _middle(data, b"<b>x</b><script>alert(1)</script>&nbsp;"),
    "markup": lambda data: _middle(data, b"[bold red][/][link=x]{0} %s $(id) "),
    "giant text": lambda data: _middle(data, b"x" * GIANT),
    "giant line behind": lambda data: data + b"y" * GIANT,
    "giant number": lambda data: _middle(data, b'", "z": ' + b"9" * 10_000 + b', "w": "'),
    "cut in the middle": lambda data: data[: len(data) // 2],
    "cut by one byte": lambda data: data.rstrip()[:-1],
    "twice": lambda data: data + data,
    "blank lines": lambda data: b"\n\n" + data.replace(b"\n", b"\n\n") + b"\n",
    "null": lambda data: b"null",
    "true": lambda data: b"true",
    "NaN": lambda data: b"NaN",
    "a number": lambda data: b"7",
    "1e999": lambda data: b'{"a": 1e999, "b": -1e999}',
    "a text": lambda data: b'"text"',
    "empty list": lambda data: b"[]",
    "empty object": lambda data: b"{}",
    "list of nulls": lambda data: b"[null, null]",
    "list of lists": lambda data: b"[[1, 2], [3, [4]]]",
    "list of numbers": lambda data: b"[1, 2, 3]",
    "object of nulls": lambda data: b'{"a": null, "results": null, "0": null}',
    "object of lists": lambda data: b'{"a": [], "results": [], "0": [1]}',
    "deep lists": lambda data: b"[" * DEEP + b"]" * DEEP,
    "deep objects": lambda data: b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "unclosed lists": lambda data: b"[" * DEEP,
    "deep inside": lambda data: _middle(
        data, b'", "z": ' + b"[" * DEEP + b"]" * DEEP + b', "w": "'
    ),
    "web page": lambda data: b"<!DOCTYPE html><html><body>404 not found</body></html>\n",
    "LFS pointer": lambda data: b"version https://git-lfs.github.com/spec/v1\nsize 1\n",
    "binary": lambda data: bytes(range(256)) * 64,
    "zeros": lambda data: bytes(4096),
    "semicolons": lambda data: data.replace(b",", b";"),
    "open quote": lambda data: _middle(data, b'"'),
    "only quotes": lambda data: b'"' * 1001,
    "only commas": lambda data: b"," * 1001,
    "comma too many": lambda data: data.replace(b"}", b",}").replace(b"\n", b",\n"),
    "single quotes": lambda data: data.replace(b'"', b"'"),
    "header alone": lambda data: data.split(b"\n")[0] + b"\n",
    "header gone": lambda data: data.split(b"\n", 1)[-1],
    "lines reversed": lambda data: b"\n".join(reversed(data.split(b"\n"))),
}  # fmt: skip
"""Name -> what it does to the bytes of a good file."""


def _pipe(path: Path) -> None:
    os.mkfifo(path)


SPECIAL: Mapping[str, Callable[[Path], object]] = {
    "gone": lambda path: None,
    "folder": lambda path: path.mkdir(),
    "pipe": _pipe,
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link loop": lambda path: path.symlink_to(path.name),
    "device": lambda path: path.symlink_to("/dev/full"),
}
"""Name -> what is made in a file's place."""

FAULTS = (*SPOILED, *SPECIAL)


def spoil(path: Path, fault: str) -> None:
    """Put a fault into a file, in place."""
    if fault in SPOILED:
        path.write_bytes(SPOILED[fault](path.read_bytes()))
        return
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    SPECIAL[fault](path)


class _Absent:
    """Stands for a field that is not there."""


ABSENT = _Absent()

VALUES: Mapping[str, Any] = {
    "absent": ABSENT,
    "null": None,
    "true": True,
    "zero": 0,
    "negative": -1,
    "fraction": 1.5,
    "NaN": float("nan"),
    "infinite": float("inf"),
    "huge number": 10**30,
    "huge negative": -(2**63) - 1,
    "empty text": "",
    "spaces": " \t\n",
    "text": "nonsense",
    "giant text": "x" * GIANT,
    "long text": "long/" * 2000,
    "long name": "n" * 300,
    "HTML": "<img src=x onerror=alert(1)>",
    "controls": "\x00\x01\x1b[31m\x07",
    "lone surrogate": "\ud800 and \udfff",
    "outside": "../../../etc/passwd",
    "absolute": "/etc/passwd",
    "windows": "C:\\Windows\\system32",
    "dot": ".",
    "address": "http://example.org/a.mp4",
    "other script": "猫が跳ぶ قطة 🐈‍⬛",
    "formats": "{0} {name} %s %n [bold]",
    "empty list": [],
    "list of one": ["a"],
    "list of nulls": [None, None, None],
    "list of equals": ["a", "a", "a"],
    "list of lists": [["a"], ["b"]],
    "list of numbers": [1, 2, 3],
    "long list": list(range(2000)),
    "empty object": {},
    "object": {"a": {"b": None}},
}
"""Name -> what a field holds by mistake."""


def variants(row: Mapping[str, Any], unique: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of a row with every odd value; all else stays.

    Args:
        row: a good row.
        unique: the field that names it, which gets a new name each time; empty where none does.
    """
    for field in row:
        for name, value in VALUES.items():
            changed = dict(row)
            if unique:
                changed[unique] = f"{row[unique]}-{field}-{name}".replace(" ", "_")
            changed[field] = value
            if value is ABSENT:
                del changed[field]
            yield f"{field}: {name}", changed


def flat(row: Mapping[str, Any]) -> dict[str, str]:
    """A row as a table in CSV can hold it."""
    return {
        name: value if isinstance(value, str) else "" if value is None else json.dumps(value)
        for name, value in row.items()
    }
