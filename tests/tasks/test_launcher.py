"""The launcher, as far as it goes without the harness."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tasks.releases import tvbench_question, write_tvbench
from video_reasoning.tasks import launcher, registry, store
from video_reasoning.tasks.models.responses import OPTIONS
from video_reasoning.tasks.prepare.build import prepare


@pytest.fixture(autouse=True)
def _not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness is not imported when the command starts, whatever tests have done before."""
    monkeypatch.delitem(sys.modules, "lmms_eval.models", raising=False)


def run(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Runs the launcher in a process of its own, in which the harness cannot be imported."""
    program = (
        "import sys\n"
        "sys.modules['lmms_eval'] = None\n"  # whatever imports it fails
        "from video_reasoning.tasks.launcher import main\n"
        "sys.exit(main())\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={"PATH": "", store.HOME_VARIABLE: str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "tasks",
    [
        ["--tasks", "causalvqa_debug"],
        ["--tasks=causalvqa_debug"],
        ["--task", "mme,causalvqa_debug"],
        ["--tasks", "causalvqa_d*"],
    ],
)
def test_missing_data_is_one_sentence_before_the_harness(tmp_path: Path, tasks: list[str]) -> None:
    result = run("--model", "x", *tasks, home=tmp_path)
    assert result.returncode == launcher.UNUSABLE
    (line,) = result.stderr.splitlines()
    assert "video-reasoning prepare causalvqa" in line
    assert store.HOME_VARIABLE in line


def test_tasks_in_a_config_file_are_checked_too(tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text("- model: x\n  tasks: causalvqa_debug,tvbench_tomato_direction\n")
    result = run("--config", str(config), home=tmp_path)
    assert result.returncode == launcher.UNUSABLE
    assert len(result.stderr.splitlines()) == 2


def test_other_peoples_tasks_are_the_harnesss_business(tmp_path: Path) -> None:
    result = run("--model", "x", "--tasks", "mme", home=tmp_path)
    assert "The installed lmms-eval has no lmms_eval.__main__" in result.stderr


def test_a_task_without_questions_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_tvbench(tmp_path / "r", {"1": tvbench_question()})
    (source / "data/direction.json").rename(source / "data/rotation.json")
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "s"))
    prepare("tvbench", source, workers=1)
    (problem,) = registry.missing_data(["tvbench_tomato_direction"])
    assert "has only rotation" in problem


def test_losses_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_tvbench(tmp_path / "r", {"1": tvbench_question(), "2": {}})
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "s"))
    prepare("tvbench", source, workers=1)
    (sentence,) = registry.losses(["tvbench_tomato_direction"])
    assert "0 items without a usable video and 1 unreadable rows" in sentence


def test_the_users_include_path_stays_and_comes_first() -> None:
    ours = str(registry.tasks_path())
    assert launcher.with_ours(None) == [ours]
    assert launcher.with_ours("mine") == ["mine", ours]
    assert launcher.with_ours(["a", ours, "b"]) == ["a", "b", ours]


def test_only_one_process_of_many_speaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    monkeypatch.setenv("RANK", "1")
    assert launcher.main(["--tasks", "causalvqa_debug"]) == launcher.UNUSABLE
    assert capsys.readouterr().err == ""


def stand_in(monkeypatch: pytest.MonkeyPatch, **functions: Any) -> Any:
    """A harness with nothing but some functions in its main module."""
    module = types.ModuleType("lmms_eval.__main__")
    vars(module).update(functions)
    package = types.ModuleType("lmms_eval")
    package.__path__ = []
    monkeypatch.setitem(sys.modules, "lmms_eval", package)
    monkeypatch.setitem(sys.modules, "lmms_eval.__main__", module)
    return module


@pytest.mark.parametrize(
    ("options", "code"), [([], launcher.UNUSABLE), (["--power_analysis"], 0), (["--help"], 0)]
)
@pytest.mark.parametrize("leave", [lambda: None, lambda: sys.exit(0)])
def test_a_harness_that_goes_another_way_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
    leave: Callable[[], None],
) -> None:
    stand_in(monkeypatch, cli_evaluate=leave, cli_evaluate_single=lambda run: None)
    before = list(sys.argv)
    assert launcher.main(["--model", "x", "--tasks", "mme", *options]) == code
    assert ("without calling cli_evaluate_single" in capsys.readouterr().err) is bool(code)
    assert sys.argv == before


@pytest.mark.parametrize("fails", [False, True])
def test_each_evaluation_is_watched_and_the_harness_is_as_before(
    monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    seen: list[Any] = []

    def single(run: Any) -> tuple[dict[str, Any], None]:
        seen.append((run.include_path, sys.argv[1:]))
        if fails:
            raise RuntimeError("out of memory")
        return {"results": {}}, None

    def evaluate() -> None:
        with contextlib.suppress(RuntimeError):  # as the harness does
            run = argparse.Namespace(include_path=None, tasks="mme", output_path=None)
            module.cli_evaluate_single(run)

    module = stand_in(monkeypatch, cli_evaluate=evaluate, cli_evaluate_single=single)
    assert launcher.main(["--tasks", "mme"]) == (launcher.FAILED if fails else 0)
    words = ["--tasks", "mme", "--verbosity", "WARNING"]
    assert seen == [([str(registry.tasks_path())], words)]
    assert module.cli_evaluate_single is single


@pytest.mark.parametrize(
    ("name", "asked"),
    [("mine", "mine,mine"), ("causalvqa_debug", "causalvqa_debug,causalvqa_debug"),
     ("folder", "folder"), ("mme", "mme")],
)  # fmt: skip
def test_a_folder_called_like_a_task_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, asked: str
) -> None:
    """The harness takes what is a folder for one; two names that are equal are not a folder."""
    monkeypatch.chdir(tmp_path)
    for folder in ("mine", "causalvqa_debug", "folder"):
        (tmp_path / folder).mkdir()
    for folder in ("mine", "folder"):
        (tmp_path / folder / "task.yaml").write_text("task: mine  # ours\noutput_type: x\n")
    run = argparse.Namespace(include_path="mine", tasks=name, output_path=None)
    monkeypatch.setattr(launcher, "_data_is_there", lambda arguments: True)
    module = stand_in(
        monkeypatch,
        cli_evaluate=lambda: module.cli_evaluate_single(run),
        cli_evaluate_single=lambda run: ({"results": {}}, None),
    )
    assert launcher.main(["--tasks", name, "--include_path", "mine"]) == 0
    assert run.tasks == asked


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(["--tasks", "mme"], "lmms_eval.__main__"), (["tasks", "list"], "lmms_eval.cli.dispatch")],
)
def test_a_harness_without_these_functions_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    name: str,
) -> None:
    stand_in(monkeypatch)
    monkeypatch.setitem(sys.modules, "lmms_eval.cli", types.ModuleType("lmms_eval.cli"))
    monkeypatch.delitem(sys.modules, "lmms_eval.cli.dispatch", raising=False)
    sys.modules["lmms_eval.cli"].__path__ = []  # type: ignore[attr-defined]
    assert launcher.main(arguments) == launcher.UNUSABLE
    assert f"has no {name} with" in capsys.readouterr().err


def _checkpoint(folder: Path, kind: str) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(f'{{"model_type": "{kind}"}}')
    return folder


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ("huggingface --tasks tvbench_tomato_direction", "a server of your own"),
        ("video_llava --tasks causalvqa_debug", "llava_vid"),
        ("minicpm_v --tasks blackswan_detective_mcq", "a server of your own"),
        ("llava_hf --tasks tvbench_tomato_blind", "previous question"),
        ("llava_hf --force_simple --tasks tvbench_tomato_blind", "previous question"),
        ("llava_vid --tasks causalvqa_debug_blind", "llava_onevision"),
        ("internvl3 --model_args modality=video --tasks causalvqa_debug_blind", "modality=image"),
        (
            "llava_hf --force_simple --model_args pretrained={}/old --tasks causalvqa_debug",
            "drops every video",
        ),
    ],
)
def test_what_a_model_cannot_be_shown_is_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, names: str
) -> None:
    _checkpoint(tmp_path / "old", "llava_next")
    monkeypatch.setattr(registry, "missing_data", lambda _: [])
    monkeypatch.setattr(registry, "losses", lambda _: [])
    said: list[str] = []
    monkeypatch.setattr(launcher, "_tell", said.append)
    monkeypatch.setattr(launcher, "_evaluate", lambda _: pytest.fail("the harness was started"))
    given = f"--model {arguments.format(tmp_path)}".split()
    assert launcher.main(given) == launcher.UNUSABLE
    (sentence,) = said
    assert given[1] in sentence and names in sentence
    # The same in a --config file.
    options = dict(zip(given[::2], given[1::2], strict=False))
    if "--force_simple" not in given:
        config = tmp_path / "run.yaml"
        config.write_text("".join(f"{key[2:]}: {value}\n" for key, value in options.items()))
        assert launcher.main(["--config", str(config)]) == launcher.UNUSABLE
        assert said == [sentence] * 2


@pytest.mark.parametrize(
    "arguments",
    [
        "llava_hf --tasks tvbench_tomato_direction",
        "llava_hf --force_simple --model_args pretrained={}/new --tasks causalvqa_debug",
        "internvl3 --tasks causalvqa_debug,causalvqa_debug_blind",
        "huggingface --tasks mme",
        "idefics2 --tasks tvbench_tomato,tvbench_tomato_blind",
    ],
)
def test_what_a_model_can_be_shown_goes_to_the_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    _checkpoint(tmp_path / "new", "llava_onevision")
    monkeypatch.setattr(registry, "missing_data", lambda _: [])
    monkeypatch.setattr(registry, "losses", lambda _: [])
    monkeypatch.setattr(launcher, "_evaluate", lambda _: 0)
    assert launcher.main(f"--model {arguments.format(tmp_path)}".split()) == 0


def test_an_unknown_form_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(registry, "missing_data", lambda _: [])
    monkeypatch.setattr(registry, "losses", lambda _: [])
    monkeypatch.setenv("VIDEO_REASONING_FRAMES_AS", "pictures")
    assert launcher.main(["--model", "openai", "--tasks", "causalvqa_debug"]) == launcher.UNUSABLE
    assert "clip, images, frames" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        ("--model sample_obsever --tasks blackswan", ["sample_observer"]),
        ("--model qwen25_vl --tasks mme", ["qwen2_5_vl"]),
        ("--model openai_compatible_cha --tasks mme", ["openai_compatible_chat"]),
        ("--model openai --tasks tvbench_tomato_blnd", ["tvbench_tomato_blind"]),
        ("--model openai --tasks mme,mvbenc --include_path {}", ["mvbench"]),
        ("--model opnai --tasks mine_one_two --include_path {}", ["openai", "mine_one_too"]),
    ],
)
def test_a_typo_is_answered_with_the_nearest_name_before_anything_is_loaded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: str,
    nearest: list[str],
) -> None:
    (tmp_path / "mine.yaml").write_text("task: mine_one_too\n")
    monkeypatch.setattr(launcher, "_evaluate", lambda _: pytest.fail("the harness was started"))
    assert launcher.main(arguments.format(tmp_path).split()) == launcher.UNUSABLE
    said = capsys.readouterr().err
    assert len(said.splitlines()) == len(nearest)
    assert all(f"did you mean {name}" in said or f", {name}" in said for name in nearest)


@pytest.mark.parametrize(
    "arguments",
    [
        "--model openai_compatible --tasks mme,mine_one_too --include_path {}",
        "--model random_choice --tasks no_such_*",
        "--model dummy_video_reader --tasks {}/mine.yaml",
        "--tasks list",
    ],
)
def test_whatever_the_harness_could_know_goes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    (tmp_path / "mine.yaml").write_text("task: mine_one_too\n")
    monkeypatch.setattr(launcher, "_evaluate", lambda _: 0)
    assert launcher.main(arguments.format(tmp_path).split()) == 0


def test_a_program_may_have_registered_models(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = types.ModuleType("lmms_eval.models")
    monkeypatch.setitem(sys.modules, "lmms_eval.models", harness)
    monkeypatch.setattr(launcher, "_evaluate", lambda _: 0)
    assert launcher.main(["--model", "its_own", "--tasks", "mme"]) == 0
    harness.list_available_models = lambda include_aliases: ["its_own"]  # type: ignore[attr-defined]
    assert launcher.main(["--model", "its_own", "--tasks", "mme"]) == 0
    assert launcher.main(["--model", "its_won", "--tasks", "mme"]) == launcher.UNUSABLE


def test_another_plugin_may_bring_models_and_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMMS_EVAL_PLUGINS", "another")
    monkeypatch.setattr(launcher, "_evaluate", lambda _: 0)
    assert launcher.main(["--model", "its_model", "--tasks", "its_task"]) == 0


def test_options_of_our_own_do_not_reach_the_harness(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def evaluate(arguments: list[str]) -> int:
        seen.append((list(arguments), [os.environ.get(name) for name in OPTIONS.values()]))
        return 0

    monkeypatch.setattr(launcher, "_evaluate", evaluate)
    assert launcher.main(["--fresh", "--tasks", "list", "--partial"]) == 0
    assert seen == [(["--tasks", "list"], ["1", "1"])]
    assert not os.environ.keys() & set(OPTIONS.values())


@pytest.mark.parametrize(
    ("words", "quiet"),
    [
        (["--tasks", "mme"], True),
        (["--tasks", "mme", "--verbosity", "INFO"], False),
        (["--tasks", "mme", "--verbosity=DEBUG"], False),
        (["--tasks", "list"], False),
        (["--config", "runs.yaml"], False),
    ],
)
def test_the_harness_is_quiet_unless_asked(words: list[str], quiet: bool) -> None:
    assert launcher._is_quiet(words) is quiet


def test_what_the_harness_notes_is_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from loguru import logger

    def noted(folder: Path | None, text: str = "a note") -> str:
        with launcher._noted(folder and str(folder)):
            logger.info(text) if text else None
        logger.info("later")
        return capsys.readouterr().err

    folder = tmp_path / "results"
    assert "harness.log" not in noted(folder, "") and not folder.exists()
    assert f"is in {folder / 'harness.log'}." in noted(folder)
    notes = (folder / "harness.log").read_text(encoding="utf-8")
    assert "a note" in notes and "later" not in notes
    assert "harness.log" not in noted(None)
    (tmp_path / "file").touch()
    noted(tmp_path / "file")  # the results will say that nothing can be written there
    monkeypatch.setenv("RANK", "1")
    assert "harness.log" not in noted(tmp_path / "other") and not (tmp_path / "other").exists()
