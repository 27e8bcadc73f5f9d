"""CLIP score and LLM-Match with tiny models of random weights, against a direct computation."""

import json
import math
import os
import shutil
import subprocess
import sys
import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from video_reasoning.metrics import models as scorers
from video_reasoning.metrics.generation import best_pair, judge_prompt, mean_pair
from video_reasoning.metrics.models import ClipScorer, LlmJudge, ModelError

WORDS = [
    *("a", "the", "man", "dog", "falls", "off", "bike", "runs", "away", "ball", "rolls"),
    *("score", "1", "2", "3", "4", "5", "reason", ":", "."),
]
QUESTIONS = [
    (["the man falls off the bike", "a dog runs"], ["a man falls", "the man falls off a bike"]),
    (["the ball rolls away"], ["the ball rolls away", "a dog runs", "a ball"]),
]


def _tokenizer(folder, eos):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    specials = ["<pad>", "<bos>", "<eos>", "<unk>"]
    vocabulary = {token: number for number, token in enumerate([*specials, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    # A causal model's tokenizer, unlike CLIP's, does not close the text.
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>" if eos else "<bos> $A",
        special_tokens=[("<bos>", 1), ("<eos>", 2)],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<bos>", eos_token="<eos>", unk_token="<unk>"
    )
    if eos:
        fast.pad_token = "<pad>"
    fast.save_pretrained(folder)
    return fast


@pytest.fixture(scope="module")
def clip_folder(tmp_path_factory):
    import torch
    from transformers import CLIPConfig, CLIPModel

    folder = str(tmp_path_factory.mktemp("clip"))
    tokenizer = _tokenizer(folder, eos=True)
    torch.manual_seed(0)
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    text = {
        **small,
        "num_attention_heads": 2,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 12,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    vision = {**small, "num_attention_heads": 2, "image_size": 16, "patch_size": 8}
    # The whole model, images and all, as on the hub: the scorer takes the text tower from it.
    CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)).save_pretrained(
        folder
    )
    return folder


@pytest.fixture(scope="module")
def llama_folder(tmp_path_factory):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = str(tmp_path_factory.mktemp("llama"))
    tokenizer = _tokenizer(folder, eos=False)
    torch.manual_seed(1)
    LlamaForCausalLM(
        LlamaConfig(
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            vocab_size=len(tokenizer),
            max_position_embeddings=512,
            bos_token_id=1,
            eos_token_id=2,
        )
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Tiny models only lose time to threads that wait for one another."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@cache
def _whole_clip(folder):
    from transformers import AutoTokenizer, CLIPModel

    return AutoTokenizer.from_pretrained(folder), CLIPModel.from_pretrained(folder).eval()


@cache
def _embed_directly(folder, text):
    import torch

    tokenizer, model = _whole_clip(folder)
    inputs = tokenizer(text, return_tensors="pt", return_token_type_ids=False)
    with torch.no_grad():
        output = model.get_text_features(**inputs)
    vector = getattr(output, "pooler_output", output)[0].numpy()
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_clip_score_is_that_of_each_pair_alone(clip_folder, batch_size):
    scorer = ClipScorer(clip_folder, device="cpu", batch_size=batch_size)
    seen = []
    matrices = scorer.score(QUESTIONS, lambda done, total: seen.append((done, total)))
    for (responses, references), matrix in zip(QUESTIONS, matrices, strict=True):
        expected = [
            [
                float(_embed_directly(clip_folder, one) @ _embed_directly(clip_folder, other))
                for other in references
            ]
            for one in responses
        ]
        assert matrix == pytest.approx(np.array(expected), abs=1e-5)
        assert best_pair(matrix) == pytest.approx(np.max(expected), abs=1e-5)
    # 4 texts of the first question and 2 new ones of the second.
    assert seen[-1] == (6, 6)
    # The second question's response is word for word a reference.
    assert matrices[1][0, 0] == pytest.approx(1)
    assert scorer.n_truncated == 0


def test_texts_beyond_the_models_length_are_cut_and_counted(clip_folder):
    scorer = ClipScorer(clip_folder, device="cpu")
    long = "the man falls off the bike " * 10
    assert scorer.score([([long], ["a dog runs"])])[0].shape == (1, 1)
    assert scorer.n_truncated == 1


def test_nothing_to_compare_has_no_score(clip_folder):
    scorer = ClipScorer(clip_folder, device="cpu")
    matrices = scorer.score([([], ["a dog runs"]), (["a man"], [])])
    assert [matrix.shape for matrix in matrices] == [(0, 1), (1, 0)]
    assert scorer.score([([], [])])[0].shape == (0, 0)
    assert scorer.score([]) == []


def test_a_batch_of_prompts_gets_the_replies_of_each_alone(llama_folder):
    import torch
    from transformers import AutoTokenizer, LlamaForCausalLM

    judge = LlmJudge(llama_folder, device="cpu", batch_size=4, max_new_tokens=6)
    # Prompts of different lengths, so that a batch is padded.
    pairs = [("a", "a dog runs"), ("the man falls off the bike", "a dog"), ("a ball rolls", "a")]
    judgements = judge.judge(pairs)
    tokenizer = AutoTokenizer.from_pretrained(llama_folder)
    model = LlamaForCausalLM.from_pretrained(llama_folder).eval()
    for (response, reference), judgement in zip(pairs, judgements, strict=True):
        ids = tokenizer(judge_prompt(response, reference), return_tensors="pt")["input_ids"]
        prompt_length = ids.shape[1]
        with torch.no_grad():
            for _ in range(6):
                best = model(ids).logits[0, -1].argmax()
                ids = torch.cat([ids, best.view(1, 1)], dim=1)
                if best == 2:
                    break
        reply = tokenizer.decode(ids[0, prompt_length:], skip_special_tokens=True)
        assert judgement.reply == reply
    assert judgements == judge.judge(pairs)
    assert all(judgement.reply for judgement in judgements)


def test_a_chat_template_is_used_and_sampling_follows_the_seed(llama_folder, monkeypatch):
    judge = LlmJudge(llama_folder, device="cpu", temperature=0.4, max_new_tokens=20, seed=3)
    plain = judge.judge([("a dog runs", "the man falls")])
    assert plain == judge.judge([("a dog runs", "the man falls")])
    asked = []
    tokenizer = judge._tokenizer
    tokenizer.chat_template = (
        "<bos> {% for message in messages %}{{ message['role'] }} : {{ message['content'] }}"
        "{% endfor %}{% if add_generation_prompt %} reason :{% endif %}"
    )
    generate = judge._model.generate
    monkeypatch.setattr(
        judge._model,
        "generate",
        lambda **inputs: asked.append(inputs["input_ids"]) or generate(**inputs),
    )
    judge.judge([("a dog runs", "the man falls")])
    text = tokenizer.decode(asked[0][0])
    assert text.count("<bos>") == 1
    assert text.endswith("reason :")


def test_a_model_that_is_not_there_is_one_clear_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for make in (ClipScorer, LlmJudge):
        with pytest.raises(ModelError, match=r"cannot be loaded .*give a local folder"):
            make(str(tmp_path / "nowhere"), device="cpu")


def test_without_a_network_nothing_is_tried_again(clip_folder, tmp_path):
    """The hub is asked once: a cached model is loaded all the same, one that is absent refused."""
    cached = tmp_path / "hub/models--made--clip"
    shutil.copytree(clip_folder, cached / "snapshots/0")
    (cached / "refs").mkdir()
    (cached / "refs/main").write_text("0")
    script = """
from video_reasoning.metrics.models import ClipScorer, ModelError
assert ClipScorer("made/clip", device="cpu").embed(["a dog runs"]).shape[0] == 1
try:
    ClipScorer("made/other", device="cpu")
except ModelError as error:
    print(error)
"""
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9"}
    environment.pop("HF_HUB_OFFLINE", None)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert "not in the cache, and the hub does not answer" in done.stdout
    assert "give a local folder" in done.stdout
    assert "Retrying" not in done.stderr and "127.0.0.1" not in done.stderr


@pytest.mark.parametrize(
    ("problem", "is_folder", "local"),
    [("", False, False), ("off", False, True), ("off", True, False)],
)
def test_the_cache_alone_counts_only_without_the_hub(
    tmp_path, monkeypatch, problem, is_folder, local
):
    """A cache may be filled in parts: a tokenizer without its vocabulary is loaded from it."""
    asked = []

    class Kind:
        @staticmethod
        def from_pretrained(model, *, local_files_only):
            asked.append(local_files_only)

    monkeypatch.setattr(scorers, "_unreachable", lambda model: problem)
    scorers._load(Kind, str(tmp_path) if is_folder else "made/model")
    assert asked == [local]


@pytest.fixture
def server():
    """An OpenAI-compatible server that rates by the length of the response."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(request)
            prompt = request["messages"][0]["content"]
            response = prompt.rsplit("Response to Score: ", 1)[1]
            if response == "refused":
                self._send(400, {"error": {"message": "not this one"}})
            elif response == "silent":
                self._send(200, _completion("Reason: hard to say."))
            else:
                self._send(200, _completion(f"Reason: words.\nScore: {len(response.split())}"))

        def _send(self, status, content):
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    requests = []
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}/v1", requests
    running.shutdown()
    running.server_close()
    thread.join()


def _completion(text):
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "judge",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }


def test_a_server_rates_every_pair_once(server):
    address, requests = server
    judge = LlmJudge("judge", base_url=address, batch_size=3)
    questions = [
        (["one", "one two three"], ["a", "b"]),
        (["one two", "silent", "refused"], ["a"]),
        (["one two"], ["a"]),
    ]
    matrices = judge.score(questions)
    assert matrices[0].tolist() == [[1, 1], [3, 3]]
    assert mean_pair(matrices[0]) == 2
    # A reply without a score and a refused request have none; the pair of the last question was
    # rated before.
    assert matrices[1][0, 0] == 2
    assert math.isnan(matrices[1][1, 0])
    assert math.isnan(matrices[1][2, 0])
    assert matrices[2].tolist() == [[2]]
    assert len(requests) == 7
    assert requests[0]["temperature"] == 0
    assert requests[0]["max_tokens"] == 100
    judgements = judge.judge([("refused", "a"), ("silent", "a")])
    assert judgements[0].error.startswith("400")
    assert (judgements[1].score, judgements[1].reply) == (None, "Reason: hard to say.")


def test_a_server_that_does_not_answer_ends_the_run():
    judge = LlmJudge("judge", base_url="http://127.0.0.1:9/v1", timeout=2)
    judge._client.max_retries = 0
    with pytest.raises(ModelError, match=r"The judge judge at http://127.0.0.1:9/v1 does not"):
        judge.judge([("a", "b")])
