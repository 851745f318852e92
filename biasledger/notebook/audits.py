"""Audits from Python: answers that are there are imported, a function is asked, and tables are built of them."""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from biasledger import __version__
from biasledger.notebook.warehouse import Warehouse, open_warehouse
from biasledger.project import check_project, init_project, settings_file
from collector.errors import BiasledgerError, InputError
from collector.hints import shown

if TYPE_CHECKING:
    import pandas as pd

    from collector.ledger.summary import RunSummary
    from collector.spec.audit import Audit

Spec = Path | str | Mapping[str, Any]
"""An audit's file, or what would stand in one."""

# Folders of projects without a name, deleted when Python ends.
_temporary: list[tempfile.TemporaryDirectory[str]] = []
# Values of an object column that DuckDB writes as texts.
_PLAIN = (str, bytes, int, float, Decimal, date, time, timedelta, UUID, type(None))
_VERSIONS = {"biasledger": __version__}


def audit(
    answers: object,
    spec: Spec | None = None,
    *,
    answer: str | None = None,
    group: str | Sequence[str] | Mapping[str, str] | None = None,
    subject: str | None = None,
    kind: str | None = None,
    favourable: Sequence[str] = (),
    project: Path | str | None = None,
    name: str | None = None,
    again: bool = False,
    simulated: bool = False,
) -> pd.DataFrame:
    """Import answers, build the tables and return the findings.

    Args:
        answers: a data frame of pandas, Arrow or polars with a row an answer, or a file as `biasledger import` takes it.
        spec: the audit, whose `import` says what the columns mean; without one, the columns that are named next.
        answer: the column of the answers.
        group: the column that names groups, several, or column -> the group that the others are compared with; if none is given,
            the most frequent one.
        subject: the column of what the answers are about, needed for labels and scores.
        kind: of the answers; detected if not given.
        favourable: the labels that select somebody.
        project: folder to work in, laid out if it is absent or empty; a temporary one if not given, which is there until Python
            ends.
        name: what to call the model that answered, if the answers do not say.
        again: import answers a second time that the project's ledger holds already.
        simulated: label the answers as made up.

    Returns:
        The findings of these answers, as `Warehouse.findings` gives them. `attrs["project"]` names the folder, which
        `biasledger.open` takes.

    Raises:
        InputError: the answers or the spec are wrong; the message says what would be right.
        BiasledgerError: no answer can be analysed, or the tables cannot be built.
    """
    from collector.importers.tabular import import_runs

    with (
        _answers_file(answers) as file,
        _spec_file(
            spec if spec is not None else _drafted(file, answer, group, subject, kind, favourable)
        ) as path,
    ):
        loaded = _load(path)
        # Nothing is laid out for a spec that is wrong.
        folder = _project(project)
        summaries = import_runs(
            loaded,
            path,
            file,
            folder / "ledger.duckdb",
            name=name or (None if isinstance(answers, str | Path) else "answers"),
            again=again,
            simulated=simulated,
            versions=_VERSIONS,
        )
    _tell(summaries)
    warehouse = build(folder)
    import pandas as pd

    found = pd.concat([warehouse.findings(summary.run_id) for summary in summaries], ignore_index=True)
    found.attrs["project"] = str(folder)
    return found


def collect(
    spec: Spec,
    target: Callable[..., object] | str,
    *,
    project: Path | str = ".",
    name: str | None = None,
    trials: int | None = None,
    mitigations: Sequence[str] = (),
    parts: Sequence[str] = (),
    seed: int = 0,
    max_cost_usd: float | None = None,
) -> RunSummary:
    """Ask a function, or a target of the project's targets.yml, and keep every answer in the project's ledger.

    Args:
        spec: the audit; a file is sought from the working folder, wherever the project is.
        target: a function of this process, called with (prompt_text, system_prompt, seed), which returns the answer as a text or
            a mapping (docs/targets.md); or a target's name.
        project: folder to work in, laid out if it is absent or empty.
        name: what to call a function; its own name if not given.
        trials, mitigations, parts, seed, max_cost_usd: as of `biasledger collect`.

    Returns:
        The numbers of answers by status; `build` makes tables of them.

    Raises:
        InputError: the spec is wrong, there is no such target, or the function does not take the arguments.
        TargetError: it cannot be asked; what was answered is kept, and `biasledger collect --resume` goes on with a target of
            targets.yml.
        BiasledgerError: it stopped early, or no answer can be analysed.
    """
    from collector.asking.costs import load_prices, meter_for
    from collector.asking.runner import CollectOptions
    from collector.asking.runner import collect as ask
    from collector.targets import load_target
    from collector.targets.python_function import of_function

    with _spec_file(spec) as path:
        loaded = _load(path)[0]
        # Nothing is laid out for a spec or a function that is wrong.
        function = None if isinstance(target, str) else of_function(target, name=name)
        folder = _project(project)
        asked = function or load_target(folder / "targets.yml", str(target))
        prices = load_prices(settings_file("model_prices.csv", folder))
        summary = ask(
            loaded,
            asked,
            folder / "ledger.duckdb",
            CollectOptions(versions=_VERSIONS, meter=meter_for(asked, prices, max_cost_usd)),
            mitigations=mitigations,
            parts=parts,
            trials=trials,
            seed=seed,
        )
    if summary.stopped is not None:
        raise BiasledgerError(summary.stopped)
    _tell([summary])
    return summary


def build(project: Path | str = ".") -> Warehouse[pd.DataFrame]:
    """Build a project's tables, with alarms or without, and open them; nothing is built where nothing is new.

    Raises:
        InputError: there is no project, or an audit or a setting is wrong.
        BiasledgerError: a model or a quality test failed, and the old tables stay.
    """
    from biasledger.building.build import build_warehouse, up_to_date_build

    folder = Path(project)
    check_project(folder)
    ledger, warehouse = folder / "ledger.duckdb", folder / "warehouse.duckdb"
    if up_to_date_build(folder, ledger, warehouse) is None:
        build_warehouse(folder, ledger, warehouse)
    return open_warehouse(warehouse)


def _drafted(
    file: Path,
    answer: str | None,
    group: str | Sequence[str] | Mapping[str, str] | None,
    subject: str | None,
    kind: str | None,
    favourable: Sequence[str],
) -> Mapping[str, Any]:
    """Return an audit as `biasledger new` drafts it, and warn of what it takes for something else."""
    import yaml

    from collector.importers.draft import Drafted, draft_spec
    from collector.importers.named_columns import shared_columns
    from collector.tables.source import AS_IT_LOOKS, source_columns

    if answer is None or not group:
        raise InputError(
            "An audit needs a spec, or the names of two columns: audit(answers, answer='reply', group='gender')."
        )
    named = [group] if isinstance(group, str) else group
    groups = dict(named) if isinstance(named, Mapping) else dict.fromkeys(named)
    columns = source_columns(file, lambda _: True, AS_IT_LOOKS)
    roles = {"subject": subject} if subject is not None else {}
    taken = {answer, *groups, *roles.values()}
    shared = shared_columns(file, [one for one in columns if one not in taken], list(groups), AS_IT_LOOKS)
    drafted = Drafted(
        answer,
        groups,
        {**roles, **{role: one.column for role, one in shared.items()}},
        kind,
        favourable=lambda _: favourable,
    )
    draft = draft_spec("answers", file, drafted)
    for sentence in [*(one.chosen for one in shared.values()), *draft.notes]:
        warnings.warn(sentence, stacklevel=4)
    document: Mapping[str, Any] = yaml.safe_load(draft.text)
    return document


def _project(folder: Path | str | None) -> Path:
    """The folder, laid out if nothing is in it; its audits are those that are given."""
    if folder is None:
        _temporary.append(tempfile.TemporaryDirectory(prefix="biasledger-"))
        path = Path(_temporary[-1].name)
    else:
        path = Path(folder)
    if path.is_dir() and any(path.iterdir()):
        check_project(path)
        return path
    init_project(path)
    # A shipped audit of the same name would say how answers are read.
    shutil.rmtree(path / "audits")
    return path


@contextmanager
def _spec_file(spec: Spec) -> Iterator[Path]:
    if not isinstance(spec, Mapping):
        yield Path(spec)
        return
    import yaml

    with tempfile.TemporaryDirectory(prefix="biasledger-") as folder:
        path = Path(folder) / "spec.yml"
        path.write_text(yaml.safe_dump(dict(spec), sort_keys=False, allow_unicode=True), encoding="utf-8")
        with _called(path, "spec"):
            yield path


def _load(path: Path) -> tuple[Audit, ...]:
    from collector.spec.loading import load_audits

    return load_audits(path)


@contextmanager
def _answers_file(answers: object) -> Iterator[Path]:
    """Answers as a file: a frame of any kind that DuckDB reads becomes Parquet."""
    if isinstance(answers, str | Path):
        yield Path(answers)
        return
    import duckdb

    from collector.tables.columns import require_distinct

    # DuckDB would rename the second of two.
    # A column of pandas may be called column_names, which Arrow calls its names.
    attribute = "column_names" if hasattr(type(answers), "column_names") else "columns"
    names: Sequence[object] = getattr(answers, attribute, ())
    require_distinct(Path("answers"), [str(name) for name in names])
    with tempfile.TemporaryDirectory(prefix="biasledger-") as folder:
        path = Path(folder) / "answers.parquet"
        try:
            with duckdb.connect(":memory:", config={"threads": 1}) as connection:
                try:
                    connection.register("answers", answers)
                except (duckdb.InvalidInputException, TypeError) as error:
                    raise InputError(
                        f"Answers of type {type(answers).__name__} cannot be read: give a data frame or a file."
                    ) from error
                _refuse_objects(answers, connection.execute("describe answers").fetchall())
                connection.execute("copy answers to $1 (format parquet)", [str(path)])
        except duckdb.Error as error:
            reason = str(error).splitlines()[0].partition("Error: ")[2]
            said = f"Answers of type {type(answers).__name__} cannot be read ({reason}): give a data frame or a file."
            raise InputError(_long_number(answers) or said) from error
        with _called(path, "answers"):
            yield path


def _refuse_objects(frame: Any, described: Sequence[tuple[Any, ...]]) -> None:
    """Raise InputError for Python objects that DuckDB would write as Python shows them, in columns of a pandas frame.

    Columns of lists or objects alone become JSON, and are no such columns.
    """
    import numpy as np
    import pandas as pd

    dtypes = getattr(frame, "dtypes", None)
    if dtypes is None or not hasattr(dtypes, "items"):
        return
    texts = {name for name, type_, *_ in described if type_ == "VARCHAR"}
    for column, dtype in dtypes.items():
        if str(dtype) != "object" or str(column) not in texts:
            continue
        for number, value in enumerate(frame[column], start=1):
            if not isinstance(value, (*_PLAIN, np.generic)) and value is not pd.NA:
                raise InputError(
                    f"answers: row {number} has a Python {type(value).__name__} as {shown(str(column))}; make it a text, such as "
                    f"with json.dumps, or give a list or dict in each row."
                )


def _long_number(frame: Any) -> str | None:
    """Where a pandas frame has a number of so many digits that Python writes it in no text; None if it has none."""
    most = sys.get_int_max_str_digits()
    for column, dtype in dict(getattr(frame, "dtypes", {})).items():
        for number, value in enumerate(frame[column] if str(dtype) == "object" else (), start=1):
            if most and isinstance(value, int) and abs(value) >= 10**most:
                where = f"row {number} has a number of more than {most:,} digits as {shown(str(column))}"
                return f"answers: {where}; make it a text or leave the column out."
    return None


@contextmanager
def _called(path: Path, name: str) -> Iterator[None]:
    """In the errors of the block, replace a temporary file's name by the name of the argument that it holds.

    Raises:
        BiasledgerError: as in the block.
    """
    try:
        yield
    except BiasledgerError as error:
        error.args = (str(error).replace(str(path), name).replace(path.name, name),)
        raise


def _tell(summaries: Sequence[RunSummary]) -> None:
    """Warn of what weakens a run, once, and raise where nothing can be analysed."""
    for sentence in dict.fromkeys(one for summary in summaries for one in summary.warnings):
        warnings.warn(sentence, stacklevel=3)
    for summary in summaries:
        summary.require_answers()
