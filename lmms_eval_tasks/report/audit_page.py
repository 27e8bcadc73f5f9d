"""The part of a page that holds audits."""

# Greek letters as the papers print them:
# ruff: noqa: RUF001

from __future__ import annotations

import math
from collections.abc import Mapping

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.tasks.audit.result import Audit, AuditResult
from video_reasoning.tasks.report.audits import (
    MEASURES,
    PAPER_BENCHMARKS,
    AuditPart,
    ListedExample,
    condition_label,
    measure_label,
    members_of,
    paper_gain,
    reference,
    text_of,
)
from video_reasoning.tasks.report.markup import (
    Content,
    Markup,
    breakable,
    figure,
    mark,
    scrolled,
    table_row,
    tag,
)
from video_reasoning.tasks.report.plots import Gain, Line, Plot, Point, forest, gains
from video_reasoning.tasks.report.tables import percent
from video_reasoning.tasks.results.principles import PAPER_MODELS

__all__ = ["audit_section"]

_RIGHT = 0.5
_MOST_ROWS = 24
"""Rows of a plot, at most: a page over more tasks has them in its tables."""


def audit_section(part: AuditPart, first: int, paper: Markup | None) -> Markup:
    """The section.

    Args:
        part: the audits.
        first: place of the first audit's mark, after those of the runs.
        paper: the table of audited tasks beside the paper's.
    """
    top = part.top()
    several = len(part.audits) > 1
    parts: list[Content] = [
        tag("h2", "Audit"),
        tag(
            "p",
            "Each task's questions were asked again with the frames shuffled, with one frame and "
            "without any, and judged by the task's own metric. What is left of its accuracy says "
            "what the questions need, as far as the model that was asked can show it.",
            class_="soft",
        ),
        [tag("p", text, class_="warn") for text in part.problems],
        _overview(part, first) if top else None,
    ]
    if paper is not None:
        plots = [plot for measure in MEASURES if (plot := _gains(part, first, measure))]
        parts += [paper, tag("div", [figure(plot) for plot in plots], class_="plots")]
    for name, audited in top.items():
        parts.append(tag("h3", breakable(name), id=f"audit-{name}"))
        for audit, result in audited:
            heading = tag("h4", mark(first + part.place(audit)), " ", part.names[audit.file])
            parts.append(heading if several else None)
            parts.append(_result(part, first, audit, result))
    refused = part.refused()
    if refused:
        parts.append(tag("h3", "Not audited"))
        parts.append(
            tag(
                "ul",
                [
                    tag(
                        "li",
                        tag("strong", result.name),
                        f" ({part.names[audit.file]}): " if several else ": ",
                        result.refused,
                        [f" {note}" for note in result.notes],
                    )
                    for audit, result in refused
                ],
            )
        )
    return tag("section", parts, id="audit")


def _value(found: Estimate | None) -> Markup:
    if found is None:
        return tag("td", "–")
    text, detail = text_of(found)
    hint = f"{found.n:,} questions about {found.n_clusters:,} videos; {found.level:.0%} interval"
    return tag("td", text, tag("small", detail) if detail else None, title=hint)


def _overview(part: AuditPart, first: int) -> Markup:
    rows = []
    for name, audited in part.top().items():
        for audit, result in audited:
            who = tag("div", mark(first + part.place(audit)), "\u00a0", part.names[audit.file])
            blind = next((v for k, v in result.accuracies.items() if k == "blind"), None)
            cells: list[Content] = [
                tag("td", _brief(result) or "–", class_="text wide"),
                f"{result.n:,}",
                _value(reference(result)),
                _value(blind),
                percent(None if math.isnan(result.chance) else result.chance),
                *(
                    _value(result.ratios.get(measure))
                    for measure in ("kappa_random1", "kappa_last1", "tau", "rho")
                ),
            ]
            link = tag("a", breakable(name), href=f"#audit-{name}")
            rows.append(table_row([link, who], cells))
    head = [
        "Task and model",
        "Verdict",
        "Questions",
        "In order",
        "No frame",
        "Guessing",
        *map(measure_label, ("kappa_random1", "kappa_last1", "tau", "rho")),
    ]
    header = [
        tag("th", name, scope="col", class_="text" if place == 1 else None)
        for place, name in enumerate(head)
    ]
    whole = tag("table", tag("thead", tag("tr", header)), tag("tbody", rows))
    return tag("div", whole, class_="scroll", tabindex="0")


def _brief(result: AuditResult) -> str:
    """The verdict's first sentence without its explanation, or the empty text."""
    first, so_that, _ = (result.verdict[0] if result.verdict else "").partition(", so that")
    return f"{first}." if so_that else first


def _gains(part: AuditPart, first: int, measure: str) -> Plot | None:
    """Each audited task's gain, and under them the paper's benchmarks."""
    rows = []
    for name, audited in part.top().items():
        points = []
        for audit, result in audited:
            found = result.ratios.get(measure)
            if found is not None and not math.isnan(found.value):
                ends = [None if math.isnan(end) else 100 * end for end in (found.low, found.high)]
                points.append(Point(first + part.place(audit), 100 * found.value, *ends))
        if points:
            rows.append(Gain(name, points))
    if not rows:
        return None
    rows = rows[:_MOST_ROWS]
    for benchmark in PAPER_BENCHMARKS:
        printed = [paper_gain(benchmark, model, measure) for model in PAPER_MODELS]
        rows.append(Gain(benchmark, (), printed))
    return gains(f"{measure_label(measure)}, with intervals", rows, PAPER_MODELS)


def _result(part: AuditPart, first: int, audit: Audit, result: AuditResult) -> Markup:
    place = first + part.place(audit)
    parts: list[Content] = []
    if result.verdict:
        summary = tag("strong", result.verdict[0])
        rest = tag("ul", [tag("li", text) for text in result.verdict[1:]])
        parts.append(tag("div", summary, rest if result.verdict[1:] else None, class_="fine"))
    parts.append(tag("p", _asked(result), class_="soft"))
    if result.notes:
        parts.append(tag("div", tag("ul", [tag("li", n) for n in result.notes]), class_="warn"))
    plot = _conditions_plot(place, result)
    beside = [figure(plot) if plot else None, _measures(result)]
    parts += [tag("div", beside, class_="plots"), _conditions(result)]
    members = [
        other
        for other in audit.results
        if members_of(audit).get(other.name) == result.name and not other.refused
    ]
    for member in members:
        verdict = f": {_brief(member)}" if member.verdict else ""
        parts.append(
            tag(
                "details",
                tag("summary", breakable(member.name), verdict),
                _result(part, first, audit, member),
            )
        )
    if not members:
        parts.append(_listed(part, audit, result))
    return tag("div", parts)


def _asked(result: AuditResult) -> str:
    of = f"{len(result.tasks)} tasks together; " if len(result.tasks) > 1 else ""
    left = f", {result.left_out:,} left out" if result.left_out else ""
    shapes = ", ".join(f"{shape} ({count:,})" for shape, count in result.shapes.items())
    shows = f"; it shows {shapes}" if shapes else ""
    return (
        f"{of}{result.n:,} questions scored under every condition{left}; right is what "
        f"{result.metric or 'the metric'} says ({result.rule or 'unknown'}){shows}."
    )


def _conditions_plot(place: int, result: AuditResult) -> Plot | None:
    chance = None if math.isnan(result.chance) else 100 * result.chance
    lines = []
    for name, found in result.accuracies.items():
        if math.isnan(found.value):
            continue
        low, high = (
            None if math.isnan(end) else 100 * min(1.0, max(0.0, end))
            for end in (found.low, found.high)
        )
        lines.append(
            Line(
                f"{condition_label(name)} (n={found.n:,})",
                [Point(place, 100 * min(1.0, found.value), low, high)],
                chance,
            )
        )
    if not lines:
        return None
    return forest("Accuracy by what is shown, with intervals; dotted: guessing", lines)


def _conditions(result: AuditResult) -> Markup:
    rows = []
    for name, found in result.accuracies.items():
        own = result.own.get(name)
        cells: list[Content] = [
            _value(found),
            f"{found.n:,}",
            f"{found.n_clusters:,}",
            *(
                f"{counts.get(name, 0):,}"
                for counts in (result.asked, result.missing, result.unscored, result.unparsed)
            ),
            "–" if own is None else f"{own:.4g}",
        ]
        rows.append(table_row(condition_label(name), cells))
    if not math.isnan(result.chance):
        rows.append(table_row("guessing", [percent(result.chance)], "guess"))
    head = (
        "Shown",
        "Accuracy",
        "Questions",
        "Videos",
        "Asked",
        "Not shown",
        "Not scored",
        "Unparsed",
        "Task's own number",
    )
    return scrolled(head, rows)


def _measures(result: AuditResult) -> Markup | None:
    rows = [
        table_row(measure_label(name), [_value(found), f"{found.n:,}"])
        for name, found in result.ratios.items()
    ]
    rows += [
        table_row(
            f"right in both orders ({condition_label(name)})", [_value(found), f"{found.n:,}"]
        )
        for name, found in result.paired.items()
    ]
    return scrolled(("Measure ×100", "Value", "Questions"), rows) if rows else None


# Questions to look at


def _listed(part: AuditPart, audit: Audit, result: AuditResult) -> Markup | None:
    key = (audit.file, result.name)
    chosen = part.examples.get(key) or []
    count = part.counts.get(key, 0)
    if not chosen:
        return None
    few = f"the {len(chosen)} with the most against them of " if len(chosen) < count else ""
    return tag(
        "details",
        tag("summary", f"Questions to look at ({few}{count:,})"),
        tag(
            "p",
            "Right under a condition that should leave them unanswerable. Luck makes such "
            "questions too: guessing alone is right blind once in as many questions as there are "
            "options.",
            class_="soft",
        ),
        tag("div", [_example(example) for example in chosen], class_="examples"),
        open="",
    )


def _example(example: ListedExample) -> Markup:
    listed = example.listed
    pictures = [
        tag(
            "div",
            [tag("img", src=frame.uri, alt=frame.name, title=frame.name) for frame in frames],
            class_=kind,
        )
        for frames, kind in ((example.singles, "frames few"), (example.frames, "frames"))
        if frames
    ]
    reasons = [*listed.reasons]
    if listed.wrong_in_order:
        reasons.append("wrong with the frames in order")
    return tag(
        "article",
        tag("h5", listed.id),
        pictures,
        tag("p", example.caption, class_="soft"),
        tag("p", tag("strong", "; ".join(reasons))),
        tag("pre", listed.prompt or "(no prompt logged)", dir="auto"),
        tag("p", "Right answer: ", tag("strong", listed.target)) if listed.target else None,
        [_response(name, listed.scores, listed.responses) for name in listed.scores],
        class_="example",
    )


def _response(
    name: str, scores: Mapping[str, float | None], responses: Mapping[str, str]
) -> Markup:
    score = scores[name]
    kind, word = ("missing", "∅ not scored")
    if score is not None:
        kind, word = ("right", "✓ right") if score >= _RIGHT else ("wrong", "✗ wrong")
    return tag(
        "div",
        tag("span", word, class_=f"badge {kind}"),
        tag("span", f" {condition_label(name)}: ", class_="soft"),
        tag("bdi", responses.get(name) or "(empty response)"),
        class_="verdict",
    )
