"""Inspect AI logs, .eval and .json: a row for each sample and epoch.

Columns: `text` the first choice's text, `prompt` and `system_prompt` what the model was given before its first answer,
`reasoning` the model's reasoning, `model` the model asked, `trial` the epoch, `finish_reason`, `error`; and under Inspect's own
names `eval.task`, `eval.model`, `eval.task_args.…`, `eval.metadata.…`, `sample.id`, `sample.epoch`, `sample.target`,
`sample.metadata.…`, `sample.output.model` and `sample.scores.….value`, `.answer` and `.explanation`. Rows are in Inspect's order:
by epoch, then by sample.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from collector.errors import InputError
from collector.files.plain import open_plain, require_ratio
from collector.hints import shown
from collector.tables.log_rows import (
    LogRow,
    chat_prompt,
    dotted,
    is_chat,
    message_text,
    parse_object,
)

# A sample's id is in the name as it is: "race/asian" makes a folder.
_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d{1,18})\.json", re.DOTALL)
_PIECES = re.compile(r"samples/.+/sample\.json", re.DOTALL)
_IN_SAMPLES = re.compile(r"samples/.+\.json", re.DOTALL)
_HEADERS = ("header.json", "_journal/start.json")  # an evaluation that was interrupted has no header
_ATTACHMENT = "attachment://"
MAX_SAMPLE_BYTES = 64 << 20


def is_log(document: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a log of Inspect AI."""
    evaluation = document.get("eval")
    return isinstance(evaluation, dict) and "task" in evaluation and "model" in evaluation


def document_rows(document: Mapping[str, Any], path: Path) -> Iterator[LogRow]:
    """Yield the rows of a .json log.

    Raises:
        InputError: it holds no samples, as where they were not logged.
    """
    samples = document.get("samples")
    if not isinstance(samples, list):
        raise InputError(
            f"{path} is an Inspect AI log without samples; log them (log_samples) and import that log."
        )
    for sample in samples:
        yield _row(document["eval"], sample)


def archive_rows(path: Path) -> Iterator[LogRow]:
    """Yield the rows of an .eval log; one sample is held in memory at a time.

    Raises:
        InputError: it is no such log, or is damaged.
    """
    # Inspect compresses with Zstandard, which Python's own zipfile knows from 3.14 on.
    if sys.version_info >= (3, 14):
        import zipfile

        from compression.zstd import ZstdError
    else:
        from backports.zstd import ZstdError, zipfile

    try:
        with open_plain(path) as file, zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            names = {entry.filename for entry in entries}
            require_ratio(
                path, sum(entry.file_size for entry in entries), "no log of Inspect AI becomes more"
            )
            if len(names) < len(entries):
                twice = next(name for name in names if sum(one.filename == name for one in entries) > 1)
                raise InputError(f"{path} holds {shown(twice)} twice; log the evaluation again.")
            header = next((name for name in _HEADERS if name in names), None)
            if header is None:
                raise InputError(f"{path} is no Inspect AI log: it has no {_HEADERS[0]}.")
            samples = _samples(path, names)
            evaluation = parse_object(_content(archive, header, path), f"{path}: {header}").get("eval")
            if not isinstance(evaluation, dict):
                raise InputError(f"{path} is no Inspect AI log: its {header} has no object as 'eval'.")
            for name in samples:
                yield _row(evaluation, parse_object(_content(archive, name, path), f"{path}: {name}"))
    # RuntimeError is what zipfile raises for an encrypted file, and for a compression it does not know.
    except (zipfile.BadZipFile, zlib.error, ZstdError, RuntimeError, EOFError, OSError) as error:
        raise InputError(f"{path} is not a readable Inspect AI log: {str(error).rstrip('.')}.") from None


def _content(archive: Any, name: str, path: Path) -> bytes:
    """Return a file of an archive, of which no more is unpacked than it may have."""
    with archive.open(name) as stream:
        content: bytes = stream.read(MAX_SAMPLE_BYTES + 1)
    if len(content) > MAX_SAMPLE_BYTES:
        raise InputError(f"{path}: {name} has more than {MAX_SAMPLE_BYTES >> 20} MiB, which no sample has.")
    return content


def _samples(path: Path, names: Iterable[str]) -> list[str]:
    """Return the names of the samples in Inspect's order; none may be left out unsaid."""
    listed = [name for name in names if _IN_SAMPLES.fullmatch(name)]
    if any(_PIECES.fullmatch(name) for name in listed):
        raise InputError(
            f"{path} keeps its samples in pieces, which are not read; make a .json log of it with `inspect log convert`."
        )
    for name in sorted(listed):
        if not _SAMPLE.fullmatch(name):
            raise InputError(
                f"{path} holds {name}, which is not named as Inspect AI names a sample (samples/ID_epoch_N.json); make a .json "
                f"log of it with `inspect log convert`."
            )
    return sorted(listed, key=_order)


def _order(name: str) -> tuple[int, str]:
    found = _SAMPLE.fullmatch(name)
    assert found is not None
    return int(found["epoch"]), found["id"].zfill(20) if found["id"].isdigit() else found["id"]


def _row(evaluation: Mapping[str, Any], sample: Mapping[str, Any]) -> LogRow:
    output = sample.get("output") or {}
    choices = output.get("choices") or [{}]
    system, prompt = _system_and_prompt(sample)
    content = (choices[0].get("message") or {}).get("content")
    row: LogRow = {
        "text": _text(sample, content),
        "reasoning": _reasoning(content),
        "prompt": prompt,
        "system_prompt": system,
        "model": evaluation.get("model"),
        "finish_reason": choices[0].get("stop_reason"),
        "error": (sample.get("error") or {}).get("message"),
    }
    row |= dotted("trial", sample.get("epoch"))
    for key in ("task", "model", "task_args", "metadata"):
        row |= dotted(f"eval.{key}", evaluation.get(key))
    for key in ("id", "epoch", "target", "metadata"):
        row |= dotted(f"sample.{key}", sample.get(key))
    row |= dotted("sample.output.model", output.get("model"))
    for name, score in (sample.get("scores") or {}).items():
        for key in ("value", "answer", "explanation"):
            row |= dotted(f"sample.scores.{name}.{key}", score.get(key))
    return row


def _system_and_prompt(sample: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return system prompt and prompt: the messages before the first one that the model wrote, or else the sample's input."""
    asked = []
    for message in sample.get("messages") or ():
        if message.get("role") == "assistant" and message.get("source") != "input":
            break
        asked.append({**message, "content": _text(sample, message.get("content"))})
    given = sample.get("input")
    if not asked and isinstance(given, list) and is_chat(given):
        asked = [{**message, "content": _text(sample, message.get("content"))} for message in given]
    return chat_prompt(asked) if asked else (None, _text(sample, given))


def _reasoning(content: object) -> str | None:
    """Return the reasoning among the parts of a message's content."""
    parts = (
        [part.get("reasoning") for part in content if isinstance(part, dict)]
        if isinstance(content, list)
        else []
    )
    return "\n\n".join(part for part in parts if isinstance(part, str) and part.strip()) or None


def _text(sample: Mapping[str, Any], content: object) -> str | None:
    text = message_text(content)
    if text is not None and text.startswith(_ATTACHMENT):
        return str((sample.get("attachments") or {}).get(text.removeprefix(_ATTACHMENT), text))
    return text
