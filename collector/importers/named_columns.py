"""Find columns of a file that look like one group's answers each, or like data shared by rows, by names and values."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Literal

from collector.importers.missing import present, trimmed
from collector.tables.source import Form, open_source, read_table

if TYPE_CHECKING:
    import duckdb

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
# Words in the name of a column of what rows share; what follows a stem with a star is any ending.
_SHARED = {
    "cluster": "conversation conv dialog dialogue thread session chat ticket customer client user account member household "
    "family patient applicant participant respondent speaker author subscriber visitor buyer consumer candidate "
    "konversation gespräch* unterhaltung sitzung kunde* kundin nutzer* benutzer* anwender* haushalt* familie "
    "bewerber* patientin mandant* klient* teilnehmer* discussion fil cliente utilisateur utilisatrice foyer ménage "
    "famille compte patiente candidat conversación diálogo hilo sesión usuario usuaria hogar familia cuenta paciente "
    "solicitante candidato conversa sessão utilizador agregado domicílio conta requerente conversazione utente "
    "famiglia paziente",
    "rater": "judge rater annotator reviewer grader evaluator assessor coder labeler labeller richter* bewerter* gutachter* "
    "prüfer* beurteiler* annotatorin juge évaluateur annotateur relecteur correcteur examinateur juez jueza evaluador "
    "anotador revisor calificador juiz juíza avaliador giudice valutatore",
    "day": "day date batch wave round week tag datum woche charge welle jour semaine lot vague día fecha semana lote oleada "
    "ronda dia rodada giorno settimana",
}
_ENDINGS = r"(?:s|ids?|nr|no|num|number|nummer|name|key)?\d*"
# Longer values are texts and name nothing.
_NAME_CHARACTERS = 40
_LEAST_FILLED = 0.8
# The least rows, on average, of a block.
_LEAST_ROWS = 10


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
    """Return a sentence on columns that may hold the answers about one group each; empty without such columns.

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
    rows = read_table(file, unique, form, most=_SAMPLED)
    for column, cells in zip(unique, zip(*rows, strict=True), strict=True):
        filled = [len(cell) for cell in cells if cell]
        if len(filled) * 2 > len(cells) and median(filled) >= _LONG_CHARACTERS:
            yield column


@dataclass(frozen=True, slots=True)
class Shared:
    """A column whose values several rows share.

    Attributes:
        role: cluster or block, as in import.columns.
        column: its name.
        n_values, n_rows: its different values, and the rows that have one.
    """

    role: Literal["cluster", "block"]
    column: str
    n_values: int
    n_rows: int

    @property
    def chosen(self) -> str:
        """A sentence that gives the reason why the column is chosen, and the way to undo this."""
        if self.role == "cluster":
            why = f"its name says what rows share and its {self.n_values:,} values repeat in {self.n_rows:,} rows"
            what = "Answers that share a value are resampled and permuted together"
        else:
            why = f"its name says who judged or when, and its {self.n_values:,} values have rows of several groups each"
            what = "Groups are compared inside each value"
        return (
            f"Chose {self.column} as the {self.role}, because {why}. {what}; if that is wrong, delete {self.role} from "
            f"import.columns."
        )

    @property
    def missed(self) -> str:
        """A sentence for a spec that does not name the column."""
        return (
            f"{self.column} has {self.n_values:,} values in {self.n_rows:,} rows: if rows with the same value belong together, "
            f"write {self.role}: {self.column} under import.columns, or they count as independent."
        )


def shared_columns(
    file: Path, columns: Sequence[str], groups: Sequence[str], form: Form
) -> dict[str, Shared]:
    """Return role -> the column that looks like the cluster or the block of each row, if one does.

    A cluster's values repeat, and are more than the groups; the column of the fewest values holds all others. A block's values
    are few, with many rows and several groups each; who judged goes before the time. A time of day is neither.

    Args:
        file: the answers.
        columns: the columns to choose from.
        groups: the columns of groups, none if each group has a column of answers.
        form: how the file is to be read.

    Raises:
        InputError: the file cannot be read.
    """
    kinds = {column: kind for column in columns if columns.count(column) == 1 and (kind := _kind_of(column))}
    if not kinds:
        return {}
    with open_source(file, [*groups, *kinds], form) as source, source.readable():
        found = [
            (kind, shared)
            for place, (column, kind) in enumerate(kinds.items(), start=len(groups))
            if (shared := _shared(source.connection, column, f"c{place}", kind, len(groups)))
        ]
    found.sort(key=lambda one: (list(_SHARED).index(one[0]), one[1].n_values * (one[0] == "cluster")))
    best: dict[str, Shared] = {shared.role: shared for _, shared in reversed(found)}
    return {role: best[role] for role in ("cluster", "block") if role in best}


def _kind_of(column: str) -> str | None:
    """Return which of the kinds of shared values a column's name says."""
    parts = {_without_accents(part) for part in _PARTS.findall(column)}
    for kind, words in _SHARED.items():
        listed = "|".join(_without_accents(word).replace("*", r"\w*") for word in words.split())
        if any(re.fullmatch(f"(?:{listed}){_ENDINGS}", part) for part in parts):
            return kind
    return None


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _shared(
    connection: duckdb.DuckDBPyConnection, column: str, cell: str, kind: str, n_columns: int
) -> Shared | None:
    """Return a column as what rows share, if its values are spread like that."""
    who = f"[{', '.join(f'c{place}' for place in range(n_columns))}]" if n_columns else "row_number"
    ((n, n_groups, n_rows, n_values, length, n_mixed, has_time),) = connection.execute(
        f"with cells as (select {present(trimmed(cell), ())} as value, {who} as who from source), "
        f"shared as (select value, count(*) as n, count(distinct who) as n_groups from cells where value is not null "
        f"group by value) "
        f"select (select count(*) from cells), (select count(distinct who) from cells), coalesce(sum(n), 0)::bigint, count(*), "
        f"avg(length(value)), coalesce(sum(n) filter (where n_groups > 1), 0)::bigint, "
        f"bool_or(regexp_matches(value, '\\d:\\d\\d')) from shared"
    ).fetchall()
    if n_rows < _LEAST_FILLED * n or n_values < 2 or length > _NAME_CHARACTERS or has_time:
        return None
    if kind == "cluster":
        is_shared = (n_groups if n_columns else 1) < n_values < n_rows
        return Shared("cluster", column, n_values, n_rows) if is_shared else None
    is_block = n_values * _LEAST_ROWS <= n_rows and n_mixed >= _LEAST_FILLED * n_rows
    return Shared("block", column, n_values, n_rows) if is_block else None
