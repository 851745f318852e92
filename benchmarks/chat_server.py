"""`python -m benchmarks.chat_server SECONDS`: a chat endpoint on loopback that answers everything alike, so many seconds later.

It prints its port and serves until its standard input is closed. Its answer is some 300 words long.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys

ANSWER = " ".join(f"word{number % 120}" for number in range(300))
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)


def _response() -> bytes:
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "served-model",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": ANSWER},
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 25, "completion_tokens": 400, "total_tokens": 425},
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class _Connection(asyncio.Protocol):
    """One connection of a client that sends a question after the other; a plain parser, to leave the processor to the client."""

    def __init__(self, seconds: float, response: bytes) -> None:
        self._seconds = seconds
        self._response = response
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            found = _LENGTH.search(self._received, 0, end)
            size = end + 4 + (int(found[1]) if found else 0)
            if len(self._received) < size:
                return
            del self._received[:size]
            asyncio.get_running_loop().call_later(self._seconds, self._answer)

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._response)


async def _serve(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    response = _response()
    server = await loop.create_server(lambda: _Connection(seconds, response), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    # It ends with whoever started it, however that ends.
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
