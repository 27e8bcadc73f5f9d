"""``sample_observer``: a model that looks at the sample's videos and answers from them.

It reads the clip that it is handed as other models do (decord), finds the colored things,
follows them from frame to frame, and reads the question with the sample's phrase books. It
sees no annotation, no file name and no document; what the frames do not settle, it guesses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import pairwise
from string import ascii_uppercase

from video_reasoning.tasks.models.base import Query, WeightlessModel, draw
from video_reasoning.tasks.sample.observer.solvers import claim_holds, describe, solve
from video_reasoning.tasks.sample.observer.vision import Footage, observe
from video_reasoning.tasks.sample.wording import (
    CAUSALVQA_ANSWERS,
    CAUSALVQA_QUESTIONS,
    CLAIMS,
    REPLIES,
    TVBENCH_ANSWERS,
    TVBENCH_QUESTIONS,
    Phrasebook,
)

_BOOKS = ((TVBENCH_QUESTIONS, TVBENCH_ANSWERS), (CAUSALVQA_QUESTIONS, CAUSALVQA_ANSWERS))

_TAGGED = re.compile(
    r"<question>\s*(.*?)\s*</question>\s*<options>\s*(\{.*?\})\s*</options>", re.DOTALL
)
_LISTED = re.compile(r"^\s*\(?([A-Z])[.)]\s+(.+?)\s*$", re.MULTILINE)
_HYPOTHESIS = re.compile(r"Hypothesis:\s*(.+?)\s*(?:\n|Given the video|$)", re.DOTALL)


def options_in(prompt: str) -> dict[str, str]:
    """Read letter -> option out of a prompt; empty if it has no options.

    They may be a mapping in ``<options>``, lines ``(A) text`` or ``A. text``, or a line
    ``A. text B. text``.
    """
    tagged = _TAGGED.search(prompt)
    if tagged:
        try:
            listed = ast.literal_eval(tagged.group(2))
        except (SyntaxError, ValueError):
            listed = {}
        if isinstance(listed, Mapping):
            return {str(letter): str(text) for letter, text in listed.items()}
    lines = _LISTED.findall(prompt)
    if len(lines) > 1:
        return dict(lines)
    options: dict[str, str] = {}
    rest = re.search(r"(?:^|[\s:])A\.\s+(.*)", prompt)
    text = rest.group(1) if rest else ""
    for letter, following in pairwise(f"{ascii_uppercase}\n"):
        if text:
            option, *others = re.split(rf"\s{following}\.\s+", text, maxsplit=1)
            options[letter] = option.strip()
            text = others[0] if others else ""
    return options if len(options) > 1 else {}


def _question_in(prompt: str) -> tuple[str, Mapping[str, str], Phrasebook] | None:
    """Find a question of the sample in a prompt: kind, slots, and the book of its answers."""
    tagged = _TAGGED.search(prompt)
    lines = [tagged.group(1)] if tagged else prompt.splitlines()
    for line in lines:
        for questions, answers in _BOOKS:
            reading = questions.read(line)
            if reading:
                return reading.meaning, reading.slots, answers
    return None


def _choose(prompt: str, options: Mapping[str, str], footage: Footage) -> tuple[list[str], bool]:
    """Return the letters that remain possible, and whether the footage singled one out."""
    question = _question_in(prompt)
    if question is not None:
        kind, slots, answers = question
        key = solve(kind, slots, footage)
        readings = {letter: answers.read(text) for letter, text in options.items()}
        fitting = [letter for letter, one in readings.items() if one and one.key == key]
        return (fitting, True) if len(fitting) == 1 else (list(options), False)
    verdicts = {}
    for letter, text in options.items():
        claim = CLAIMS.read(text)
        verdicts[letter] = claim_holds(claim.meaning, claim.slots, footage) if claim else None
    true = [letter for letter, verdict in verdicts.items() if verdict]
    if len(true) == 1:
        return true, True
    unknown = [letter for letter, verdict in verdicts.items() if verdict is None]
    return (unknown if unknown else list(options)), False


def answer(prompt: str, footage: Footage, repeat: int = 0) -> str:
    """Answer a prompt from what was seen, in one of many wordings; `repeat` counts from 0."""
    # One picture says as little as any other if the order of pictures is asked for: the
    # guess then rests on the question alone, and the choice of the picture changes nothing.
    seed = (prompt, "" if footage.still else footage.digest)
    hypothesis = _HYPOTHESIS.search(prompt)
    if hypothesis:
        claim = CLAIMS.read(hypothesis.group(1))
        verdict = claim_holds(claim.meaning, claim.slots, footage) if claim else None
        if verdict is None:
            verdict = bool(draw(2, "verdict", repeat, *seed))
        words = REPLIES["yes" if verdict else "no"]
        return words[(draw(len(words), "form", *seed) + repeat) % len(words)]
    options = options_in(prompt)
    if not options:
        return _tell(prompt, footage, repeat)
    letters, _ = _choose(prompt, options, footage)
    letter = letters[(draw(len(letters), "letter", *seed) + repeat) % len(letters)]
    forms = REPLIES["end" if "Your Answer Letter" in prompt else "letter"]
    form = forms[(draw(len(forms), "form", *seed) + repeat) % len(forms)]
    return form.format(letter=letter, text=options[letter])


def _tell(prompt: str, footage: Footage, repeat: int) -> str:
    """Answer an open question in a sentence or more."""
    if footage.empty:
        return "I do not see anything in this video." + " Nothing at all." * (repeat > 0)
    ideas, links = REPLIES["ideas"], REPLIES["links"]
    place = draw(len(ideas), "idea", prompt, footage.digest) + repeat
    claims = describe(footage)
    sentences = [CLAIMS.write(meaning, repeat, **slots) for meaning, slots in claims]
    link = links[repeat % len(links)]
    if sentences and link:
        sentences[0] = link + sentences[0][0].lower() + sentences[0][1:]
    if len(claims) < 2:
        # Nothing but the beginning is known.
        sentences.append(ideas[place % len(ideas)])
    return " ".join(sentences)


class SampleObserver(WeightlessModel):
    """Looks at what it is handed and answers the sample's questions from it."""

    def respond(self, query: Query) -> str:
        """Look, then answer; if nothing can be read, say so or guess."""
        return answer(query.prompt, observe(query.visuals), query.repeat)


class SampleObserverChat(SampleObserver):
    """``SampleObserver`` for the harness's chat requests."""

    is_simple = False
