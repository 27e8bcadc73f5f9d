"""Mutants: small faults put into the code, one at a time, each of which a test has to notice.

Run: python -m tests.reliability.mutants [MODULE ...] [--most 200] [--workers 2] [--nice 19]

Cosmic Ray makes the mutants. Its own runner starts a new Python for each, and writes it into the
working tree; here a process that has imported the libraries forks, loads the mutant from memory in
place of the module, and runs the module's tests. Mutants that change annotations alone are left
out. Without `--most` a module takes minutes to an hour.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

TARGETS: dict[str, tuple[str, ...]] = {
    "metrics/accuracy.py": ("tests/metrics/test_accuracy.py",),
    "metrics/paired.py": ("tests/metrics/test_paired.py",),
    "metrics/principles.py": ("tests/metrics/test_principles.py",),
    "metrics/intervals.py": ("tests/metrics/test_intervals.py",),
    "metrics/answers/choice.py": ("tests/metrics/test_answers.py",),
    "preprocessing/sampling.py": ("tests/preprocessing/test_sampling.py",),
    "preprocessing/journal.py": ("tests/preprocessing/test_journal.py",),
    "preprocessing/files.py": (
        "tests/preprocessing/test_files.py",
        "tests/reliability/test_whole_or_not.py",
        "tests/reliability/test_crowd.py",
    ),
}
"""Module -> the tests that have to notice its mutants, the quickest first."""

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"metrics": "metrics", "preprocessing": "preprocessing", "lmms_eval_tasks": "tasks"}
LIBRARIES = ("numpy", "scipy.stats", "av", "PIL.Image", "filelock", "platformdirs", "hypothesis")


@dataclass(frozen=True)
class Mutant:
    """A module's source with one fault: its line, the fault's kind, and the whole text."""

    line: int
    kind: str
    source: str


class _InPlace(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a text in place of its file."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, name: str, *_: Any) -> Any:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, str(self.path), "exec", dont_inherit=True), module.__dict__)


def mutants(path: Path) -> Iterator[Mutant]:
    """All mutants of a module that differ in what is run."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    source = path.read_text(encoding="utf-8")
    seen = {_run(source)}
    for name in operator_names():
        kind = get_operator(name)
        if kind.arguments():
            continue
        places = [
            start
            for node in ast_nodes(get_ast(source))
            for start, _ in kind().mutation_positions(node)
        ]
        for occurrence, (line, _) in enumerate(places):
            text = mutate_code(source, kind(), occurrence)
            try:
                what = _run(text)
            except (SyntaxError, TypeError):
                continue
            if what not in seen:
                seen.add(what)
                yield Mutant(line, name.partition("/")[2], text)


def _run(source: str) -> str:
    """What is run of a source: everything but its annotations."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            node.annotation = ast.Constant(None)
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arguments):
            # The mark after which arguments must be named.
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.defaults += [each for each in node.kw_defaults if each is not None]
            node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
    return ast.dump(tree)


def passes(name: str, path: Path, source: str, tests: tuple[str, ...], limit: float) -> bool:
    """Whether the tests pass with a module of this source; what hangs does not pass."""
    child = os.fork()
    if not child:
        os.setsid()
        silent = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(silent, descriptor)
        code = 70
        try:
            import pytest

            sys.meta_path.insert(0, _InPlace(name, path, source))
            options = ("-x", "-q", "-p", "no:cacheprovider")
            code = int(pytest.main([*options, *tests]))
        finally:
            os._exit(code)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            _end(child)
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    _end(child)
    os.waitpid(child, 0)
    return False


def _end(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def judge(module: str, most: int | None, workers: int) -> tuple[int, int]:
    """Try a module's mutants, print those that live, and return how many were tried and killed."""
    path, tests = ROOT / module, TARGETS[module]
    folder, _, rest = module.removesuffix(".py").partition("/")
    name = ".".join(["video_reasoning", FOLDERS[folder], *rest.split("/")])
    source = path.read_text(encoding="utf-8")
    begin = time.monotonic()
    if not passes(name, path, source, tests, 3600):
        raise SystemExit(f"The tests of {module} fail without a mutant.")
    limit = 20 + 10 * (time.monotonic() - begin)
    every = list(mutants(path))
    some = every
    if most is not None and most < len(every):
        some = sorted(random.Random(0).sample(every, most), key=lambda each: each.line)
    killed = 0
    with ThreadPoolExecutor(workers) as pool:
        lived = pool.map(lambda each: passes(name, path, each.source, tests, limit), some)
        for mutant, alive in zip(some, lived, strict=True):
            killed += not alive
            if alive:
                old = source.splitlines()[mutant.line - 1].strip()
                new = mutant.source.splitlines()[mutant.line - 1].strip()
                print(
                    f"  lives: {module}:{mutant.line} {mutant.kind}: {old}  ->  {new}", flush=True
                )
    share = killed / len(some) if some else 1.0
    print(
        f"{module}: {len(every)} mutants, {len(some)} tried, {killed} killed ({share:.1%}), "
        f"{time.monotonic() - begin:.0f} s",
        flush=True,
    )
    return len(some), killed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--most", type=int, help="try so many of each module, drawn at random")
    parser.add_argument("--workers", type=int, default=1, help="how many at the same time")
    parser.add_argument("--nice", type=int, default=0)
    arguments = parser.parse_args()
    if unknown := [module for module in arguments.modules if module not in TARGETS]:
        parser.error(f"no tests are named for {', '.join(unknown)}; known are {', '.join(TARGETS)}")
    os.nice(arguments.nice)
    os.chdir(ROOT)
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # half of the time of a short test file
    for library in (*LIBRARIES, "pytest"):
        importlib.import_module(library)
    counts = [
        judge(each, arguments.most, arguments.workers) for each in arguments.modules or TARGETS
    ]
    tried, killed = (sum(column) for column in zip(*counts, strict=True))
    print(f"together: {tried} tried, {killed} killed ({killed / tried:.1%})")


if __name__ == "__main__":
    main()
