"""How alike annotators pick, the items on which they differ, and one pick out of several.

The numbers are over the items that both of two annotators picked a frame for: the share of same
frames, the share that two blind pickers would reach, what is left of the first beyond the second,
and mean distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median_low

from video_reasoning.metrics.accuracy import mean
from video_reasoning.metrics.agreement import chance_corrected
from video_reasoning.metrics.intervals import Estimate
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks.handpick.record import Decision
from video_reasoning.tasks.pages.frames import GRID
from video_reasoning.tasks.store.picks import AUTOMATIC, Pick


@dataclass(frozen=True)
class Agreement:
    """What two annotators have in common.

    Attributes:
        items: Items for which both picked a frame of the same video; `same` to `seconds` are
            over these.
        same: For how many of them they picked the same frame.
        corrected: (share - chance) / (1 - chance) with an interval; 1 alike, 0 at chance.
        chance: The share of same frames that is expected when both pick blindly among the
            frames shown (1/16, more for videos with fewer frames); None without items.
        frames: Mean distance of the two picks in frames of the video; None without items.
        seconds: Mean distance in seconds, over the items whose times are known; None without.
        one_skipped: Items that one picked a frame for and the other skipped.
        other_video: Items picked on videos of different length, which cannot be compared.
    """

    first: str
    second: str
    items: int
    same: int
    corrected: Estimate
    chance: float | None
    frames: float | None
    seconds: float | None
    one_skipped: int
    other_video: int

    @property
    def share(self) -> float | None:
        """Share of the items for which both picked the same frame, 0 to 1."""
        return self.same / self.items if self.items else None


def agreements(decisions: Iterable[Decision]) -> list[Agreement]:
    """Compare every two annotators who decided anything for the same item, by name."""
    of: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        of.setdefault(decision.annotator, {})[decision.id] = decision
    return [
        _compare(first, second, of[first], of[second])
        for first, second in combinations(sorted(of), 2)
        if of[first].keys() & of[second].keys()
    ]


def _compare(
    first: str, second: str, ours: Mapping[str, Decision], theirs: Mapping[str, Decision]
) -> Agreement:
    both = [(ours[name], theirs[name]) for name in sorted(ours.keys() & theirs.keys())]
    picked = [pair for pair in both if pair[0].state == pair[1].state == "picked"]
    alike = [pair for pair in picked if pair[0].n_frames == pair[1].n_frames]
    grids = [len(set(uniform_indices(a.n_frames or 1, GRID))) for a, _ in alike]
    corrected = chance_corrected([[a.frame, b.frame] for a, b in alike], [1 / n for n in grids])
    distances = [abs((a.frame or 0) - (b.frame or 0)) for a, b in alike]
    times = [
        abs(a.seconds - b.seconds)
        for a, b in alike
        if a.seconds is not None and b.seconds is not None
    ]
    return Agreement(
        first=first,
        second=second,
        items=len(alike),
        same=distances.count(0),
        corrected=corrected.corrected,
        chance=corrected.chance if alike else None,
        frames=_mean(distances),
        seconds=_mean(times),
        one_skipped=sum({a.state, b.state} == {"picked", "skipped"} for a, b in both),
        other_video=len(picked) - len(alike),
    )


@dataclass(frozen=True)
class Difference:
    """An item on which annotators differ.

    Attributes:
        picked: How many picked a frame, of those who decided.
        skipped: How many skipped it.
        seconds: Between the earliest and the latest pick; None if times are not known or there
            are not two picks.
        other_video: Whether they saw videos of different length.
    """

    id: str
    picked: int
    skipped: int
    seconds: float | None
    other_video: bool


def differences(decisions: Iterable[Decision]) -> list[Difference]:
    """Return the items on which annotators picked different frames, or some skipped.

    The farthest apart come first, then those without times, then those that some skipped.
    """
    found = []
    for name, group in by_item(decisions):
        picked = [decision for decision in group if decision.state == "picked"]
        lengths = {decision.n_frames for decision in picked}
        skipped = len(group) - len(picked)
        if len({decision.frame for decision in picked}) < 2 and not (picked and skipped):
            continue
        times = [decision.seconds for decision in picked if decision.seconds is not None]
        apart = len(times) == len(picked) > 1 and len(lengths) == 1
        seconds = max(times) - min(times) if apart else None
        found.append(Difference(name, len(picked), skipped, seconds, len(lengths) > 1))

    def rank(each: Difference) -> tuple[bool, bool, float, str]:
        return each.picked < 2, each.seconds is None, -(each.seconds or 0), each.id

    return sorted(found, key=rank)


def _mean(values: Sequence[float]) -> float | None:
    return mean(values) if values else None


@dataclass(frozen=True)
class Combined:
    """One pick for each item, and what was left out.

    Attributes:
        picks: The picks, in order of id.
        skipped: Ids of items that more annotators skipped than picked a frame for.
        other_video: Ids of items whose annotators saw videos of different length.
        automatic: Number of decisions of models, which earlier versions made; never used.
    """

    picks: Sequence[Pick]
    skipped: Sequence[str]
    other_video: Sequence[str]
    automatic: int


def combine(decisions: Iterable[Decision]) -> Combined:
    """Make one pick for each item out of those of several annotators.

    The pick is the median of the frames; of an even number of picks it is the earlier of the two
    in the middle. So it is always a frame that somebody picked. An item that more annotators
    skipped than picked a frame for has no pick.
    """
    everything = list(decisions)
    people = [one for one in everything if not one.annotator.startswith(AUTOMATIC)]
    picks, skipped, other_video = [], [], []
    for name, group in by_item(people):
        picked = [decision for decision in group if decision.state == "picked"]
        if len(group) - len(picked) > len(picked):
            skipped.append(name)
        elif len({decision.n_frames for decision in picked}) > 1:
            other_video.append(name)
        else:
            frame = median_low(decision.frame or 0 for decision in picked)
            who = " + ".join(decision.annotator for decision in picked)
            picks.append(Pick(name, frame, picked[0].n_frames or 1, who))
    return Combined(picks, skipped, other_video, len(everything) - len(people))


def by_item(decisions: Iterable[Decision]) -> Iterator[tuple[str, list[Decision]]]:
    """Group decisions by item, in order of id; within an item by annotator."""
    groups: dict[str, list[Decision]] = {}
    for decision in decisions:
        groups.setdefault(decision.id, []).append(decision)
    for name in sorted(groups):
        yield name, sorted(groups[name], key=lambda decision: decision.annotator)
