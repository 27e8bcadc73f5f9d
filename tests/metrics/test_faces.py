"""The packages' public names, and the examples in their docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

from video_reasoning import metrics, preprocessing

MODULES = [
    module.name
    for package in (metrics, preprocessing)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("name", [metrics.__name__, preprocessing.__name__, *MODULES])
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [finder.find(importlib.import_module(name)) for name in MODULES]
    assert sum(len(test.examples) for tests in found for test in tests) > 30


def test_public_names_are_those_of_their_modules() -> None:
    for name in metrics.__all__:
        assert getattr(metrics, name).__name__ == name
        assert getattr(metrics, name).__module__.startswith("video_reasoning.metrics.")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = metrics.nothing


def test_the_face_is_light() -> None:
    program = (
        "import sys; from video_reasoning.metrics import extract_choice;"
        "print('numpy' in sys.modules);"
        "from video_reasoning.metrics import *; print({'torch', 'scipy'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.split("\n")[:2] == ["False", "set()"]
