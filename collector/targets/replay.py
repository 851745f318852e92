"""Answers that stand in a file: to try an audit without asking anybody, to read old answers anew, and for tests.

The file is CSV or JSON Lines with a row an answer, found by its prompt's text or by its prompt_id.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from collector.errors import InputError, TargetError
from collector.files.plain import require_plain
from collector.hashing import hash_of_file
from collector.hints import FIRST_LINE_CHARACTERS, no_column, quoted
from collector.targets.base import Reply, Request
from collector.targets.fields import Concurrency
from collector.targets.http.session import excerpt
from collector.validation import NonBlank, Section

KIND = "replay"
_MAX_FIELD_CHARACTERS = 64 << 20
_CSV_ENDINGS, _JSON_ENDINGS = {".csv"}, {".jsonl", ".ndjson"}


class Columns(Section):
    """Which column of the file is what; prompt or prompt_id, and reply, have to be there."""

    prompt: NonBlank = "prompt"
    prompt_id: NonBlank = "prompt_id"
    system_prompt: NonBlank = "system_prompt"
    trial: NonBlank = "trial"
    reply: NonBlank = "reply"
    finish_reason: NonBlank = "finish_reason"
    model: NonBlank = "model"


class Settings(Section):
    """Answers that stand in a file."""

    kind: Literal["replay"]
    file: NonBlank
    columns: Columns = Field(default_factory=Columns)
    model: NonBlank | None = None
    simulated: bool = False
    concurrency: Concurrency = 2


# No system prompt is empty, so an empty one can stand for any.
_ANY_SYSTEM_PROMPT = ""
_Key = tuple[str, str | None]
_Answers = dict[_Key, dict[int, Reply]]


def build(name: str, settings: Settings, folder: Path) -> Replay:
    """Read the file, named as seen from the folder of the targets file.

    Raises:
        InputError: it cannot be read, lacks a column, or answers one prompt and trial twice.
    """
    path = folder / settings.file
    require_plain(path)
    return Replay(
        name,
        answers=_read(path, settings.columns),
        file=settings.file,
        columns=settings.columns.model_dump(exclude_defaults=True),
        file_hash=hash_of_file(path),
        model=settings.model,
        is_simulated=settings.simulated,
        concurrency=settings.concurrency,
    )


class Replay:
    """Answers from memory, the same at every attempt.

    Args:
        name: the target's name.
        answers: trial -> reply for each ("prompt_id", prompt_id) or (prompt text, system prompt).
        file, file_hash, columns: where they come from; of the columns, those that are called otherwise.
        model: what the findings call the model; the file's name if not given.
        is_simulated: label the answers as made up.
        concurrency: as of Target.
    """

    kind = KIND
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    total_timeout_seconds: float | None = None

    def __init__(
        self,
        name: str,
        *,
        answers: Mapping[_Key, Mapping[int, Reply]],
        file: str,
        file_hash: str,
        columns: Mapping[str, str] | None = None,
        model: str | None = None,
        is_simulated: bool = False,
        concurrency: int = 2,
    ) -> None:
        self.name = name
        self.model = model or Path(file).name
        self.is_simulated = is_simulated
        self.concurrency = concurrency
        self._answers = answers
        self._file = file
        self._file_hash = file_hash
        self._columns = columns

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The file, its hash, and the columns read where they are not called as usual."""
        return {
            "file": self._file,
            "file_hash": self._file_hash,
            **({"columns": self._columns} if self._columns else {}),
        }

    def ask(self, request: Request) -> Reply:
        """Return the answer of a prompt's trial.

        Raises:
            TargetError: the file has none.
        """
        keys: tuple[_Key, ...] = (
            ("prompt_id", request.prompt_id),
            (request.prompt_text, request.system_prompt),
            (request.prompt_text, _ANY_SYSTEM_PROMPT),
        )
        trials = next((self._answers[key] for key in keys if key in self._answers), None)
        if trials is None:
            raise TargetError(f"{self._file} has no answer to {excerpt(request.prompt_text)!r}.")
        if request.trial not in trials:
            raise TargetError(
                f"{self._file} has {len(trials)} answer{'' if len(trials) == 1 else 's'} to "
                f"{excerpt(request.prompt_text)!r} and none for trial {request.trial}."
            )
        return trials[request.trial]


def _read(path: Path, columns: Columns) -> _Answers:
    answers: _Answers = defaultdict(dict)
    n_rows = 0
    for number, row in _rows(path, columns):
        n_rows = number
        replies = answers[_key(path, number, row, columns)]
        trial = _trial(path, number, row.get(columns.trial)) or len(replies) + 1
        if trial in replies:
            raise InputError(f"{path}: row {number} answers trial {trial} of its prompt a second time.")
        replies[trial] = _reply(path, number, row, columns)
    if not n_rows:
        raise InputError(f"{path} has no rows; it should hold a row for each answer.")
    return dict(answers)


def _key(path: Path, number: int, row: Mapping[str, Any], columns: Columns) -> _Key:
    prompt_id = _text(path, number, row, columns.prompt_id)
    if prompt_id is not None:
        return "prompt_id", prompt_id
    prompt = _text(path, number, row, columns.prompt)
    assert prompt is not None  # every row has the one or the other
    if columns.system_prompt in row:
        return prompt, _text(path, number, row, columns.system_prompt)
    return prompt, _ANY_SYSTEM_PROMPT


def _reply(path: Path, number: int, row: Mapping[str, Any], columns: Columns) -> Reply:
    text = row[columns.reply]
    if text is not None and not isinstance(text, str):
        # JSON Lines may hold the answer as JSON.
        text = json.dumps(text, ensure_ascii=False)
    return Reply(
        text=text,
        finish_reason=_text(path, number, row, columns.finish_reason),
        model_answered=_text(path, number, row, columns.model),
    )


def _text(path: Path, number: int, row: Mapping[str, Any], column: str) -> str | None:
    """Return what a row says in a column that holds text; None where it is empty or absent."""
    value = row.get(column) or None
    if value is not None and not isinstance(value, str):
        raise InputError(f"{path}: row {number} has a {column!r} that is no text.")
    return value


def _trial(path: Path, number: int, value: Any) -> int | None:
    if value is None or value == "":
        return None
    text = str(value).strip()
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{path}: row {number} has the trial {value!r}, which should be a number from 1.")
    return int(text)


def _rows(path: Path, columns: Columns) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows with their numbers from 1; every row has the columns that have to be there."""
    ending = path.suffix.lower()
    if ending not in _CSV_ENDINGS | _JSON_ENDINGS:
        raise InputError(f"{path} should be a file of answers that ends in .csv, .jsonl or .ndjson.")
    rows = _csv_rows(path) if ending in _CSV_ENDINGS else _json_rows(path)
    try:
        for number, row in enumerate(rows, start=1):
            _require_columns(path, number, row, columns)
            yield number, row
    except FileNotFoundError:
        raise InputError(
            f"{path} does not exist; a target's file is named as seen from the targets file."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8; save the file as UTF-8.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as CSV: {error}.") from None


def _csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_FIELD_CHARACTERS))
    with path.open(encoding="utf-8-sig", newline="") as stream:
        yield from csv.DictReader(stream, strict=True)


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise InputError(f"{path}: line {number} is no JSON object.")
            yield row


def _require_columns(path: Path, number: int, row: Mapping[str, Any], columns: Columns) -> None:
    if None in row or (path.suffix.lower() in _CSV_ENDINGS and None in row.values()):
        raise InputError(
            f"{path}: row {number} has {'more' if None in row else 'fewer'} cells than the header; a cell that holds a comma "
            f"or a line break stands in double quotes."
        )
    known = [name for name in row if isinstance(name, str)]
    if columns.reply not in row:
        raise InputError(f"{path}: row {number} has no {columns.reply!r}{no_column(columns.reply, known)}")
    if not row.get(columns.prompt) and not row.get(columns.prompt_id):
        raise InputError(
            f"{path}: row {number} has neither {columns.prompt!r} nor {columns.prompt_id!r}, which say what was asked; its "
            f"columns are {quoted(known, FIRST_LINE_CHARACTERS)}."
        )
