"""A Qwen2.5-VL of random weights, small enough for a CPU, with its tokenizer and processor.

It answers nonsense. What it shows is that the code of a real model, its processor and its video
reader accept our clips and prompts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif part['type'] == 'video' %}<|vision_start|><|video_pad|><|vision_end|>"
    "{% elif 'text' in part %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)


def tokenizer_in(folder: Path) -> Any:
    """A tokenizer of three hundred words, with Qwen's special ones."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import Qwen2TokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    trained = ByteLevelBPETokenizer()
    text = ["Which way does the kite drift? The answer is A, B, C or D. Left, right, up, down."]
    trained.train_from_iterator(text, vocab_size=300, min_frequency=1)
    trained.save_model(str(folder))
    tokenizer = Qwen2TokenizerFast(
        str(folder / "vocab.json"), str(folder / "merges.txt"), pad_token="<|endoftext|>"
    )
    tokenizer.add_special_tokens(
        {"additional_special_tokens": list(SPECIAL), "eos_token": "<|im_end|>"}
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def write(folder: Path) -> Path:
    """Writes configuration, weights, tokenizer and processor; about 0.3 M parameters."""
    import torch
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2VLImageProcessor,
    )

    tokenizer = tokenizer_in(folder)
    tokenizer.save_pretrained(str(folder))
    Qwen2VLImageProcessor(patch_size=14, temporal_patch_size=2, merge_size=2).save_pretrained(
        str(folder)
    )
    preprocessor = json.loads((folder / "preprocessor_config.json").read_text())
    preprocessor["processor_class"] = "Qwen2_5_VLProcessor"
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": CHAT_TEMPLATE}))

    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in SPECIAL}
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer) + 8,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 32768,
            "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
        },
        vision_config={
            "depth": 2,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 4,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "out_hidden_size": 64,
            "fullatt_block_indexes": [1],
            "window_size": 112,
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )
    torch.manual_seed(0)
    model = Qwen2_5_VLForConditionalGeneration(config)
    model.generation_config.eos_token_id = ids["<|im_end|>"]
    model.generation_config.pad_token_id = ids["<|endoftext|>"]
    model.save_pretrained(str(folder))
    return folder


def write_qwen3(folder: Path) -> Path:
    """Writes a Qwen3-VL of the same size: it writes the time before each pair of frames."""
    import torch
    from transformers import (
        Qwen2VLImageProcessor,
        Qwen3VLConfig,
        Qwen3VLForConditionalGeneration,
        Qwen3VLProcessor,
        Qwen3VLVideoProcessor,
    )

    tokenizer = tokenizer_in(folder)
    Qwen3VLProcessor(
        Qwen2VLImageProcessor(patch_size=16, temporal_patch_size=2, merge_size=2),
        tokenizer,
        Qwen3VLVideoProcessor(),
        chat_template=CHAT_TEMPLATE,
    ).save_pretrained(str(folder))
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in SPECIAL}
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer) + 8,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "max_position_embeddings": 32768,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            },
        },
        vision_config={
            "depth": 2,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 4,
            "patch_size": 16,
            "out_hidden_size": 64,
            "num_position_embeddings": 256,
            "deepstack_visual_indexes": [0, 1],
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )
    torch.manual_seed(0)
    model = Qwen3VLForConditionalGeneration(config)
    model.generation_config.eos_token_id = ids["<|im_end|>"]
    model.generation_config.pad_token_id = ids["<|endoftext|>"]
    model.save_pretrained(str(folder))
    return folder


if __name__ == "__main__":
    write(Path(sys.argv[1]))
