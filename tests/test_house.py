"""How the package is built: no number is computed twice, no import runs in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"metrics": "metrics", "preprocessing": "preprocessing", "lmms_eval_tasks": "tasks"}

ALLOWED: Mapping[str, str] = {
    "sample/observer/": "means over pixels and places that the sample's model looks at",
    "sample/tvbench.py: 15 / len(order)": "seconds per shape that is drawn",
    "sample/known.py: ALPHA / len(": "an error rate shared among the parts of a test",
    "sample/known.py: 1 / len(question": "the chance of one guess, which a distribution is made of",
    "handpick/agreement.py: 1 / len(set(": "the chance of one frame of a grid",
    "sight/": "means over pixels, by which frames are told apart",
    "audit/": "shares of positions and chances of one guess that metrics are made of",
}
"""Beginning of "file: expression" -> why it is not a number that a user sees."""

MEANS = {"fsum", "mean", "fmean", "average", "nanmean", "median"}


def modules() -> dict[str, Path]:
    """Dotted name -> file, of the three rooms."""
    found = {}
    for folder, name in ROOMS.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            found[".".join(("video_reasoning", name, *parts))] = file
    return found


MODULES = modules()
TREES = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in MODULES.items()}


def averages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of each mean, exact sum and division by a length in a module."""
    ours = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("video_reasoning.metrics")
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
            if name in MEANS and name not in ours and getattr(owner, "id", "") not in ours:
                yield node.lineno, ast.unparse(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            right = node.right
            if isinstance(right, ast.Call) and getattr(right.func, "id", "") == "len":
                yield node.lineno, ast.unparse(node)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("math.fsum(x)", 1),
        ("sum(x) / len(x)", 1),
        ("np.mean(x)", 1),
        ("x.mean()", 1),
        ("from video_reasoning.metrics.accuracy import mean\nmean(x)", 0),
        ("from video_reasoning.metrics import accuracy\naccuracy.mean(x)", 0),
        ("from statistics import mean\nmean(x)", 1),
        ("len(x) / 2", 0),
    ],
)
def test_an_average_is_found(text: str, found: int) -> None:
    assert len(list(averages(ast.parse(text)))) == found


def test_numbers_are_computed_in_the_metrics() -> None:
    base = ROOT / "lmms_eval_tasks"
    found = [
        f"{file.relative_to(base).as_posix()}: {text} (line {line})"
        for name, file in MODULES.items()
        if file.is_relative_to(base)
        for line, text in averages(TREES[name])
    ]
    outside = [each for each in found if not each.startswith(tuple(ALLOWED))]
    assert not outside, "\n".join(["computed outside metrics/:", *outside])


@pytest.mark.parametrize("place", ALLOWED)
def test_what_is_allowed_exists(place: str) -> None:
    assert (ROOT / "lmms_eval_tasks" / place.partition(":")[0]).exists()


# Imports


def target(name: str) -> str:
    """The module that a dotted name is in, or the empty text."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def imports(name: str) -> set[str]:
    """Every module of ours that a module imports, in function bodies too, but not for types."""
    tree = TREES[name]
    only_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in only_types:
            continue
        if isinstance(node, ast.Import):
            found |= {target(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            found |= {target(f"{base}.{alias.name}") for alias in node.names}
    return {each for each in found if each.startswith("video_reasoning.") and each != name}


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(edges.get(name, ())):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            circle = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(circle) > 1:
                found.append(circle)

    for name in edges:
        if name not in index:
            visit(name)
    return found


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_import_runs_in_a_circle() -> None:
    assert not circles({name: imports(name) for name in MODULES})


@pytest.mark.parametrize(
    "name", [name for name, file in MODULES.items() if file.name == "__init__.py"]
)
def test_a_package_is_a_face(name: str) -> None:
    """Re-exports with ``__all__``; no logic, but for a ``__getattr__`` that imports them late."""
    tree = TREES[name]
    assert ast.get_docstring(tree)
    lazy = [node for node in tree.body if ast.unparse(node).startswith("if TYPE_CHECKING:")]
    body = [*tree.body[1:], *(inner for node in lazy for inner in node.body)]
    plain = (ast.ImportFrom, ast.Import, ast.Assign, ast.AnnAssign)
    rest = [node for node in body if not isinstance(node, plain) and node not in lazy]
    assert [getattr(node, "name", "logic") for node in rest] == ["__getattr__"] * bool(lazy)
    imported = {
        alias.asname or alias.name
        for node in body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("video_reasoning")
        for alias in node.names
    }
    exported = [
        ast.literal_eval(node.value)
        for node in body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert [set(names) for names in exported] == [imported] * bool(imported)
