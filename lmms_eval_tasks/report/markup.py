"""The elements that a report's page is made of.

Text becomes markup only through :func:`tag`, which escapes whatever is not markup already. So a
response that holds a script shows as the text that it is.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from video_reasoning.tasks.report.plots import Plot, colour

__all__ = [
    "Content",
    "Markup",
    "breakable",
    "figure",
    "mark",
    "scrolled",
    "sound",
    "table_row",
    "tag",
]

_MARKS = ("●", "■", "▲", "◆", "▼", "✚")


class Markup(str):
    """Text that is markup already."""


Content = str | Markup | Iterable["Content"] | None


def tag(name: str, *content: Content, **attributes: object) -> Markup:
    """An element; texts and attribute values are escaped.

    Args:
        name: of the element.
        content: markup stays as it is, text is escaped, lists are joined, None is nothing.
        attributes: ``class_`` and the like lose their underscore; None leaves one out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(sound(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in ("img", "meta", "br"):
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{_inner(content)}</{name}>")


def _inner(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return html.escape(sound(content))
    return "".join(_inner(part) for part in content)


def sound(text: str) -> str:
    """Without halves of letters and control characters, which no page may hold."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(
        letter
        if letter in "\n\t" or (letter >= " " and not "\x7f" <= letter <= "\x9f")
        else "\ufffd"
        for letter in text
    )


def scrolled(head: Sequence[Content], rows: Iterable[Markup]) -> Markup:
    """A table that scrolls in its own box where the screen is narrower."""
    header = tag("thead", tag("tr", [tag("th", text, scope="col") for text in head]))
    return tag("div", tag("table", header, tag("tbody", list(rows))), class_="scroll", tabindex="0")


def table_row(first: Content, cells: Iterable[Content], kind: str | None = None) -> Markup:
    """A row of a table; cells that are no markup of a cell become one."""
    shown_cells = [
        cell if isinstance(cell, Markup) and cell.startswith("<td") else tag("td", cell)
        for cell in cells
    ]
    return tag("tr", tag("th", first, scope="row"), shown_cells, class_=kind)


def mark(place: int) -> Markup:
    """The mark of a run, by its place in the report."""
    return tag("span", _MARKS[place % len(_MARKS)], class_="mark", style=f"color:{colour(place)}")


def breakable(name: str) -> Markup:
    """A name that a narrow column may break after its underscores."""
    return Markup(_inner(name).replace("_", "_<wbr>"))


def figure(plot: Plot) -> Markup:
    """A plot with its title above it."""
    return tag(
        "figure",
        tag("figcaption", plot.title),
        tag("img", src=plot.uri, alt=plot.description),
    )
