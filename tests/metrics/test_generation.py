import math
import warnings

import numpy as np
import pytest
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import sentence_bleu
from rouge_score.rouge_scorer import RougeScorer

from video_reasoning.metrics.generation import (
    JUDGE_PROMPT,
    best_pair,
    bleu,
    bleu_matrix,
    cosine_matrix,
    judge_prompt,
    mean_of_best_reference,
    mean_pair,
    n_dropped,
    parse_judge_score,
    rouge_l,
    rouge_l_matrix,
    tokenize,
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The man falls off his bike, and the dog barks.",
        'He shouts "watch out!" but it\'s too late (again)...',
        "She can't hold the 1.5 m pole; it breaks at 3 p.m. in the park.",
    ],
)
def test_one_sentence_is_split_as_word_tokenize_does(sentence):
    # word_tokenize on one sentence is NLTK's word tokenizer alone; its downloaded part only
    # finds the ends of sentences.
    assert tokenize(sentence) == NLTKWordTokenizer().tokenize(sentence)


def test_full_stops_between_sentences_are_tokens_and_those_of_abbreviations_are_not():
    # What word_tokenize of NLTK 3.10 with its English model gives.
    tokens = tokenize("The man falls. He gets up! Mr. Smith helps at 3 p.m. in town. He laughs.")
    assert " ".join(tokens) == (
        "The man falls . He gets up ! Mr. Smith helps at 3 p.m. in town . He laughs ."
    )
    assert tokenize("") == []


def test_bleu_by_hand():
    # response: the cat sat on the mat (6 tokens); reference: the cat sat on a mat.
    # Precisions: 1-grams 5/6, 2-grams 3/5, 3-grams 2/4, 4-grams 1/3; same length, no penalty.
    expected = (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert bleu(["the cat sat on the mat"], ["the cat sat on a mat"]) == pytest.approx(expected)


def test_brevity_penalty_by_hand():
    # All n-grams of the 5 token response are in the 7 token reference: exp(1 - 7/5).
    score = bleu(["a man falls off the"], ["a man falls off the blue bike"])
    assert score == pytest.approx(math.exp(1 - 7 / 5))


def test_bleu_takes_the_best_reference_then_the_mean_over_responses():
    responses = ["the man falls off the bike", "the dog barks at the cat"]
    references = ["the man falls off the bike", "a woman opens the door slowly"]
    # First response: 1 and about 0, best 1. Second: about 0 with both, no common 4-gram.
    matrix = bleu_matrix(responses, references)
    assert matrix.shape == (2, 2)
    assert matrix[0, 0] == 1
    assert bleu(responses, references) == pytest.approx(0.5, abs=1e-3)
    # One reference at a time, not NLTK's joint BLEU over all references, which mixes them.
    response = "the man falls off the bike and lands on the soft grass"
    mixed = ["the man falls off the bike here", "a man lands on the soft grass"]
    joint = sentence_bleu([tokenize(text) for text in mixed], tokenize(response))
    assert bleu([response], mixed) < 0.9 * joint


def test_without_a_common_four_gram_bleu_is_practically_zero_and_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bleu(["he falls"], ["a dog barks loudly"]) < 1e-60
        assert bleu([""], ["a dog barks loudly"]) == 0


def test_rouge_l_by_hand():
    # Stemmed, the longest common subsequence of "the man falls down" and "a man fell down the
    # stairs" is "man down": precision 2/4, recall 2/6, F = 2 * (1/2 * 1/3) / (5/6) = 0.4.
    score = rouge_l(["The man falls down"], ["A man fell down the stairs"])
    assert score == pytest.approx(0.4)
    # falls and falling share a stem.
    assert rouge_l(["falls"], ["falling"]) == 1


def test_rouge_l_is_that_of_rouge_score_with_the_reference_as_target():
    responses = ["he slips on ice", "the ball rolls away from him"]
    references = ["a man slips on the ice and falls", "the ball rolled away"]
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    expected = [
        [scorer.score(reference, response)["rougeL"].fmeasure for reference in references]
        for response in responses
    ]
    assert rouge_l_matrix(responses, references) == pytest.approx(np.array(expected))
    assert rouge_l(responses, references) == pytest.approx(np.max(expected, axis=1).mean())


def test_three_rules_of_aggregation():
    # Rows are responses, columns are references.
    scores = [[0.2, 0.8], [0.5, 0.1], [0.3, 0.3]]
    assert best_pair(scores) == 0.8
    assert mean_pair(scores) == pytest.approx(2.2 / 6)
    assert mean_of_best_reference(scores) == pytest.approx((0.8 + 0.5 + 0.3) / 3)


def test_a_pair_without_a_judgement_is_dropped_and_counted():
    scores = [[4, math.nan], [1, math.nan]]
    assert mean_pair(scores) == 2.5
    assert n_dropped(scores) == 2
    assert math.isnan(mean_pair([[math.nan]]))


def test_nothing_is_not_zero():
    for rule in (best_pair, mean_pair, mean_of_best_reference):
        assert math.isnan(rule([]))
        assert math.isnan(rule(np.empty((0, 3))))
        assert math.isnan(rule(np.empty((3, 0))))
    assert math.isnan(bleu([], ["a"]))
    assert math.isnan(rouge_l(["a"], []))


def test_cosine_by_hand():
    # (3, 4) against (1, 0) is 3/5, against (0, 2) 4/5; (1, 0) against them 1 and 0.
    matrix = cosine_matrix([[3, 4], [1, 0]], [[1, 0], [0, 2]])
    assert matrix == pytest.approx(np.array([[0.6, 0.8], [1.0, 0.0]]))
    assert best_pair(matrix) == pytest.approx(1.0)
    assert math.isnan(cosine_matrix([[0, 0]], [[1, 0]])[0, 0])
    with pytest.raises(ValueError, match=r"shapes \(1, 2\) and \(1, 3\)"):
        cosine_matrix([[1, 0]], [[1, 0, 0]])


def test_the_judge_sees_both_texts_as_they_are():
    prompt = judge_prompt("a {response} with <ground_truth>", "a reference with <model_generated>")
    assert prompt.endswith(
        "Ground Truth: a reference with <model_generated>\n\n"
        "Response to Score: a {response} with <ground_truth>"
    )
    assert prompt.startswith(JUDGE_PROMPT[:300])


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Reason: Both say that the man falls.\n\nScore: 4", 4),
        ("Score: 1\nReason: Entirely different events.", 1),
        ("**Score:** 3", 3),
        ("**Score**: **5**", 5),
        ("Score: 4/5", 4),
        ("Score: 2.0", 2),
        ("score - 3", None),
        ("SCORE = 3", 3),
        ("- Score: 2", 2),
        ("Reason: similar. Score: 4", 4),
        ("I would score it a lot. The score is 2.", 2),
        # Text that goes on with another example: the first line counts.
        ("Score: 4\n\nGround Truth: a dog\nResponse to Score: a cat\nScore: 1", 4),
        # The format repeated before the answer.
        ("Reason: ...\nScore: Your score.\nReason: alike.\nScore: 5", 5),
        ("Score: 3.5", 3),
        ("Score: 4.5", 4),
        ("Score: 0.5", None),
        ("Score:\n4", 4),
        ("Reason: alike.\n**Score:**\n\n**4**", 4),
        ("Score: Your score.\n5: The response matches.", None),
        ("Score:\n1-5", None),
        ("Score: 0", None),
        ("Score: 7", None),
        ("Score: 10", None),
        ("Score: 1-5", None),
        ("Score: Your score.", None),
        ("The response matches in 3 of 4 points.", None),
        ("", None),
        ("Scoreboard: 3", None),
    ],
)
def test_judge_replies(reply, score):
    assert parse_judge_score(reply) == score


def test_long_replies_take_linear_time():
    for text in (
        "score " * 50_000,
        "Score: " * 50_000,
        "*" * 300_000,
        "score:" + " " * 300_000,
        "score:\n" * 50_000,
    ):
        assert parse_judge_score(text) is None


def test_the_judges_prompt_in_the_layout_of_the_authors_script():
    prompt = judge_prompt("a {response}", "a reference", released=True)
    # metric/llm_match_llama.py, 5f9abf0: one line each, blank lines around the format alone.
    assert prompt.split("\n")[2:] == [
        "",
        "5: The response matches the ground truth perfectly.",
        "1: The response is entirely different from the ground truth.",
        "",
        "Please return your evaluation in the following format:",
        "Reason: A brief, ten-word explanation for your score.",
        "Score: Your score.",
        "",
        "Ground Truth:    ",
        "a reference",
        "",
        "Response to Score:",
        "a {response}",
        "",
    ]
    assert prompt.startswith("\nYou are an AI assistant")
    paper = judge_prompt("a {response}", "a reference")
    assert paper.split() == prompt.split() and paper != prompt
