"""Random input: responses, options, annotation cells and damaged files, and what must hold of them.

Everything is drawn from one seed. Each ``check_...`` raises :class:`Broken` where something does
not hold; any other exception is a fault of what was called.
"""

from __future__ import annotations

import json
import math
import random
import string
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.metrics import phrasings
from tests.metrics.option_sets import OPTION_SETS
from tests.metrics.render import lettered, values
from video_reasoning.metrics import accuracy, generation, intervals, paired, principles
from video_reasoning.metrics.answers import parse_choice, parse_yes_no
from video_reasoning.tasks import store
from video_reasoning.tasks.causalvqa import release as causalvqa_release
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.release import records
from video_reasoning.tasks.results import logs
from video_reasoning.tasks.store import picks, questions

Options = Mapping[str, str] | Sequence[str]


BLOCK = 20
"""Responses to each set of options."""


class Broken(AssertionError):
    """Something that must hold of all input does not hold of this one."""


TOKENS = (
    *(
        "A",
        "B",
        "(C)",
        "D.",
        "a",
        "I",
        "E:",
        "**B**",
        "F)",
        "1",
        "2.",
        "left",
        "Right.",
        "yes",
        "no",
    ),
    *(
        "not",
        "the answer is",
        "answer:",
        "option",
        "is correct",
        "is wrong",
        "I choose",
        "so",
        "if",
    ),
    *("or", "and", "because", "whether", "I cannot tell", "but", "the first option", "it is"),
    *(
        " ",
        "\n",
        ",",
        ".",
        "?",
        ":",
        "-",
        "'",
        '"',
        "*",
        "_",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
    ),
    *("\\", "\\boxed{", "\\text{", "$", "<think>", "</think>", "<answer>", "</answer>", "<b>"),
    *('{"answer": "', "答案", "是", "é", "\u200b", "İ", "Question: ", "ASSISTANT: ", "✗", "🅰"),
)
"""What texts are put together from; the time test repeats pairs and triples of these."""

_TEMPLATES = (
    *(*phrasings.LETTER, *phrasings.LETTER_AND_TEXT, *phrasings.TEXT, *phrasings.OTHER_LANGUAGES),
    *(*phrasings.MORE_LETTERS, *phrasings.NO_CHOICE, *phrasings.MORE_NO_CHOICE),
)
_SIGNS = " .,;:!?'\"*_-()[]{}<>\n\t\\$/|=&%#+~^@`0123456789"
_ALPHABETS = (
    *(string.printable, "".join(map(chr, range(0x250))), "".join(map(chr, range(0x370, 0x700)))),
    *("".join(map(chr, range(0x2000, 0x2400))), "".join(map(chr, range(0xFE00, 0xFFFF)))),
    *(
        "".join(map(chr, range(0x1F100, 0x1F200))),
        "答案是选项正しい정답은الإجابة",
        "\ud800\udfff\x00\x85\u2028",
    ),
)
_SETS = tuple(OPTION_SETS.values())


# --- Responses ----------------------------------------------------------------------------------


def any_text(rng: random.Random, most: int = 80) -> str:
    """Characters of one or two alphabets."""
    alphabet = "".join(rng.sample(_ALPHABETS, rng.randint(1, 2)))
    return "".join(rng.choices(alphabet, k=rng.randrange(most)))


def _soup(rng: random.Random) -> str:
    joint = rng.choice((" ", " ", "", "\n"))
    return joint.join(rng.choices(TOKENS, k=rng.randrange(14)))


def _nested(rng: random.Random) -> str:
    opening = rng.choices("([{<\"'*`", k=rng.randrange(30))
    closing = [dict(zip("([{<", ")]}>", strict=True)).get(sign, sign) for sign in opening]
    return "".join(opening) + _soup(rng) + "".join(reversed(closing))[: rng.randrange(31)]


def _phrase(rng: random.Random, options: Options) -> str:
    letters = list(lettered(options))
    if not letters:
        return _soup(rng)
    filling = values(options, rng.choice(letters), rng.choice(letters))
    return rng.choice(_TEMPLATES).format(**filling)


def _mutated(rng: random.Random, text: str, options: Options) -> str:
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(text) + 1)
        match rng.randrange(9):
            case 0:
                text = f"{text[:place]} {rng.choice(TOKENS)} {text[place:]}"
            case 1:
                text += rng.choice((" ", "\n", ". ", " but ", "\n\n", "? ")) + _phrase(rng, options)
            case 2:
                text = text[:place]
            case 3:
                text = text[place:]
            case 4:
                text = text[:place] + rng.choice(_SIGNS) + text[place:]
            case 5:
                words = text.split(" ")
                rng.shuffle(words)
                text = " ".join(words)
            case 6:
                text = rng.choice((text.upper(), text.lower(), text.swapcase(), text.title()))
            case 7:
                end = rng.randrange(place, len(text) + 1)
                text = text[:place] + text[place:end] * rng.randrange(4) + text[end:]
            case _:
                text = text[:place] + any_text(rng, 6) + text[place + 1 :]
    return text


def response(rng: random.Random, options: Options) -> str:
    """A response: a phrase that models use, changed a little or much, or no language at all."""
    draw = rng.random()
    if draw < 0.62:
        return _mutated(rng, _phrase(rng, options), options)
    if draw < 0.82:
        return _soup(rng)
    if draw < 0.9:
        return _nested(rng)
    if draw < 0.92:
        return "".join(rng.choices(TOKENS, k=rng.randint(1, 3))) * rng.randrange(60)
    return any_text(rng)


def some_options(rng: random.Random) -> Options:
    """Options as benchmarks have them, and as none should have them."""
    draw = rng.random()
    if draw < 0.7:
        return rng.choice(_SETS)
    texts = [
        rng.choice((any_text(rng, 20), _soup(rng), rng.choice(TOKENS), str(rng.randrange(12)), ""))
        for _ in range(rng.choice((0, 1, 2, 3, 4, 5, 26)))
    ]
    if draw < 0.85:
        return texts
    letters = rng.sample(string.ascii_uppercase, len(texts))
    if draw < 0.92:
        letters = [letter.lower() for letter in letters]
    return dict(zip(letters, texts, strict=True))


def check_choice(rng: random.Random) -> int:
    """Any response to any options is one of the keys or None, with a rule, twice the same.

    Returns:
        The number of responses: several to each set of options, from which patterns are made.
    """
    options = some_options(rng)
    for _ in range(BLOCK):
        text = response(rng, options)
        answer = parse_choice(text, options)
        if answer.value is not None and answer.value not in lettered(options):
            raise Broken(f"{text!r} with {options!r} gives {answer.value!r}")
        if not answer.rule or parse_choice(text, options) != answer:
            raise Broken(f"{text!r} with {options!r} gives {answer!r}, or not twice the same")
    return BLOCK


def check_yes_no(rng: random.Random) -> None:
    """Any response is yes, no or None, with a rule, twice the same."""
    text = response(rng, rng.choice(_SETS))
    answer = parse_yes_no(text)
    if answer.value not in ("yes", "no", None) or not answer.rule or parse_yes_no(text) != answer:
        raise Broken(f"{text!r} gives {answer!r}, or not twice the same")


# --- Cells of annotation tables -----------------------------------------------------------------


def any_value(rng: random.Random, depth: int = 0) -> Any:
    """What a cell of a table or of JSON may hold."""
    match rng.randrange(9 if depth < 3 else 6):
        case 0:
            return rng.choice((None, True, False, math.nan, math.inf, -math.inf, -0.0, b"A", ()))
        case 1:
            return rng.choice((0, 1, 2, 3, -1, 10**30, 2.5, 1e308, "3.0", "1e3", "٣", "nan", "²"))
        case 2:
            return any_text(rng, 30)
        case 3:
            return _soup(rng)
        case 4:
            return "1" * rng.choice((1, 10, 5000))
        case 5:
            signs = rng.choice("[({\"'-") * rng.choice((1, 5, 3000))
            return rng.choice((signs, f"[{signs}1]"))
        case 6:
            return [any_value(rng, depth + 1) for _ in range(rng.randrange(5))]
        case 7:
            return {rng.choice(TOKENS): any_value(rng, depth + 1) for _ in range(rng.randrange(4))}
        case _:
            return json.dumps([rng.choice(TOKENS) for _ in range(rng.randrange(6))])


def _written_options(rng: random.Random) -> str:
    label = rng.choice(("{}. ", "{}) ", "({}) ", "{}: ", "{}.", "{} "))
    names = rng.choice(("123456789", string.ascii_uppercase, string.ascii_lowercase))
    bar = rng.choice(("|", " | ", "||", " ", "\n"))
    count = rng.randrange(8)
    text = bar.join(label.format(name) + rng.choice(TOKENS) for name in names[:count])
    for _ in range(rng.randrange(3)):
        place = rng.randrange(len(text) + 1)
        piece = rng.choice((rng.choice(_SIGNS), "|", "2. ", "B) ", any_text(rng, 4), ""))
        text = text[:place] + piece + text[place + rng.randrange(2) :]
    return text


def check_cells(rng: random.Random) -> None:
    """A cell gives distinct texts or an odd row; nothing else."""
    value = any_value(rng)
    written = _written_options(rng) if rng.random() < 0.7 else str(value)
    try:
        options = records.parse_options(written)
        if len(options) < 2 or not all(options) or len(set(options)) < len(options):
            raise Broken(f"{written!r} gives {options!r}")
        letter = causalvqa_release.parse_answer(value, options)
        if letter and not 0 <= ord(letter) - ord("A") < len(options):
            raise Broken(f"the answer {value!r} of {options!r} gives {letter!r}")
    except records.OddRow:
        pass
    readers: tuple[Callable[[], Any], ...] = (
        lambda: records.texts(records.listed(value, "options"), "options", least=2),
        lambda: records.index(value, 4, "answer"),
        lambda: records.text({"cell": value}, "cell"),
        lambda: causalvqa_release.parse_answer(value, ["one", "two", "3"]),
    )
    for read in readers:
        try:
            read()
        except records.OddRow as odd:
            if not str(odd):
                raise Broken(f"no reason is given for {value!r}") from None


# --- Metrics ------------------------------------------------------------------------------------


def _scores(rng: random.Random, n: int) -> list[Any]:
    kind = rng.random()
    usual: tuple[Any, ...] = (0, 1, True, False, 0.0, 1.0)
    missing = (*usual, None, math.nan)
    odd = (*missing, math.inf, -1, 0.5, "1", "x", 2**70, b"")
    return rng.choices(usual if kind < 0.4 else missing if kind < 0.8 else odd, k=n)


def check_metrics(rng: random.Random) -> None:
    """Odd values give a share, NaN, or a ValueError with a message."""
    n = rng.choice((0, 1, 2, 3, 10, 40))
    first, second = _scores(rng, n), _scores(rng, rng.choice((n, n, n, n + 1)))
    ids = rng.choices((*range(8), "a", ""), k=n) if rng.random() < 0.9 else _scores(rng, n)
    number = rng.choice((0.0, 0.5, 1.0, -1.0, 2.0, math.nan, math.inf))
    count = rng.choice((-1, 0, 1, 2, 5))
    calls: tuple[Callable[[], Any], ...] = (
        lambda: accuracy.accuracy(first),
        lambda: paired.paired_accuracy(ids, first),
        lambda: paired.unpaired_accuracy(first),
        lambda: paired.consistency(ids, [str(value) for value in first]),
        lambda: accuracy.weighted_mean([number], [count]),
        lambda: intervals.wilson(count, n, number),
        lambda: intervals.accuracy_interval(first, clusters=ids),
        lambda: intervals.mean_interval(first, clusters=ids, draws=20),
        lambda: intervals.difference_interval(first, second, draws=20),
        lambda: intervals.mcnemar(first, second),
        lambda: principles.multi_frame_gain(number, rng.choice((0.0, 0.5, math.nan))),
        lambda: principles.frame_order_sensitivity(number, number),
        lambda: generation.best_pair([[number, 0.5]]),
        lambda: generation.parse_judge_score(_soup(rng)),
    )
    call = rng.choice(calls)
    try:
        share = call()
    except ValueError as error:
        if not str(error):
            raise Broken("a ValueError without a message") from None
        return
    is_share = call in calls[:4] and not math.isnan(share)
    if is_share and not 0 <= share <= 1:
        raise Broken(f"{share} is no share")


# --- Damaged files ------------------------------------------------------------------------------


def damaged(rng: random.Random, content: bytes) -> bytes:
    """A file's content with some of it cut off, changed, doubled or put elsewhere."""
    broken = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        if not broken:
            break
        place = rng.randrange(len(broken))
        end = min(len(broken), place + rng.choice((1, 1, 2, 8, 64)))
        match rng.randrange(8):
            case 0:
                broken[place] ^= 1 << rng.randrange(8)
            case 1:
                broken[place:end] = rng.randbytes(end - place)
            case 2:
                del broken[place:end]
            case 3:
                del broken[place:]
            case 4:
                broken[place:place] = broken[place:end]
            case 5:
                broken[place:end] = bytes(end - place)
            case _:
                broken[place:end] = rng.choice(
                    (b"\xff\xfe", b"{", b"]", b'"', b"\n", b"NaN", b"1e999")
                )
    return bytes(broken)


class StoreFiles:
    """A small store of valid files, each of which is then damaged and read.

    Args:
        folder: where to write it.

    Attributes:
        files: each file, its content, and what reads it.
    """

    def __init__(self, folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        base = folder / "tvbench"
        (base / "test").mkdir(parents=True)
        rows = [
            {"id": f"count/{n}", "task": "count", "question": f"How often? {n}",
             "options": ["one", "two", "three"], "answer": "ABC"[n % 3], "video": f"videos/{n}.mp4",
             "problem": "", "frames": 30 + n, "seconds": 1.5}
            for n in range(12)
        ]  # fmt: skip
        table = base / "test" / "questions.parquet"
        pq.write_table(pa.Table.from_pylist(rows), table)
        manifest = base / "manifest.json"
        manifest.write_text(json.dumps({"version": 1, "counts": {"test": 12}, "missing": []}))
        chosen = base / "picks.jsonl"
        entry = {"frame": 3, "n_frames": 30, "annotator": "me"}
        chosen.write_text(
            "".join(json.dumps({"id": f"count/{n}", **entry}) + "\n" for n in range(4))
        )
        samples = folder / "20260101_000000_samples_tvbench_tomato_count.jsonl"
        line = {"doc_id": 1, "doc": {"id": "count/1"}, "target": "A", "resps": [["B"]],
                "filtered_resps": ["B"], "arguments": [["prompt"]], "score": 0.0}  # fmt: skip
        samples.write_text("".join(json.dumps({**line, "doc_id": n}) + "\n" for n in range(4)))
        results = folder / "20260101_000000_results.json"
        results.write_text(json.dumps(
            {"results": {"tvbench_tomato_count": {"accuracy,none": 0.5, "alias": "count"}},
             "configs": {"tvbench_tomato_count": {"task": "tvbench_tomato_count"}},
             "n-samples": {"tvbench_tomato_count": {"original": 4, "effective": 4}}}
        ))  # fmt: skip
        self.files: tuple[tuple[Path, bytes, Callable[[], Any]], ...] = tuple(
            (path, path.read_bytes(), read)
            for path, read in (
                (table, lambda: questions.load_questions(table)),
                (manifest, lambda: store.read_manifest("tvbench", folder)),
                (chosen, lambda: picks.read_picks("tvbench", folder)),
                (samples, lambda: list(logs.read_samples(samples, logs.OddLines()))),
                (results, lambda: logs.find_runs([results])),
            )
        )
        for _, _, read in self.files:
            read()

    def check(self, rng: random.Random) -> None:
        """A damaged file is read, or refused in one sentence."""
        path, content, read = rng.choice(self.files)
        path.write_bytes(damaged(rng, content))
        try:
            read_or_refuse(path, read)
        finally:
            path.write_bytes(content)


def read_or_refuse(path: Path, read: Callable[[], Any]) -> bool:
    """Reads a file, and tells whether it was refused: that must say what is wrong."""
    try:
        read()
    except UserError as error:
        if not str(error):
            raise Broken(f"no reason is given for a damaged {path.name}") from None
        return True
    return False
