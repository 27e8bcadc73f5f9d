"""In place of weights and packages that are not here, behind the harness's real classes."""

from __future__ import annotations

import importlib.machinery
import sys
from types import ModuleType, SimpleNamespace
from typing import Any


def internvl() -> None:
    """A model whose ``chat`` works as that of InternVL's own code: pictures, then ``generate``."""
    import lmms_eval.models.simple.internvl2 as two
    import lmms_eval.models.simple.internvl3 as three
    import torch
    import transformers

    torch.Tensor.cuda = lambda self, *_, **__: self
    to = torch.Tensor.to

    def stays(self: Any, *given: Any, **named: Any) -> Any:
        kept = [each for each in given if not str(each).startswith("cuda")]
        return to(self, *kept, **named) if kept or named else self

    torch.Tensor.to = stays

    class InternVL(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.config = SimpleNamespace()
            self.patch_embedding = torch.nn.Conv2d(3, 8, 14, 14, dtype=torch.bfloat16)
            sizes = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
            config = transformers.Qwen2Config(
                vocab_size=64, num_hidden_layers=1, num_key_value_heads=2, **sizes
            )
            self.language_model = transformers.Qwen2ForCausalLM(config)

        def to(self, *_: Any, **__: Any) -> Any:
            return self

        def chat(self, words: Any, pixels: Any, question: str, *_: Any, **named: Any) -> Any:
            words(question)
            if pixels is not None:
                self.patch_embedding(pixels)
            made = torch.zeros(1, 3, 16)
            self.language_model.generate(inputs_embeds=made, max_new_tokens=1)
            return ("A", []) if named.get("return_history") else "A"

    for module in (two, three):
        module.AutoModel = SimpleNamespace(from_pretrained=lambda *_, **__: InternVL())


def llava_onevision1_5() -> None:
    """Qwen2.5-VL's model, whose processor the checkpoints have, in place of their own code."""
    import lmms_eval.models.simple.llava_onevision1_5 as module
    from transformers import Qwen2_5_VLForConditionalGeneration

    module.AutoModelForCausalLM = Qwen2_5_VLForConditionalGeneration


def vllm() -> None:
    """A package whose engine answers A to everything."""

    class LLM:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def chat(self, messages: Any, sampling_params: Any = None, **_: Any) -> Any:
            del sampling_params
            return [SimpleNamespace(outputs=[SimpleNamespace(text="A")]) for _ in messages]

        def get_metrics(self) -> list[Any]:
            return []

    _package("vllm", LLM=LLM, SamplingParams=SimpleNamespace)


def litellm() -> None:
    """A package that answers A to everything."""
    message = SimpleNamespace(content="A", reasoning_content=None)
    usage = SimpleNamespace(prompt_tokens=1, completion_tokens=1, total_tokens=2)
    choice = SimpleNamespace(message=message, finish_reason="stop")
    _package("litellm", completion=lambda **_: SimpleNamespace(choices=[choice], usage=usage))


def _package(name: str, **contents: Any) -> None:
    made = ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    made.__dict__.update(contents)
    sys.modules[name] = made
