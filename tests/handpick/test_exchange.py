"""Agreement, one pick out of several, CSV, and the way into the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.handpick.stores import FRAMES, row, write_store
from video_reasoning.tasks.handpick.agreement import agreements, combine, differences
from video_reasoning.tasks.handpick.exchange import export_csv, import_csv, install, plan
from video_reasoning.tasks.handpick.items import Item, Prepared, known_ids
from video_reasoning.tasks.handpick.record import Decision
from video_reasoning.tasks.store.picks import Pick, PicksError, read_installed


def pick(
    annotator: str, item: int, frame: int, n_frames: int = 40, seconds: float | None = None
) -> Decision:
    return Decision(annotator, f"direction/{item}", frame, n_frames, seconds)


def skip(annotator: str, item: int) -> Decision:
    return Decision(annotator, f"direction/{item}", skip="all alike")


# Agreement


def test_agreement_in_numbers() -> None:
    (found,) = agreements(
        [
            pick("ana", 1, 5, seconds=0.5), pick("ben", 1, 5, seconds=0.5),
            pick("ana", 2, 10, seconds=1.0), pick("ben", 2, 13, seconds=1.3),
            pick("ana", 3, 39), pick("ben", 3, 30, seconds=3.0),
            pick("ana", 4, 0, n_frames=2), pick("ben", 4, 0, n_frames=2),
            pick("ana", 5, 1), skip("ben", 5),
            skip("ana", 6), skip("ben", 6),
            pick("ana", 7, 1), pick("ben", 7, 1, n_frames=41),
            pick("ana", 8, 1),
        ]
    )  # fmt: skip
    assert (found.first, found.second) == ("ana", "ben")
    # Compared are items 1 to 4: same in 1 and 4; distances 0, 3, 9 and 0 frames.
    assert (found.items, found.same, found.share) == (4, 2, 0.5)
    assert found.frames == 3.0
    # Both times are known in 1 and 2 alone.
    assert found.seconds == pytest.approx(0.15)
    # Three videos show 16 different frames, one shows 2.
    assert found.chance == pytest.approx((3 / 16 + 1 / 2) / 4)
    assert found.one_skipped == 1 and found.other_video == 1
    chance = found.chance or 0
    assert found.corrected.value == pytest.approx((0.5 - chance) / (1 - chance))
    assert -1 < found.corrected.low < found.corrected.value < found.corrected.high < 1


def test_the_items_on_which_annotators_differ() -> None:
    found = differences(
        [
            pick("ana", 1, 5, seconds=0.5), pick("ben", 1, 5, seconds=0.5),
            pick("ana", 2, 10, seconds=1.0), pick("ben", 2, 13, seconds=1.3),
            pick("ana", 3, 39, seconds=3.9), pick("ben", 3, 30, seconds=3.0), skip("cleo", 3),
            pick("ana", 4, 1), skip("ben", 4),
            skip("ana", 5), skip("ben", 5),
            pick("ana", 6, 1, seconds=0.1), pick("ben", 6, 9, n_frames=41, seconds=0.9),
            pick("ana", 7, 1),
        ]
    )  # fmt: skip
    names = [each.id.rpartition("/")[2] for each in found]
    assert names == ["3", "2", "6", "4"]  # the farthest apart first
    assert [each.seconds for each in found] == [pytest.approx(0.9), pytest.approx(0.3), None, None]
    assert (found[0].picked, found[0].skipped, found[2].other_video) == (2, 1, True)


def test_every_two_annotators_are_compared() -> None:
    names = ["cleo", "ana", "Zoë", "ben"]
    found = agreements([pick(name, 1, place) for place, name in enumerate(names)])
    assert [(pair.first, pair.second, pair.frames) for pair in found] == [
        ("Zoë", "ana", 1.0), ("Zoë", "ben", 1.0), ("Zoë", "cleo", 2.0),
        ("ana", "ben", 2.0), ("ana", "cleo", 1.0), ("ben", "cleo", 3.0),
    ]  # fmt: skip


def test_agreement_over_nothing_is_none_and_not_zero() -> None:
    assert agreements([pick("ana", 1, 1), pick("ben", 2, 1)]) == []
    (found,) = agreements([skip("ana", 1), pick("ben", 1, 1)])
    assert found.items == 0 and found.one_skipped == 1
    assert found.share is found.chance is found.frames is found.seconds is None


# One pick out of several


@pytest.mark.parametrize(
    ("frames", "median"),
    [([7], 7), ([3, 9], 3), ([9, 3], 3), ([1, 30, 4], 4), ([1, 4, 6, 30], 4), ([5, 5, 5, 9], 5)],
)
def test_the_median_and_of_two_middle_ones_the_earlier(frames: list[int], median: int) -> None:
    combined = combine([pick(f"p{n}", 1, frame) for n, frame in enumerate(frames)])
    who = " + ".join(f"p{n}" for n in range(len(frames)))
    assert combined.picks == [Pick("direction/1", median, 40, who)]


def test_skips_outvote_picks_when_there_are_more_of_them() -> None:
    even = [pick("ana", 1, 5), skip("ben", 1)]
    assert combine(even).picks == [Pick("direction/1", 5, 40, "ana")]
    more = combine([*even, skip("cleo", 1), skip("ana", 2)])
    assert more.picks == [] and more.skipped == ["direction/1", "direction/2"]


def test_models_in_files_of_earlier_versions_do_not_count() -> None:
    model = [pick("automatic:clip", 1, 30), pick("automatic:clip", 2, 30)]
    people = combine([*model, pick("ana", 1, 5)])
    assert people.picks == [Pick("direction/1", 5, 40, "ana")] and people.automatic == 2
    assert combine(model).picks == [] and combine(model).automatic == 2


def test_picks_on_different_videos_are_not_mixed() -> None:
    combined = combine([pick("ana", 1, 5), pick("ben", 1, 5, n_frames=41)])
    assert combined.picks == [] and combined.other_video == ["direction/1"]


# CSV


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [row(1), row(2), row(3), row(4, video="", problem="the question names no video")]
    return write_store(tmp_path_factory.mktemp("store"), rows)


@pytest.fixture(scope="module")
def items(home: Path) -> dict[str, Item]:
    return known_ids("tvbench", home)


def test_csv_there_and_back(tmp_path: Path, items: dict[str, Item]) -> None:
    decisions = [
        pick("ana", 1, 5, seconds=0.5),
        Decision("ana", "direction/2", skip='"odd", they said'),
        pick("clip b/32", 3, 7),
        pick("Ö 山", 1, 39),
    ]
    path = tmp_path / "picks.csv"
    assert export_csv(reversed(decisions), path) == 4
    assert path.read_text(encoding="utf-8").splitlines()[0] == (
        "annotator,id,frame,n_frames,seconds,skip"
    )
    found = import_csv(path, items)
    assert found.decisions == decisions and found.problems == []


@pytest.mark.parametrize(
    "text",
    [
        "annotator,id,frame\nana,direction/1,5\n",
        "\ufeffannotator;id;frame\r\nana;direction/1;5\r\n",
        "ID\tFrame\tAnnotator\tComment\ndirection/1\t5.0\tana\tfine\n\n",
        "id, frame ,annotator\ndirection/1, 5, ana\n",
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, items: dict[str, Item], text: str) -> None:
    path = tmp_path / "picks.csv"
    path.write_bytes(text.encode())
    # Without n_frames it is the length of the video in the store.
    assert import_csv(path, items).decisions == [pick("ana", 1, 5, FRAMES)]


def test_rows_without_a_name_get_the_annotator(tmp_path: Path, items: dict[str, Item]) -> None:
    path = tmp_path / "picks.csv"
    path.write_text("id,frame\ndirection/1,5\n")
    assert import_csv(path, items, "ben").decisions == [pick("ben", 1, 5, FRAMES)]
    (problem,) = import_csv(path, items).problems
    assert problem == "line 2: it names no annotator; give one with --annotator."


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ("ana,direction/9,1,40,,", "no question 'direction/9'"),
        ("ana,,1,40,,", "no question ''"),
        ("ana,direction/1,40,40,,", "frame 40 is not in a video of 40"),
        ("ana,direction/1,-1,40,,", "frame is '-1'"),
        ("ana,direction/1,1.5,40,,", "frame is '1.5'"),
        ("ana,direction/1,²,40,,", "frame is '²'"),
        ("ana,direction/1,,40,,", "frame is ''"),
        ("ana,direction/1,40,,,", "not in a video of 40 frames"),
        ("ana,direction/4,1,,,", "names no video"),
        ("ana,direction/1,1,40,nan,", "seconds is 'nan'"),
        ("ana,direction/1,1,40,,odd", "both a frame and a reason"),
        ("=1+1,direction/1,1,40,,", "not a name for an annotator"),
        ("automatic:clip,direction/1,1,40,,", "not handpicked"),
        ("ana,direction/1,99999999999999999999,40,,", "not a whole number"),
    ],
)
def test_an_odd_row_is_named_and_the_others_are_read(
    tmp_path: Path, items: dict[str, Item], cells: str, reason: str
) -> None:
    path = tmp_path / "picks.csv"
    path.write_text(
        f"annotator,id,frame,n_frames,seconds,skip\n{cells}\nana,direction/2,3,40,,\n",
        encoding="utf-8",
    )
    found = import_csv(path, items)
    assert found.decisions == [pick("ana", 2, 3)]
    (problem,) = found.problems
    assert problem.startswith("line 2: ") and reason in problem


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "lacks the columns id and frame"),
        (b"question,frame\nx,1\n", "lacks the columns id and frame"),
        (b"id,annotator\nx,1\n", "lacks the columns id and frame"),
        (b"id,frame\n\xff,1\n", "not UTF-8"),
        (b'id,frame\n"' + b"x" * 200_000 + b'",1\n', "cannot be read as CSV"),
    ],
)
def test_what_is_no_table_is_refused(
    tmp_path: Path, items: dict[str, Item], content: bytes, reason: str
) -> None:
    path = tmp_path / "picks.csv"
    path.write_bytes(content)
    with pytest.raises(PicksError, match=reason):
        import_csv(path, items)
    with pytest.raises(PicksError, match="cannot be read: No such file"):
        import_csv(tmp_path / "none.csv", items)


# Into the store


def test_the_store_gets_one_pick_an_item(home: Path) -> None:
    decisions = [
        pick("ana", 1, 5), pick("ben", 1, 9), skip("ana", 2),
        pick("ana", 3, 5, n_frames=41), pick("ana", 4, 2), pick("ana", 77, 1),
    ]  # fmt: skip
    done = plan(decisions, Prepared("tvbench", home))
    install(done)
    assert read_installed("tvbench", home) == {
        "direction/1": Pick("direction/1", 5, 40, "ana + ben"),
        "direction/4": Pick("direction/4", 2, 40, "ana"),
    }
    assert done.combined.skipped == ["direction/2"]
    assert done.changed == ["direction/3"] and done.unknown == ["direction/77"]


def test_nothing_to_install_leaves_the_store_as_it_is(home: Path) -> None:
    install(plan([pick("ana", 2, 7)], Prepared("tvbench", home)))
    with pytest.raises(PicksError, match="There is no pick to install"):
        plan([skip("ana", 1), pick("ana", 77, 1)], Prepared("tvbench", home))
    assert list(read_installed("tvbench", home)) == ["direction/2"]
