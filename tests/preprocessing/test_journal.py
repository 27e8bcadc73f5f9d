from __future__ import annotations

import errno
from pathlib import Path

import pytest

from video_reasoning.preprocessing.journal import journal, read_journal


def entries(path: Path) -> list[dict[str, object]]:
    return list(read_journal(path))


def test_entries_are_added_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    assert entries(path) == []
    for number in (1, 2):
        with journal(path) as write:
            write({"number": number})
            assert entries(path)[-1] == {"number": number}, "before it is closed"
            write({"text": "\u00e9\n"})
    assert entries(path) == [
        {"number": 1},
        {"text": "\u00e9\n"},
        {"number": 2},
        {"text": "\u00e9\n"},
    ]
    assert path.read_bytes().count(b"\n") == 4


@pytest.mark.parametrize("torn", [b'{"numb', b"\xff\xfe", b"[1, 2]", b"3"])
def test_a_line_that_was_cut_off_loses_only_itself(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"number": 1}\n' + torn)
    with journal(path) as write:
        write({"number": 2})
    assert entries(path) == [{"number": 1}, {"number": 2}]


def test_what_cannot_be_written_whole_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = 3
    fault: tuple[object, ...] = ()

    def write_some(descriptor: int, data: bytes) -> int:
        """A disk that takes three more bytes, and then none."""
        nonlocal left
        if not left:
            raise OSError(*fault)
        taken, left = min(left, len(data)), 0
        return taken

    with journal(tmp_path / "journal.jsonl") as write:
        for raised, number in (((errno.ENOSPC, "full"), errno.ENOSPC), ((), errno.EIO)):
            fault = raised
            with monkeypatch.context() as patch:
                patch.setattr("os.write", write_some)
                with pytest.raises(OSError, match=r"journal\.jsonl") as caught:
                    write({"number": number})
            assert caught.value.errno == number
