"""A model behind a local OpenAI-compatible server, which reads which frames arrive."""

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

from PIL import Image

from video_reasoning.tasks.sight.naming import draw, number_of, write_video


def write_numbered(path: Path, numbers: Sequence[int], rate: int = 25) -> Path:
    """A video of frames that name themselves."""
    return write_video(path, map(draw, numbers), rate)


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
