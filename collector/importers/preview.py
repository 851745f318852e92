"""Preview how an audit's `import` reads a file, without keeping anything: columns, groups, first rows, all problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.answers.failures import UnknownReasons
from collector.answers.proposals import propose_answer
from collector.answers.unread_reasons import UnreadReasons
from collector.errors import InputError
from collector.importers.conditions import FoundWord, conditions_of
from collector.importers.data_warnings import Shares
from collector.importers.missing import token_sentences
from collector.importers.named_columns import shared_columns
from collector.importers.plan import Plan, form_of, needed_columns
from collector.importers.reading import Reader
from collector.importers.responses import RowPlan
from collector.importers.roles import roles_of
from collector.importers.tabular import plan_of
from collector.spec.loading import SpecProblem
from collector.tables.columns import column_name, find_column, missing_column
from collector.tables.encodings import suspicious_letters
from collector.tables.marks import marked_column
from collector.tables.source import MADE_COLUMNS, Form, open_source, read_table, sheet_notes, source_columns

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.importing import Import

ROWS_SHOWN = 5
# The number of example answers for each rule.
EXAMPLES_SHOWN = 3
# Shorter answers, such as a label, are often the same.
DUPLICATE_CHARACTERS = 40
# The number of answers that are read of a large file.
ANSWERS_READ = 10_000
WORDS_READ = 200


@dataclass(frozen=True, slots=True)
class PreviewedAnswer:
    """An answer as it will be stored: its subject, the groups named (attribute, group), its value or why it has none."""

    template: str
    subject: str | None
    groups: tuple[tuple[str, str], ...]
    status: str
    answer: str | None


@dataclass(slots=True)
class RuleUse:
    """The answers that a rule read: their number, and some examples with the result.

    Attributes:
        status: the status that the rule gives.
        rule: its name, as in Answer.read_by; empty where no rule read the answer.
    """

    status: str
    rule: str
    n: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def note(self, read: str, made: str) -> None:
        """Count an answer, and keep it as an example where it differs from those that are kept."""
        self.n += 1
        if len(self.examples) < EXAMPLES_SHOWN and (read, made) not in self.examples:
            self.examples.append((read, made))


@dataclass(slots=True)
class Preview:
    """The contents of a file.

    Attributes:
        columns: all of its columns.
        problems: what is wrong, each about a key of the spec.
        words: what the file calls groups.
        n_rows: its rows.
        n_responses: its answers.
        statuses: status -> how many of the `n_read` answers that were read have it.
        rules: how the rules read answers, the most frequent first.
        unread_groups: (attribute, group) -> how many answers about it are unread.
        unread: why answers are unread.
        languages: the language of an answer, as its ISO 639-1 code -> how many answers are in it.
        n_without_language: the number of answers too short to know.
        n_duplicates: answers that repeat a longer one to the same prompt word for word, where rows differ in other columns.
        answers: the first answers in the file's order.
        warnings: what is allowed but should be known.
    """

    columns: Sequence[str]
    problems: list[SpecProblem] = field(default_factory=list)
    words: Sequence[FoundWord] = ()
    n_rows: int = 0
    n_responses: int = 0
    n_read: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    rules: Sequence[RuleUse] = ()
    unread_groups: Counter[tuple[str, str]] = field(default_factory=Counter)
    unread: UnreadReasons = field(default_factory=UnreadReasons)
    languages: Counter[str] = field(default_factory=Counter)
    n_without_language: int = 0
    n_duplicates: int = 0
    answers: Sequence[PreviewedAnswer] = ()
    warnings: Sequence[str] = ()

    def rows_of_groups(self, audit: Audit) -> dict[str, dict[str, int]]:
        """Return attribute -> declared group -> rows that name it, 0 where none does."""
        rows = {name: dict.fromkeys(one.groups, 0) for name, one in audit.attributes.items()}
        for one in self.words:
            if one.attribute is not None and one.group is not None:
                rows[one.attribute][one.group] += one.n_rows
        return rows


def preview_file(audit: Audit, file: Path) -> Preview:
    """Read a file as an import would, as far as that goes.

    Args:
        audit: a spec with an `import`.
        file: the answers.

    Raises:
        InputError: the file cannot be read at all.
    """
    assert audit.imported is not None
    needed = dict(_needed(audit.imported))
    hoped = set(map(column_name, needed.values()))
    columns = source_columns(file, hoped.__contains__, form_of(audit.imported))
    preview = Preview(columns)
    for at, column in needed.items():
        # Paths in a column of JSON are checked when the file is read.
        if columns.count(column) < 2 and find_column(marked_column(column), columns) is None:
            preview.problems.append(SpecProblem(at, f"{at}: {missing_column(file, column, columns)}"))
    if not preview.problems:
        _preview_answers(preview, audit, file)
        preview.warnings = [*preview.warnings, *_unnamed_cluster(audit.imported, file, columns, hoped)]
    elif audit.imported.table is None:
        preview.warnings = sheet_notes(file)
    return preview


def _unnamed_cluster(
    imported: Import, file: Path, columns: Sequence[str], named: Container[str]
) -> Iterator[str]:
    """Yield a sentence if a column that the spec does not name looks like a cluster, and the spec names none."""
    if imported.columns.cluster is not None:
        return
    groups = [*imported.columns.attributes.values(), *filter(None, [imported.columns.value])]
    unused = [column for column in columns if column not in named]
    shared = shared_columns(file, unused, list(dict.fromkeys(groups)), form_of(imported))
    if "cluster" in shared:
        yield shared["cluster"].missed


def look_of_answers(file: Path, column: str, form: Form) -> Mapping[str, Any]:
    """Return the spec's `answer` for the answers that a column of a file looks like, `kind` first.

    Raises:
        InputError: the file cannot be read, or has no such column.
    """
    return propose_answer(
        [text or "" for (text,) in read_table(file, [column], form, most=ANSWERS_READ)]
    ).answer


def _needed(imported: Import) -> Iterator[tuple[str, str]]:
    """Yield the key path of every column that the spec names, and the column."""
    at, columns = "import.columns", imported.columns
    for role in ("attribute", "value"):
        if (column := getattr(columns, role)) is not None:
            yield f"{at}.{role}", column
    for role, column in roles_of(columns).items():
        if column not in MADE_COLUMNS:
            yield f"{at}.{role}", column
    for index, column in enumerate(imported.keep):
        yield f"import.keep[{index}]", column
    for key in ("attributes", "descriptors", "texts", "scores"):
        mapped: Mapping[str, str] = getattr(columns, key)
        for name, column in mapped.items():
            yield f"{at}.{key}.{name}", column


def _preview_answers(preview: Preview, audit: Audit, file: Path) -> None:
    assert audit.imported is not None
    conditions = conditions_of(audit, file)
    columns = needed_columns(conditions, audit)
    with open_source(file, columns, form_of(audit.imported), audit.imported.columns.texts) as source:
        plan = plan_of(audit, conditions, source)
        first = None
        try:
            plan.check()
        except InputError as error:
            first = str(error)
        preview.n_rows = plan.n_rows
        if plan.n_rows:
            preview.words = conditions.words(source.connection, WORDS_READ)
            preview.problems += [
                SpecProblem(f"import.values.{one.attribute}", str(one.problem))
                for one in preview.words
                if one.problem is not None
            ]
        if first is not None and first not in {one.message for one in preview.problems}:
            preview.problems.append(SpecProblem("import.columns", first))
        if not preview.problems:
            _read_answers(preview, plan, audit)
            preview.warnings = [*source.notes, *plan.warnings(), *preview.warnings]
        elif plan.n_rows and isinstance(plan, RowPlan):
            preview.warnings = plan.missing()


def _read_answers(preview: Preview, plan: Plan, audit: Audit) -> None:
    preview.n_responses = sum(run.n_attempts for run in plan.runs)
    answers = list(islice((one for batch in plan.answers() for one in batch), ANSWERS_READ))
    preview.n_read = len(answers)
    reasons = UnknownReasons()
    for one in answers:
        reasons.note(one.finish_reason)
    preview.warnings = reasons.sentences()
    if isinstance(plan, RowPlan):
        missing, tokens = plan.counted_answers()
        preview.warnings = [
            *missing.sentences(),
            *token_sentences(tokens),
            *preview.warnings,
        ]
    shown = {one.prompt_number for one in answers}
    prompts = {one.number: one.prompt for batch in plan.prompts() for one in batch if one.number in shown}
    first: list[PreviewedAnswer] = []
    rules: dict[tuple[str, str], RuleUse] = {}
    # Titles and names are in no language.
    has_items = audit.answer.kind in ("list", "items", "ranking")
    known: set[tuple[int, str]] = set()
    shares = Shares()
    reader = Reader(audit)
    for one in answers:
        answer = reader.answer_of(one)
        groups = [(stated.attribute, stated.group_name) for stated in prompts[one.prompt_number].attributes]
        shares.add(audit, answer.answer_text, groups)
        preview.statuses[answer.status] += 1
        key = answer.status, answer.read_by or ""
        read = answer.read_text or (one.text or "").strip() or answer.error or ""
        rules.setdefault(key, RuleUse(*key)).note(read, answer.answer_text or answer.error or "")
        if answer.language is not None:
            preview.languages[answer.language] += 1
        elif one.text and answer.status != "error" and (answer.status != "ok" or not has_items):
            preview.n_without_language += 1
        if answer.status == "unread":
            preview.unread_groups.update(set(groups))
            preview.unread.note(answer.error, one.text)
        if one.text is not None and len(one.text) >= DUPLICATE_CHARACTERS:
            preview.n_duplicates += (one.prompt_number, one.text) in known
            known.add((one.prompt_number, one.text))
        if len(first) < ROWS_SHOWN:
            prompt = prompts[one.prompt_number]
            first.append(
                PreviewedAnswer(
                    prompt.template,
                    prompt.subject,
                    tuple(groups),
                    answer.status,
                    answer.answer_text or answer.error,
                )
            )
    words = (one.word or "" for one in preview.words)
    look = suspicious_letters([*words, *(one.text or "" for one in answers)])
    preview.warnings = [*preview.warnings, *shares.sentences(), *([look] if look else [])]
    preview.answers = first
    if isinstance(plan, RowPlan):
        preview.n_duplicates = max(0, preview.n_duplicates - plan.n_repeated)
    preview.rules = sorted(rules.values(), key=lambda one: (-one.n, one.status, one.rule))
