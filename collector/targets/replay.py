"""Answers from a file: to try an audit without asking a model, to read old answers again, and for tests.

The file is a table with a row an answer, read as imports read one; an answer is found by its prompt's text or by its prompt_id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from collector.errors import InputError, TargetError
from collector.files.plain import require_plain
from collector.hashing import hash_of_file
from collector.hints import FIRST_LINE_CHARACTERS, no_column, quoted
from collector.tables.log_rows import no_rows
from collector.tables.source import FORMATS, Form, column_names, open_source
from collector.targets.base import Reply, Request
from collector.targets.fields import Concurrency, ConfiguredTarget, Simulated
from collector.targets.http.session import excerpt
from collector.validation import NonBlank, Section

KIND = "replay"
_ROWS_AT_ONCE = 1_000
# Formats without null.
_TEXT_ALONE = {"csv", "tsv"}


class Columns(Section):
    """The columns of the file; prompt or prompt_id, and reply, are needed."""

    prompt: NonBlank = Field(default="prompt", description="The question.", examples=["question"])
    prompt_id: NonBlank = Field(default="prompt_id", description="The prompt's id.", examples=["id"])
    system_prompt: NonBlank = Field(
        default="system_prompt", description="The system prompt.", examples=["system"]
    )
    trial: NonBlank = Field(
        default="trial", description="The number of the repetition, from 1.", examples=["k"]
    )
    reply: NonBlank = Field(default="reply", description="The answer.", examples=["answer"])
    finish_reason: NonBlank = Field(
        default="finish_reason", description="Why the answer ended.", examples=["stop_reason"]
    )
    model: NonBlank = Field(default="model", description="The model that answered.", examples=["model_name"])


class Settings(Section):
    """Answers in a file."""

    kind: Literal["replay"] = Field(description="The kind of target.", examples=["replay"])
    file: NonBlank = Field(
        description="A CSV, TSV, JSON Lines or Parquet file, relative to the targets file, with a row for each answer.",
        examples=["answers.csv"],
    )
    columns: Columns = Field(
        default_factory=Columns,
        description="Columns with other names.",
        examples=[{"prompt": "question", "reply": "answer"}],
    )
    model: NonBlank | None = Field(
        default=None,
        description="The model's name in findings; the file's name if absent.",
        examples=["recommender-2026-05"],
    )
    simulated: Simulated = False
    concurrency: Concurrency = Field(
        default=2, description="How many answers are looked up at once.", examples=[1]
    )


# No system prompt is empty, so an empty one can mean any.
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
    return Replay(name, settings, _read_answers(path, settings.columns), hash_of_file(path))


class Replay(ConfiguredTarget):
    """Answers from memory, the same at every attempt.

    Args:
        name: the target's name.
        settings: its entry in targets.yml.
        answers: trial -> reply for each ("prompt_id", prompt_id) or (prompt text, system prompt).
        file_hash: the hash of the file that they come from.
    """

    kind = KIND
    conversations = "messages"

    def __init__(
        self, name: str, settings: Settings, answers: Mapping[_Key, Mapping[int, Reply]], file_hash: str
    ) -> None:
        super().__init__(
            name, settings.model or Path(settings.file).name, settings, is_simulated=settings.simulated
        )
        self._answers = answers
        self._file = settings.file
        self._file_hash = file_hash
        self._columns = settings.columns.model_dump(exclude_defaults=True)

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


def _read_answers(path: Path, columns: Columns) -> _Answers:
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise InputError(f"{path} should be a file of answers that ends in {', '.join(FORMATS)}.")
    if not path.exists():
        raise InputError(f"{path} does not exist; a target's file is named as seen from the targets file.")
    names = columns.model_dump()
    found = column_names(path, frozenset(names.values()).__contains__)
    _require_columns(path, columns, found)
    held = {role: name for role, name in names.items() if name in found}
    answers: _Answers = defaultdict(dict)
    with open_source(path, list(held.values()), Form(kind)) as source, source.readable():
        rows = source.connection.execute("from source order by row_number")
        while chunk := rows.fetchmany(_ROWS_AT_ONCE):
            for number, *cells in chunk:
                _add(
                    answers,
                    path,
                    number,
                    dict(zip(held, cells, strict=True)),
                    knows_null=kind not in _TEXT_ALONE,
                )
    if not answers:
        raise no_rows(path)
    return dict(answers)


def _require_columns(path: Path, columns: Columns, found: Sequence[str]) -> None:
    if not found:
        raise no_rows(path)
    if columns.reply not in found:
        raise InputError(f"{path} has no column {columns.reply!r}{no_column(columns.reply, found)}")
    if not {columns.prompt, columns.prompt_id} & set(found):
        raise InputError(
            f"{path} has neither {columns.prompt!r} nor {columns.prompt_id!r}, which say what was asked; its columns are "
            f"{quoted(found, FIRST_LINE_CHARACTERS)}."
        )


def _add(
    answers: _Answers, path: Path, number: int, row: Mapping[str, str | None], *, knows_null: bool
) -> None:
    """Take in a row, whose cells are called by their roles; where a format knows no null, none is an empty text."""
    replies = answers[_key(path, number, row, knows_null=knows_null)]
    trial = _trial(path, number, row.get("trial")) or len(replies) + 1
    if trial in replies:
        raise InputError(f"{path}: row {number} answers trial {trial} of its prompt a second time.")
    replies[trial] = Reply(
        text=row["reply"] if knows_null else row["reply"] or "",
        finish_reason=row.get("finish_reason") or None,
        model_answered=row.get("model") or None,
    )


def _key(path: Path, number: int, row: Mapping[str, str | None], *, knows_null: bool) -> _Key:
    if prompt_id := row.get("prompt_id"):
        return "prompt_id", prompt_id
    prompt = row.get("prompt")
    if not prompt:
        raise InputError(f"{path}: row {number} has no prompt and no prompt_id, which say what was asked.")
    system_prompt = row.get("system_prompt")
    if system_prompt is None and (knows_null or "system_prompt" not in row):
        return prompt, _ANY_SYSTEM_PROMPT
    return prompt, system_prompt or None


def _trial(path: Path, number: int, value: str | None) -> int | None:
    if not value:
        return None
    text = value.strip()
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{path}: row {number} has the trial {value!r}, which should be a number from 1.")
    return int(text)
