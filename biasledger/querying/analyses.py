"""The shipped analyses and a project's own: found by name, and made plain SQL without dbt."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from biasledger.project import dbt_source
from biasledger.querying.connection import SCHEMAS
from biasledger.querying.tables import described_tables
from collector.errors import InputError
from collector.hints import did_you_mean

_NAME = re.compile(r"[\w./-]+")


@dataclass(frozen=True)
class Analysis:
    """A SQL file under `analyses/`.

    `method` is the folder below, empty for one that looks at all of them;
    `question` is the file's first comment, the question that it answers.
    """

    name: str
    method: str
    question: str
    path: Path


def list_analyses(project: Path | None = Path()) -> list[Analysis]:
    """Return the shipped analyses and those of a project, by method and name; a project's own take the place of shipped ones."""
    found: dict[str, Analysis] = {}
    folders = [dbt_source() / "analyses", *([] if project is None else [project / "analyses"])]
    for folder in folders:
        for path in sorted(folder.rglob("*.sql")):
            method = path.parent.relative_to(folder).as_posix()
            question = question_of(path.read_text(encoding="utf-8"))
            found[path.stem] = Analysis(path.stem, "" if method == "." else method, question, path)
    return sorted(found.values(), key=lambda analysis: (analysis.method, analysis.name))


def read_sql(source: str, project: Path = Path()) -> str:
    """Return the SQL that an argument means: a file, an analysis by its name or path, or the SQL itself.

    Args:
        source: SQL has white space in it; what has none is a file or a name.

    Raises:
        InputError: no such file or analysis, or one that needs dbt.
    """
    path = Path(source.strip())
    if not _is_file(path):
        if not _NAME.fullmatch(source.strip()):
            return source
        known = {analysis.name: analysis.path for analysis in list_analyses(project)}
        name = path.stem if path.suffix == ".sql" else path.name
        if name not in known and name.rpartition(".")[2] in _tables():
            raise InputError(f'{name} is a table: biasledger query "from {name}" shows it.')
        if name not in known:
            hint = did_you_mean(name, known).rstrip("?") or "; `biasledger query --list` lists them"
            raise InputError(
                f"There is neither a file nor an analysis {source!r}{hint}. SQL is given in quotes: "
                f'biasledger query "select …".'
            )
        path = known[name]
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text in UTF-8: name a file of SQL.") from error
    return without_jinja(text, path)


def without_jinja(text: str, path: Path) -> str:
    """Put table names in place of `{{ ref("…") }}`, so that an analysis runs without dbt.

    Raises:
        InputError: the file uses what dbt alone knows, such as a macro.
    """
    if "{" not in text:
        return text
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.globals = {"ref": _table_name, "config": lambda **_: "", "env_var": _env_var, "var": _var}
    try:
        return environment.from_string(text).render()
    except (TemplateError, TypeError) as error:
        raise InputError(
            f"{path} needs dbt ({error}): only ref, config, env_var and publish_texts are known here; run "
            "`dbt compile` and query what it leaves in target/compiled."
        ) from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # SQL is no file's name where it is too long or holds a zero
        return False


def question_of(text: str) -> str:
    """Return the first comment, over as many lines as it has."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("--"):
            lines.append(line.removeprefix("--").strip())
        elif lines:
            break
    return " ".join(lines)


def _tables() -> set[str]:
    """Return the names of what is published: marts and settings."""
    return {table.name for table in described_tables()} | {
        path.stem for path in (dbt_source() / "seeds").glob("*.csv")
    }


def _table_name(*names: str) -> str:
    """`ref` with a model's or seed's name, or a package's and then that."""
    name = names[-1]
    marts, settings = SCHEMAS
    is_seed = (dbt_source() / "seeds" / f"{name}.csv").is_file()
    return f"{settings if is_seed else marts}.{name}"


def _var(name: str) -> bool:
    """Return whether texts are published is known by whether their table is there; no other setting of dbt is known."""
    if name != "publish_texts":
        from jinja2 import TemplateError

        raise TemplateError(f"it reads the variable {name}")
    return True


def _env_var(name: str, default: str | None = None, environment: Mapping[str, str] = os.environ) -> str:
    """Biasledger's own variables alone: a query is printed and shared, and others may hold a key."""
    if not name.startswith("BIASLEDGER_"):
        if default is None:
            from jinja2 import TemplateError

            raise TemplateError(f"it reads the environment variable {name}, and only BIASLEDGER_… are read")
        return default
    return environment.get(name, default or "")
