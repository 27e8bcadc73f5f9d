"""The phrases by which models announce, confirm, deny or refuse an answer.

Everything here is a set of words or a compiled pattern over lower-case text. Each pattern begins
with a literal word or is matched at a known position, and none nests one open repetition in
another, so that reading takes time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

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
_ANSWER_NOUNS = any_of("""
answer|ans|prediction|guess|verdict|conclusion|my choice|my pick|my selection|final choice
答え|回答|解答|정답|대답|답변|답|正确选项|正确答案|答案|正解
ответ|відповідь|адказ|отговор|одговор|απάντηση
respuesta|réponse|reponse|antwort|lösung|risposta|resposta|antwoord|svaret|svar|cevap|yanıt
jawabannya|jawaban|đáp án|câu trả lời|odpowiedź|odpowiedz|odpověď|odpoveď|odgovor
răspunsul|răspuns|raspuns|válasz|vastaus
คำตอบ|उत्तर|जवाब|উত্তর|பதில்
الإجابة|الاجابة|إجابة|اجابة|الجواب|جواب|پاسخ|תשובה|התשובה
""")
# These also name an option in passing ("option B shows ..."): they announce one only with a
# copula or a colon after them ("the correct option is B", "Option: B").
_OPTION_NOUNS = any_of("""
option|choice|selection|alternative|pick|letter|response|result|output|solution|description
statement|candidate|correct
选项|選項|選択肢|선택지|보기|вариант|варіант|opción|opcion|opção|opcao|alternativa|opzione|scelta
auswahl|keuze|şık|seçenek|pilihan|lựa chọn|ตัวเลือก|विकल्प|الخيار|گزینه|opcja|opcija|možnost
""")
_CHOICE_VERBS = any_of("""
choose|chose|chosen|choosing|select|selected|selecting|pick|picked|picking|opt for|opting for
opted for|go with|going with|went with|go for|going for|settle on|settled on|vote for|i vote
lean towards|leaning towards|lean toward|leaning toward|lean to|i'd say|i would say|i'll say
i will say|i guess|i'd guess|i would guess|i'll guess|i'd answer|i would answer|i answer
narrow down to|narrows down to|narrows it down to|bet on|betting on|prefer|settle for
选择|選擇|应选|應選|故选|故選|所以选|因此选|选|選
je choisis|elijo|escojo|ich wähle|scelgo|escolho|выбираю|обираю|ik kies|wybieram|tôi chọn
saya memilih|أختار
""")
# "..., which matches option B": only a letter may follow.
_MATCH_VERBS = any_of("""
matches|matching|match|corresponds|corresponding|correspond|aligns|align|consistent|equivalent
described|points|leads|leaves|leaving|suggests|indicates|supports|fits|shows|show
""")
# "Actually, B": only a letter, which replaces what was said before.
_TURNS = any_of(r"""
actually|correction|i meant|i mean|scratch that|on second thought|on reflection|no wait|wait no
wait|change my answer to|change it to|changing my answer to|switch to|revise my answer to
correct that to|make that|finally|eventually|in the end|ultimately|instead(?!\s+of)
""")
_BETWEEN = any_of("""
is|are|was|be|would|will|should|must|has|have|to|seems|seem|appears|appear|the|that|this|my
for|of|question|here|given|letter|option|choice|number|labeled|labelled|most|likely|probably
definitely|clearly|certainly|surely|therefore|thus|then|indeed|simply|obviously|actually|as
follows|correct|right|best|accurate|appropriate|suitable|plausible|final|it|it's|statement|with
by|in|only|us|single|one|i think|i believe|i would say|i'd say|none other than|could|might|may
down|closest|hence|so|alternative|description|corresponding|namely|i.e.|either|above|provided
multiple-choice|multiple choice|reads|remains|going|end|both|sure|probable|possible
是|为|為|就是|应该是|应该|应为|應為|应当是|选项|選項|选择|选|選|第|是选项|的|正确|正確|は|が|も|選択肢|記号
은|는|이|가|선택지|번|보기
это|является|вариант|под|буквой|буква|номер|є|варіант
es|la|el|lo|los|opción|opcion|letra|correcta|correcto|correta|correto|certa|certo
est|le|l'option|lettre|bonne|correcte|c'est|ist|die|der|das|richtige|richtig|buchstabe|lautet
è|l'opzione|lettera|corretta|é|é a|opção|opcao|alternativa|de|het|juiste
är|alternativ|er|olan|doğru|şıkkı|seçenek|adalah|yaitu|pilihan|benar
là|phương án|lựa chọn|jest|opcja|je|možnost|este|varianta|opțiunea|az|on|vaihtoehto
είναι|η|επιλογή|คือ|ข้อ|ตัวเลือก|है|सही|विकल्प|হল|হলো
هي|هو|الخيار|الصحيحة|الصحيح|الحرف|حرف|است|گزینه|صحیح|היא|הוא|הנכונה|אפשרות
""")
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
_COPULAS = word_of("""
is|are|was|be|seems|appears|remains|reads|es|est|ist|è|é|är|er|adalah|là|jest|je|este|είναι|คือ
है|هي|هو|است|היא|הוא|это|является|이|은|는|lautet
""")
COPULA = re.compile(rf"[:=→⇒是为為は]|{_COPULAS}")
# "It is B", "so it must be B": only a capital letter follows.
_WEAK_WORDS = word_of("""
it is|it's|that is|that's|this is|must be|should be|has to be|would be|is likely|is probably
is definitely|probably|definitely|certainly|maybe|perhaps|i think|i believe|so|therefore|thus
hence|in conclusion|to conclude|overall|c'est|es|ist|это|是
""")
WEAK = re.compile(rf"(?:{_WEAK_WORDS}|[→⇒∴]){_GAP}")
_CONCLUDING = word_of("""
so|therefore|thus|hence|in conclusion|to conclude|overall|in total|altogether|in summary
to summarize|to sum up|consequently|accordingly|i conclude|we conclude|we can conclude
よって|따라서|следовательно|поэтому|итак
""")
CONCLUSION = re.compile(f"{_CONCLUDING}|因此|所以|综上")
FIRST_PERSON = re.compile(word_of("i|we|let's|let me|let us|my|i'd|i'll|i'm") + "|选|選")
INTERROGATIVE = re.compile(
    r"[\W_]{0,6}"
    + any_of("""
what|why|which|how|when|where|who|is|are|was|do|does|did|can|could|would|should|will|shall|what's
""")
    + RIGHT
)
# "Is the answer B?"
ASKS = re.compile(
    word_of("is|was|could|would|might|should|can|may|does|isn't")
    + r"\s(?:the|it|that|this)?\s?(?:\w{1,20}\s)?$"
)

# --- Verdicts that follow a letter or an option's text ------------------------------------------

_SIGNS = r"\s()\[\]}>*_\"'`,:;|→⇒="
_CLOSE_CLAUSE = f"[{_SIGNS}-]{{0,8}}"
_CLOSE = f"[{_SIGNS}.-]{{0,8}}"
_IS = any_of("""
is|are|was|seems|seem|appears|appear|looks|remains|would be|must be|should be|has to be
stands out as|as|=|-|:
""")
_ADVERBS = any_of("""
the|a|an|indeed|clearly|most|more|only|best|single|one|likely|far|much|probably|definitely
certainly|therefore|thus|actually|also|obviously|overall|my|final|closest|that|which|what|to|be
option|choice|statement|description|very|highly
""")
_GOOD = any_of("""
correct|right|accurate|appropriate|answer|likely answer|suitable|fitting|true|best|better|closest
choice|match|best match|consistent|valid|supported|only option|only one|one that|stronger
preferable|most likely|most plausible|most probable|most reasonable|most logical|more likely
more plausible|more probable|more reasonable|more logical|likeliest
""")
_WELL = any_of("best|most|more|accurately|correctly|closely|clearly|perfectly|better")
_DESCRIBES = any_of("""
matches|matched|describes|fits|aligns|corresponds|represents|reflects|captures|explains
describe|match|fit
""")
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

_AUXILIARY = any_of("""
can|could|is|are|was|were|does|do|did|would|may|might|seems|appears|should|must|looks|has|have
""")
_AT_ALL = any_of("""
to be|be|also|clearly|definitely|likely|therefore|thus|simply|obviously|very|completely|highly
absolutely|both|actually
""")
_WRONG = any_of("""
incorrect|wrong|false|untrue|inaccurate|inconsistent|eliminated|excluded|ruled out|dismissed
discarded|rejected|unlikely|less likely|least likely|implausible|impossible|contradicted
unsupported|irrelevant|out of the question
""")
_NOT_RIGHT = any_of("""
correct|right|true|accurate|seen|shown|visible|supported|the|possible|plausible|likely|present
consistent|applicable|matching|a match|it|valid
""")
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

_TOGETHER = any_of("""
are|were|can|do|don't|aren't|cannot|can't|both|seem|look|should|could|would|must
""")
# "A and B are wrong" denies A, too.
DENIED_TOGETHER = re.compile(rf"(?={_CLOSE}(?:both\s)?{_TOGETHER})(?:{DENIED_AFTER.pattern})")

# --- Denials, doubts and refusals before it -----------------------------------------------------

# "No doubt" and "not only" affirm.
_AFFIRMING = r"(?!\s(?:doubt|only|just|merely|other|question that))"
_NO = [f"not{_AFFIRMING}", f"no{_AFFIRMING}"]
_NEGATIVES = word_list("""
never|neither|nor|none|without|than|so is|so are|so does|so was|anything but|all but|cannot
rather than|instead of|other than|except|excluding|exclude|excludes|eliminate|eliminates
eliminating|eliminated|rule out|rules out|ruling out|ruled out|dismiss|dismissing|discard|reject
unlike|opposed to|nothing|lack of|lacks|absence of|fails to|fail to|failed to|contradicts
contradict|incorrect|wrong|false|i doubt|doubtful|unlikely|hardly|avoid
dont|doesnt|didnt|isnt|wasnt|arent|cant|wont
не|нет|nicht|kein|keine|pas|jamais|non|não|geen|niet|nie|inte|ikke|değil|bukan|không phải
""")
# Written next to or inside other words.
_NEGATIVES_INSIDE = rf"n't{RIGHT}|不|没有|並非|并非|не\s|ليس|ليست|아니"
_CONDITIONS = word_list("""
if|unless|whether|suppose|supposing|assuming|assume|were it|in case|provided that|had it been
""")
# Their scope is the whole sentence: lists with commas follow.
_OPEN_QUESTIONS = word_list("""
whether|determine if|tell if|see if|know if|clear if|sure if|confirm if|check if|say if|verify if
decide if|assess if|is the answer|could it be|is it|are they|was it|do they|does it|does he
does she
""")
_UNABLE = word_list("""
can't|cannot|can not|could not|couldn't|can never|unable to|not able to|impossible to
not possible to|difficult to|hard to|not feasible to|no way to|don't know how to|inability to
not capable of|not equipped to|incapable of|cant|won't be able to|not permitted to
""")
_DO_NOT = word_list("do not|does not|did not|don't|doesn't|didn't|dont|doesnt")
_KNOW = any_of("""
know|have enough|have access|have the|have any|have sufficient|see|understand
""")
_PROVIDE = any_of("provide|contain|give|show|include|offer|specify|indicate")
_ENOUGH = any_of("""
enough|sufficient|any|whether|clear|the necessary|a clear|adequate|information
""")
_IS_NOT = word_list("not|isn't|aren't|wasn't")
_FULLY = any_of("entirely|completely|quite|really|so|too|very|totally|100%|absolutely|fully")
_SURE = any_of("""
sure|certain|clear|possible to|enough|confident|sufficient|visible|provided|discernible
determinable|specified|show whether
""")
_EVIDENCE = any_of("""
information|idea|clue|video|enough|answer|evidence to|visual|frames|context|indication|sufficient
clear answer|clear indication|image|images|option|options|correct answer|correct option
""")
_REFUSING = word_list("""
none fit|none match|none apply|none is correct|none are correct|not listed|not among|not enough
not applicable|n/a|impossible|unclear|uncertain|undetermined|indeterminate|unknown|inconclusive
ambiguous|unable|insufficient|i'm sorry|i am sorry|sorry|i apologize|i apologise|my apologies
as an ai|as a language model|could you|can you|would you like|need more|requires more
require more|more information|more context|please provide|please share|please upload
please give|please describe|please clarify|please let me|please send
""")
_REFUSING_ELSEWHERE = word_list("""
无法|無法|不能确定|不知道|不清楚|抱歉|对不起|わかりません|分かりません|できません
申し訳|알 수 없|죄송
не знаю|не могу|невозможно|извините|no puedo|no sé|lo siento|je ne peux|je ne sais|désolé
ich kann nicht|ich weiß nicht|leider|non posso|non so|mi dispiace|não posso|não sei|desculpe
لا أستطيع|لا يمكن|لا أعرف|آسف|عذرا
""")
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
_CONTRASTS = word_of("""
but|however|nevertheless|nonetheless|still|that said|yet|guess|appears|appear|seems|seem
looks like|likely|suggests|suggest|probably|might be|may be|could be|maybe|perhaps|if i had to
i think|i believe|i would say|i'd say|based on|most likely|assume|even so
""")
CONTRAST = re.compile(f"{_CONTRASTS}|但|不过|однако|しかし|하지만")

# A denial reaches to the end of its clause ...
_CLAUSE_WORDS = word_of(r"""
(?<!anything )(?<!all )but|so(?! is)(?! are)(?! does)(?! was)|however|because|since|therefore|thus
hence
instead(?! of)|rather(?! than)|yet|though|although|while|whereas|which
sino|sondern|mais|aber|pero|но|а
""")
CLAUSE_END = re.compile(rf"[.!?;:,\n]|{_CLAUSE_WORDS}|而是|但")
# ... an open question or a refusal to the end of its sentence.
_SENTENCE_WORDS = word_of("""
but|so|however|therefore|thus|hence|nevertheless|nonetheless|still|yet|that said|otherwise
""")
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
OPTION_BEFORE = word_set("""
option|options|choice|choices|letter|letters|alternative|alternatives|statement|statements
description|hypothesis|caption
opción|opcion|opção|alternativa|opzione|вариант|варианта|варианту|variante|lettre|letra|buchstabe
الخيار|گزینه|보기|선택지|ответ
""")
CJK_OPTION_BEFORE = ("选项", "選項", "选", "選", "答案", "選択肢", "선택지", "보기")
ANSWER_BEFORE = frozenset(("answer", "answers"))
# An English article is never followed by one of these: "A because ..." is the letter.
NO_NOUN = word_set("""
is|was|are|were|because|since|as|for|in|on|at|by|with|from|of|to|and|or|but|so|if|when|where
while|which|who|that|this|these|those|the|an|a|it|he|she|they|we|you|his|her|their|its|my|there
based|due|given|would|should|could|can|will|must|may|might|does|do|did|has|have|had|not|seems
appears|best|correctly|accurately|matches|shows|describes|states|says|indicates|suggests|here
after|before|during|let|note|please|hope|looking|instead|rather|than|then|although|though
however|therefore|thus|end|explanation|reason|reasoning|also|i|corresponds|represents|according
both|being|either|over|until|via|only|looks|fits|makes|gets|wins|sounds|works|remains|stands
explains|aligns|captures|reflects|for
""")
# The same for the pronoun: "I because ...", "I is correct".
NO_PRONOUN = word_set("""
is|seems|appears|because|since|as|matches|describes|rather|explanation|end|and|or|best|shows
corresponds|the|over|it|fits|looks|makes|gets|wins
""")
# "B is what the video shows": the letter; "C is cooking": a name.
AFTER_IS = word_set("""
the|what|correct|right|best|most|my|clearly|likely|more|probably|definitely|consistent|closest
supported|shown|seen|true|accurate|better|also|indeed|not|incorrect|wrong|only|one|it|obviously
""")
# "B is a better match": the letter, too.
A_BETTER = re.compile(r"(?:is|was) an? (?:better|good|closer|stronger|more|perfect|likely|great)")
# "Person B", "vitamin C": a name and not an answer.
NAMED = word_set("""
person|people|player|team|man|woman|boy|girl|child|actor|subject|individual|character|object
ball|cube|box|car|vehicle|frame|image|picture|video|clip|scene|shot|camera|point|position
location|spot|area|zone|region|side|line|path|figure|part|step|phase|stage|section|segment|panel
vitamin|plan|class|grade|group|type|category|level|version|model|hepatitis|block|item|label
marker|key|note|string|chord|variable|view|track|lane|row|column|gate|door|room|building|runner
""")
# "in C", "to B", "an A": a place, a key or a mark, unless it is announced.
PLACE_BEFORE = re.compile(
    word_of("a|an|in|of|from|at|on|near|into|onto|behind|to|toward|towards|by") + r"\s{1,3}$"
)
# "Option A says ..." and "let us look at option A" choose nothing ...
SPEAKS_OF = word_set("""
says|shows|states|describes|depicts|suggests|mentions|claims|would|could|might|may|implies
indicates|refers|involves|has|require|requires
""")
EXAMINES = re.compile(
    word_of("""
analyze|analyse|analyzing|analysing|consider|considering|look at|looking at|examine|examining
check|checking|evaluate|evaluating|compare|comparing|regarding|about|discuss|review|start with
explain|test
""")
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

YES = any_of("""
yes|yeah|yep|yup|true|affirmative|correct|sí|oui|ja|sim|да|evet|tak|نعم|हाँ|是的|是|はい|예|네|对
""")
NO = any_of("""
no|nope|nah|false|negative|incorrect|non|nein|não|нет|hayır|nie|لا|नहीं|不是|否|不|いいえ|아니요
아니오|不对
""")
