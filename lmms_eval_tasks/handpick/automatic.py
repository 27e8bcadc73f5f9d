"""A stand-in for a person: the frame closest to the question by a CLIP model.

Of the 16 frames that a person would see, the one is taken whose image embedding has the highest
mean cosine similarity to the embeddings of the question and of each of its options (all options
alike: the right answer plays no part). Ties go to the earlier frame. Such picks carry the
annotator ``automatic:<model>``: they show what a model takes for informative, and numbers that
rest on them are not the handpicked numbers of TVBench (section 3), for which a person picks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.frames import Frames
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.handpick.frames import read_grid
from video_reasoning.tasks.handpick.items import Item
from video_reasoning.tasks.handpick.record import Decision
from video_reasoning.tasks.store.picks import AUTOMATIC, PicksError

_DECODERS = 4


def annotator_name(model: str) -> str:
    """The annotator's name for a model: a folder gives its own name, not its whole path."""
    path = Path(model).expanduser()
    return AUTOMATIC + (path.resolve().name if path.is_dir() else model)


class ClipPicker:
    """Picks frames with a CLIP model.

    Args:
        model: name on the Hugging Face hub, or folder, of a model with CLIP's interface.
        device: where it runs; None for the GPU where there is one.
        batch_size: images that go through the model at a time.

    Raises:
        PicksError: if the model cannot be loaded or has no image and text embeddings.
    """

    def __init__(self, model: str, *, device: str | None = None, batch_size: int = 64) -> None:
        import torch
        from transformers import AutoModel, AutoProcessor

        self.annotator = annotator_name(model)
        self.batch_size = batch_size
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        path = Path(model).expanduser()
        place = str(path) if path.is_dir() else model
        try:
            self._processor: Any = AutoProcessor.from_pretrained(place)
            self._model: Any = AutoModel.from_pretrained(place).to(self.device).eval()
        except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
            reason = str(error).strip().split("\n")[0].rstrip(".")
            raise PicksError(f"The model {model} cannot be loaded: {reason}.") from None
        if not (
            hasattr(self._model, "get_image_features") and hasattr(self._model, "get_text_features")
        ):
            raise PicksError(
                f"The model {model} gives no image and text embeddings; "
                "name one such as openai/clip-vit-base-patch32."
            )

    def embed_images(self, images: Sequence[Any]) -> Any:
        """Unit embeddings of PIL images: tensor (images, dimensions), float32."""
        parts = [
            self._model_call("get_image_features", images=list(batch), return_tensors="pt")
            for batch in _batches(images, self.batch_size)
        ]
        return _concatenate(parts)

    def embed_texts(self, texts: Sequence[str]) -> Any:
        """Unit embeddings of texts, cut off where the model's length ends: (texts, dimensions)."""
        config = self._model.config
        longest = getattr(getattr(config, "text_config", config), "max_position_embeddings", None)
        parts = [
            self._model_call(
                "get_text_features",
                text=list(batch),
                return_tensors="pt",
                padding="max_length",
                truncation=True,
                max_length=longest,
            )
            for batch in _batches(texts, self.batch_size)
        ]
        return _concatenate(parts)

    def choose(self, items: Sequence[tuple[Item, Frames[Any]]]) -> list[Decision]:
        """Picks a frame for each of some items, all in one go.

        Args:
            items: items and their frames as PIL images.

        Returns:
            One decision each, in their order.
        """
        # A frame that is shown twice needs one embedding.
        distinct = [_distinct(frames) for _, frames in items]
        images = self.embed_images([picture for places in distinct for picture in places.values()])
        texts = self.embed_texts([text for item, _ in items for text in _texts(item)])
        decisions = []
        image = text = 0
        for (item, frames), places in zip(items, distinct, strict=True):
            ours, said = len(places), len(_texts(item))
            closeness = images[image : image + ours] @ texts[text : text + said].T
            # argmax does not promise the first of equals on every device; this does.
            means = closeness.mean(dim=1).tolist()
            place = list(places)[means.index(max(means))]
            decisions.append(
                Decision(
                    self.annotator,
                    item.id,
                    frames.indices[place],
                    frames.n_frames,
                    frames.seconds[place],
                )
            )
            image, text = image + ours, text + said
        return decisions

    def _model_call(self, method: str, **inputs: Any) -> Any:
        import torch

        encoded = self._processor(**inputs).to(self.device)
        with torch.inference_mode():
            features = getattr(self._model, method)(**encoded)
        # Newer versions of transformers wrap the embeddings.
        features = getattr(features, "pooler_output", features).float()
        if not bool(torch.isfinite(features).all()):
            raise PicksError(f"{self.annotator} gave embeddings that are no numbers.")
        return torch.nn.functional.normalize(features, dim=-1).cpu()


def pick_automatically(
    items: Sequence[Item],
    picker: ClipPicker,
    *,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[tuple[list[Decision], list[str]]]:
    """Picks a frame for every item, some items at a time.

    Videos are decoded in threads ahead of the model.

    Args:
        items: what to pick for.
        picker: the model.
        told: told after each step how many items are done, of how many.

    Yields:
        The decisions of a step, and a sentence for each item that has no pick.
    """
    step = max(1, picker.batch_size // 16)
    done = 0
    with ThreadPoolExecutor(_DECODERS) as pool:
        waiting = iter(items)
        ahead = [(item, _submit(pool, item)) for item in islice(waiting, step + _DECODERS)]
        while ahead:
            now, ahead = ahead[:step], ahead[step:]
            ready, problems = [], []
            for item, future in now:
                frames = future.result()
                if isinstance(frames, str):
                    problems.append(f"{item.id}: {frames}")
                else:
                    ready.append((item, frames))
            ahead += [(item, _submit(pool, item)) for item in islice(waiting, len(now))]
            decisions = picker.choose(ready) if ready else []
            done += len(now)
            told(done, len(items))
            yield decisions, problems


def _submit(pool: ThreadPoolExecutor, item: Item) -> Future[Frames[Any] | str]:
    return pool.submit(_frames, item)


def _frames(item: Item) -> Frames[Any] | str:
    if item.problem or item.video is None:
        return item.problem
    try:
        return read_grid(item.video, _small)
    except VideoError as error:
        return str(error)


def _small(image: Any) -> Any:
    # Models take some 224 to 384 pixels: full frames of many videos would only fill the memory.
    image.thumbnail((512, 512))
    return image


def _distinct(frames: Frames[Any]) -> dict[int, Any]:
    """Picture by place in the grid, each frame of the video once, at its first place."""
    first: dict[int, int] = {}
    for place, index in enumerate(frames.indices):
        first.setdefault(index, place)
    return {place: frames.pictures[place] for place in first.values()}


def _texts(item: Item) -> list[str]:
    return [item.question, *item.options]


def _batches(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _concatenate(parts: Sequence[Any]) -> Any:
    import torch

    return torch.cat(list(parts))
