"""CausalVQA's prompt: our own wording, or the authors' from a checkout of their repository.

The authors' text is theirs. A user who has their repository names its folder in
``VIDEO_REASONING_CAUSALVQA_REPOSITORY``, or once for all runs with ``video-reasoning prepare
causalvqa --repository FOLDER``, and the prompt is theirs to the letter. The run's sample log
(``prompt``) and the task's metadata say which one was used.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from video_reasoning.tasks import store
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.store.text_files import read_text

REPOSITORY_VARIABLE = "VIDEO_REASONING_CAUSALVQA_REPOSITORY"
"""Environment variable that names a checkout of the authors' repository."""

TEMPLATE = Path("tasks") / "_default_template_yaml"
"""Where the prompt is in that repository."""

RESPONSE_FORMAT = "Your Answer Letter: {letter} END"
"""The response format that the benchmark asks for."""

OPENINGS: Mapping[str, str] = {
    "video": "Watch the whole video before you decide, and choose the one option that fits it "
    "best.",
    "last": "You are shown only the last frame of the video. Choose the one option that fits best.",
    "blind": "You are not shown the video. Choose the one option that is most likely all the same.",
}
"""What is shown -> the first sentence of our instruction, which has to be true."""

ENDING = (
    "Finish your reply with a single line in exactly this format, with the letter of your "
    "choice ({letters}) alone in place of X:\n" + RESPONSE_FORMAT.format(letter="X")
)

THEIRS = "Question:{question}\nOption:\n{options}{instruction}"
"""How the authors' code joins question, options (a line ``(A) text`` each) and instruction."""

OURS = "own wording, version 1"


class PromptError(UserError):
    """The authors' prompt cannot be found where the user says it is."""


def build(question: str, options: Mapping[str, str], shown: str) -> str:
    """Return the whole prompt for one variant of a question.

    Args:
        question: The question's text.
        options: Letter -> option.
        shown: "video", "last" (the last frame) or "blind".

    Returns:
        The question, a line ``(A) text`` per option, and the instruction; with the authors'
        instruction also what their code writes around these.
    """
    lines = [f"({letter}) {text}" for letter, text in options.items()]
    theirs = authors()
    if theirs:
        options_text = "".join(f"{line}\n" for line in lines)
        return THEIRS.format(question=question, options=options_text, instruction=theirs)
    letters = list(options)
    ending = ENDING.format(letters=f"{letters[0]} to {letters[-1]}")
    return "\n".join([question.strip(), *lines, OPENINGS.get(shown, OPENINGS["video"]), ending])


def name() -> str:
    """Name the prompt for results: our version, or a digest of the authors' whole template."""
    theirs = authors()
    if not theirs:
        return OURS
    return f"authors' ({hashlib.sha256((THEIRS + theirs).encode()).hexdigest()[:12]})"


def authors() -> str:
    """Return the authors' instruction, or the empty text if ours is used.

    Raises:
        PromptError: The user names a repository that does not contain it.
    """
    folder = os.environ.get(REPOSITORY_VARIABLE, "").strip()
    if folder:
        return read(Path(folder).expanduser())
    manifest = store.read_manifest("causalvqa") or {}
    return str(manifest.get("authors_prompt") or "")


@lru_cache(maxsize=8)
def read(repository: Path) -> str:
    """Read the instruction (``post_prompt``) from a checkout of the authors' repository.

    Raises:
        PromptError: The file is absent or does not contain it.
    """
    path = repository / TEMPLATE
    try:
        loaded = yaml.load(read_text(path), _Loader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise PromptError(
            f"The authors' prompt cannot be read from {path} ({error}); name the folder of a "
            "checkout of the CausalVQA repository."
        ) from error
    found = _find(loaded)
    if not found:
        raise PromptError(
            f"{path} has no post_prompt; name the folder of a checkout of the CausalVQA repository."
        )
    return found


class _Loader(yaml.SafeLoader):
    """Reads what the harness's own tags mark as plain text."""


def _as_text(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Any:
    return loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else None


_Loader.add_multi_constructor("!", _as_text)


def _find(loaded: Any) -> str:
    """Return the first non-empty ``post_prompt`` at any depth."""
    if isinstance(loaded, dict):
        own = loaded.get("post_prompt")
        if isinstance(own, str) and own.strip():
            return own
        for value in loaded.values():
            found = _find(value)
            if found:
                return found
    return ""
