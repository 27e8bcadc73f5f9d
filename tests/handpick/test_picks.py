"""The picks that the store holds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from video_reasoning.tasks import store
from video_reasoning.tasks.store.picks import (
    Pick,
    PicksError,
    picks_file,
    read_installed,
    read_picks,
    write_picks,
)

ONE = Pick("direction/1", 3, 40, "ana")
TWO = Pick("direction/ü\n2", 0, 1, "ana + ben")


def write(home: Path, text: str | bytes) -> Path:
    path = picks_file("tvbench", home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_picks_come_back_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tvbench").mkdir()
    path = tmp_path / "tvbench" / "picks.jsonl"
    write_picks(picks_file("tvbench", tmp_path), [ONE, TWO])
    assert read_installed("tvbench", tmp_path) == {ONE.id: ONE, TWO.id: TWO}
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    assert read_picks("tvbench") == {ONE.id: 3, TWO.id: 0}
    assert json.loads(path.read_text(encoding="utf-8").splitlines()[0]) == {
        "id": "direction/1", "frame": 3, "n_frames": 40, "annotator": "ana",
    }  # fmt: skip
    write_picks(path, [TWO])
    assert read_picks("tvbench") == {TWO.id: 0}


def test_without_a_file_there_are_no_picks(tmp_path: Path) -> None:
    assert read_picks("tvbench", tmp_path) == {}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Line 2"),
        ("[]", "not an object"),
        ("{}", "lacks id, frame, n_frames, annotator"),
        ('{"id": "x", "frame": 40, "n_frames": 40, "annotator": "ana"}', "not in a video of 40"),
        ('{"id": "x", "frame": -1, "n_frames": 40, "annotator": "ana"}', "frame -1"),
        ('{"id": "x", "frame": 1.5, "n_frames": 40, "annotator": "ana"}', "whole numbers"),
        ('{"id": "x", "frame": true, "n_frames": 40, "annotator": "ana"}', "whole numbers"),
        ('{"id": "", "frame": 1, "n_frames": 40, "annotator": "ana"}', "id"),
        ('{"id": "x", "frame": 1, "n_frames": 40, "annotator": null}', "annotator"),
        ('{"id": "direction/1", "frame": 1, "n_frames": 40, "annotator": "ana"}', "again"),
        ("[" * 100_000, "Line 2"),
        ('{"id": "x", "frame": 1, "n_frames": 40, "annotator": "automatic:clip"}', "is a model"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path: Path, line: str | bytes, reason: str) -> None:
    first = b'{"id": "direction/1", "frame": 3, "n_frames": 40, "annotator": "ana"}\r\n'
    write(tmp_path, first + (line if isinstance(line, bytes) else line.encode()) + b"\n")
    with pytest.raises(PicksError, match=reason) as raised:
        read_picks("tvbench", tmp_path)
    assert "picks.jsonl" in str(raised.value) and "\n" not in str(raised.value)


def test_the_task_layer_gets_picks_without_the_page() -> None:
    code = (
        "import sys, video_reasoning.tasks.store.picks\n"
        "heavy = {'fastapi', 'uvicorn', 'av', 'torch', 'pyarrow', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
