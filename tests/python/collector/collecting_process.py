"""A program that collects in a new process for each order that it reads, so that tests pay for imports once.

An order is a line of JSON; the answers are the process's id, and after its end its exit status.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Imported before the fork, because they take long.
import duckdb  # noqa: F401
import numpy as np  # noqa: F401

from collector.answers.replies import load_rules
from collector.asking.runner import CollectOptions, collect, resume
from collector.errors import BiasledgerError
from collector.journal.writer import JournalWriter
from collector.ledger import following
from collector.rows import ResponseRow
from collector.spec.loading import load_audit
from tests.python.collector.chat_targets import chat_target


def obey(order: dict[str, Any]) -> int:
    """Collect or resume; note every acknowledged response in a file before anything else happens."""
    acknowledged = os.open(order["acknowledged"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    write, sync = JournalWriter.write, JournalWriter.sync
    written: list[ResponseRow] = []

    def noted(self: JournalWriter, rows: Sequence[ResponseRow]) -> None:
        write(self, rows)
        written.extend(rows)

    def synced(self: JournalWriter) -> None:
        # Rows written while sync runs may not be on disk.
        n = len(written)
        sync(self)
        rows = written[:n]
        del written[:n]
        os.write(
            acknowledged, "".join(f"{row.prompt_id}.{row.trial}.{row.attempt}\n" for row in rows).encode()
        )

    JournalWriter.write = noted
    JournalWriter.sync = synced
    following.LEDGER_SECONDS = order.get("ledger_seconds", 0.02)
    if "most_bytes" in order:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["most_bytes"], order["most_bytes"]))
    target = chat_target(base_url=order["base_url"], concurrency=order.get("concurrency", 4), send_seed=True)
    ledger = Path(order["ledger"])
    patience = order.get("lock_patience_seconds", 5)
    try:
        if order.get("run") is None:
            audit = load_audit(Path(order["audit"]))
            collect(
                audit, target, ledger, CollectOptions(lock_patience_seconds=patience), trials=order["trials"]
            )
        else:
            resume(order["run"], target, ledger, CollectOptions(lock_patience_seconds=patience))
    except BiasledgerError as error:
        Path(order["statement"]).write_text(str(error), encoding="utf-8")
        return 1
    return 0


def main() -> None:
    """Obey until standard input ends."""
    # Read before the forks, like the imports.
    load_rules()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            code = 9
            try:
                code = obey(json.loads(line))
            finally:
                os._exit(code)
        print(pid, flush=True)  # noqa: T201 (the tests read it)
        print(os.waitpid(pid, 0)[1], flush=True)  # noqa: T201 (the tests read it)


if __name__ == "__main__":
    main()
