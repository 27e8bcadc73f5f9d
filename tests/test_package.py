"""What a user installs holds everything, and imports nothing that it should not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from video_reasoning.tasks import registry

ROOT = Path(__file__).resolve().parents[1]
SOURCE_ONLY = ("CHANGELOG.md", "Makefile", "docs", "mkdocs.yml", "tests")
FOLDERS = {
    "metrics": "video_reasoning.metrics",
    "preprocessing": "video_reasoning.preprocessing",
    "lmms_eval_tasks": "video_reasoning.tasks",
}


def repository_files() -> set[str]:
    """Files of the three packages as they stand, by their path in the wheel."""
    found = set()
    for folder, name in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                relative = path.relative_to(ROOT / folder).as_posix()
                found.add(f"{name.replace('.', '/')}/{relative}")
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that nothing is left in the checkout."""
    import shutil

    copy = tmp_path_factory.mktemp("source") / "project"
    copy.mkdir()
    names = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", *FOLDERS, *SOURCE_ONLY)
    for name in names:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    result = subprocess.run(
        [
            sys.executable,
            "-c",
            "import setuptools.build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')",
        ],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert "absent from" not in result.stderr, "setuptools takes folders of data for packages"
    (built,) = (copy / "dist").glob("*.whl")
    return built


def test_the_wheel_holds_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    missing = repository_files() - names
    assert not missing


def test_the_source_distribution_can_be_tested(wheel: Path) -> None:
    (archive,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    listed = subprocess.run(
        ["git", "ls-files", *FOLDERS, *SOURCE_ONLY],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    wanted = set(listed) or {"docs/index.md", "Makefile", "tests/test_package.py"}
    assert not wanted - names
    with zipfile.ZipFile(wheel) as built:
        roots = {name.partition("/")[0] for name in built.namelist()}
    assert {root for root in roots if not root.endswith(".dist-info")} == {"video_reasoning"}


def test_a_bare_environment_finds_every_task(wheel: Path, tmp_path: Path) -> None:
    # Nothing of ours but the wheel, and of other packages only what the registry reads YAMLs with.
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for name in ("yaml", "_yaml", "platformdirs"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            (site / name).symlink_to(spec.submodule_search_locations[0])
    program = (
        "import json, sys\n"
        f"sys.path.insert(0, {str(site)!r})\n"
        "from video_reasoning.tasks import registry\n"
        "tasks = registry.our_tasks()\n"
        "print(json.dumps({name: str(task.path) for name, task in tasks.items()}))\n"
    )
    # -S: no site-packages, and so no editable install of this checkout either.
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert set(found) == set(registry.our_tasks())
    for path in found.values():
        assert Path(path).is_relative_to(site) and Path(path).is_file()


def imported_with(module: str) -> set[str]:
    """Top-level packages that importing a module brings in."""
    program = f"import sys, {module}; print('\\n'.join(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in result.stdout.split()} | set(result.stdout.split())


def test_the_metrics_import_neither_torch_nor_the_other_rooms() -> None:
    names = imported_with("video_reasoning.metrics.answers")
    assert not names & {"torch", "transformers", "lmms_eval", "av", "scipy", "pandas"}
    assert not {
        n for n in names if n.startswith(("video_reasoning.tasks", "video_reasoning.prepro"))
    }


def test_preprocessing_imports_neither_the_harness_nor_the_other_rooms() -> None:
    names = imported_with("video_reasoning.preprocessing.conditions")
    assert not names & {"torch", "transformers", "lmms_eval"}
    others = ("video_reasoning.tasks", "video_reasoning.metrics")
    assert not {name for name in names if name.startswith(others)}


@pytest.mark.parametrize(
    "module", ["launcher", "cli.app", "registry", "store", "benchmarks", "store.picks"]
)
def test_what_starts_first_is_light(module: str) -> None:
    names = imported_with(f"video_reasoning.tasks.{module}")
    assert not names & {"torch", "lmms_eval", "datasets", "pyarrow", "av", "numpy"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_room_imports_what_it_must_not(folder: str) -> None:
    forbidden = {
        "metrics": ("lmms_eval", "video_reasoning.tasks", "video_reasoning.preprocessing"),
        "preprocessing": ("lmms_eval", "video_reasoning.tasks", "video_reasoning.metrics"),
        "lmms_eval_tasks": (),
    }[folder]
    for path in (ROOT / folder).rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[:1] in (["import"], ["from"]):
                assert not words[1].startswith(forbidden or ("\0",)), f"{path}: {line}"


def test_pre_commit_runs_the_ruff_that_lint_runs() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    (pinned,) = (repo["rev"] for repo in hooks if repo["repo"].endswith("/ruff-pre-commit"))
    assert f'"ruff=={pinned.removeprefix("v")}"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_no_file_names_a_machine() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout")
    needles = [f"/{name}/" for name in ("root", "work/main", "home/user")]
    for name in tracked:
        path = ROOT / name
        assert path.stat().st_size <= 1_000_000, f"{name} is over 1 MB"
        if path.suffix in (".py", ".md", ".yaml", ".toml", ".yml", ".json", ".html", ".js"):
            text = path.read_text(encoding="utf-8")
            for needle in needles:
                assert needle not in text or name == "tests/test_package.py", f"{name}: {needle}"
    assert os.environ.get("HF_HUB_OFFLINE") == "1"


def test_one_opencv_is_installed() -> None:
    # Two distributions share the folder `cv2`: the one that needs libGL may overwrite the other.
    names = {str(each.metadata["Name"]).lower() for each in importlib.metadata.distributions()}
    assert {name for name in names if name.startswith("opencv-")} == {"opencv-python-headless"}
