"""The phrases by which models announce, confirm, deny or refuse an answer.

The words of all languages are in wording.json, a table each: lines of phrases that ``|``
separates. Here they become sets and compiled patterns over lower-case text. Each pattern begins
with a literal word or is matched at a known position, and none nests one open repetition in
another, so that reading takes time linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

_FILE = Path(__file__).with_name("wording.json")
TABLES = {
    name: "\n".join(lines) for name, lines in json.loads(_FILE.read_text(encoding="utf-8")).items()
}
"""Name -> table of phrases."""

# Characters of words, in two sets: ``re`` takes long to compile one set of both.
_LATIN, _OTHER = r"0-9a-z", r"à-ʯ\u0370-\u052f"
# Word boundaries that let Chinese, Korean or Arabic text touch a Latin letter ("答案是B").
LEFT = rf"(?<![{_LATIN}])(?<![{_OTHER}])"
RIGHT = rf"(?![{_LATIN}])(?![{_OTHER}])"


def word_list(text: str) -> list[str]:
    """The phrases of a table, one a line or separated by ``|``, longest first."""
    phrases = {phrase.strip() for line in text.splitlines() for phrase in line.split("|")}
    return sorted(phrases - {""}, key=lambda phrase: (-len(phrase), phrase))


def word_set(text: str) -> frozenset[str]:
    """The phrases of a table, to look one up."""
    return frozenset(word_list(text))


_SPECIAL = frozenset(("", *"\\.[](){}*+?|^$"))


def _is_plain(phrase: str) -> bool:
    """Whether a phrase begins with a literal character that is not repeated."""
    return phrase[:1] not in _SPECIAL and phrase[1:2] not in ("?", "*", "+", "{")


def _branches(phrases: Iterable[str]) -> list[str]:
    """Alternatives for phrases, no two of which in a row begin with the same character.

    ``re`` tries alternatives one by one. Grouping those that begin with the same character makes
    the patterns here several times faster. The order of those that can match at one place stays.
    """
    branches: list[str] = []
    groups: dict[str, list[str]] = {}

    def close() -> None:
        for first, rests in groups.items():
            inner = _branches(rests) if len(rests) > 1 else rests
            branches.append(first + (inner[0] if len(inner) == 1 else f"(?:{'|'.join(inner)})"))
        groups.clear()

    for phrase in phrases:
        if _is_plain(phrase):
            groups.setdefault(phrase[0], []).append(phrase[1:])
        else:
            close()
            branches.append(phrase)
    close()
    return branches


def any_of(text: str) -> str:
    """A pattern for any phrase of a table, whose words may hold patterns of their own."""
    return f"(?:{'|'.join(_branches(word_list(text)))})"


def words_of(phrases: Iterable[str], right: str = RIGHT) -> str:
    """Alternatives for whole words; not yet in a group.

    If a word begins with a plain character, what precedes it is checked after it: a search passes
    over all other characters quickly.
    """
    alternatives = []
    for branch in _branches(phrases):
        if _is_plain(branch):
            first, rest = branch[0], branch[1:]
            left = rf"(?<![{_LATIN}]{first})(?<![{_OTHER}]{first})"
            alternatives.append(first + left + rest + right)
        else:
            alternatives.append(LEFT + branch + right)
    return "|".join(alternatives)


def word_of(text: str) -> str:
    """A pattern for any phrase of a table as a whole word."""
    return f"(?:{words_of(word_list(text), right='')}){RIGHT}"


# --- Announcements: "the answer is", "答案是", "Ответ:" ------------------------------------------

# A letter may follow these at once ("answer B").
_ANSWER_NOUNS = any_of(TABLES["answer_nouns"])
# These also name an option in passing ("option B shows ..."): they announce one only with a
# copula or a colon after them ("the correct option is B", "Option: B").
_OPTION_NOUNS = any_of(TABLES["option_nouns"])
_CHOICE_VERBS = any_of(TABLES["choice_verbs"])
# "..., which matches option B": only a letter may follow.
_MATCH_VERBS = any_of(TABLES["match_verbs"])
# "Actually, B": only a letter, which replaces what was said before.
_TURNS = any_of(TABLES["turns"])
_BETWEEN = any_of(TABLES["between"])
# What may come between an announcement and the answer: any sign but those that end a
# sentence, the words above, and particles that are written without spaces.
_GAP = rf"(?:[^\w.!?;&+%@°]|_|{_BETWEEN}{RIGHT}|[是为為就选選はがも은는이가的]){{0,40}}"
ANNOUNCEMENT = re.compile(
    rf"{LEFT}(?:(?P<answer>{_ANSWER_NOUNS}{RIGHT}|答案|答|选|正解|답)"
    rf"|(?P<option>{_OPTION_NOUNS}{RIGHT})"
    rf"|(?P<verb>{_CHOICE_VERBS}{RIGHT}|选|選)"
    rf"|(?P<match>{_MATCH_VERBS}{RIGHT})"
    rf"|(?P<turn>{_TURNS}{RIGHT}))"
    rf"(?P<gap>\.?{_GAP})"
)
_COPULAS = word_of(TABLES["copulas"])
COPULA = re.compile(rf"[:=→⇒是为為は]|{_COPULAS}")
# "It is B", "so it must be B": only a capital letter follows.
_WEAK_WORDS = word_of(TABLES["weak_words"])
WEAK = re.compile(rf"(?:{_WEAK_WORDS}|[→⇒∴]){_GAP}")
_CONCLUDING = word_of(TABLES["concluding"])
CONCLUSION = re.compile(f"{_CONCLUDING}|因此|所以|综上")
FIRST_PERSON = re.compile(word_of("i|we|let's|let me|let us|my|i'd|i'll|i'm") + "|选|選")
INTERROGATIVE = re.compile(r"[\W_]{0,6}" + any_of(TABLES["interrogative"]) + RIGHT)
# "Is the answer B?"
ASKS = re.compile(
    word_of("is|was|could|would|might|should|can|may|does|isn't")
    + r"\s(?:the|it|that|this)?\s?(?:\w{1,20}\s)?$"
)

# --- Verdicts that follow a letter or an option's text ------------------------------------------

_SIGNS = r"\s()\[\]}>*_\"'`,:;|→⇒="
_CLOSE_CLAUSE = f"[{_SIGNS}-]{{0,8}}"
_CLOSE = f"[{_SIGNS}.-]{{0,8}}"
_IS = any_of(TABLES["is"])
_ADVERBS = any_of(TABLES["adverbs"])
_GOOD = any_of(TABLES["good"])
_WELL = any_of("best|most|more|accurately|correctly|closely|clearly|perfectly|better")
_DESCRIBES = any_of(TABLES["describes"])
_GOOD_ELSEWHERE = (
    r"(?:es|est|ist|è|é|está|esta)\s(?:(?:la|el|le|die|der|das|a|o)\s){0,2}(?:\w{1,12}\s)?"
    r"(?:correct\w{0,2}|richtig\w{0,2}|respuesta|réponse|antwort|bonne|corrett\w|risposta"
    r"|resposta|juste)"
)
CONFIRMED = re.compile(
    rf"{_CLOSE}(?:(?:this|that|it|which|option|choice|answer|statement|one|here|above)\s){{0,2}}(?:"
    rf"(?:{_IS}\s{{0,3}}(?:{_ADVERBS}\s){{0,6}}|[(\[]){_GOOD}{RIGHT}(?!\sif{RIGHT})"
    rf"|(?:{_WELL}\s){{1,3}}{_DESCRIBES}|(?:matches|fits|aligns){RIGHT}"
    rf"|{_DESCRIBES}\s[^.!?\n]{{0,40}}\s(?:best|correctly|accurately|perfectly){RIGHT}"
    rf"|(?:makes\s(?:the\s)?(?:most\s)?sense|gets\smy\svote|wins){RIGHT}"
    rf"|[\s\"')*]{{0,3}}\?[\s\"')*]{{0,3}}(?:yes|yep|correct|right|exactly|true){RIGHT}"
    rf"|[ \t-]{{0,4}}[✓✔✅☑]|\s?[-:=(]\s?(?:yes|true){RIGHT}"
    rf"|是?(?:正确|正確|对的|正しい|正解|가 정답|이 정답|가 맞)|{_GOOD_ELSEWHERE})"
)
# In "A and B are correct" the verdict is one on both.
PLURAL = re.compile(r"[\s)\]\"'*_`.]{0,6}(?:are|both|were|seem|appear|match|fit)(?![a-z])")

_AUXILIARY = any_of(TABLES["auxiliary"])
_AT_ALL = any_of(TABLES["at_all"])
_WRONG = any_of(TABLES["wrong"])
_NOT_RIGHT = any_of(TABLES["not_right"])
# "It" and "that" speak of the option only within its sentence: "E. It is not moving."
DENIED_AFTER = re.compile(
    rf"(?:{_CLOSE}(?:(?:this|option|choice|answer|statement|one)\s){{0,2}}"
    rf"|{_CLOSE_CLAUSE}(?:(?:that|it|which|to me)\s){{0,2}})(?:"
    rf"(?:{_AUXILIARY}\s)?(?:{_AT_ALL}\s){{0,3}}{_WRONG}{RIGHT}(?!\s?:)"
    rf"|{_AUXILIARY}(?:\s{_AT_ALL}){{0,2}}"
    rf"(?:n't|\s(?:not|never|neither|no longer)(?!\sonly)){RIGHT}"
    rf"|(?:cannot|can't|won't|contradicts|conflicts|fails|lacks){RIGHT}"
    rf"|[ \t:-]{{0,4}}[✗✘❌✖]"
    rf"|(?:(?<=[-:=(\[])|(?<=[-:=(\[] ))(?:no|nope)(?=\s?(?:[.,;)\]\n]|$))"
    rf"|是?(?:不正确|不對|不对|错误|错|不符|間違))"
    rf"|{_CLOSE_CLAUSE}not\s{_NOT_RIGHT}{RIGHT}(?!\s(?:one|left|right){RIGHT})"
)

_TOGETHER = any_of(TABLES["together"])
# "A and B are wrong" denies A, too.
DENIED_TOGETHER = re.compile(rf"(?={_CLOSE}(?:both\s)?{_TOGETHER})(?:{DENIED_AFTER.pattern})")

# --- Denials, doubts and refusals before it -----------------------------------------------------

# "No doubt" and "not only" affirm.
_AFFIRMING = r"(?!\s(?:doubt|only|just|merely|other|question that))"
_NO = [f"not{_AFFIRMING}", f"no{_AFFIRMING}"]
_NEGATIVES = word_list(TABLES["negatives"])
# Written next to or inside other words.
_NEGATIVES_INSIDE = rf"n't{RIGHT}|不|没有|並非|并非|не\s|ليس|ليست|아니"
_CONDITIONS = word_list(TABLES["conditions"])
# Their scope is the whole sentence: lists with commas follow.
_OPEN_QUESTIONS = word_list(TABLES["open_questions"])
_UNABLE = word_list(TABLES["unable"])
_DO_NOT = word_list("do not|does not|did not|don't|doesn't|didn't|dont|doesnt")
_KNOW = any_of(TABLES["know"])
_PROVIDE = any_of("provide|contain|give|show|include|offer|specify|indicate")
_ENOUGH = any_of(TABLES["enough"])
_IS_NOT = word_list("not|isn't|aren't|wasn't")
_FULLY = any_of("entirely|completely|quite|really|so|too|very|totally|100%|absolutely|fully")
_SURE = any_of(TABLES["sure"])
_EVIDENCE = any_of(TABLES["evidence"])
_REFUSING = word_list(TABLES["refusing"])
_REFUSING_ELSEWHERE = word_list(TABLES["refusing_elsewhere"])
_NOT_KNOWN = rf"\s(?:(?:really|actually|clearly|explicitly)\s)?(?:{_KNOW}|{_PROVIDE}\s{_ENOUGH})"
_REFUSALS = [
    *_UNABLE,
    *_REFUSING,
    *(f"{words}{_NOT_KNOWN}" for words in _DO_NOT),
    *(rf"{words}\s(?:{_FULLY}\s)?{_SURE}" for words in _IS_NOT),
    rf"no\s{_EVIDENCE}",
    *(
        rf"{word}\s(?:of|from)\s(?:the|these|those|them|above)"
        for word in ("none", "neither", "nothing")
    ),
]
REFUSAL = re.compile("|".join((words_of(_REFUSALS), *_branches(_REFUSING_ELSEWHERE))))
# Asked only whether it is there.
_DOUBTS = [*_NO, *_NEGATIVES, *_CONDITIONS, *_OPEN_QUESTIONS, *_REFUSALS]
DOUBT = re.compile(
    "|".join((words_of(_DOUBTS), _NEGATIVES_INSIDE, *_branches(_REFUSING_ELSEWHERE)))
)
OPEN_QUESTION = re.compile(words_of(_OPEN_QUESTIONS))
# After one of these, what was refused before is answered nevertheless.
_CONTRASTS = word_of(TABLES["contrasts"])
CONTRAST = re.compile(f"{_CONTRASTS}|但|不过|однако|しかし|하지만")

# A denial reaches to the end of its clause ...
_CLAUSE_WORDS = word_of(TABLES["clause_words"])
CLAUSE_END = re.compile(rf"[.!?;:,\n]|{_CLAUSE_WORDS}|而是|但")
# ... an open question or a refusal to the end of its sentence.
_SENTENCE_WORDS = word_of(TABLES["sentence_words"])
SENTENCE_END = re.compile(rf"[.!?](?=\s|$)|[\n;]|{_SENTENCE_WORDS}")

# "If he goes right, then the answer is B"; but "if I had to guess, it would be B".
_FORCED = r"(?!\s(?:i|we)\s(?:had|have|were|must|need)|\s(?:forced|pressed|pushed|asked))"
CONDITIONAL = re.compile(
    rf"{LEFT}if{RIGHT}{_FORCED}[^.!?\n]{{0,120}},\s"
    r"(?:then\s|(?:[^.!?;\n]{0,30}\s)?(?:would|could|might)\s)[^.!?;\n]{0,60}$"
)
# "The answer would be B if he went right."
WOULD = re.compile(word_of("would|could|might"))
IF_AFTER = re.compile(r"[)\]\"'*_`]{0,4}\s(?:only\s)?if(?![a-z])")

# --- Words next to a letter --------------------------------------------------------------------

# "option B", "选项B": the letter is meant, whatever follows it.
OPTION_BEFORE = word_set(TABLES["option_before"])
CJK_OPTION_BEFORE = ("选项", "選項", "选", "選", "答案", "選択肢", "선택지", "보기")
ANSWER_BEFORE = frozenset(("answer", "answers"))
# An English article is never followed by one of these: "A because ..." is the letter.
NO_NOUN = word_set(TABLES["no_noun"])
# The same for the pronoun: "I because ...", "I is correct".
NO_PRONOUN = word_set(TABLES["no_pronoun"])
# "B is what the video shows": the letter; "C is cooking": a name.
AFTER_IS = word_set(TABLES["after_is"])
# "B is a better match": the letter, too.
A_BETTER = re.compile(r"(?:is|was) an? (?:better|good|closer|stronger|more|perfect|likely|great)")
# "Person B", "vitamin C": a name and not an answer.
NAMED = word_set(TABLES["named"])
# "in C", "to B", "an A": a place, a key or a mark, unless it is announced.
PLACE_BEFORE = re.compile(
    word_of("a|an|in|of|from|at|on|near|into|onto|behind|to|toward|towards|by") + r"\s{1,3}$"
)
# "Option A says ..." and "let us look at option A" choose nothing ...
SPEAKS_OF = word_set(TABLES["speaks_of"])
EXAMINES = re.compile(
    word_of(TABLES["examines"])
    + r"\s(?:(?:the|each|option|choice|answer|letter)\s){0,3}[\W_]{0,4}$"
)
# ... but "only option A says ..." does.
ONLY = re.compile(r"(?<![a-z])(?:only|just)\s(?:the\s)?(?:option|choice|answer)?[\W_]{0,4}$")

# --- Words next to a text, and positions ---------------------------------------------------------

# Next to an option's text these do not make it part of a longer option.
LIGHT_WORDS = word_set("the|a|an|to|of|in|on|at|is|are|from|by|with|it")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
PLACES = {
    **{word: place for place, word in enumerate(_ORDINALS, start=1)},
    **{str(place): place for place in range(1, 27)},
}
POSITION_NOUNS = ("option", "choice", "description", "statement", "answer", "alternative")
POSITION = re.compile(
    rf"{LEFT}(?:(?P<word>{'|'.join(_ORDINALS)}|last)\s(?:{'|'.join(POSITION_NOUNS)})"
    r"|(?:option|choice)\s(?:number\s|no\.\s|#)?\(?(?P<digit>[0-9]{1,2}))"
    rf"{RIGHT}"
)

# --- Yes and no ---------------------------------------------------------------------------------

YES = any_of(TABLES["yes"])
NO = any_of(TABLES["no"])
