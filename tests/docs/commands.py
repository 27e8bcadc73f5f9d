"""The fenced blocks of the documentation, and the commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
SHELL = {"sh", "bash"}

_FENCE = re.compile(
    r"(?:^<!-- check: (?P<note>[^\n]*?) -->\n+)?"
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```",
    re.MULTILINE | re.DOTALL,
)
_HEREDOC = re.compile(r"<<'?(\w+)'?([^\n]*)\n.*?^\1$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")
_INNER = re.compile(r"\$\(((?!\()[^()]*(?:\([^()]*\)[^()]*)*)\)")
_ARITHMETIC = re.compile(r"\$\(\([^()]*\)\)")
_BEFORE = {"do", "then", "else", "!", "time", "{"}
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    note: str = ""

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"

    @property
    def has_prompts(self) -> bool:
        """Whether commands are the lines after a dollar sign, and the others their output."""
        return self.language not in SHELL and self.text.startswith("$ ")

    def steps(self) -> Iterator[tuple[str, str]]:
        """Yield each script with the output that the block itself shows for it."""
        if self.language in SHELL:
            yield self.text, ""
        elif self.has_prompts:
            script, shown = "", ""
            for line in self.text.splitlines(keepends=True):
                continues = not shown and script.endswith("\\\n")
                if not continues and line.startswith("$ "):
                    if script:
                        yield script, shown
                    script, shown = line[2:], ""
                elif continues:
                    script += line
                else:
                    shown += line
            yield script, shown

    def commands(self) -> Iterator[Command]:
        """Yield every command, those in `$(...)` too."""
        for script, _ in self.steps():
            for words in simple_commands(script):
                yield command(words, self.place)


@dataclass(frozen=True)
class Command:
    """A program with its arguments."""

    place: str
    words: tuple[str, ...]
    variables: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.place}: {shlex.join(self.words)}"


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page, without the indentation of a list."""
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        indent = found["indent"]
        lines = (line.removeprefix(indent) for line in found["text"].splitlines(keepends=True))
        line = text[: found.start("indent")].count("\n") + 1
        yield Block(page, line, found["language"], "".join(lines), found["note"] or "")


def inline_commands(page: Path) -> Iterator[Command]:
    """Yield the commands of ours that a page names in its text, as in `video-reasoning view`."""
    text = page.read_text(encoding="utf-8")
    text = _FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)
    for found in re.finditer(r"`((?:video-reasoning|lmms[_-]eval) [^`]+)`", text):
        line = text[: found.start()].count("\n") + 1
        place = f"{page.relative_to(ROOT).as_posix()}:{line}"
        for words in simple_commands(" ".join(found[1].split())):
            yield command(words, place)


def command(words: list[str], place: str) -> Command:
    """Return a command without the variables that are set in front of it."""
    words = list(words)
    assigned = []
    while words and _ASSIGNED.match(words[0]):
        assigned.append(words.pop(0).partition("="))
    if words[:1] == ["export"]:
        assigned += [word.partition("=") for word in words[1:]]
    variables = tuple(name for name, _, _ in assigned)
    values = tuple(value for _, _, value in assigned)
    return Command(place, tuple(words), variables, values)


def simple_commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each command of a shell script, without redirections."""
    script = _HEREDOC.sub(lambda found: f"{found[2]}\n", script)
    script = _COMMENT.sub("", script.replace("\\\n", " "))
    script = _ARITHMETIC.sub("0", re.sub(r"(?<=\s)\d(?=[<>])", "", script))
    while inner := _INNER.search(script):
        yield from simple_commands(inner[1])
        script = f"{script[: inner.start()]}INNER{script[inner.end() :]}"
    lexer = shlex.shlex(script, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    redirected = False
    for token in [*lexer, "\n"]:
        if set(token) <= set("<>&") and set(token) & set("<>"):
            redirected = True
        elif token and set(token) <= set(";&|()\n"):
            if words:
                yield words
            words = []
        elif redirected:
            redirected = False
        elif words or token not in _BEFORE:
            words.append(token)
