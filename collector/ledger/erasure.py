"""Remove the texts of a response that holds personal data from ledger and journal, and leave a record of this.

The journal is rewritten first, then the ledger: if this stops half-way, erasing again finishes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.errors import InputError, LedgerError
from collector.files.replacing import replace_file
from collector.journal.chain import (
    ERASABLE,
    ERASED,
    Seal,
    erasure_body,
    text_hash,
)
from collector.journal.reader import journal_line, journal_path, next_line, read_journal
from collector.journal.writer import JournalWriter
from collector.ledger.database import Ledger
from collector.ledger.evidence import responses_of_trial
from collector.ledger.loading import load_journal
from collector.rows import utc_now


@dataclass(frozen=True, slots=True)
class Erasable:
    """A response as it would be erased.

    Attributes:
        run_id, prompt_id, trial, attempt, status: which one.
        texts: name of each text that is there -> its hash.
        n_characters: how long they are together.
        is_erased: whether it was erased before.
    """

    run_id: str
    prompt_id: str
    trial: int
    attempt: int
    status: str
    texts: Mapping[str, str]
    n_characters: int
    is_erased: bool

    def __str__(self) -> str:
        return f"{self.prompt_id}.{self.trial}.{self.attempt}"


@dataclass(frozen=True, slots=True)
class Erasure:
    """The result of an erasure.

    Attributes:
        responses: those erased now; none where all of them were erased before.
        seal: the run's chain after it; None in a run of before chains were kept.
        has_journal: whether there was a journal next to the ledger, and was rewritten, too.
    """

    responses: tuple[Erasable, ...]
    seal: Seal | None
    has_journal: bool


def find_erasable(
    ledger_path: Path, run_id: str, prompt_id: str, trial: int, attempt: int | None = None
) -> list[Erasable]:
    """Return the responses that a call of `erase` would be about.

    Args:
        ledger_path: the ledger.
        run_id, prompt_id, trial, attempt: which response; without `attempt`, all attempts of the trial.

    Raises:
        InputError: there is no such response, or it has no text and was not erased before.
        LedgerError: the ledger cannot be read.
    """
    ledger = Ledger(ledger_path)
    path = journal_path(ledger_path, run_id)
    if path.is_file():
        load_journal(path, ledger)
    with ledger.read() as connection:
        rows = responses_of_trial(connection, run_id, prompt_id, trial)
        erased = {
            one
            for (one,) in connection.execute(
                "select attempt from raw.erasures where run_id = ? and prompt_id = ? and trial = ?",
                [run_id, prompt_id, trial],
            ).fetchall()
        }
    wanted = [row for row in rows if attempt in (None, row["attempt"])]
    if not wanted:
        which = f"prompt {prompt_id}, trial {trial}" + ("" if attempt is None else f", attempt {attempt}")
        raise InputError(
            f"Run {run_id} in {ledger_path} has no response to {which}; raw.responses in the ledger lists prompt_id, trial and "
            f"attempt."
        )
    found = [
        Erasable(
            run_id=run_id,
            prompt_id=prompt_id,
            trial=trial,
            attempt=row["attempt"],
            status=row["status"],
            texts={name: text_hash(row[name]) for name in ERASABLE if row[name] is not None},
            n_characters=sum(len(row[name]) for name in ERASABLE if row[name] is not None),
            is_erased=row["attempt"] in erased,
        )
        for row in wanted
    ]
    if not any(one.texts or one.is_erased for one in found):
        raise InputError(f"Response {found[0]} of run {run_id} has no text, so there is nothing to erase.")
    return found


def erase(
    ledger_path: Path,
    run_id: str,
    prompt_id: str,
    trial: int,
    attempt: int | None = None,
    *,
    reason: str,
) -> Erasure:
    """Remove response_text, answer_text, raw_body and error of a response from the ledger and from its run's journal.

    Its other columns stay, and the hashes of the texts, so that the chain still holds. Both files are rewritten and renamed,
    so that they no longer have the bytes; what other copies of them hold is untouched, and so is a warehouse built before.

    Args:
        ledger_path: the ledger.
        run_id, prompt_id, trial, attempt: which response; without `attempt`, all attempts of the trial.
        reason: why, kept for good; it should not repeat what is erased.

    Raises:
        InputError: no reason; no such response; it has no text; or the run is being collected.
        LedgerError: ledger or journal cannot be written.
    """
    if not reason.strip():
        raise InputError("An erasure needs a reason, which is kept in place of the text.")
    ledger = Ledger(ledger_path)
    ledger.update()
    path = journal_path(ledger_path, run_id)
    found = find_erasable(ledger_path, run_id, prompt_id, trial, attempt)
    chosen = tuple(one for one in found if one.texts)
    now = utc_now()
    bodies = [
        erasure_body(one.prompt_id, one.trial, one.attempt, one.texts, reason.strip(), now) for one in chosen
    ]
    has_journal = path.is_file()
    if has_journal and bodies:
        _erase_in_journal(path, bodies)
        load_journal(path, ledger)
    elif bodies:
        _erase_in_ledger(ledger, run_id, bodies)
    ledger.rewrite()
    with ledger.append() as append:
        return Erasure(chosen, append.chain_end(run_id), has_journal)


def _erase_in_ledger(ledger: Ledger, run_id: str, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Erase in a run without a journal; its chain, if it has one, goes on in the ledger."""
    with ledger.append() as append:
        append.extend_chain(run_id, "erasure", bodies)
        for body in bodies:
            append.erasure(run_id, body)


def _erase_in_journal(path: Path, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Rewrite a journal without the texts of some responses and with the records of their erasure at its end."""
    erased = {(body["prompt_id"], body["trial"], body["attempt"]): body["texts"] for body in bodies}
    unfinished = path.with_name(f"{path.name}.erasing")
    # While the writer is open, no other process writes the journal, neither the old file nor the one that replaces it.
    with JournalWriter.resume(path) as writer:
        mark = writer.mark
        try:
            with unfinished.open("wb") as stream:
                stream.writelines(_lines_without(path, erased))
                for body in bodies:
                    line, mark = next_line(mark, "erasure", body)
                    stream.write(line)
            replace_file(unfinished, path)
        except OSError as error:
            raise LedgerError(
                f"The journal {path} cannot be rewritten ({error.strerror or error}); nothing was erased."
            ) from None
        finally:
            unfinished.unlink(missing_ok=True)


def _lines_without(path: Path, erased: Mapping[tuple[str, int, int], Mapping[str, str]]) -> Iterator[bytes]:
    for record in read_journal(path):
        body = record.body
        if record.kind == "response":
            texts = erased.get((body["prompt_id"], body["trial"], body["attempt"]), {})
            marks = {name: {ERASED: hashed} for name, hashed in texts.items()}
            body = {**body, **marks}
        yield journal_line(record.position, record.kind, body, record.previous, record.hash)
