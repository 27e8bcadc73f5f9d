"""The phrases by which models announce, confirm, deny or refuse an answer.

Everything here is a compiled pattern over lower-case text, or a set of words. The patterns are
anchored at a known position or begin with a literal word, and none nests one repetition in
another over the same characters, so that matching takes time linear in the text.
"""

from __future__ import annotations

import re


def words(text: str) -> str:
    """An alternation of the given phrases (one a line or separated by ``|``), longest first."""
    phrases = {phrase.strip() for line in text.splitlines() for phrase in line.split("|")}
    phrases.discard("")
    return "|".join(sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


# --- Announcements: "the answer is", "答案是", "Ответ:" ------------------------------------------

# A letter may follow these at once ("answer B", "答案B").
_ANSWER_NOUNS = words(r"""
answer|ans|prediction|guess|verdict|conclusion|my choice|my pick|my selection|final choice
答案|正确选项|正确答案|正解|答え|回答|解答|정답|대답|답변|답
ответ|відповідь|адказ|отговор|одговор
respuesta|réponse|reponse|antwort|lösung|risposta|resposta|antwoord|svaret|svar|cevap|yanıt
jawabannya|jawaban|đáp án|câu trả lời|odpowiedź|odpowiedz|odpověď|odpoveď|odgovor
răspunsul|răspuns|raspuns|válasz|vastaus|απάντηση
คำตอบ|उत्तर|जवाब|উত্তর|பதில்
الإجابة|الاجابة|إجابة|اجابة|الجواب|جواب|پاسخ|תשובה|התשובה|جواب
""")

# These also name an option in passing ("option B shows ..."): they announce one only with a
# copula or a colon after them ("the correct option is B", "Option: B").
OPTION_NOUNS = words(r"""
option|choice|selection|alternative|pick|letter|response|result|output|solution|description
statement|candidate|correct
选项|選項|選択肢|선택지|보기|вариант|варіант|opción|opcion|opção|opcao|alternativa|opzione|scelta
auswahl|keuze|şık|seçenek|pilihan|lựa chọn|ตัวเลือก|विकल्प|الخيار|گزینه|opcja|opcija|možnost
""")

# Verbs that choose: a letter or an option's text follows.
_CHOICE_VERBS = words(r"""
choose|chose|chosen|choosing|i vote|select|selected|selecting|pick|picked|picking|opt for|opting for
opted for|go with|going with|went with|go for|going for|settle on|settled on|vote for
lean towards|leaning towards|lean toward|leaning toward|lean to|i'd say|i would say|i'll say
i will say|i guess|i'd guess|i would guess|i'll guess|i'd answer|i would answer|i answer
narrow down to|narrows down to|narrows it down to
选择|選擇|应选|應選|故选|故選|所以选|因此选|选|選
je choisis|elijo|escojo|ich wähle|scelgo|escolho|выбираю|обираю|ik kies|wybieram|tôi chọn
saya memilih|أختار
""")

# "..., which matches option B": only a letter may follow.
_MATCH_VERBS = words(r"""
matches|matching|match|corresponds|corresponding|correspond|aligns|align|consistent|equivalent
described|points|leads|leaves|leaving|suggests|indicates|supports|fits|shows|show
""")

# "Actually, B": a letter only, which replaces what was said before.
_TURNS = words(r"""
actually|correction|i meant|i mean|scratch that|on second thought|on reflection|no wait|wait no
wait|change my answer to|change it to|changing my answer to|switch to|revise my answer to
correct that to|make that
""")

# What may stand between the announcement and the answer.
_GAP_WORDS = words(r"""
is|are|was|be|would|will|should|must|has|have|to|seems|seem|appears|appear|the|that|this|my
for|of|question|here|given|letter|option|choice|number|labeled|labelled|most|likely
probably|definitely|clearly|certainly|surely|therefore|thus|then|indeed|simply|obviously
actually|as|follows|correct|right|best|accurate|appropriate|suitable|plausible|final|it|it's
statement|with|by|in|only|us|single|one|i think|i believe|i would say|i'd say|likely|none other than
could|might|may|down|closest|hence|so|alternative|description|corresponding|namely|i.e.|either
above|provided|multiple-choice|multiple choice|reads|remains|going|end|both|sure|probable|possible
是|为|為|就是|应该是|应该|应为|應為|应当是|选项|選項|选择|选|選|第|是选项|的|正确|正確|は|が|も|選択肢|記号
은|는|이|가|선택지|번|보기
это|является|вариант|под|буквой|буква|номер|—|є|варіант
es|la|el|lo|los|opción|opcion|letra|correcta|correcto|correta|correto|certa|certo|est|le|l'option|lettre|bonne|correcte|c'est
ist|die|der|das|richtige|richtig|buchstabe|lautet|è|l'opzione|lettera|corretta|é|é a|opção|opcao
alternativa|de|het|juiste|är|alternativ|er|olan|doğru|şıkkı|seçenek|adalah|yaitu|pilihan|benar
là|phương án|lựa chọn|jest|opcja|je|možnost|este|varianta|opțiunea|az|on|vaihtoehto
είναι|η|επιλογή|คือ|ข้อ|ตัวเลือก|है|सही|विकल्प|হল|হলো
هي|هو|الخيار|الصحيحة|الصحيح|الحرف|حرف|است|گزینه|صحیح|היא|הוא|הנכונה|אפשרות
""")
_EDGE = r"(?![0-9a-zà-ʯ\u0370-\u03ff\u0400-\u052f])"
_LEFT = r"(?<![0-9a-zà-ʯ\u0370-\u03ff\u0400-\u052f])"
_CJK_GAP = "是为為就选選はがも은는이가的"
# Any sign but those that end a sentence; words of the table; Chinese and Japanese particles.
_GAP = rf"(?:[^\w.!?;&+%@°]|_|(?:{_GAP_WORDS}){_EDGE}|[{_CJK_GAP}]){{0,40}}"
ANNOUNCEMENT = re.compile(
    rf"{_LEFT}(?:(?P<answer>(?:{_ANSWER_NOUNS}){_EDGE}|(?:答案|答|选|正解|답))"
    rf"|(?P<option>(?:{OPTION_NOUNS}){_EDGE})"
    rf"|(?P<verb>(?:{_CHOICE_VERBS}){_EDGE}|选|選)"
    rf"|(?P<match>(?:{_MATCH_VERBS}){_EDGE})"
    rf"|(?P<turn>(?:{_TURNS}|instead(?!\s+of)){_EDGE}))"
    rf"(?P<gap>\.?{_GAP})"
)
COPULA = re.compile(
    rf"[:=→⇒是为為は]|{_LEFT}(?:"
    + words(r"""
is|are|was|be|seems|appears|remains|reads|es|est|ist|è|é|är|er|adalah|là|jest|je|este|είναι|คือ
है|هي|هو|است|היא|הוא|это|является|이|은|는|lautet
""")
    + rf"){_EDGE}"
)
# "It is B", "so it must be B": weak, only a capital letter at the end of a clause follows.
WEAK = re.compile(
    rf"{_LEFT}(?:"
    + words(r"""
it is|it's|that is|that's|this is|must be|should be|has to be|would be|is likely|is probably
is definitely|probably|definitely|certainly|maybe|perhaps|i think|i believe|so|therefore|thus|hence
in conclusion|to conclude|overall|c'est|es|ist|это|是
""")
    + rf"){_EDGE}(?P<gap>{_GAP})|[→⇒∴](?P<arrow>{_GAP})"
)
CONCLUSION = re.compile(
    rf"{_LEFT}(?:"
    + words(r"""
so|therefore|thus|hence|in conclusion|to conclude|overall|in total|altogether|in summary
to summarize|to sum up|consequently|accordingly|i conclude|we conclude|we can conclude
因此|所以|综上|よって|따라서|следовательно|поэтому|итак
""")
    + rf"){_EDGE}|因此|所以|综上"
)

# --- Verdicts that follow a letter or an option's text ------------------------------------------

_ADVERBS = words(r"""
the|a|an|indeed|clearly|most|more|only|best|single|one|likely|far|much|probably|definitely|certainly
therefore|thus|actually|also|obviously|overall|also|my|final|closest|that|which|what|to|be
option|choice|statement|description|very|highly
""")
_CLOSE = r"[\s()\[\]}>*_\"'`.,:;|→⇒=-]{0,8}"
_GOOD = words(r"""
correct|right|accurate|appropriate|answer|likely answer|suitable|fitting|true|best|better|closest
choice|match|best match|consistent|valid|supported|only option|only one|one that|stronger|preferable
most likely|most plausible|most probable|most reasonable|most logical|more likely|more plausible
more probable|more reasonable|more logical|likeliest
""")
_IS = words(r"""
is|are|was|seems|seem|appears|appear|looks|remains|would be|must be|should be|has to be|stands out as
""")
CONFIRMED = re.compile(
    rf"{_CLOSE}(?:(?:this|that|it|which|option|choice|answer|statement|one|here|above)\s+){{0,2}}"
    rf"(?:"
    rf"(?:(?:{_IS}|as|=|-|:)\s*(?:(?:{_ADVERBS})\s+){{0,6}}|[(\[]\s*)(?:{_GOOD}){_EDGE}(?!\s+if{_EDGE})"
    rf"|(?:(?:best|most|more|accurately|correctly|closely|clearly|perfectly|better)\s+){{1,3}}"
    rf"(?:matches|matched|describes|fits|aligns|corresponds|represents|reflects|captures|explains"
    rf"|describe|match|fit)"
    rf"|(?:matches|fits|aligns){_EDGE}"
    rf"|(?:[^\S\n]|-)*[✓✔✅☑]|\s?(?:-|:|=|\()\s?(?:yes|true){_EDGE}"
    rf"|(?:是)?(?:正确|正確|对的|正しい|正解|가 정답|이 정답|가 맞)"
    rf"|(?:es|est|ist|è|é|está|esta)\s+(?:(?:la|el|le|die|der|das|a|o)\s+){{0,2}}(?:\w{{1,12}}\s+)?"
    rf"(?:correct\w{{0,2}}|richtig\w{{0,2}}|respuesta|réponse|antwort|bonne|corrett\w|risposta"
    rf"|resposta|juste)"
    rf")"
)
_WRONG = words(r"""
incorrect|wrong|false|untrue|inaccurate|inconsistent|eliminated|excluded|ruled out|dismissed
discarded|rejected|unlikely|less likely|least likely|implausible|impossible|contradicted|unsupported
irrelevant|out of the question
""")
_AUXILIARY = words(r"""
can|could|is|are|was|were|does|do|did|would|may|might|seems|appears|should|must|looks|has|have
""")
# "It" and "that" speak of the option only within its sentence.
_CLOSE_CLAUSE = _CLOSE.replace(".", "")
DENIED_AFTER = re.compile(
    rf"(?:{_CLOSE}(?:(?:this|option|choice|answer|statement|one)\s+){{0,2}}"
    rf"|{_CLOSE_CLAUSE}(?:(?:that|it|which|to me)\s+){{0,2}})(?:"
    rf"(?:(?:{_AUXILIARY})\s*)?(?:(?:to be|be|also|clearly|definitely|likely|therefore|thus|simply"
    rf"|obviously|very|completely|highly|absolutely|both)\s+){{0,3}}(?:{_WRONG}){_EDGE}(?!\s?:)"
    rf"|(?:(?:{_AUXILIARY})(?:\s+(?:also|clearly|definitely|likely|therefore|thus|simply|obviously"
    rf"|actually)){{0,2}}(?:n't|\s+(?:not|never|neither|no longer)(?!\s+only))|cannot|can't|won't)"
    rf"{_EDGE}"
    rf"|(?:contradicts|conflicts|fails|lacks){_EDGE}"
    rf"|(?:[^\S\n]|-|:)*[✗✘❌✖]"
    rf"|(?:(?<=[-:=(\[])|(?<=[-:=(\[] ))(?:no|nope)(?=\s*(?:[.,;)\]\n]|$))"
    rf"|(?:是)?(?:不正确|不對|不对|错误|错|不符|間違)"
    rf")|{_CLOSE_CLAUSE}"
    rf"not\s+(?:correct|right|true|accurate|seen|shown|visible|supported|the|possible|plausible"
    rf"|likely|present|consistent|applicable|matching|a match|it|valid){_EDGE}"
    rf"(?!\s+(?:one|left|right){_EDGE})"
)

# --- Denials, doubts and refusals ---------------------------------------------------------------

# "no doubt" and "not only" affirm.
NEGATION = re.compile(
    rf"{_LEFT}(?:(?:not|no)(?!\s+(?:doubt|only|just|merely|other|question that)){_EDGE}"
    rf"|(?:"
    + words(r"""
never|neither|nor|none|without|anything but|all but|cannot|rather than|instead of|other than|except|excluding|exclude
excludes|eliminate|eliminates|eliminating|eliminated|rule out|rules out|ruling out|ruled out
dismiss|dismissing|discard|reject|unlike|opposed to|nothing|lack of|lacks|absence of|fails to
fail to|failed to|contradicts|contradict|incorrect|wrong|false|dont|doesnt|didnt|isnt|wasnt|arent
cant|wont|i doubt|doubtful|unlikely|hardly|avoid
не|нет|nicht|kein|keine|pas|jamais|non|não|geen|niet|nie|inte|ikke|değil|bukan|không phải
""")
    + rf"){_EDGE})|n't{_EDGE}|不|没有|並非|并非|не\s|ليس|ليست|아니"
)
CLAUSE_END = re.compile(
    rf"[.!?;:,\n。、]|{_LEFT}(?:(?<!anything )(?<!all )but|so|however|because|since|therefore|thus|hence|instead(?! of)|rather(?! than)"
    rf"|yet|though|although|while|whereas|which|sino|sondern|mais|aber|pero|но|а){_EDGE}|而是|但"
)
CONDITION = re.compile(
    rf"{_LEFT}(?:if|unless|whether|suppose|supposing|assuming|assume|were it|in case|provided that"
    rf"|had it been){_EDGE}"
)
# Whose scope is the sentence: lists with commas follow.
OPEN_QUESTION = re.compile(
    rf"{_LEFT}(?:whether|determine if|tell if|see if|know if|clear if|sure if|confirm if|check if"
    rf"|say if|verify if|decide if|assess if|is the answer|could it be|is it|are they|was it"
    rf"|do they|does it|does he|does she){_EDGE}"
)
SENTENCE_END = re.compile(
    rf"[.!?](?=\s|$)|[\n;。]|{_LEFT}(?:but|so|however|therefore|thus|hence|nevertheless|nonetheless"
    rf"|still|yet|that said|otherwise){_EDGE}"
)
REFUSAL = re.compile(
    rf"{_LEFT}(?:"
    rf"(?:can't|cannot|can not|could not|couldn't|can never|unable to|not able to|impossible to"
    rf"|not possible to|difficult to|hard to|not feasible to|no way to|don't know how to|inability to"
    rf"|am not capable of|not equipped to|incapable of|cant|won't be able to|not permitted to)"
    rf"(?:\s+(?:really|be|accurately|definitively|conclusively|confidently|reliably|actually"
    rf"|directly|currently|be able to|you|with|to|say|fully|clearly|reasonably|possibly|for|sure"
    rf"|certainty)){{0,3}}\s*"
    rf"(?:determine|determined|tell|see|seen|say|said|view|watch|answer|answered|identify"
    rf"|identified|know|known|known|confirm|confirmed|assist|help|provide|discern|access|analyze"
    rf"|analyse|process|infer|inferred|conclude|concluded|make out|judge|decide|ascertain|observe"
    rf"|verify|establish|choose|select|pick|be sure|be certain|be determined|count|predict|fulfill"
    rf"|comply|respond|comment|give|offer|play|open|load|find|detect|perceive|recognize|interpret"
    rf"|distinguish|specify|guess)?"
    rf"|(?:do not|don't|did not|didn't|dont)\s+(?:really\s+|actually\s+)?(?:know|have enough|have access|have the"
    rf"|have any|have sufficient|see|understand|have the ability)"
    rf"|(?:not|isn't|aren't|wasn't|n't)\s+(?:entirely\s+|completely\s+|quite\s+|really\s+|so\s+|too\s+|very\s+"
    rf"|totally\s+|100%\s+|absolutely\s+|fully\s+)?(?:sure|certain|clear|possible to|enough|confident"
    rf"|sufficient|visible|provided|discernible|determinable|specified|show whether)"
    rf"|(?:do not|does not|don't|doesn't)\s+(?:clearly\s+|explicitly\s+)?(?:provide|contain|give|show|include"
    rf"|offer|specify|indicate)\s+(?:enough|sufficient|any|whether|clear|the necessary|a clear"
    rf"|adequate|information)"
    rf"|(?:in)?sufficient\s+(?:information|evidence|detail|context|data)|insufficient"
    rf"|not\s+enough|no\s+(?:information|idea|clue|video|enough|answer|evidence to|visual|frames"
    rf"|context|indication|sufficient|clear answer|clear indication|images?|option|correct answer"
    rf"|correct option|options)"
    rf"|(?:none|neither|nothing)\s+(?:of|from)\s+(?:the|these|those|them|above)|none fit|none match"
    rf"|none apply|none is correct|none are correct|not listed|not among|not applicable|n/a"
    rf"|impossible|unclear|uncertain|undetermined|indeterminate|unknown|inconclusive|ambiguous|unable"
    rf"|i'm sorry|i am sorry|sorry|i apologize|i apologise|my apologies|as an ai|as a language model"
    rf"|please\s+(?:provide|share|upload|give|describe|clarify|let me|send)"
    rf"|could you|can you|would you like|need more|requires? more|more information|more context"
    rf"){_EDGE}"
    rf"|无法|無法|不能确定|不知道|不清楚|抱歉|对不起|わかりません|分かりません|できません|申し訳|알 수 없|죄송"
    rf"|не знаю|не могу|невозможно|извините|no puedo|no sé|lo siento|je ne peux|je ne sais|désolé"
    rf"|ich kann nicht|ich weiß nicht|leider|non posso|non so|mi dispiace|não posso|não sei|desculpe"
    rf"|لا أستطيع|لا يمكن|لا أعرف|آسف|عذرا"
)
DOUBT = re.compile("|".join(p.pattern for p in (NEGATION, CONDITION, OPEN_QUESTION, REFUSAL)))
OPEN_SENTENCE = re.compile(f"{OPEN_QUESTION.pattern}|{REFUSAL.pattern}")
# After one of these, what was refused before is answered nevertheless.
CONTRAST = re.compile(
    rf"{_LEFT}(?:but|however|nevertheless|nonetheless|still|that said|yet|guess|appears|appear|seems"
    rf"|seem|looks like|likely|suggests|suggest|probably|might be|may be|could be|maybe|perhaps|if i had to|i think|i believe|i would say"
    rf"|i'd say|based on|most likely|assume|even so){_EDGE}|但|不过|однако|しかし|하지만"
)

# --- Words beside a lone letter -----------------------------------------------------------------

# An English article is never followed by one of these: "A because ..." is the letter.
NO_NOUN = frozenset(
    words(r"""
is|was|are|were|because|since|as|for|in|on|at|by|with|from|of|to|and|or|but|so|if|when|where
while|which|who|that|this|these|those|the|an|a|it|he|she|they|we|you|his|her|their|its|my|there
based|due|given|would|should|could|can|will|must|may|might|does|do|did|has|have|had|not|seems
appears|best|correctly|accurately|matches|shows|describes|states|says|indicates|suggests|here
after|before|during|let|note|please|hope|looking|instead|rather|than|then|although|though|however|therefore|thus|end|explanation
reason|reasoning|also|i|corresponds|represents|according|both|being|either|over|until|via|only
""").split("|")
)
# The same for the pronoun: "I because ...", "I is correct".
NO_PRONOUN = frozenset(
    (
        "is",
        "seems",
        "appears",
        "because",
        "since",
        "as",
        "matches",
        "describes",
        "rather",
        "explanation",
        "end",
        "and",
        "or",
        "best",
        "shows",
        "corresponds",
    )
)
# "Person B", "vitamin C": a name, no answer.
NAMED = frozenset(
    words(r"""
person|people|player|team|man|woman|boy|girl|child|actor|subject|individual|character|object
ball|cube|box|car|vehicle|frame|frames|image|picture|video|clip|scene|shot|camera|point|position
location|spot|area|zone|region|side|line|path|figure|part|step|phase|stage|section|segment|panel
vitamin|plan|class|grade|group|type|category|level|version|model|hepatitis|block|item|label|marker
key|note|string|chord|variable|string|view|track|lane|row|column|gate|door|room|building|runner
""").split("|")
)
# "B is what the video shows": the letter; "C is cooking": a name.
AFTER_IS = frozenset(
    words(r"""
the|what|correct|right|best|most|my|clearly|likely|more|probably|definitely|consistent|closest
supported|shown|seen|true|accurate|better|also|indeed|not|incorrect|wrong|only|one|it|obviously
""").split("|")
)
PLURAL = re.compile(r"[\s)\]\"'*_`.]{0,6}(?:are|both|were|seem|appear|match|fit)(?![a-z])")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
PLACES = {
    **{word: place for place, word in enumerate(_ORDINALS, start=1)},
    **{str(place): place for place in range(1, 27)},
}
POSITION = re.compile(
    rf"{_LEFT}(?:(?P<word>{'|'.join(_ORDINALS)}|last)\s(?:option|choice|description|statement|answer"
    rf"|alternative)|(?:option|choice)\s(?:number\s|no\.\s|#)?\(?(?P<digit>[0-9]{{1,2}})){_EDGE}"
)
# "in C", "to B": a place or a key, unless it is announced.
PLACE_BEFORE = re.compile(
    rf"{_LEFT}(?:an?|in|of|from|at|on|near|into|onto|behind|to|toward|towards|by)\s+$"
)
# "Option A says ..." describes the option.
SPEAKS_OF = frozenset(
    (
        "require",
        "requires",
        "says",
        "shows",
        "states",
        "describes",
        "depicts",
        "suggests",
        "mentions",
        "claims",
        "would",
        "could",
        "might",
        "may",
        "can",
        "implies",
        "indicates",
        "refers",
        "involves",
        "has",
    )
)
# "Let us look at option A" chooses nothing.
EXAMINES = re.compile(
    rf"{_LEFT}(?:analy[sz]e|analy[sz]ing|consider|considering|look at|looking at|examine|examining|check"
    rf"|checking|evaluate|evaluating|compare|comparing|regarding|about|discuss|review|start with"
    rf"|explain|test)\s(?:(?:the|each|option|choice|answer|letter)\s)*[\W_]*$"
)
ONLY = re.compile(r"(?<![a-z])(?:only|just)\s(?:the\s)?(?:option|choice|answer)?[\W_]*$")
# "If he goes right, then the answer is B"; "the answer would be B if he went right".
CONDITIONAL = re.compile(
    rf"{_LEFT}if{_EDGE}(?!\s+(?:i|we)\s+(?:had|have|were|must|need)|\s+(?:forced|pressed|pushed|asked))"
    rf"[^.!?\n]{{0,120}},\s+(?:then\s|(?:[^.!?;\n]{{0,30}}\s)?(?:would|could|might)\s)[^.!?;\n]{{0,60}}$"
)
WOULD = re.compile(rf"{_LEFT}(?:would|could|might){_EDGE}")
IF_AFTER = re.compile(r"[)\]\"'*_`]{0,4}\s+(?:only\s+)?if(?![a-z])")
FIRST_PERSON = re.compile(rf"{_LEFT}(?:i|we|let's|let me|let us|my|i'd|i'll|i'm)(?![a-z])|选|選")
ASKS = re.compile(
    rf"{_LEFT}(?:is|was|could|would|might|should|can|may|does|isn't)\s+(?:the|it|that|this)?\s*(?:\w+\s+)?$"
)
# "option B", "选项B": the letter is meant, whatever follows it.
OPTION_BEFORE = frozenset(
    words(r"""
option|options|choice|choices|letter|letters|alternative|alternatives|statement|statements
description|hypothesis|caption
opción|opcion|opção|alternativa|opzione|вариант|варианта|варианту|variante|lettre|letra|buchstabe
الخيار|گزینه|보기|선택지|ответ
""").split("|")
)
ANSWER_BEFORE = frozenset(("answer", "answers"))
CJK_OPTION_BEFORE = ("选项", "選項", "选", "選", "答案", "選択肢", "선택지", "보기")
# Beside an option's text these do not make it part of a longer option.
LIGHT_WORDS = frozenset(
    ("the", "a", "an", "to", "of", "in", "on", "at", "is", "are", "from", "by", "with", "it")
)
