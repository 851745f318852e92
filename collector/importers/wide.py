"""Files with a column of answers for each group, such as male_response and female_response: which columns look like that."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

from collector.tables.source import Form, open_source

_SAMPLED = 200
_LONG_CHARACTERS = 60
_MOST_GROUPS = 20
_PARTS = re.compile(r"[^\W_]+?(?=[A-Z][a-z]|[\W_]|$)", re.UNICODE)
_ANSWERS = frozenset(
    "response responses answer answers reply output text completion generation generated result decision essay letter story "
    "antwort réponse respuesta resposta risposta".split()
)
_ASKED = frozenset("prompt question query instruction input system context frage".split())
# Words in a column's name for other facts about the same answer.
_NO_GROUPS = frozenset(
    "id text raw type kind length len n model language lang time date tokens score hash status error reason label json clean "
    "cleaned parsed full short first last final original new old translated translation".split()
)


def columns_of_groups(columns: Sequence[str]) -> dict[str, str]:
    """Return group -> column for columns of answers whose names differ in one word, the most that there are; else nothing."""
    found: dict[tuple[int, tuple[str, ...]], dict[str, str]] = {}
    for column in columns:
        parts = [part.casefold() for part in _PARTS.findall(column)]
        for at in (0, -1):
            stem = tuple(parts[1:] if at == 0 else parts[:-1])
            if stem and _ANSWERS & set(stem) and not _ASKED & set(stem) and _is_group(parts[at]):
                found.setdefault((at, stem), {})[parts[at]] = column
    fitting = [one for one in found.values() if 2 <= len(one) <= _MOST_GROUPS]
    return max(fitting, key=len, default={})


def _is_group(part: str) -> bool:
    return not part.isdecimal() and part not in _NO_GROUPS and part not in _ANSWERS


def suggested_answers(file: Path, columns: Sequence[str], form: Form) -> str:
    """Return a sentence on columns that may hold the answers about one group each; nothing where there are none.

    Raises:
        InputError: the file cannot be read.
    """
    named = columns_of_groups(columns)
    if named:
        return (
            f"The columns {', '.join(named.values())} look like the answers about one group each: to read them so, give "
            f"{options_of(named)}."
        )
    long = [
        column
        for column in _long_columns(file, [one for one in columns if "." not in one], form)
        if not _ASKED & {part.casefold() for part in _PARTS.findall(column)}
    ]
    if len(long) < 2:
        return ""
    groups = {f"GROUP{place}": column for place, column in enumerate(long, start=1)}
    return (
        f"The columns {', '.join(long)} hold long texts: where each holds the answers about one group, give "
        f"{options_of(groups)}."
    )


def options_of(answers: Mapping[str, str]) -> str:
    """Return the options of `new` that name a column for each group."""
    return " ".join(f"--answer {shlex.quote(f'{group}={column}')}" for group, column in answers.items())


def _long_columns(file: Path, columns: Sequence[str], form: Form) -> Iterable[str]:
    """Return the columns that hold long texts in the first rows."""
    unique = [column for column in dict.fromkeys(columns) if column and columns.count(column) == 1]
    with (
        tempfile.TemporaryDirectory(prefix="biasledger-") as scratch,
        open_source(file, unique, form, Path(scratch)) as source,
        source.readable(),
    ):
        listed = ", ".join(f"length(c{place})" for place in range(len(unique)))
        rows = source.connection.execute(f"select {listed} from source limit {_SAMPLED}").fetchall()
    for column, lengths in zip(unique, zip(*rows, strict=True), strict=True):
        filled = [length for length in lengths if length]
        if len(filled) * 2 > len(lengths) and median(filled) >= _LONG_CHARACTERS:
            yield column
