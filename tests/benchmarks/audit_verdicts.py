"""How often an audit's verdicts and intervals are right, by simulation; see docs/audit.md.

Run: python -m tests.benchmarks.audit_verdicts [--table NAME] [--repeats N]

A question has a latent difficulty that most conditions share, so that two conditions answer most
questions alike. With several questions a video, videos differ in difficulty too. The verdicts are
those of the audit's own code, with fewer bootstrap draws.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from video_reasoning.metrics.intervals import Estimate, accuracy_interval, difference_interval
from video_reasoning.tasks.audit.result import AuditResult
from video_reasoning.tasks.audit.variants import Variant, parse_all
from video_reasoning.tasks.audit.verdict import claims, corrected, verdict

VARIANTS = parse_all(("ordered", "shuffled", "random1", "last1", "blind"))
SIZES = (10, 30, 100, 300, 1000, 4000)
EFFECTS = (0, 2, 5, 10, 20)

_SHARED = 0.7  # of the questions have the same difficulty under two conditions
_BETWEEN = 0.15  # standard deviation of a video's accuracy
_HEADS = ("Temporal", "It takes several frames, but", "It takes several frames; their", "Static")


def simulated(
    shares: Mapping[str, float],
    n: int,
    generator: np.random.Generator,
    *,
    options: int = 4,
    per_video: int = 1,
    draws: int = 500,
) -> AuditResult:
    """Return the numbers of one simulated task, with the verdict that is made of them."""
    videos = np.arange(n) // per_video
    of_video = generator.normal(0, _BETWEEN if per_video > 1 else 0, n)[videos]
    difficulty = generator.random(n)
    labels = videos.tolist()
    scores = {}
    for name, share in shares.items():
        own = np.where(generator.random(n) < _SHARED, difficulty, generator.random(n))
        scores[name] = (own < np.clip(share + of_video, 0, 1)).astype(float).tolist()
    whole = scores["ordered16"]
    return AuditResult(
        "simulated",
        ("simulated",),
        n=n,
        chance=1 / options,
        accuracies={name: accuracy_interval(each, labels) for name, each in scores.items()},
        differences={
            name: difference_interval(each, whole, labels, draws=draws)
            for name, each in scores.items()
            if name != "ordered16"
        },
    )


def heads(shares: Mapping[str, float], n: int, repeats: int, **more: int) -> Counter[str]:
    """Count the summaries of some simulated tasks."""
    generator = np.random.default_rng(n)
    found: Counter[str] = Counter()
    for _ in range(repeats):
        summary = _summary(simulated(shares, n, generator, **more), VARIANTS)
        found[next((head for head in _HEADS if summary.startswith(head)), summary[:9])] += 1
    return found


def _summary(result: AuditResult, variants: tuple[Variant, ...]) -> str:
    # Only the summary is looked at: kappa, tau and what they say are not needed.
    kappa = Estimate(0.0, 0.0, 0.0, 0.95, result.n, result.n)
    names = ("kappa_random1", "kappa_last1", "kappa_blind", "tau")
    return verdict(replace(result, ratios=dict.fromkeys(names, kappa)), variants)[0]


def verdicts(given: argparse.Namespace) -> None:
    """Print the summaries by effect and number of questions."""
    print("Verdict by effect of order (points) and questions: Temporal / any order / little, %")
    for effect in EFFECTS:
        shares = _shares(0.6, 0.6 - effect / 100)
        cells = []
        for n in SIZES:
            found = heads(shares, n, given.repeats, draws=given.draws)
            cells.append(
                "/".join(f"{100 * found[head] / given.repeats:.0f}" for head in _HEADS[:3])
            )
        print(f"| {effect} | {' | '.join(cells)} |", flush=True)


def options(given: argparse.Namespace) -> None:
    """Print false summaries by number of options."""
    print("\nFalse Temporal, %, effect 0 and 2, by options (accuracy of guessing + 30 points)")
    for n_options in (2, 3, 4, 5):
        top = 1 / n_options + 0.3
        row = []
        for effect in (0, 2):
            shares = {
                **_shares(top, top - effect / 100),
                "random1": top - 0.15,
                "blind": 1 / options,
            }
            shares["last1"] = shares["random1"]
            more = {"options": n_options, "draws": given.draws}
            row.append(heads(shares, 1000, given.repeats, **more)["Temporal"])
        print(
            f"| {n_options} | {' | '.join(f'{100 * each / given.repeats:.1f}' for each in row)} |"
        )


def coverage(given: argparse.Namespace) -> None:
    """Print how often intervals hold the truth."""
    print("\nCoverage of 95% intervals, %: accuracy / difference, by questions a video and videos")
    for per_video in (1, 5, 10):
        cells = []
        for videos in (5, 10, 20, 50, 200):
            cells.append(_coverage(videos * per_video, per_video, given))
        print(f"| {per_video} | {' | '.join(cells)} |", flush=True)


def tasks(given: argparse.Namespace) -> None:
    """Print false summaries among twenty tasks."""
    generator = np.random.default_rng(7)
    families = max(20, given.repeats // 4)
    false = raw = 0
    for _ in range(families):
        group = [
            simulated(_shares(0.6, 0.58), 200, generator, draws=given.draws) for _ in range(20)
        ]
        raw += any(claims(task, VARIANTS)["temporal"] <= 0.025 for task in group)
        kappa = Estimate(0.0, 0.0, 0.0, 0.95, 200, 200)
        names = ("kappa_random1", "kappa_last1", "kappa_blind", "tau")
        with_ratios = [replace(task, ratios=dict.fromkeys(names, kappa)) for task in group]
        results = corrected(with_ratios, VARIANTS)
        false += any(result.verdict[0].startswith("Temporal") for result in results)
    print(
        f"\nAny false Temporal among 20 tasks (n = 200, effect 2), {families} audits: "
        f"{100 * raw / families:.1f}% uncorrected, {100 * false / families:.1f}% with Holm"
    )


TABLES = {"verdicts": verdicts, "options": options, "coverage": coverage, "tasks": tasks}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--table", choices=TABLES, help="Only this one.")
    given = parser.parse_args()
    print(f"{given.repeats} simulated tasks a cell, {given.draws} draws\n")
    for name, table in TABLES.items():
        if given.table in (None, name):
            table(given)


def _shares(ordered: float, shuffled: float) -> dict[str, float]:
    return {
        "ordered16": ordered,
        "shuffled16": shuffled,
        "random1": 0.4,
        "last1": 0.4,
        "blind": 0.25,
    }


def _coverage(n: int, per_video: int, given: argparse.Namespace) -> str:
    """Return how often the intervals of an accuracy and of a difference hold the truth."""
    generator = np.random.default_rng(n)
    hits = [0, 0]
    for _ in range(given.repeats):
        found = simulated(_shares(0.6, 0.5), n, generator, per_video=per_video, draws=given.draws)
        accuracy, lost = found.accuracies["ordered16"], found.differences["shuffled16"]
        hits[0] += accuracy.low <= 0.6 <= accuracy.high
        hits[1] += lost.low <= 0.1 <= lost.high
    return "/".join(f"{100 * each / given.repeats:.0f}" for each in hits)


if __name__ == "__main__":
    main()
