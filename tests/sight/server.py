"""An OpenAI-compatible server that keeps which images arrive, and answers A."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def serving() -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """The address, and for each request its text and the links of its images."""
    arrived: list[tuple[str, list[str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts, images = [], []
            for message in body["messages"]:
                content = message["content"]
                for part in [] if isinstance(content, str) else content:
                    if part["type"] == "text":
                        texts.append(part["text"])
                    else:
                        images.append(part["image_url"]["url"])
            arrived.append(("\n".join(texts), images))
            answer = {"role": "assistant", "content": "A"}
            reply = {
                "id": "1", "object": "chat.completion", "created": 0, "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": answer}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }  # fmt: skip
            sent = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *args: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", arrived
    finally:
        server.shutdown()
        server.server_close()
