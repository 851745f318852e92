"""An endpoint on loopback that answers each question by a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.python.answering import answering

BODY = '{"question": "{prompt}", "trial": {trial}}'


@contextmanager
def endpoint(answer: Callable[[str, int], str]) -> Iterator[dict[str, Any]]:
    """Serve the answers to a question and trial; yields the target's entry for `targets.yml`."""

    def reply(_path: str, _headers: object, asked: Any) -> tuple[int, dict[str, str], bytes]:
        return 200, {}, json.dumps({"answer": answer(asked["question"], asked["trial"])}).encode()

    with answering(reply) as root:
        yield {"kind": "http", "url": f"{root}/ask", "body": BODY, "answer": "answer"}
