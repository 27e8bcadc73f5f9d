"""How hard a question is, from the people who answered it (CausalVQA, section 2.2.8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

EASY = Fraction(26, 30)
"""An agreement above this is easy: 86.67% in the paper, which is 26 of 30 people."""
MEDIUM = Fraction(21, 30)
"""From here on medium: 70%, which the paper counts as medium and as hard."""
HARD = Fraction(11, 30)
"""From here on hard: 36.67%. A question below that has no difficulty."""


@dataclass(frozen=True)
class Agreement:
    """What people chose in one or several variants of a question.

    Attributes:
        n: Responses.
        n_right: Those that are the right answer.
    """

    n: int
    n_right: int

    @property
    def share(self) -> float:
        """Share of right responses, 0..1; NaN without responses."""
        return self.n_right / self.n if self.n else float("nan")

    @property
    def difficulty(self) -> str:
        """Easy, medium or hard; empty below the hardest level and without responses."""
        if not self.n:
            return ""
        share = Fraction(self.n_right, self.n)
        if share > EASY:
            return "easy"
        return "medium" if share >= MEDIUM else "hard" if share >= HARD else ""


def agree(choices: Sequence[str], answer: str) -> Agreement:
    """Count how many people chose the right answer.

    Args:
        choices: What each person chose.
        answer: The right answer.

    Example:
        >>> agree(["A"] * 12 + ["B"] * 3, "A").difficulty
        'medium'
    """
    return Agreement(len(choices), sum(choice == answer for choice in choices))


def is_modal(choices: Sequence[str], answer: str) -> bool:
    """Tell whether more people chose the right answer than any other one.

    Args:
        choices: What each person chose.
        answer: The right answer.

    Returns:
        False also if another answer was chosen as often, and without responses.
    """
    counts = Counter(choices)
    right = counts.pop(answer, 0)
    return right > max(counts.values(), default=0)


def variants_differ(one: Agreement, other: Agreement) -> float:
    """Test whether people find two variants of a question equally hard (Fisher's exact test).

    Args:
        one: Agreement over the first variant.
        other: Agreement over the second.

    Returns:
        The two-sided p-value, 0..1; NaN if either has no responses.
    """
    if not one.n or not other.n:
        return float("nan")
    from scipy.stats import fisher_exact

    table = [[each.n_right, each.n - each.n_right] for each in (one, other)]
    return float(fisher_exact(table).pvalue)
