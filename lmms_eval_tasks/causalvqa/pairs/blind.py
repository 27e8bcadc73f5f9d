"""Which pairs a model answers without the video (CausalVQA, section 2.2.6).

A model that is right on both variants of a question has not needed the video: the pair is out. It
is asked on a server or locally, or its answers are read from logs of the harness's blind tasks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase

from video_reasoning.tasks.causalvqa.pairs.variants import Pair
from video_reasoning.tasks.llm.chat import Model, Replies
from video_reasoning.tasks.release.questions import QuestionsError
from video_reasoning.tasks.results.items import gather
from video_reasoning.tasks.results.logs import condition_of

PROMPT = (
    "You are an expert at answering multiple choice questions. You follow the following steps for "
    "this task:\n"
    "1. Read the Question. 2. Read the list of Possible Answers. It is supplied as a string of "
    "numbered answers separated by a pipe |. 3. Choose Your Answer from the Possible Answers – "  # noqa: RUF001
    "pick the one that is most correct. You must choose an answer, even if you are not sure. 4. "
    "Return Your Answer as a single string. Record Your Answer Number. Supply the Rationale for "
    "your answer.\n"
    "Responses must follow this format specifically: -----\n"
    'A. Your Answer: "Your Answer from the Possible Answers as a string" END\n'
    'B. Your Answer Number: "The number at the beginning of Your Answer returned as an integer" '
    "END\n"
    'C. Rationale: "the rationale for Your Answer" END\n'
    "-----\n"
    "Please double check to ensure your response fits the requested format. Missing the END line "
    "terminator is a common mistake you have made in the past. Another common mistake is not "
    "returning Your Answer or Your Answer Number in the correct format. A final common mistake is "
    "not choosing to answer a question.\n"
    "Using the above context and instructions, here is the material: Question: {question} Possible "
    "Answers: {options} Remember, you must provide only items A-C in the correct format. Do not "
    "repeat yourself or elements of the prompt. Do not give extraneous information other than "
    "items A-C."
)
"""The paper's prompt, word for word (appendix 9.4); its line breaks are not known."""

_NUMBER = re.compile(r"Your Answer Number\W*?:\W*?(\d{1,2})\b", re.I)

Right = Mapping[str, tuple[bool, bool]]
"""A pair's id -> whether a model was right on its first and on its second variant."""


def numbered(options: Sequence[str]) -> str:
    """Return options as one text: ``1. first|2. second``."""
    return "|".join(f"{number}. {text}" for number, text in enumerate(options, start=1))


def asked(
    pairs: Sequence[Pair],
    model: Model,
    replies: Replies,
    progress: Callable[[str, int, int], None],
) -> tuple[Right, int]:
    """Ask a model both variants of every question without the video.

    Returns:
        Where it was right, and how many replies have no number of an option; these are wrong.
    """
    variants = [(pair, *variant) for pair in pairs for variant in pair.variants()]
    prompts = [
        PROMPT.format(question=pair.question.question, options=numbered(options))
        for pair, options, _ in variants
    ]
    found = replies.ask(model, f"Blind answers of {model.name}", prompts, progress)
    right: dict[str, list[bool]] = {}
    unparsed = 0
    for (pair, options, answer), reply in zip(variants, found, strict=True):
        place = _place(reply, len(options))
        unparsed += place is None
        right.setdefault(pair.question.id, []).append(place == answer)
    return {name: (one, other) for name, (one, other) in right.items()}, unparsed


def _place(reply: str | None, count: int) -> int | None:
    """Return the place of the option that a reply names, from 0; the last number counts."""
    numbers = _NUMBER.findall(reply or "")
    place = int(numbers[-1]) - 1 if numbers else -1
    return place if 0 <= place < count else None


def logged(paths: Iterable[Path], pairs: Sequence[Pair]) -> dict[str, Right]:
    """Read the answers of blind runs over the pairs from the harness's sample logs.

    Args:
        paths: Output folders, results files or sample logs.
        pairs: The pairs.

    Returns:
        By the run's model: where it was right. A variant without an answer is wrong.

    Raises:
        QuestionsError: A log is of a task that shows something, of other questions, or of none of
            the pairs.
        LogError: There are no logs, or one cannot be read.
    """
    known = {pair.question.id: pair for pair in pairs}
    found: dict[str, dict[str, list[bool]]] = {}
    for log in gather(list(paths)):
        where = f"{log.log} ({log.task})"
        if condition_of(log.result.config) != "blind":
            raise QuestionsError(
                f"{where} is not of a blind task; name logs of tasks without a video."
            )
        items = [item for item in log.items if item.groups.get("qid") in known]
        if not items:
            raise QuestionsError(f"{where} has none of these pairs.")
        right = found.setdefault(f"{log.run.label}, {log.run.date}", {})
        for item in items:
            name, place = item.groups["qid"], int(item.groups["variant"]) - 1
            _, answer = known[name].variants()[place]
            if item.target and item.target != ascii_uppercase[answer]:
                raise QuestionsError(
                    f"{where} has another right answer to {item.id} than these pairs: it is of "
                    "other pairs, or of another seed."
                )
            right.setdefault(name, [False, False])[place] = item.score == 1
    return {
        label: {name: (one, other) for name, (one, other) in right.items()}
        for label, right in found.items()
    }
