"""Models of real architectures with random weights, small enough for a CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.harness.tiny_qwen import CHAT_TEMPLATE, SPECIAL

TEXT: Mapping[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 65536,
}
QWEN_VISION: Mapping[str, Any] = {
    "depth": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_heads": 4,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": 64,
}
SIGLIP: Mapping[str, Any] = {
    "model_type": "siglip_vision_model",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "patch_size": 14,
}


def template(image: str, video: str) -> str:
    """A chat template with these marks for images and videos."""
    return CHAT_TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", image).replace(
        "<|vision_start|><|video_pad|><|vision_end|>", video
    )


def tokenizer(special: Sequence[str], chat_template: str, **named: str) -> Any:
    """A tokenizer of 300 words; ``named`` become attributes of it, such as image_token."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        ["Which way does the kite drift? The answer is A, B, C or D."], vocab_size=300
    )
    made = PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer,
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens=named,
        chat_template=chat_template,
    )
    made.add_special_tokens({"additional_special_tokens": [*special]}, False)
    return made


def write(family: str, folder: Path) -> Path:
    """Writes configuration, weights, tokenizer and processor of a family."""
    import torch

    torch.manual_seed(0)
    model, processor = FAMILIES[family]()
    words = processor.tokenizer
    model.generation_config.eos_token_id = words.convert_tokens_to_ids("<|im_end|>")
    model.generation_config.pad_token_id = words.convert_tokens_to_ids("<|endoftext|>")
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _qwen_ids(words: Any) -> dict[str, int]:
    return {
        f"{name}_token_id": words.convert_tokens_to_ids(f"<|{mark}|>")
        for name, mark in (
            ("image", "image_pad"),
            ("video", "video_pad"),
            ("vision_start", "vision_start"),
            ("vision_end", "vision_end"),
        )
    }


def _qwen2_vl() -> tuple[Any, Any]:
    import transformers as t

    words = tokenizer(SPECIAL, CHAT_TEMPLATE)
    config = t.Qwen2VLConfig(
        text_config={
            **TEXT,
            "vocab_size": len(words),
            "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
        },
        vision_config={
            "depth": 2, "embed_dim": 64, "hidden_size": 64, "num_heads": 4, "mlp_ratio": 2,
            "patch_size": 14,
        },
        **_qwen_ids(words),
    )  # fmt: skip
    pictures, videos = t.Qwen2VLImageProcessor(), t.Qwen2VLVideoProcessor()
    processor = t.Qwen2VLProcessor(pictures, words, videos, chat_template=CHAT_TEMPLATE)
    return t.Qwen2VLForConditionalGeneration(config), processor


def _qwen3(model: str, config: str, **text: Any) -> tuple[Any, Any]:
    import transformers as t

    words = tokenizer(SPECIAL, CHAT_TEMPLATE)
    rope = {"rope_type": "default", "mrope_section": [2, 3, 3], "mrope_interleaved": True}
    vision = {**QWEN_VISION, "patch_size": 16, "num_position_embeddings": 256}
    made = getattr(t, config)(
        text_config={**TEXT, "vocab_size": len(words), "rope_scaling": rope, **text},
        vision_config={**vision, **({"deepstack_visual_indexes": [0]} if not text else {})},
        **_qwen_ids(words),
    )
    pictures = t.Qwen2VLImageProcessor(patch_size=16, merge_size=2)
    videos = t.Qwen3VLVideoProcessor(patch_size=16, merge_size=2)
    processor = t.Qwen3VLProcessor(pictures, words, videos, chat_template=CHAT_TEMPLATE)
    return getattr(t, model)(made), processor


def _qwen3_vl() -> tuple[Any, Any]:
    return _qwen3("Qwen3VLForConditionalGeneration", "Qwen3VLConfig")


def _qwen3_5() -> tuple[Any, Any]:
    rope = {
        "rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0,
        "mrope_section": [2, 3, 3], "mrope_interleaved": True,
    }  # fmt: skip
    return _qwen3(
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5Config",
        layer_types=["linear_attention", "full_attention"],
        linear_key_head_dim=16,
        linear_value_head_dim=16,
        linear_num_key_heads=2,
        linear_num_value_heads=2,
        rope_parameters=rope,
    )


def _llava_onevision() -> tuple[Any, Any]:
    import transformers as t

    chat = template("<image>", "<video>")
    words = tokenizer((*SPECIAL, "<image>", "<video>"), chat)
    config = t.LlavaOnevisionConfig(
        vision_config={**SIGLIP, "image_size": 112, "vision_use_head": False},
        text_config={**TEXT, "model_type": "qwen2", "vocab_size": len(words)},
        image_token_id=words.convert_tokens_to_ids("<image>"),
        video_token_id=words.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=[[112, 112], [112, 224], [224, 112], [224, 224]],
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
    )
    size = {"height": 112, "width": 112}
    pictures = t.LlavaOnevisionImageProcessor(
        size=size, image_grid_pinpoints=config.image_grid_pinpoints
    )
    processor = t.LlavaOnevisionProcessor(
        pictures,
        words,
        t.LlavaOnevisionVideoProcessor(size=size),
        num_image_tokens=64,
        vision_feature_select_strategy="full",
        chat_template=chat,
    )
    return t.LlavaOnevisionForConditionalGeneration(config), processor


def _gemma3() -> tuple[Any, Any]:
    import transformers as t

    marks = {"boi_token": "<boi>", "eoi_token": "<eoi>", "image_token": "<soft>"}
    chat = template("<boi>", "<boi>")
    words = tokenizer((*SPECIAL, *marks.values()), chat, **marks)
    config = t.Gemma3Config(
        text_config={**TEXT, "vocab_size": len(words)},
        vision_config={**SIGLIP, "image_size": 112, "vision_use_head": False},
        mm_tokens_per_image=16,
        boi_token_index=words.boi_token_id,
        eoi_token_index=words.eoi_token_id,
        image_token_index=words.image_token_id,
    )
    pictures = t.Gemma3ImageProcessor(size={"height": 112, "width": 112})
    processor = t.Gemma3Processor(pictures, words, chat_template=chat, image_seq_length=16)
    return t.Gemma3ForConditionalGeneration(config), processor


def _gemma4() -> tuple[Any, Any]:
    import transformers as t

    marks = {
        "boi_token": "<boi>", "eoi_token": "<eoi>", "image_token": "<soft>",
        "boa_token": "<boa>", "eoa_token": "<eoa>", "audio_token": "<heard>",
        "video_token": "<|video|>",
    }  # fmt: skip
    chat = template("<soft>", "<|video|>")
    words = tokenizer((*SPECIAL, *marks.values()), chat, **marks)
    config = t.Gemma4Config(
        text_config={**TEXT, "vocab_size": len(words), "vocab_size_per_layer_input": len(words),
                     "global_head_dim": 16, "hidden_size_per_layer_input": 8,
                     "num_kv_shared_layers": 0,
                     "layer_types": ["sliding_attention", "full_attention"]},
        vision_config={"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
                       "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16},
        audio_config=None,
        image_token_id=words.image_token_id,
        video_token_id=words.video_token_id,
        audio_token_id=words.audio_token_id,
        boi_token_id=words.boi_token_id,
        eoi_token_id=words.eoi_token_id,
    )  # fmt: skip
    processor = t.Gemma4Processor(
        t.Gemma4AudioFeatureExtractor(),
        t.Gemma4ImageProcessor(),
        words,
        t.Gemma4VideoProcessor(),
        chat_template=chat,
    )
    return t.Gemma4ForConditionalGeneration(config), processor


def _internvl() -> tuple[Any, Any]:
    import transformers as t

    marks = {
        "start_image_token": "<img>", "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>", "video_token": "<video>",
    }  # fmt: skip
    chat = template("<IMG_CONTEXT>\n", "<video>\n")
    words = tokenizer((*SPECIAL, *marks.values()), chat, **marks)
    config = t.InternVLConfig(
        text_config={**TEXT, "model_type": "qwen2", "vocab_size": len(words)},
        vision_config={
            "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
            "num_attention_heads": 4, "image_size": [112, 112], "patch_size": [14, 14],
        },
        image_token_id=words.context_image_token_id,
        image_seq_length=16,
    )  # fmt: skip
    size = {"height": 112, "width": 112}
    processor = t.InternVLProcessor(
        t.GotOcr2ImageProcessor(size=size),
        words,
        t.InternVLVideoProcessor(size=size),
        image_seq_length=16,
        chat_template=chat,
    )
    return t.InternVLForConditionalGeneration(config), processor


FAMILIES: Mapping[str, Callable[[], tuple[Any, Any]]] = {
    "qwen2_vl": _qwen2_vl,
    "qwen3_vl": _qwen3_vl,
    "qwen3_5": _qwen3_5,
    "llava_onevision": _llava_onevision,
    "gemma3": _gemma3,
    "gemma4": _gemma4,
    "internvl": _internvl,
}
