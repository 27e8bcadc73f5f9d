"""The second variant of a question: its distractors in other words, its options in another order.

The right answer keeps its words (CausalVQA, section 2.2.5 and table 3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from video_reasoning.preprocessing.sampling import shuffled_order
from video_reasoning.tasks.llm.chat import Model, Replies
from video_reasoning.tasks.release.questions import Question

PROMPT = (
    "You are given a question, its right answer, and distractors: wrong answers that seem "
    "plausible. Rewrite each distractor. Substitute common sense (not overly stilted) synonyms "
    "for some words, more than one in general, and keep the meaning the same. A rewritten "
    "distractor must not mean the same as the right answer or as another distractor, and should "
    "be about as long as the right answer.\n"
    "Question: {question}\n"
    "Right answer: {answer}\n"
    "Distractors: {distractors}\n"
    "Reply with one line in exactly this format, with the {count} rewritten distractors in the "
    "order of the distractors, separated by |:\n"
    'Synonym Distractors: "first| second" END'
)
"""Our wording of step 8 of the paper's prompt (appendix 9.3), which makes new distractors, too."""

AGAIN = "\nYour last reply could not be used: {reason}. It was: {reply}"
"""Added to the prompt for another attempt, so that a greedy model writes something else."""

ATTEMPTS = 3
_REPLY = re.compile(r"Synonym Distractors\W*?:\s*[\"“\[]*(.+?)[\"”\]]*\s*\bEND\b", re.S | re.I)


@dataclass(frozen=True)
class Pair:
    """A question with a second variant of its options.

    Attributes:
        question: The question with its first variant.
        options: The options of the second variant.
        answer: Place of the right one among them, from 0.
    """

    question: Question
    options: tuple[str, ...]
    answer: int

    def variants(self) -> tuple[tuple[tuple[str, ...], int], ...]:
        """Return options and place of the right one, of both variants."""
        first = self.question.options, self.question.answer
        return first, (self.options, self.answer)


def reordered(question: Question, options: Sequence[str], seed: int) -> Pair:
    """Put a second variant's options into another order, drawn from the question's id and a seed.

    Args:
        question: The question.
        options: The second variant's options, in the order of the first's.
        seed: Another seed gives other orders. The order is never that of the first variant.
    """
    order = shuffled_order(len(options), question.id, seed)
    return Pair(question, tuple(options[place] for place in order), order.index(question.answer))


def paraphrased(
    questions: Sequence[Question],
    model: Model,
    replies: Replies,
    progress: Callable[[str, int, int], None],
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Have the distractors of all questions put in other words.

    Returns:
        By the question's id: the options in the order of the first variant, the right one
        unchanged; and why there are none, for the others.
    """
    found: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    prompts = {question.id: _prompt(question) for question in questions}
    for attempt in range(1, ATTEMPTS + 1):
        left = [question for question in questions if question.id not in found]
        purpose = "Paraphrases" if attempt == 1 else f"Paraphrases, attempt {attempt}"
        asked = replies.ask(model, purpose, [prompts[each.id] for each in left], progress)
        for question, reply in zip(left, asked, strict=True):
            try:
                found[question.id] = _options(question, reply)
            except ValueError as reason:
                reasons[question.id] = f"no paraphrase in {ATTEMPTS} attempts: {reason}"
                again = AGAIN.format(reason=reason, reply=reply)
                prompts[question.id] = _prompt(question) + again
    return found, {name: why for name, why in reasons.items() if name not in found}


def _prompt(question: Question) -> str:
    distractors = _distractors(question)
    return PROMPT.format(
        question=question.question,
        answer=question.options[question.answer],
        distractors="| ".join(distractors),
        count=len(distractors),
    )


def _distractors(question: Question) -> list[str]:
    return [text for place, text in enumerate(question.options) if place != question.answer]


def _options(question: Question, reply: str | None) -> list[str]:
    """Return the second variant's options, in the first's order.

    Raises:
        ValueError: The reply does not give them; the message is the reason.
    """
    if reply is None:
        raise ValueError("the model did not take the prompt")
    matches = _REPLY.findall(reply)
    if not matches:
        raise ValueError("it has no line in the format")
    texts = [part.strip().strip("\"'“”").strip() for part in matches[-1].split("|")]
    distractors = _distractors(question)
    if len(texts) != len(distractors) or not all(texts):
        raise ValueError(f"it has {len(texts)} distractors instead of {len(distractors)}")
    answer = question.options[question.answer]
    if len({each.casefold() for each in (*texts, answer)}) <= len(texts):
        raise ValueError("two of its options are the same")
    if same := [a for a, b in zip(texts, distractors, strict=True) if a.casefold() == b.casefold()]:
        raise ValueError(f"{same[0]!r} is not in other words")
    texts.insert(question.answer, answer)
    return texts
