"""Labels given in the browser: the one thing that the explorer writes, and only where it was started in somebody's name."""

from __future__ import annotations

import re
import secrets
from collections import defaultdict
from collections.abc import Mapping
from urllib.parse import parse_qsl

from biasledger.serving.asked import Served
from collector.errors import InputError, LedgerError
from collector.ledger.database import Ledger
from collector.ledger.labels import LABELS, KeptLabel, Label, keep_labels, read_labels

_LOCK_SECONDS = 5.0
_BYTES_AT_MOST = 10_000
# A path of this explorer: two slashes would begin the address of another machine.
_OWN_PAGE = re.compile(r"/(?![/\\])[^\s\\]*")


def labels_by_answer(served: Served, run_id: str) -> Mapping[str, list[KeptLabel]]:
    """The labels of a run's answers by prompt_id.trial; none where the ledger cannot be read, which the page says elsewhere."""
    found: defaultdict[str, list[KeptLabel]] = defaultdict(list)
    try:
        with Ledger(served.ledger, wait_seconds=_LOCK_SECONDS).read() as connection:
            for one in read_labels(connection, run_id):
                found[f"{one.prompt_id}.{one.trial}"].append(one)
    except LedgerError:
        return {}
    return found


def keep_form(served: Served, body: bytes) -> str:
    """Keep the label of a form that a page of this explorer sent.

    Returns:
        The page to go back to.

    Raises:
        InputError: it is no such form, or the label cannot be kept.
        LedgerError: the ledger is in use or cannot be written.
    """
    given = dict(parse_qsl(body[:_BYTES_AT_MOST].decode("utf-8", "replace"), keep_blank_values=True))
    labeller = served.labeller
    if labeller is None or not secrets.compare_digest(
        given.get("token", "").encode(), labeller.token.encode()
    ):
        raise InputError(
            "This page is of an explorer that has ended: open it again, and give the label again."
        )
    trial = given.get("trial", "")
    if not trial.isdecimal() or len(trial) > 9:
        raise InputError("A label is of one answer: its run, prompt and trial.")
    if "label" not in given:
        raise InputError(f"A label says whether the answer is {' or '.join(LABELS)}: choose one.")
    one = Label(
        given.get("run", ""),
        given.get("prompt", ""),
        int(trial),
        given["label"] or None,
        comment=" ".join(given.get("comment", "").split()),
    )
    keep_labels(Ledger(served.ledger, wait_seconds=_LOCK_SECONDS), [one], labeller.name)
    back = given.get("back", "")
    return back if _OWN_PAGE.fullmatch(back) else "/"
