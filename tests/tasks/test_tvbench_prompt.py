"""TVBench's prompt in the paper's layout and in that of the authors' code."""

from __future__ import annotations

import pytest

from video_reasoning.tasks import tvbench

DOC = {"question": "Which way?", "options": ["Up.", "It's still."], "condition": "ordered8"}
OPTIONS = "{'A': 'Up.', 'B': \"It's still.\"}"


@pytest.mark.parametrize("settings", [None, {}, {"prompt_style": "paper"}])
def test_the_papers_layout_is_the_default(settings: dict[str, str] | None) -> None:
    text = tvbench.doc_to_text(DOC, settings)
    assert f"<question> Which way? </question>\n<options> {OPTIONS} </options>\n" in text
    assert text.startswith("You will be provided with 8 separate frames")


def test_the_released_layout() -> None:
    """A bar marks the end of a line that ends with a blank."""
    expected = f"""\
You will be provided with 8 separate frames uniformly sampled from a video, the frames are \
provided in chronological order of the video. Analyze these frames and provide the answer to the \
question about the video content. Answer the multiple-choice question about the video content. |

You must use these frames to answer the multiple-choice question; do not rely on any externel \
knowledge or commonsense. |

<question> |
Which way? |
</question>

<options> |
{OPTIONS} |
</options>

Even if the information in these separate frames is not enough to answer the question, PLEASE TRY \
YOUR BEST TO GUESS AN ANSWER WHICH YOU THINK WOULD BE THE MOST POSSIBLE ONE BASED ON THE QUESTION. |

DO NOT GENERATE ANSWER SUCH AS 'NOT POSSIBLE TO DETERMINE.' |
"""
    released = {"prompt_style": "released"}
    assert tvbench.doc_to_text(DOC, released) == expected.replace("|", "")
    blind = tvbench.doc_to_text({**DOC, "condition": "blind"}, released)
    assert blind == (
        "Randomly guess a reasonable answer based on the question only.\n\n<question> \n"
        f"Which way? \n</question>\n\n<options> \n{OPTIONS} \n</options>\n    \n"
        "DO NOT GENERATE ANSWER SUCH AS 'NOT POSSIBLE TO DETERMINE.' \n"
    )


def test_another_style_is_refused() -> None:
    with pytest.raises(ValueError, match="no prompt_style 'hub': use 'paper' or 'released'"):
        tvbench.doc_to_text(DOC, {"prompt_style": "hub"})
