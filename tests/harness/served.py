"""A model behind a local OpenAI-compatible server, and frames that name themselves.

A frame's number is drawn as 2 x 4 black or white blocks, which survive lossy coding, resizing and
PNG. So a test reads which frames arrive, in which order, and not only how many.
"""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image

SIDE = 224
"""Width and height of the frames: a multiple of 28, which Qwen's reader does not resize."""


def draw(number: int) -> np.ndarray:
    """A frame that shows its number, 0 to 255."""
    bits = np.array([(number >> place) & 1 for place in range(8)], dtype=np.uint8).reshape(2, 4)
    return np.kron(255 * bits, np.ones((SIDE // 2, SIDE // 4), dtype=np.uint8))


def number_of(image: Any) -> int:
    """Which frame an image is.

    Raises:
        ValueError: It is not a frame of ours.
    """
    gray = np.asarray(image.convert("L"), dtype=float)
    blocks = [
        block[
            block.shape[0] // 4 : -block.shape[0] // 4, block.shape[1] // 4 : -block.shape[1] // 4
        ]
        for row in np.array_split(gray, 2, axis=0)
        for block in np.array_split(row, 4, axis=1)
    ]
    levels = [float(block.mean()) for block in blocks]
    if any(60 < level < 195 for level in levels):
        raise ValueError(f"not a frame that names itself: {levels}")
    return sum((level > 128) << place for place, level in enumerate(levels))


def write_numbered(path: Path, numbers: Sequence[int], rate: int = 25) -> Path:
    """A video of frames that name themselves."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = SIDE, SIDE, "yuv420p"
        for number in numbers:
            frame = av.VideoFrame.from_ndarray(draw(number), format="gray")
            container.mux(stream.encode(frame.reformat(format="yuv420p")))
        container.mux(stream.encode())
    return path


@dataclass(frozen=True)
class Asked:
    """One request: its text, and its images with the number of characters before each."""

    text: str
    images: tuple[Any, ...]
    places: tuple[int, ...]

    @property
    def frames(self) -> list[int]:
        """The numbers of the frames that arrived, in order."""
        return [number_of(image) for image in self.images]


@dataclass
class Served:
    """A running server and what it was asked."""

    url: str
    requests: list[Asked] = field(default_factory=list)


@contextmanager
def serve(respond: Callable[[Asked], str]) -> Iterator[Served]:
    """Answers requests for chat completions until the block is left."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = _asked(body["messages"])
            served.requests.append(asked)
            message = {"role": "assistant", "content": respond(asked)}
            reply = {
                "id": "1", "object": "chat.completion", "created": 0, "model": "served",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }  # fmt: skip
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Served(f"http://127.0.0.1:{server.server_address[1]}/v1")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


def _asked(messages: Sequence[dict[str, Any]]) -> Asked:
    text, images, places = "", [], []
    for message in messages:
        parts = message["content"]
        for part in [{"type": "text", "text": parts}] if isinstance(parts, str) else parts:
            if part["type"] == "text":
                text += part["text"]
            else:
                data = base64.b64decode(part["image_url"]["url"].partition("base64,")[2])
                images.append(Image.open(io.BytesIO(data)).convert("RGB"))
                places.append(len(text))
    return Asked(text, tuple(images), tuple(places))
