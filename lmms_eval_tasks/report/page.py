"""The report as one page of HTML: no script, nothing fetched, every text escaped."""

# Greek letters, minus and multiplication signs:
# ruff: noqa: RUF001

from __future__ import annotations

import html
import string
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.report import facts
from video_reasoning.tasks.report.audit_page import audit_section
from video_reasoning.tasks.report.audits import audit_facts
from video_reasoning.tasks.report.build import Report, headline, verdict
from video_reasoning.tasks.report.gallery import Example, Verdict
from video_reasoning.tasks.report.markup import (
    Content,
    Markup,
    breakable,
    figure,
    mark,
    scrolled,
    sound,
    table_row,
    tag,
)
from video_reasoning.tasks.report.plots import (
    Line,
    Plot,
    Point,
    Strip,
    forest,
    frame_sweep,
    standing,
)
from video_reasoning.tasks.report.tables import Cell, Grid, interval, label, percent, run_key, shown
from video_reasoning.tasks.results.items import TaskLog
from video_reasoning.tasks.results.numbers import BREAKDOWNS, RATIOS, UNITS, Number, TaskNumbers

__all__ = ["page"]

_BENCHMARKS = {**{each.name: each.title for each in BENCHMARKS.values()}, "": "Other tasks"}

_KINDS = {
    "right": "✓ right",
    "wrong": "✗ wrong",
    "unparsed": "? unparsed",
    "missing": "∅ video missing",
    "withheld": "answer withheld",
    "generated": "generated",
}


def page(report: Report) -> str:
    """The whole page."""
    audited = list(report.audit.names.values()) if report.audit else []
    title = f"Video reasoning: {', '.join(dict.fromkeys([*report.names.values(), *audited]))}"
    benchmarks = list(dict.fromkeys(each.log.benchmark for each in report.found))
    body = [
        _head(report, benchmarks),
        _short(report) if report.found else None,
        _audit(report),
        *(_benchmark(report, name) for name in benchmarks),
        _what_was_run(report),
        _reading(report),
    ]
    template = resources.files("video_reasoning.tasks.report") / "template.html"
    return string.Template(template.read_text(encoding="utf-8")).substitute(
        title=html.escape(sound(title)), body="\n".join(filter(None, body))
    )


def _head(report: Report, benchmarks: Sequence[str]) -> Markup:
    links = [
        tag("a", "In short", href="#short") if report.found else None,
        tag("a", "Audit", href="#audit") if report.audit else None,
        *(tag("a", _BENCHMARKS[name], href=f"#{name or 'other'}") for name in benchmarks),
        tag("a", "What was run", href="#run"),
        tag("a", "How to read this", href="#reading"),
    ]
    return tag(
        "header",
        tag("h1", "Video reasoning report"),
        tag("p", f"Written {report.written} by {report.by}.", class_="soft"),
        _legend(report),
        tag("nav", links),
    )


def _legend(report: Report) -> Markup:
    marks = [
        tag("span", mark(place), " ", name) for place, name in enumerate(report.names.values())
    ]
    if report.audit:
        first = len(report.names)
        marks += [
            tag("span", mark(first + place), " ", name, " (audit)")
            for place, name in enumerate(report.audit.names.values())
        ]
    return tag("div", marks, class_="legend")


def _audit(report: Report) -> Markup | None:
    if report.audit is None:
        return None
    grid = report.audit.grid
    return audit_section(
        report.audit, len(report.names), _grid(report, grid) if grid is not None else None
    )


def _run(report: Report, each: TaskNumbers) -> Markup:
    """A run's mark and name."""
    name = breakable(report.name(each))
    return Markup(f"{mark(report.place(each))}\u00a0{name}")


# In short


def _short(report: Report) -> Markup:
    rows = []
    for each in report.found:
        number = headline(each)
        counts = each.counts
        value: list[Content] = ["–"]
        name = ""
        guess = "–"
        if number is not None:
            value = [shown(number, number.value), tag("small", interval(number))]
            generated = each.log.generated or number.unit == "ratio"
            name = label(number.name) if generated else number.name
            name += f", {label(number.condition).lower()}" if number.condition else ""
            chance = each.chance_paired if number.name == "paired accuracy" else each.chance
            guess = percent(chance)
        cells: list[Content] = [
            tag("td", name, class_="text"),
            tag("td", value),
            guess,
            tag("td", verdict(each, number), class_="text"),
            f"{number.n if number else 0:,}",
            _count(counts["items"]),
            _count(counts["unparsed"]),
            _count(counts["missing"]),
            _count(counts.get("skipped rows")),
        ]
        link = tag("a", breakable(each.log.task), href=f"#task-{each.log.task}")
        run = tag("div", _run(report, each))
        rows.append(table_row([link, run], cells))
    head = (
        "Task and run",
        "Measured",
        "Value",
        "Guessing",
        "Against guessing",
        "Rests on",
        "Items logged",
        "Unparsed",
        "No video",
        "Rows skipped",
    )
    texts = (1, 4)
    header = [
        Markup(tag("th", name, scope="col", class_="text" if place in texts else None))
        for place, name in enumerate(head)
    ]
    table = tag(
        "div",
        tag("table", tag("thead", tag("tr", header)), tag("tbody", rows)),
        class_="scroll",
        tabindex="0",
    )
    return tag(
        "section",
        tag("h2", "In short"),
        tag(
            "p",
            "Accuracies in percent, with 95% intervals below. “Rests on” counts the items (pairs, "
            "for paired accuracy) that have a score; items whose video could not be shown or "
            "whose answer is withheld have none.",
            class_="soft",
        ),
        table,
        _problems(report),
        id="short",
    )


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _problems(report: Report) -> Markup:
    said: dict[tuple[str, str], list[str]] = {}
    for task, entries in report.problems.items():
        for name, sentence in entries:
            said.setdefault((task, sentence), []).append(name)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (task, sentence), of in said.items():
        alike.setdefault((sentence, tuple(of)), []).append(task)
    many = len(report.names) > 1
    items = [
        tag(
            "li",
            tag("strong", ", ".join(tasks)),
            f" ({', '.join(of)}): " if many else ": ",
            sentence,
        )
        for (sentence, of), tasks in alike.items()
    ]
    if not items:
        return tag(
            "p",
            "Nothing went wrong that the logs tell of: every item had its video, every response "
            "named an option, and numbers that the harness's table has too agree with it.",
            class_="fine",
        )
    most = 12
    parts: list[Content] = [tag("strong", "Before reading on"), tag("ul", items[:most])]
    if len(items) > most:
        more = tag("summary", f"{len(items) - most} more")
        parts.append(tag("details", more, tag("ul", items[most:])))
    return tag("div", parts, class_="warn")


# Benchmarks and tasks


def _benchmark(report: Report, name: str) -> Markup:
    grids = [grid for grid in report.grids if grid.benchmark == name]
    parts: list[Content] = [tag("h2", _BENCHMARKS[name])]
    for grid in grids:
        parts.append(_grid(report, grid))
    for task, runs in report.tasks.items():
        if runs[0].log.benchmark == name:
            parts.append(_task(report, task, runs))
    return tag("section", parts, id=name or "other")


def _grid(report: Report, grid: Grid) -> Markup:
    warnings = [tag("p", text, class_="warn") for text in grid.warnings]
    if grid.upright:
        body = scrolled(
            ["", *grid.head],
            [
                table_row(breakable(row.label), [_cell(cell) for cell in row.cells], row.kind)
                for row in grid.rows
            ],
        )
    else:
        head = tag(
            "tr",
            tag("th", ""),
            [
                tag("th", breakable(text), scope="col", class_=kind if kind == "run" else None)
                for text, kind in zip(grid.head, grid.kinds, strict=True)
            ],
        )
        rows = [
            table_row(
                row.label,
                [
                    _cell(cell, "run" if kind == "run" else None)
                    for cell, kind in zip(row.cells, grid.kinds, strict=True)
                ],
                row.kind,
            )
            for row in grid.rows
        ]
        body = tag(
            "div",
            tag("table", tag("thead", head), tag("tbody", rows)),
            class_="scroll",
            tabindex="0",
        )
    plot = _standing(report, grid)
    return tag(
        "div",
        tag("h3", grid.title, id=grid.key),
        tag("p", f"Source of the printed numbers: {grid.source}. {grid.note}", class_="soft"),
        warnings,
        tag("div", body, figure(plot), class_="beside") if plot else body,
    )


def _cell(cell: Cell, kind: str | None = None) -> Markup:
    number = cell.number
    hint = None
    if number is not None:
        hint = (
            f"{number.task}: {number.n:,} items in {number.n_clusters:,} videos; "
            f"{number.method}; {number.file}"
        )
    detail = tag("small", cell.detail) if cell.detail else None
    return tag("td", cell.text, detail, class_=kind, title=hint)


def _standing(report: Report, grid: Grid) -> Plot | None:
    """Where the runs stand among the paper's models; only for tables of accuracies."""
    if "accuracy" not in grid.title.lower():
        return None
    columns = grid.head if grid.upright else [row.label for row in grid.rows]
    strips = []
    for place, name in enumerate(columns):
        if not grid.upright and grid.rows[place].kind == "stratum":
            continue
        pairs = (
            [(row.kind, row.cells[place]) for row in grid.rows]
            if grid.upright
            else list(zip(grid.kinds, grid.rows[place].cells, strict=True))
        )
        points = [
            point
            for kind, cell in pairs
            if kind == "run" and cell.number and (point := _point(report, cell.number))
        ]
        if not points:
            continue

        def values(wanted: str, pairs: Sequence[tuple[str, Cell]] = pairs) -> list[float]:
            return [cell.value for kind, cell in pairs if kind == wanted and cell.value is not None]

        guess = values("guess")
        strips.append(
            Strip(name, points, values("model"), values("human"), guess[0] if guess else None)
        )
    if not strips:
        return None
    return standing("Runs among the paper's models (|), people (☆) and guessing (dotted)", strips)


def _point(report: Report, number: Number) -> Point | None:
    if number.value is None:
        return None
    places = {key: place for place, key in enumerate(report.names)}
    place = places.get((str(Path(number.file.split("; ")[0]).parent), number.run), 0)
    low = None if number.low is None else 100 * number.low
    high = None if number.high is None else 100 * number.high
    return Point(place, 100 * number.value, low, high)


def _task(report: Report, task: str, runs: Sequence[TaskNumbers]) -> Markup:
    plots = [plot for plot in (*_breakdowns(report, runs), _sweep(report, runs)) if plot]
    paired = _paired(report, runs)
    return tag(
        "section",
        tag("h3", task),
        _counts(report, runs),
        tag("div", [figure(plot) for plot in plots], class_="plots") if plots else None,
        paired,
        _rules(report, runs),
        _all_numbers(report, runs),
        _gallery(report, task),
        id=f"task-{task}",
    )


_COUNTS = (
    ("items", "logged"),
    ("scored", "scored"),
    ("answered", "answered"),
    ("unparsed", "unparsed"),
    ("missing", "no video"),
    ("withheld", "withheld"),
    ("skipped rows", "rows skipped"),
    ("short videos", "short videos"),
    ("odd lines", "odd log lines"),
    ("questions", "questions"),
    ("questions with a pick", "with a pick"),
    ("left out questions", "questions left out"),
    ("complete pairs", "complete pairs"),
    ("incomplete pairs", "incomplete pairs"),
)


_ALWAYS = frozenset({"items", "scored", "answered", "unparsed", "missing", "skipped rows"})
"""Counts that are shown though all are zero."""


def _counts(report: Report, runs: Sequence[TaskNumbers]) -> Markup:
    used = [
        (key, name)
        for key, name in _COUNTS
        if any(each.counts.get(key) for each in runs)
        or (key in _ALWAYS and any(key in each.counts for each in runs))
    ]
    rows = [
        table_row(
            _run(report, each),
            [_count(each.counts.get(key)) for key, _ in used],
        )
        for each in runs
    ]
    return scrolled(["Items", *(name for _, name in used)], rows)


def _breakdowns(report: Report, runs: Sequence[TaskNumbers]) -> list[Plot]:
    """A plot for each measure of the task: all items, then each breakdown."""
    if runs[0].log.generated:
        return []
    plots = []
    conditions = list(
        dict.fromkeys(
            number.condition
            for each in runs
            for number in each.numbers
            if number.name == "accuracy"
        )
    )
    if len(conditions) > 1:
        if not runs[0].log.task.endswith("_frames"):  # those have a plot over frames
            plots.append(_by_condition(report, runs, conditions))
        ordered = [name for name in conditions if name.startswith("ordered")]
        shown_conditions = ["ordered16"] if "ordered16" in ordered else ordered[:1]
    else:
        shown_conditions = conditions
    for name in ("paired accuracy", "accuracy"):
        for condition in shown_conditions if name == "accuracy" else [""]:
            lines = _lines(report, runs, name, condition)
            if len(lines) > 1:
                what = "Paired accuracy" if name.startswith("paired") else "Accuracy"
                if what == "Accuracy" and any(each.paired for each in runs):
                    what = "Unpaired accuracy"
                where = f", {label(condition).lower()}" if condition else ""
                plots.append(forest(f"{what}{where}, with 95% intervals; dotted: guessing", lines))
    return plots


def _lines(report: Report, runs: Sequence[TaskNumbers], name: str, condition: str) -> list[Line]:
    found: dict[tuple[str, str], list[tuple[TaskNumbers, Number]]] = {}
    for each in runs:
        for number in each.numbers:
            if number.name == name and number.condition == condition and len(number.group) <= 1:
                key = next(iter(number.group.items()), ("", ""))
                found.setdefault(key, []).append((each, number))
    lines = []
    for breakdown in ("", "task", *BREAKDOWNS):
        values = [value for key, value in found if key == breakdown]
        if breakdown == "task" and len(values) == 1:
            continue  # the task itself
        if breakdown in ("counterfactual", "composite", "zoom", "first_person"):
            texts = {value: f"{label(breakdown)}: {value}" for value in values}
        else:
            texts = {value: label(value) if value else "All" for value in values}
            if breakdown and values:
                lines.append(Line(label("type" if breakdown == "task" else breakdown)))
        for value, text in texts.items():
            points, chance, n = [], None, 0
            for each, number in found[breakdown, value]:
                point = _point(report, number)
                if point:
                    points.append(point)
                n = max(n, number.n)
                if not breakdown:
                    chance = each.chance_paired if name.startswith("paired") else each.chance
            if points:
                guess = None if chance is None else 100 * chance
                lines.append(Line(f"{text} (n={n:,})", points, guess))
    return lines


def _by_condition(report: Report, runs: Sequence[TaskNumbers], conditions: Sequence[str]) -> Plot:
    lines = []
    for condition in conditions:
        points = []
        n = 0
        for each in runs:
            number = each.find("shared accuracy", None, condition) or each.find(
                "accuracy", None, condition
            )
            point = _point(report, number) if number else None
            if number and point:
                points.append(point)
                n = max(n, number.n)
        if points:
            chance = runs[0].chance
            guess = None if chance is None else 100 * chance
            lines.append(Line(f"{label(condition)} (n={n:,})", points, guess))
    return forest("Accuracy by frames shown, with 95% intervals; dotted: guessing", lines)


def _sweep(report: Report, runs: Sequence[TaskNumbers]) -> Plot | None:
    series: dict[int, list[tuple[int, Point]]] = {}
    for each in runs:
        if not each.log.task.endswith("_frames"):
            continue
        for condition in each.log.conditions():
            number = each.find("accuracy", None, condition)
            digits = condition.lstrip(string.ascii_letters)
            point = _point(report, number) if number else None
            if point and digits.isdigit():
                series.setdefault(report.place(each), []).append((int(digits), point))
    if not series:
        return None
    chance = runs[0].chance
    return frame_sweep(
        "Accuracy over the number of frames, with 95% intervals; dotted: guessing",
        {run: sorted(points, key=lambda entry: entry[0]) for run, points in series.items()},
        None if chance is None else 100 * chance,
    )


def _paired(report: Report, runs: Sequence[TaskNumbers]) -> Markup | None:
    names = list(dict.fromkeys(name for each in runs for name in each.paired))
    if not names:
        return None
    rows = []
    for name in names:
        values = [each.paired.get(name) for each in runs]
        rows.append(table_row(name, [percent(None if v is None else float(v)) for v in values]))
    guessed = [each.chance_paired for each in runs]
    if any(value is not None for value in guessed):
        rows.append(
            table_row("guessing both right", [percent(value) for value in guessed], "guess")
        )
    head = [
        "Pairs, percent",
        *(_run(report, each) for each in runs),
    ]
    return tag(
        "div",
        tag("h4", "Paired against unpaired"),
        tag(
            "p",
            "A pair is one question in two variants. A model that knows gets both right; one that "
            "guesses seldom does. k is the share that it must know, if it guesses the rest.",
            class_="soft",
        ),
        scrolled(head, rows),
    )


def _rules(report: Report, runs: Sequence[TaskNumbers]) -> Markup | None:
    rules = list(dict.fromkeys(rule for each in runs for rule in each.rules))
    if not rules:
        return None
    rows = []
    for rule in rules:
        cells: list[Content] = []
        for each in runs:
            total = sum(each.rules.values())
            count = each.rules.get(rule, 0)
            part = count / total if total else 0
            bar = tag("span", "", class_="bar", style=f"width:{3.5 * part:.2f}em")
            cells.append(tag("td", bar if count else None, f"{count:,} ({part:.0%})"))
        rows.append(table_row(rule, cells))
    head = ["Rule", *(_run(report, each) for each in runs)]
    return tag(
        "details",
        tag("summary", "How answers were read from the responses"),
        scrolled(head, rows),
    )


def _all_numbers(report: Report, runs: Sequence[TaskNumbers]) -> Markup:
    parts: list[Content] = [tag("summary", "All numbers, with what they rest on")]
    for each in runs:
        rows = []
        for number in each.numbers:
            group = ", ".join(f"{label(key)}: {value}" for key, value in number.group.items())
            scale = 100 if number.unit in ("share", "ratio") else 1
            cells: list[Content] = [
                tag("td", group or "all", class_="text"),
                tag("td", number.condition or "–", class_="text"),
                shown(number, number.value),
                interval(number) or "–",
                f"{number.n:,}",
                f"{number.n_clusters:,}",
                "–" if number.harness is None else f"{scale * number.harness:.2f}",
                tag("td", number.method, class_="text wide"),
            ]
            name = label(number.name) if number.name in RATIOS else number.name
            rows.append(table_row(name, cells))
        head = (
            "Number",
            "Of",
            "Frames",
            "Value",
            "95% interval",
            "Items",
            "Videos",
            "Harness's table",
            "Interval by",
        )
        texts = (1, 2, 8)
        header = [
            tag("th", name, scope="col", class_="text" if place in texts else None)
            for place, name in enumerate(head)
        ]
        parts += [
            tag("p", mark(report.place(each)), " ", report.name(each), ", from ", _path(each.log)),
            tag(
                "div",
                tag("table", tag("thead", tag("tr", header)), tag("tbody", rows)),
                class_="scroll",
                tabindex="0",
            ),
        ]
    return tag("details", parts)


def _path(log: TaskLog) -> Markup:
    return tag("code", str(log.log))


# Examples


def _gallery(report: Report, task: str) -> Markup | None:
    chosen = report.examples.get(task) or []
    if not chosen:
        return None
    captions = [example.caption for example in chosen]
    common = max(dict.fromkeys(captions), key=captions.count)
    most = common if captions.count(common) > 1 else ""
    return tag(
        "details",
        tag("summary", f"Examples ({len(chosen)})"),
        tag("p", most if len(set(captions)) == 1 else f"Unless an example says otherwise: {most}")
        if most
        else None,
        tag("div", [_example(report, example, most) for example in chosen], class_="examples"),
        open="",
    )


def _example(report: Report, example: Example, said: str) -> Markup:
    shown_as = f" · {label(example.condition).lower()}" if example.condition else ""
    few = len(example.frames) <= 2
    pictures = [
        tag("img", src=frame.uri, alt=frame.name, title=frame.name) for frame in example.frames
    ]
    options = []
    for place, option in enumerate(example.options):
        letter = chr(ord("A") + place)
        right = "answer" if letter == example.answer else None
        options.append(tag("li", f"{letter}. {option}", class_=right))
    if not example.options and example.answer:
        options.append(tag("li", example.answer, class_="answer"))
    parts: list[Content] = [
        tag("h5", f"{example.id}{shown_as}"),
        tag("div", pictures, class_="frames few" if few else "frames") if pictures else None,
        tag("p", example.caption, class_="soft") if example.caption != said else None,
        tag("p", example.question, class_="question") if example.question else None,
        tag("p", example.hypothesis) if example.hypothesis else None,
        tag("ol", options, class_="options") if options else None,
    ]
    if example.references:
        parts.append(tag("p", "References: ", " / ".join(example.references), class_="soft"))
    parts += [_verdict(report, each) for each in example.verdicts]
    return tag("article", parts, class_="example")


def _verdict(report: Report, each: Verdict) -> Markup:
    item = each.item
    place = list(report.names).index(each.run)
    badge = tag("span", _KINDS.get(each.kind, each.kind), class_=f"badge {each.kind}")
    found = f" read as {item.choice} ({item.rule})" if item.choice else ""
    if item.status == "missing" and item.problem:
        found = f" {item.problem}"
    values = "".join(
        f" {label(name)} {value if name in UNITS else 100 * value:.2f}"
        for name, value in item.values.items()
    )
    who: list[Content] = [mark(place), " "]
    if len(report.names) > 1:
        who += [report.names[each.run], " "]
    return tag(
        "div",
        who,
        badge,
        tag("span", f"{found}{values} · log line {item.line}", class_="soft"),
        tag("pre", item.response or "(empty response)", dir="auto"),
        class_="verdict",
    )


# What was run, and how to read it


def _list(entries: dict[str, str]) -> Markup:
    return tag(
        "dl",
        [[tag("dt", key.replace("_", " ")), tag("dd", value)] for key, value in entries.items()],
    )


def _what_was_run(report: Report) -> Markup:
    parts: list[Content] = [tag("h2", "What was run")]
    runs = {run_key(log.run): log.run for log in report.logs}
    for place, (key, name) in enumerate(report.names.items()):
        parts += [tag("h3", mark(place), " ", name), _list(facts.run_facts(runs[key]))]
        for each in report.found:
            if run_key(each.log.run) == key:
                parts.append(
                    tag(
                        "details",
                        tag("summary", f"{each.log.task}: arguments, questions, first prompt"),
                        _list(facts.task_facts(each.log)),
                        tag("pre", each.log.example, dir="auto") if each.log.example else None,
                    )
                )
    for audit in report.audit.audits if report.audit else ():
        name = report.audit.names[audit.file] if report.audit else ""
        parts += [tag("h3", "Audit with ", name), _list(audit_facts(audit))]
    stores = facts.store_facts(report.logs)
    if stores:
        parts.append(tag("h3", "Data"))
        parts += [_list({"store": folder, **entries}) for folder, entries in stores.items()]
    return tag("section", parts, id="run")


_READING = (
    "Every number here is computed from the sample logs that are named beside it, and held "
    "against the harness's own table where that has the same quantity; a difference is listed "
    "under “In short”. The JSON form of this report holds all numbers with their task and file.",
    "Intervals have 95% coverage. Where every question has a video of its own they are Wilson "
    "intervals; where questions share videos, whole videos are drawn anew (percentile "
    "bootstrap), for questions about one video are not independent. For κ, τ and ρ all "
    "conditions of a question are drawn together. Where all or none are right, drawing anew has "
    "no width, and the Wilson interval over as many videos as there are stands in.",
    "An unparsed response names no option and counts as wrong. An item whose video could not be "
    "shown is neither right nor wrong: it is left out and counted. A number over nothing is a "
    "dash, never zero.",
    "κ = Acc(m frames) / Acc(1 frame) − 1; τ = Acc(in order) / Acc(shuffled) − 1; ρ = "
    "Acc(handpicked frame) / Acc(random frame) − 1 (TVBench, section 3), printed ×100.",
    "In an audit κ and τ compare with the frames in order, on the questions that were scored "
    "under every condition; κ (no frame) does so for what is answered blind, and “undefined” "
    "means that nothing is right below the line. An audit is of a task and a model: where the "
    "model does not use the video, it cannot show that the questions need it.",
    "Paired accuracy counts pairs of which both variants are right (CausalVQA, section 2.2.5). "
    "Guessing is the mean of 1 / number of options over the scored items, its square for pairs.",
    "Two intervals that overlap do not say that two runs are alike: `video-reasoning compare` "
    "compares two runs item by item.",
)


def _reading(report: Report) -> Markup:
    del report
    texts = [tag("p", text) for text in _READING]
    return tag("section", tag("h2", "How to read this"), texts, id="reading")
