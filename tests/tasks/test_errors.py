"""What a user reads if something is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from video_reasoning.tasks.cli.main import main
from video_reasoning.tasks.cli.progress import write
from video_reasoning.tasks.errors import UserError, cause, did_you_mean


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["build-questions", "--annotations", "{}/absent.jsonl", "--out", "{}/out"],
            "absent.jsonl cannot be read (No such file or directory).",
        ),
        (["score", "{}/absent"], "absent does not exist"),
        (["prepare", "tvbnch"], "did you mean tvbench?"),
    ],
)
def test_a_message_has_no_error_number(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    words = [each.format(tmp_path) for each in arguments]
    monkeypatch.setattr(sys, "argv", ["video-reasoning", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert said in printed and "Errno" not in printed


def test_a_folder_is_not_written_over(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder; name a file in it"):
        write(tmp_path, "text")


def test_causes_and_nearest_names() -> None:
    assert cause(FileNotFoundError(2, "No such file or directory", "x")) == (
        "No such file or directory"
    )
    assert cause(ValueError("it is odd.")) == "it is odd"
    assert did_you_mean("blackswam", ["blackswan", "other"]) == "; did you mean blackswan?"
    assert did_you_mean("nothing", ["blackswan"]) == "."
