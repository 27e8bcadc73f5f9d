"""Which video tasks of the installed harness can be audited: a survey without a model or data.

``python -m tests.audit.census`` checks every video task as an audit does before it asks anything,
and writes the table of docs/audit-coverage.md. Data cannot be fetched, so each task is given a
stand-in for a document, whose columns are those that the task's own functions read. Their contents
are found by trying: options as a list, a dict or text, answers as letters, texts, places or
numbers, until the task scores a right answer above a wrong one; :data:`COLUMNS` has what cannot be
found that way. Judges are asked, at a server on this machine that answers as they are asked to.

``python -m tests.audit.census tomato mvbench`` looks at these families and writes nothing.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import inspect
import io
import json
import logging
import os
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from loguru import logger

from tests.audit.standins import harness_tasks
from tests.harness.served import Asked, serve
from video_reasoning.tasks.audit.derive import refusal
from video_reasoning.tasks.audit.harness import load_config, task_manager
from video_reasoning.tasks.audit.plan import Plan
from video_reasoning.tasks.audit.preflight import UNKNOWN_RANGE, Check, check_documents
from video_reasoning.tasks.audit.scores import EQUALS

PAGE = Path(__file__).parents[2] / "docs/audit-coverage.md"
BEGIN, END = "<!-- census: written by `python -m tests.audit.census` -->", "<!-- end of census -->"

ABSENT_PACKAGES = frozenset(
    (
        *("FlagEmbedding", "Levenshtein", "anls", "azure", "bleurt_pytorch", "capture_metric"),
        *("editdistance", "jieba", "latex2sympy2_extended", "librosa", "moviepy", "sglang"),
        *("more_itertools", "pywsd", "rouge", "soundfile", "spacy", "word2number"),
    )
)
"""Packages that tasks import and that need not be installed here: empty ones take their place."""

WORDS = ("to the left side", "to the right side", "straight up", "straight down", "in a circle")
LINES = "\n".join(f"{letter}. {word}" for letter, word in zip("ABCD", WORDS, strict=False))
OPTIONS: Mapping[str, Any] = {
    "list": list(WORDS[:4]),
    "labeled": LINES.split("\n"),
    "parentheses": [f"({letter}) {word}" for letter, word in zip("ABCD", WORDS, strict=False)],
    "text": str(list(WORDS[:4])),
    "dict": dict(zip("ABCD", WORDS, strict=False)),
    "lines": LINES,
}
ANSWERS: Mapping[str, Any] = {
    "letter": "A",
    "text": WORDS[0],
    "place": 0,
    "place as text": "0",
    "yes": "yes",
    "Yes": "Yes",
    "number": 3,
    "number as text": "3",
    "fraction": 2.5,
    "labeled": f"A. {WORDS[0]}",
    "letters": ["A"],
    "span": [1.0, 3.0],
    "caption": "a man walks to the left side",
    "captions": ["a man walks to the left", "a man goes left"],
}
ANSWER = re.compile(
    r"(correct_?|right_?|original_?|gt_?)?"
    r"(answer|answers|ans|gt|label|labels|target|solution|truth|ground_?truth|correct|choice|option"
    r"|caption|captions|reference|reference_answer)(_?(id|idx|letter|text|label|key))?",
    re.IGNORECASE,
)
CONTENTS: Sequence[tuple[str, Any]] = (
    ("option|candidate|choice", None),
    (
        "question_?type|task|category|type|domain|dim|class|skill|split|source|dataset|area",
        "action",
    ),
    ("video|path|file|clip|vid", "folder/v1.mp4"),
    ("(^|_|s)(id|idx|index|uid|qid|key)$", "7"),
    ("start|time|begin", 1.0),
    ("end|duration|length|fps", 3.0),
)
"""Part of a column's name -> what it contains; None for options."""

MCQ = {"question_type": "multiple-choice", "answer": "A"}
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "FALCONBench": {"gt_option_idx": 0, "question_id": "7", "gt_answer": "A"},
    "camerabench_vqa": {"Index": "0", "answer": "No"},
    "cgbench": {"right_answer": "A", "answer": WORDS[0]},
    "cinepile": {"answer_key_position": 0, "answer_key": WORDS[0], "hard_split": "True"},
    "egotaskqa": {"a": "A", "option": OPTIONS["dict"]},
    "egoschema": {
        "option": [f"{letter}. {word}" for letter, word in zip("ABCDE", WORDS, strict=True)],
        **{"answer": "0", "video_idx": "v"},
    },
    "extremewhenbench": {"correct_interval": [1.0, 3.0]},
    "funqa": {"task": "H2", "output": ANSWERS["caption"]},
    "lemonade": {"Answers": OPTIONS["text"], "Correct Answer": "A"},
    "mmr_v": {
        "abilityType_L2": "Theme Understanding",
        "videoType": "TV",
        "question_idx": 1,
        "correctAnswer": "(A)",
        "options": OPTIONS["parentheses"],
    },
    "mmvu": {"video_path": "videos/Art/1.mp4", "choices": OPTIONS["dict"], **MCQ},
    "mmworld": {"correct_answer_label": "a", "discipline": "Science"},
    "osi_bench": {"question_type": "mcq", "category": "relative_distance", "answer": "A"},
    "pushupbench": {"count": [3]},
    "revsi": {"question_type": "object_rel_direction_forward_easy", "ground_truth": "A"},
    "sis_bench": {"task_type": "action_recognition", "answer": "A"},
    "spatialtreebench": {
        "extra_info": json.dumps({"metricfunc": "multichoiceeval"}),
        "hint": "",
        "question_type": "mcq",
        "option": LINES.split("\n"),
        "answer": "A",
    },
    "tempcompass_captioning": {"mc_question": LINES, "mc_answer": ANSWERS["labeled"]},
    "tempcompass_caption_matching": {
        "question": "Which fits?\nCaption A: it goes left\nCaption B: it goes right",
        "answer": "Caption A: it goes left",
    },
    "temporalbench": {"idx": 7, "GT": "A", "category": "", "dataset": "a", "video_name": "v"},
    "timelens": {"span": [[1.0, 3.0]], "query": "it goes left", "video_path": "v1.mp4"},
    "temporal_grounding_charades": {
        "timestamp": [1.0, 3.0],
        "caption": "it goes left",
        "video": "v1.mp4",
    },
    "megabench": {
        **dict.fromkeys(("eval_context", "query_media", "global_media", "example_media"), "[]"),
        "answer": "'A'",
    },
    "fgqa": {"options": {"option_0": WORDS[0], "option_1": WORDS[1]}, "answer": WORDS[0]},
    "rvos": {
        **{"width": 640, "height": 480, "fps": 4, "n_frames": 8, "sampling_fps": 1},
        **{"mask_ids": [], "frame_trajectories": "[]"},
    },
    "mmou": {"duration": 3.0, "start": 1.0, "end": 3.0},
    "perceptiontest": {
        **{"video_name": "v1", "question_id": "1", "answer_id": 0, "options": list(WORDS[:3])},
        **{"area": "memory", "reasoning": "descriptive", "tag": ["counting"]},
    },
    "vcrbench": {"ground_truth": [1, 0, 2], "goal": "making tea"},
    "videommmu": {"id": "validation_Art_1", "options": OPTIONS["list"], **MCQ},
    "videott": {"capability": "Element Attributes"},
    "videoevalpro": {"qa_type": "Local Perception", "answer_text": WORDS[0]},
    "vrbench_process": {
        "reasoning_type": "Event Attribution",
        "reasoning_process": {"1": "it goes left"},
        "original_answer": WORDS[0],
    },
    "vsisuper_count_streaming": {"answers": [3]},
    "vdc": {"qa_list": [{"question": "Where to?", "answer": WORDS[0]}], "video_name": "v1"},
    "vinoground": {"index": "0_pos_text", "major": "action", "minor": None, "answer": "A"},
    "vsibench": {"question_type": "object_rel_distance", "ground_truth": "A"},
}
"""Family, task or beginning of a task's name -> columns whose content cannot be found by trying."""

WRONG: Mapping[str, str] = {
    "cuva_test": "its metrics compare texts by a model that is not installed here",
    "youcook2_val": "its metrics compare texts by a program in Java that is not installed here",
}
"""Tasks whose scores can be read and are not what an audit takes them for."""


class StandIn(dict[str, Any]):
    """A document that gets a column when a task reads it.

    Args:
        known: Columns that it has.
        options: How it has options.
        answer: How it has the right answer.
        optional: Whether it has the columns that tasks ask for with a default.
    """

    def __init__(self, known: Mapping[str, Any], options: Any, answer: Any, optional: bool) -> None:
        super().__init__(known)
        self._options, self._answer, self._optional = options, answer, optional

    def __missing__(self, name: str) -> Any:
        self[name] = self._content(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or (self._optional and isinstance(name, str))

    def get(self, name: str, default: Any = None) -> Any:
        """Return a column, or the default."""
        return self[name] if name in self else default  # noqa: SIM401 - it makes columns

    def _content(self, name: str) -> Any:
        single = re.fullmatch(r"(?:a|opt|option|choice|answer_choice)?_?([A-Ea-e]|[0-4])", name)
        if single:
            return WORDS["abcde".find(single[1].lower()) if single[1].isalpha() else int(single[1])]
        if ANSWER.fullmatch(name.replace(" ", "_")):
            return self._answer
        if re.search("question|prompt|query|instruction|problem|text", name, re.IGNORECASE):
            kind = re.search("id|idx|type", name, re.IGNORECASE)
            listed = f"\n{LINES}" if self._options is LINES else ""
            if not kind:
                return f"Where does the ball go?{listed}"
        for part, content in CONTENTS:
            if re.search(part, name, re.IGNORECASE):
                return self._options if content is None else content
        return "word"


@dataclass(frozen=True)
class Row:
    """What is known of a task.

    Attributes:
        family: Its folder in the harness.
        task: Its name.
        state: usable, refused, unloadable or open.
        reason: Why, or how a question's score is read.
        judged: Whether a judge was asked.
    """

    family: str
    task: str
    state: str
    reason: str = ""
    judged: bool = False


class _SglangFunction:
    """What sglang makes of a prompt's function: here a judge that answers at once."""

    def __init__(self, function: Any) -> None:
        del function

    def run(self, **given: Any) -> dict[str, str]:
        right = "I do not know" not in str(given)
        if "qa" in given:
            return {"answer_1": str({"pred": "yes" if right else "no", "score": 5 * right})}
        return {"answer_1": WORDS[0] if right else "I do not know."}


class _Absent:
    """Finds empty modules in place of packages that are not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] in ABSENT_PACKAGES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: Any) -> Any:
        module = MagicMock(name=spec.name)
        module.__name__, module.__spec__, module.__path__ = spec.name, spec, []
        module.function = _SglangFunction
        return module

    def exec_module(self, module: Any) -> None:
        """Do nothing: it is empty."""


def judge(asked: Asked) -> str:
    """Answer a judge's prompt in the form it asks for: right, unless the model said nothing."""
    right = "I do not know" not in asked.text
    word, score = ("yes", 5) if right else ("no", 0)
    if "'pred'" in asked.text:
        return str({"pred": word, "score": score})
    if "'score'" in asked.text:
        return str({"score": score})
    if "NOT_ATTEMPTED" in asked.text:
        return "A" if right else "B"
    if "<rate>" in asked.text:
        return f"<rate>{2 * score}</rate>"
    if "None of the choices are correct" in asked.text:
        return "Reasoning: seen.\nAnswer: " + (ANSWERS["labeled"] if right else "None")
    if re.search(r"\bor X\b", asked.text):
        return "A" if right else "X"
    if '"Correct"' in asked.text:
        return "Correct" if right else "Incorrect"
    if '"score"' in asked.text or "JSON" in asked.text:
        return json.dumps({"score": score, "pred": word, "correct": right})
    if re.search(r"\b[01] (or|and|to) [01]\b|0\.0", asked.text):
        return str(int(right))
    return word


def family_of(path: Path) -> str:
    return path.relative_to(harness_tasks()).parts[0]


def survey(families: Sequence[str], asked: Sequence[Asked]) -> Iterator[Row]:
    """Look at every video task, or at those of some families; `asked` is what judges are asked."""
    index = task_manager([]).task_index
    for name, entry in sorted(index.items()):
        if entry["type"] not in ("task", "python_task"):
            continue
        path = Path(entry["yaml_path"])
        family = family_of(path)
        if families and family not in families:
            continue
        about_video = "video" in path.read_text(encoding="utf-8", errors="replace").lower()
        if entry["type"] == "python_task":
            reason = "it is a Python class, whose visuals a YAML cannot replace"
            yield from [Row(family, name, "refused", reason)] * about_video
            continue
        try:
            with _silent():
                config = load_config(path)
        except (Exception, SystemExit) as error:
            yield from [Row(family, name, "unloadable", _short(error))] * about_video
            continue
        if _shows_video(config):
            before = len(asked)
            row = looked_at(family, name, config)
            yield replace(row, judged=len(asked) > before)


def _shows_video(config: Mapping[str, Any]) -> bool:
    """Whether what shows a task's documents mentions videos or frames in its source."""
    functions = [config.get("doc_to_visual"), config.get("doc_to_messages")]
    with contextlib.suppress(OSError, TypeError):
        text = " ".join(inspect.getsource(each) for each in functions if callable(each))
        return re.search("video|frames?", text, re.IGNORECASE) is not None
    return False


def looked_at(family: str, name: str, config: dict[str, Any]) -> Row:
    if reason := refusal(config):
        return Row(family, name, "refused", reason)
    if not callable(config.get("process_results")):
        return Row(family, name, "usable", "scored by the harness")
    known: dict[str, Any] = {}
    for place, columns in COLUMNS.items():
        if place == family or name.startswith(place):
            known.update(columns)
    checks: Counter[tuple[str, str, bool]] = Counter()
    seen: set[str] = set()
    began = time.monotonic()
    for optional in (False, True):
        for answer in ANSWERS.values():
            for options in OPTIONS.values():
                if time.monotonic() - began > 60:
                    break
                document = StandIn(known, options, answer, optional)
                with _silent():
                    check = _check(config, document, seen)
                if check is None:
                    continue
                sound = name not in WRONG and not check.refused
                if sound and any(low < high for low, high in check.ranges.values()):
                    return Row(family, name, "usable", check.score)
                checks[check.refused, check.score, check.judged] += 1
    return _not_usable(family, name, checks)


def _not_usable(family: str, name: str, checks: Counter[tuple[str, str, bool]]) -> Row:
    """Say why no stand-in of a task was scored."""
    if name in WRONG:
        return Row(family, name, "open", WRONG[name])
    if not checks:
        return Row(family, name, "open", "no stand-in for its documents was found")
    unseen = [score for _, score, _ in checks if UNKNOWN_RANGE in score and EQUALS not in score]
    if unseen:
        return Row(family, name, "usable", unseen[0])
    if reasons := [refused for refused, _, _ in checks if refused]:
        return Row(family, name, "refused", reasons[0])
    _, score, judged = max(checks, key=lambda each: checks[each])
    return Row(family, name, "open", f"its judge: {score}" if judged else score)


def _check(config: Mapping[str, Any], document: StandIn, seen: set[str]) -> Check | None:
    """Check a task over one document; None if it is unreadable, or was seen before."""
    try:
        target = _field(config.get("doc_to_target"), document)
        text = config.get("doc_to_text")
        with contextlib.suppress(Exception):
            more = len(inspect.signature(text).parameters) > 1 if callable(text) else False
            _ = text(document, defaultdict(str)) if more else _field(text, document)
        with contextlib.suppress(Exception, SystemExit):
            config["process_results"](document, ["A"])
    except (Exception, SystemExit):
        return None
    key = json.dumps(document, default=str, sort_keys=True)
    if key in seen:
        return None
    seen.add(key)
    plan = Plan(("ordered16", "blind"), (), Path(tempfile.gettempdir()), 16)
    return check_documents(config, [document], lambda _: target, lambda _: "", plan)


def _field(field: Any, document: StandIn) -> Any:
    """Return what a YAML's field says of a document."""
    if callable(field):
        return field(document)
    if isinstance(field, str) and "{{" in field:
        from lmms_eval.utils import apply_template

        for name in re.findall(r"\{\{\s*(\w+)", field):
            _ = document[name]
        return apply_template(field, document)
    return document[field] if isinstance(field, str) else field


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split()) or repr(error)
    missing = re.search(r"module 'utils' has no attribute '\w+'|No module named '[\w.]+'", text)
    return missing[0] if missing else text[-100:]


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def prepared(url: str) -> None:
    """Set what tasks read when they are imported: a judge on this machine, and no hub."""
    home = Path(tempfile.mkdtemp(prefix="census"))
    os.environ.update(
        HF_HOME=str(home),
        HF_HUB_OFFLINE="1",
        API_TYPE="openai",
        OPENAI_API_URL=f"{url}/chat/completions",
        OPENAI_BASE_URL=url,
        OPENAI_API_BASE=url,
        LLM_JUDGE_URL=url,
        AZURE_ENDPOINT=url,
        QWEN_API_URL=f"{url}/chat/completions",
        MODEL_VERSION="local",
    )
    for name in ("OPENAI", "AZURE", "AZURE_OPENAI", "DASHSCOPE", "GOOGLE"):
        os.environ[f"{name}_API_KEY"] = "local"
    for folder, kind in (("vinoground_videos", "text"), ("vinoground_videos_concated", "video")):
        file = home / "vinoground" / folder / f"vinoground_{kind}score.json"  # its answers
        file.parent.mkdir(parents=True)
        entry = {"idx": "0_pos", "question": LINES, "GT": "A", "video_name": "v1.mp4"}
        file.write_text(json.dumps([entry]))
    sys.meta_path.append(_Absent())  # type: ignore[arg-type]
    time.sleep = lambda _: None  # judges wait between attempts
    logging.disable(logging.CRITICAL)
    logger.remove()


def page(rows: Sequence[Row]) -> str:
    """Return the tables of the page."""
    states = Counter(row.state for row in rows)
    families = {row.family for row in rows}
    usable = [row for row in rows if row.state == "usable"]
    ranged = sum(UNKNOWN_RANGE in row.reason for row in usable)
    lines = [
        f"{len(rows)} video tasks in {len(families)} families: {len(usable)} can be audited "
        f"({len(usable) / max(1, len(rows)):.1%}; {sum(row.judged for row in usable)} of them with "
        f"a judge, {ranged} with `--score-range`), {states['refused']} are refused, "
        f"{states['unloadable']} cannot be loaded by the harness, {states['open']} are open.",
        "",
        "| family | tasks | can be audited | the others |",
        "|---|---:|---:|---|",
    ]
    for family in sorted(families, key=str.lower):
        own = [row for row in rows if row.family == family]
        reasons = Counter((row.state, row.reason) for row in own if row.state != "usable")
        said = "; ".join(
            f"{count} {state}: {reason[:160].replace('|', '/').replace('<', '')}"
            for (state, reason), count in reasons.most_common(3)
        )
        count = sum(row.state == "usable" for row in own)
        lines.append(f"| `{family}` | {len(own)} | {count} | {said} |")
    return "\n".join(lines) + "\n"


def main(families: Sequence[str]) -> None:
    with serve(judge) as served:
        prepared(served.url)
        rows = list(survey(families, served.requests))
    if families:
        for row in rows:
            print(f"{row.state:10} {row.task}: {row.reason}")
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{page(rows)}\n{END}{after}", encoding="utf-8")
    print(page(rows).split("\n", 1)[0])


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # tasks leave threads behind
