"""The questions to pick for, and samples of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.handpick.stores import row, write_store
from video_reasoning.tasks import store
from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.handpick.items import Item, known_ids, load_items, sample


def items(count: int) -> list[Item]:
    return [Item(f"direction/{n}", "direction", "?", (), "", None, "") for n in range(count)]


def test_items_come_in_the_order_of_the_store(tmp_path: Path) -> None:
    rows = [row(3), row(1), row(2, problem="it is broken.")]
    loaded = load_items("tvbench", home=write_store(tmp_path, rows))
    assert [item.id for item in loaded] == ["direction/3", "direction/1", "direction/2"]
    assert loaded[0].options == ("Up.", "Down.", "Left.", "Right.")
    assert loaded[0].video == tmp_path / "tvbench/videos/object/3.mp4"
    assert [item.problem for item in loaded] == ["", "", "it is broken."]
    assert set(known_ids("tvbench", tmp_path)) == {item.id for item in loaded}


def test_a_video_outside_the_store_is_not_shown(tmp_path: Path) -> None:
    rows = [row(1, video="../../secret.mp4"), row(2, video="/etc/passwd"), row(3, video="")]
    for item in load_items("tvbench", home=write_store(tmp_path, rows)):
        assert item.video is None and item.problem


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("videos/a b.mp4", True),
        ("videos/..a.mp4", True),
        ("", False),
        ("/etc/passwd", False),
        ("..", False),
        ("videos/../../x", False),
        ("videos\\..\\..\\x", False),
        ("C:\\x", False),
        ("C:x", False),
    ],
)
def test_paths_that_lead_out_are_seen(tmp_path: Path, name: str, stays: bool) -> None:
    assert store.inside(name, tmp_path) is stays


def test_a_link_out_of_the_store_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "tvbench"
    (tmp_path / "disk").mkdir()
    (folder / "clips").mkdir(parents=True)
    (tmp_path / "private.mp4").touch()
    (tmp_path / "disk/b.mp4").touch()
    (folder / "videos").symlink_to(tmp_path / "disk")  # the owner's own
    (folder / "clips/a.mp4").symlink_to(tmp_path / "private.mp4")
    assert not store.inside("clips/a.mp4", folder)
    assert store.inside("videos/b.mp4", folder)


def test_nothing_prepared_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="video-reasoning prepare tvbench"):
        load_items("tvbench", home=tmp_path)


def test_a_damaged_table_is_one_sentence(tmp_path: Path) -> None:
    path = store.questions_file("tvbench", "test", tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no table")
    with pytest.raises(StoreError, match=r"cannot be read .* run `video-reasoning prepare`"):
        load_items("tvbench", home=tmp_path)


def test_a_sample_depends_on_ids_and_seed_alone() -> None:
    population = items(1000)
    drawn = [item.id for item in sample(population, 200, 0)]
    shuffled = population[:]
    random.Random(1).shuffle(shuffled)
    assert [item.id for item in sample(shuffled, 200, 0)] == drawn
    assert [item.id for item in sample(population, 50, 0)] == drawn[:50]
    assert len(set(drawn)) == 200
    assert {item.id for item in sample(population, 200, 1)} != set(drawn)
    # Fixed for good: another machine, or a later version, must draw the same.
    assert [item.id for item in sample(items(20), 4, 0)] == KNOWN


# The four smallest of sha256("handpick\0" "0\0" id), reckoned with `printf ... | sha256sum`.
KNOWN = ["direction/10", "direction/9", "direction/16", "direction/1"]


def test_a_sample_spreads_over_the_population() -> None:
    firsts = [sample(items(100), 1, seed)[0].id for seed in range(300)]
    assert len(set(firsts)) > 80


def test_a_sample_larger_than_the_population_is_all_of_it() -> None:
    assert {item.id for item in sample(items(5), 10)} == {item.id for item in items(5)}
