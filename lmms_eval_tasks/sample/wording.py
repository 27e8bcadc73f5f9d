"""The language of the sample benchmark: every question and answer it can word.

The generator writes with these phrase books and ``sample_observer`` reads with them. They
hold wordings only: which wording is right for a video is nowhere in this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "CAUSALVQA_ANSWERS",
    "CAUSALVQA_QUESTIONS",
    "CLAIMS",
    "COLORS",
    "DIRECTIONS",
    "TVBENCH_ANSWERS",
    "TVBENCH_QUESTIONS",
    "Phrasebook",
    "Reading",
    "color_in",
]

COLORS = ("red", "yellow", "green", "blue", "purple")
DIRECTIONS = ("left", "right", "up", "down")


def color_in(text: str) -> str | None:
    """Return the first color word of a text, or None."""
    match = re.search(rf"\b({'|'.join(COLORS)})\b", text.lower())
    return match.group(1) if match else None


@dataclass(frozen=True)
class Reading:
    """What a text says.

    Attributes:
        meaning: The entry of the phrase book.
        slots: What stands in the entry's slots, lower case.
    """

    meaning: str
    slots: Mapping[str, str]

    @property
    def key(self) -> str:
        """The meaning with its slots, as one text: equal for paraphrases."""
        return ":".join([self.meaning, *(self.slots[name] for name in sorted(self.slots))])


class Phrasebook:
    """Meanings with the wordings of each, for writing and for reading.

    A wording may hold slots in braces, e.g. ``The {a} ball stops.``
    """

    def __init__(self, phrases: Mapping[str, Sequence[str]]) -> None:
        """Compile the wordings.

        Args:
            phrases: Meaning -> wordings, at least one each.
        """
        self.phrases = {meaning: tuple(wordings) for meaning, wordings in phrases.items()}
        self._patterns = [
            (meaning, re.compile(self._pattern(wording)))
            for meaning, wordings in self.phrases.items()
            for wording in wordings
        ]

    @staticmethod
    def _normal(text: str) -> str:
        return " ".join(text.lower().split()).rstrip(".")

    @classmethod
    def _pattern(cls, wording: str) -> str:
        parts = re.split(r"\{(\w+)\}", cls._normal(wording))
        pattern = ""
        for place, part in enumerate(parts):
            # A slot that comes a second time must hold the same words again.
            if place % 2 == 0:
                pattern += re.escape(part)
            elif f"(?P<{part}>" in pattern:
                pattern += f"(?P={part})"
            else:
                pattern += f"(?P<{part}>[a-z' -]+?)"
        return f"^{pattern}$"

    def write(self, meaning: str, wording: int = 0, **slots: str) -> str:
        """Word a meaning.

        Args:
            meaning: An entry of the book.
            wording: Which wording, taken modulo their number.
            **slots: The words for the slots.

        Returns:
            The text.
        """
        wordings = self.phrases[meaning]
        return wordings[wording % len(wordings)].format(**slots)

    def read(self, text: str) -> Reading | None:
        """Recognise a text.

        Args:
            text: The text; case, spacing and a final full stop do not matter.

        Returns:
            What it says, or None where the book does not hold it.
        """
        normal = self._normal(text)
        for meaning, pattern in self._patterns:
            match = pattern.match(normal)
            if match:
                return Reading(meaning, match.groupdict())
        return None


# Kinds of question. `spin`, `move` and so on need the order of frames; `color_of`, `side_of`,
# `count_of` and `shape_of` are settled by any frame; `flash` and `dots` by a short moment;
# what begins with `none` is settled by nothing in the picture.
TVBENCH_QUESTIONS = Phrasebook(
    {
        "spin": (
            "In which direction(s) does the disk with the {thing} spin?",
            "What are the direction(s) of rotation of the disk that carries the {thing}?",
            "Which way does the {thing} on the disk turn?",
        ),
        "move": (
            "In what direction(s) does the {thing} move?",
            "How would you describe the path of the {thing} in terms of direction?",
            "Which direction(s) did the {thing} travel in?",
        ),
        "camera": (
            "In what direction did the camera travel?",
            "Which way was the camera moved?",
        ),
        "speed": (
            "What is the pattern of the {thing}'s speed in the video?",
            "How does the speed of the {thing} develop over the video?",
        ),
        "spin_speed": (
            "What is the rotational speed pattern of the disk with the {thing}?",
            "How does the disk that carries the {thing} change its rotation speed?",
        ),
        "trend": (
            "What is the trend of the movement of the {thing}?",
            "Which overall trend did the {thing} follow?",
        ),
        "outline": (
            "Which shape did the {thing} outline in the air?",
            "What is the figure that the {thing} traced?",
        ),
        "first_sound": (
            "Which {thing} makes the first sound?",
            "Which {thing} is heard first?",
        ),
        "last_sound": (
            "Which {thing} plays the last note?",
            "Which {thing} is the last one to sound?",
        ),
        "hops": (
            "How many times does the {thing} bounce throughout the video?",
            "How many bounces does the {thing} make in total?",
            "How often does the {thing} go up and come down again?",
        ),
        "color_of": (
            "What is the color of the {thing} that moves?",
            "Which color does the moving {thing} have?",
        ),
        "blocks_color": (
            "What color are the blocks at the bottom of the picture?",
            "Which color do the small blocks on the ground have?",
        ),
        "side_of": (
            "On which side of the picture do the {thing} lie?",
            "Where are the {thing} in the picture?",
        ),
        "count_of": (
            "How many {thing} lie at the bottom of the picture?",
            "How many {thing} can be seen on the ground?",
        ),
        "shape_of": (
            "What is the shape of the {thing} object?",
            "Which shape does the {thing} thing have?",
        ),
        "flash": (
            "What color does the lamp at the top flash?",
            "In which color does the lamp at the top light up?",
        ),
        "dots": (
            "How many {thing} are on the card that is shown?",
            "How many {thing} does the card at the top show?",
        ),
        "none_color": (
            "What color is the shirt of the person behind the camera?",
            "What color was the wall painted a year earlier?",
        ),
        "none_count": (
            "How many people are watching from behind the camera?",
            "How many takes were needed before this one?",
        ),
        "none_side": (
            "On which side of the camera is the window?",
            "On which side of the camera did the assistant stand?",
        ),
    }
)

_WORDS = {
    "left": ("Leftwards", "To the left"),
    "right": ("Rightwards", "To the right"),
    "up": ("Upwards", "Up"),
    "down": ("Downwards", "Down"),
}

_TVBENCH_ANSWERS: dict[str, tuple[str, ...]] = {
    "cw": ("Clockwise the whole time.", "Only clockwise."),
    "ccw": ("Counter-clockwise the whole time.", "Only counter-clockwise."),
    "cw_ccw": ("Clockwise first, then counter-clockwise.",),
    "ccw_cw": ("Counter-clockwise first, then clockwise.",),
    "no_spin": ("It does not rotate.", "No rotation at all."),
    "still": ("No movement.", "It stays where it is."),
    "forward": ("Forward.", "Towards the scene."),
    "backward": ("Backward.", "Away from the scene."),
    "constant": ("At a constant speed.", "The speed stays the same."),
    "accelerating": ("It gets faster.", "Speeding up."),
    "decelerating": ("It gets slower.", "Slowing down."),
    "trend_up": ("Going up.",),
    "trend_down": ("Going down.",),
    "trend_up_down": ("Going up, then down.",),
    "trend_down_up": ("Going down, then up.",),
    "square": ("A square.", "Square."),
    "triangle": ("A triangle.", "Triangle."),
    "circle": ("A circle.", "Circle."),
    "diamond": ("A diamond.", "Diamond."),
    "no_shape": ("Nothing is drawn.",),
    "left_one": ("The left one.", "The one on the left."),
    "right_one": ("The right one.", "The one on the right."),
    "middle_one": ("The middle one.",),
    "all_at_once": ("They sound at the same moment.",),
    "silent": ("None of them makes a sound.",),
    "left_side": ("On the left side.", "On the left."),
    "right_side": ("On the right side.", "On the right."),
}
_TVBENCH_ANSWERS.update({color: (f"{color.capitalize()}.",) for color in COLORS})
_TVBENCH_ANSWERS.update({str(number): (str(number),) for number in range(10)})
_TVBENCH_ANSWERS.update({name: (f"{words[0]}.", f"{words[1]}.") for name, words in _WORDS.items()})
_TVBENCH_ANSWERS.update(
    {
        f"{first}_{second}": (f"{_WORDS[first][0]} then {_WORDS[second][0].lower()}.",)
        for first in DIRECTIONS
        for second in DIRECTIONS
        if first != second
    }
)
TVBENCH_ANSWERS = Phrasebook(_TVBENCH_ANSWERS)

# Statements about a BlackSwan video, for options, hypotheses and references.
CLAIMS = Phrasebook(
    {
        "fell": (
            "The {a} ball rolls off the edge of the table and ends up on the floor.",
            "The {a} ball drops off the table and lands on the floor.",
        ),
        "knocked": (
            "The {a} ball crashes into the stack of blocks and the stack topples over.",
            "The stack of blocks collapses because the {a} ball runs into it.",
        ),
        "back": (
            "The {a} ball bounces off the stack and rolls back to where it came from.",
            "The {a} ball hits the stack, which holds, and returns to its starting place.",
        ),
        "gone": (
            "The {a} ball is picked up and carried away for good.",
            "Something grabs the {a} ball and makes off with it.",
        ),
        "swapped": (
            "The {a} ball is exchanged for a {b} one.",
            "Somebody swaps the {a} ball, and a {b} one lies there instead.",
        ),
        "bird_right": (
            "A {a} bird darts across the scene from the left to the right.",
            "From the left, a {a} bird flies past and leaves on the right.",
        ),
        "bird_left": (
            "A {a} bird darts across the scene from the right to the left.",
            "From the right, a {a} bird flies past and leaves on the left.",
        ),
        "stack_is": (
            "A ball rolls along the table towards a stack of {a} blocks.",
            "On the table stands a stack of {a} blocks, and a ball comes rolling.",
        ),
        "none_voice": (
            "A voice in the next room calls the person who holds the camera.",
            "The person with the camera hears somebody shouting next door.",
        ),
        "none_phone": (
            "The telephone of the person who holds the camera starts to ring.",
            "A phone rings in the pocket of the person who is filming.",
        ),
        "none_smell": (
            "The smell of burnt toast reaches the person who holds the camera.",
            "The person who is filming notices a smell of burnt toast.",
        ),
    }
)

CAUSALVQA_QUESTIONS = Phrasebook(
    {
        "leftmost": (
            "Which object lies furthest to the left in front of the person?",
            "Which of the objects on the table is the one furthest to the left?",
        ),
        "slide": (
            "How does the person move the {thing}?",
            "Where does the person push the {thing}?",
        ),
        "card": (
            "Which card does the person hold up for a moment?",
            "Which card is briefly lifted into view?",
        ),
        "next": (
            "What will happen to the {thing} next?",
            "What is the {thing} going to do after the clip ends?",
        ),
        "undo": (
            "What should the person do to take back the latest move?",
            "How can the person reverse what was done last?",
        ),
        "pattern": (
            "What should the person add at the right end to continue the row?",
            "How should the person extend the row to the right to keep its order?",
        ),
        "no_post": (
            "What would the {thing} have done if the post it hit had been removed beforehand?",
            "Had the post not been in the way, what would have become of the {thing}?",
        ),
        "push_on": (
            "If the person pushed the {thing} again in the same direction, what would it touch?",
            "Suppose the {thing} got another push the same way. What would it run into?",
        ),
        "none_past": (
            "What did the person do just before the recording started?",
            "What was the person busy with before the clip begins?",
        ),
        "none_want": (
            "What would the person rather be doing at this moment?",
            "If the person were free to choose, what would they do instead?",
        ),
    }
)

CAUSALVQA_ANSWERS = Phrasebook(
    {
        "object": ("The {a} block", "The block that is {a}", "The cube painted {a}"),
        "card": ("A {a} card", "The card that is {a}", "The one with the {a} face"),
        "slide_left": ("The person slides it to the left", "It is pushed leftward by hand"),
        "slide_right": ("The person slides it to the right", "It is pushed rightward by hand"),
        "slide_up": (
            "The person slides it away from their body",
            "It is pushed off toward the far side",
        ),
        "slide_down": (
            "The person slides it toward their body",
            "It is pulled closer to the person",
        ),
        "slide_none": ("The person leaves it in its place", "It is not moved by anyone"),
        "hit_stack": (
            "It will run into the tower of blocks",
            "It is about to strike the blocks that are piled up",
        ),
        "fall_edge": (
            "It will roll over the open edge and fall",
            "It is about to drop where the table ends",
        ),
        "hit_pillow": (
            "It will roll into the cushion",
            "It is about to be caught by the soft pad",
        ),
        "rest": (
            "It will stay at rest where it stopped",
            "It has come to a halt and remains there",
        ),
        "jump": ("It will jump up into the air", "It is about to leap off the table top"),
        "undo": (
            "Return the {a} block to its old place",
            "Put the block that is {a} back where it was",
        ),
        "add": ("Add a {a} block", "Place a block that is {a} at the end"),
        "off_left": (
            "It would have rolled on past the left side",
            "It would have continued out to the left",
        ),
        "off_right": (
            "It would have rolled on past the right side",
            "It would have continued out to the right",
        ),
        "off_far": (
            "It would have rolled on past the far side",
            "It would have continued away from the person",
        ),
        "off_near": (
            "It would have rolled into the person's lap",
            "It would have continued toward the person",
        ),
        "stayed": ("It would not have moved at all", "It would have remained in place"),
        "touch": ("It would touch the {a} block", "It would meet the block that is {a}"),
        "touch_none": ("It would not touch any block", "It would get past all of the blocks"),
        "past_tea": ("They made a cup of tea", "They were brewing tea"),
        "past_call": ("They talked on the phone", "They were in a phone call"),
        "past_walk": ("They came back from a walk", "They were out walking"),
        "past_book": ("They read a chapter of a book", "They were reading"),
        "past_dish": ("They washed the dishes", "They were doing the washing-up"),
        "want_tea": ("They would brew some tea", "They would have a hot drink"),
        "want_call": ("They would telephone a friend", "They would ring somebody up"),
        "want_walk": ("They would go for a walk", "They would stroll outside"),
        "want_book": ("They would read a book", "They would sit and read"),
        "want_sleep": ("They would take a nap", "They would lie down and sleep"),
    }
)
