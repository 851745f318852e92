"""A new project, its documents, and writing an audit: a first spec for a file of answers, its problems, how it reads a file."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from biasledger.commands.common import (
    EXIT_BROKEN,
    PATH,
    SPECS,
    cut,
    encoding_option,
    next_step,
    outside_option,
    print_problems,
    table_option,
    write_audit,
)
from biasledger.commands.counterfactual import counterfactual
from biasledger.numbers import count
from collector.errors import InputError
from collector.hints import shown
from collector.terminal import is_watched, on_one_line, print_data, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from collector.importers.preview import Preview, PreviewedAnswer, RuleUse
    from collector.spec.audit import Audit
    from collector.spec.loading import CheckedAudit
    from collector.tables.source import Form

_WORDS_SHOWN = 20
# Common names of a column that holds the question.
_ASKED = ("question", "prompt", "query", "instruction", "input")
# Columns that are often forgotten: role -> their common names, letters only; what they hold; and what follows without them.
_OFTEN_FORGOTTEN = {
    "error": (
        {"error", "errors", "errormessage", "errortext", "exception"},
        "says why a call failed",
        "answers that never came count as given",
    ),
    "finish_reason": (
        {"finishreason", "stopreason", "donereason", "completionreason"},
        "says why the model stopped",
        "answers that never came count as given",
    ),
    "attempt": (
        {"attempt", "attemptno", "attemptnumber"},
        "numbers the attempts at a question",
        "each attempt counts as an answer of its own",
    ),
}


@click.command()
@click.argument("directory", type=PATH, metavar="DIR")
@click.option("--all", "every_audit", is_flag=True, help="Every audit that ships, with the files they name.")
@click.option(
    "--preset", type=click.Choice(["chatbot"]), help="Audits for a purpose, in place of the first one."
)
@click.option(
    "--language",
    "languages",
    metavar="CODE",
    multiple=True,
    help="Also the audits in a language: de, es, fr, hi, pt or zh. May be repeated.",
)
def init(directory: Path, every_audit: bool, preset: str | None, languages: tuple[str, ...]) -> None:
    """Lay out a new project.

    Writes an audit, targets and settings into DIR; with --all, every audit that ships. Files that are there are kept.
    """
    from biasledger.project import PRESETS, init_project

    if preset and every_audit:
        raise click.UsageError("--all lays out the audits of every preset: leave out --preset.")
    written, present = init_project(directory, every_audit=every_audit, preset=preset, languages=languages)
    say(f"Laid out {directory}:")
    for path in written:
        say(f"  {path}")
    if present:
        say(f"Kept as they were: {', '.join(map(str, present))}")
    if Path(".gitignore") in present:
        say("Add *.duckdb, journal/ and .biasledger/ to .gitignore: answers do not belong in a repository.")
    enter = "" if directory.resolve() == Path.cwd() else f"cd {shlex.quote(str(directory))} && "
    first = PRESETS[preset][0] if preset else "audits/products.yml"
    if languages:
        first = f"audits/languages/{languages[0]}/rankings.yml"
    if (directory / "ledger.duckdb").exists():
        next_step(f"{enter}biasledger build")
    else:
        target = "TARGET" if Path("targets.yml") in present else "simulator"
        next_step(f"{enter}biasledger collect {first} --target {target}")


@click.command()
@click.argument("audit_file", type=PATH, metavar="AUDIT.yml", required=False)
@click.argument("others", type=PATH, metavar="[FILE | AUDIT.yml ...]", nargs=-1)
@click.option("--schema", is_flag=True, help="Print the JSON schema of audit specs instead.")
@table_option
@encoding_option
@outside_option
@click.pass_context
def validate(
    ctx: click.Context,
    audit_file: Path | None,
    others: tuple[Path, ...],
    schema: bool,
    table: str | None,
    encoding: str | None,
    allow_outside: bool,
) -> None:
    """Check audits, or one and how it reads FILE.

    Tells the problems of AUDIT.yml with their lines, all those of a step at once: what each key is by itself, the files that are
    named, what keys say of each other. With a FILE of answers, as in `biasledger import`, also tells its columns, the
    rows of each group, labels and groups that do not fit, and the first answers as they will be read. Nothing is kept. Ends with
    3 where there are problems.

    \b
      biasledger validate audits/mine.yml answers.csv
      biasledger validate audits/*.yml
      biasledger validate --schema > audits/audit.schema.json   # renew what editors check by
    """
    if schema:
        from collector.spec.schema import schema_text

        print_data(schema_text())
        return
    if audit_file is None:
        raise click.UsageError("AUDIT.yml is missing: name the spec to check.")
    answers = [path for path in others if path.suffix.lower() not in SPECS]
    if len(answers) > 1 or (answers and len(others) > 1):
        raise click.UsageError("Name several audits, or one and a file of answers.")
    audits = [audit_file, *(path for path in others if path not in answers)]
    file = answers[0] if answers else None
    are_right = [_is_right(audit, file, allow_outside, table=table, encoding=encoding) for audit in audits]
    if not all(are_right):
        ctx.exit(EXIT_BROKEN)


def _is_right(
    audit_file: Path,
    file: Path | None,
    allow_outside: bool,
    *,
    table: str | None,
    encoding: str | None,
    outcome: str | None = None,
) -> bool:
    """Print the errors of a spec and, with a file of answers, how it reads it; return whether there are no errors."""
    from biasledger.planning.dry_run import design_warnings
    from biasledger.planning.outlooks import size_note
    from biasledger.planning.scopes import scope_warnings
    from collector.spec.loading import check_audit

    try:
        checked = check_audit(audit_file, allow_outside=allow_outside, outcome=outcome)
    except InputError as error:
        say(f"Error: {error}", err=True)
        return False
    n = print_problems(audit_file, checked, checked.problems)
    if checked.audit is None:
        if file is not None:
            _print_look(audit_file, file, checked, table=table, encoding=encoding)
        say(f"{count(n, 'problem')} in {audit_file}. Others may show once these are right.")
        return False
    if checked.audit.outcomes:
        are_right = []
        for name in checked.audit.outcomes:
            say(f"Outcome {name}:")
            are_right.append(
                _is_right(audit_file, file, allow_outside, table=table, encoding=encoding, outcome=name)
            )
        return all(are_right)
    for warning in [
        *checked.audit.warnings(),
        *design_warnings(checked.audit),
        *scope_warnings(checked.audit),
    ]:
        say(f"Warning: {warning}")
    if file is None:
        if (note := size_note(checked.audit)) is not None:
            say(note)
        say(f"{audit_file}: no problems found.")
        return True
    n, n_unread = _print_file(
        audit_file, file, checked, checked.audit.with_form(table=table, encoding=encoding)
    )
    if n:
        say(f"{count(n, 'problem')} in {audit_file} with {file}.")
        return False
    if n_unread:
        say(f"{audit_file} and {file}: the spec is right, and {count(n_unread, 'answer')} cannot be read.")
        return True
    say(f"{audit_file} and {file}: no problems found.")
    return True


def _print_look(audit_file: Path, file: Path, checked: CheckedAudit, **given: str | None) -> None:
    """Return where the kind of answers is missing, say what those of the file look like."""
    import yaml

    from collector.files.yaml import read_yaml_mapping
    from collector.importers.preview import look_of_answers
    from collector.tables.source import Form

    if not any(one.at == "the key answer.kind" for one in checked.problems):
        return
    imported = read_yaml_mapping(audit_file, what="an audit spec")["import"]
    column = imported["columns"].get("text")
    if column is None:
        return
    try:
        stated = {key: value or imported.get(key) for key, value in given.items()}
        answer = look_of_answers(file, column, Form(imported.get("format"), **stated))
    except InputError as error:
        say(str(error))
    else:
        written = yaml.safe_dump(
            answer, default_flow_style=True, sort_keys=False, allow_unicode=True, width=sys.maxsize
        ).strip()
        say(f"The answers in {file} look like {answer['kind']}: write answer: {written}.")


def _print_file(audit_file: Path, file: Path, checked: CheckedAudit, audit: Audit) -> tuple[int, int]:
    """Print what a file holds and how it will be read; return how many problems and how many unread answers there are."""
    from collector.importers.preview import preview_file

    if audit.imported is None:
        raise InputError(
            f"{audit_file}: the key import is missing; it says which column of {file} holds what."
        )
    preview = preview_file(audit, file)
    n = print_problems(audit_file, checked, preview.problems)
    rows = f"{count(preview.n_rows, 'row')}, " if preview.n_rows else ""
    say(f"{file}: {rows}{count(len(preview.columns), 'column')}: {_joined_names(preview.columns)}")
    if preview.n_rows:
        for line in _group_lines(audit, preview):
            say(line)
    for line in _answer_lines(preview):
        say(line)
    if warning := _language_warning(audit, preview):
        say(warning)
    for warning in preview.warnings:
        say(f"Warning: {warning}")
    return n, preview.statuses["unread"]


def _group_lines(audit: Audit, preview: Preview) -> Iterator[str]:
    for attribute, groups in preview.rows_of_groups(audit).items():
        words = [one for one in preview.words if one.attribute == attribute]
        yield f"  {attribute}:"
        for group, n_rows in groups.items():
            written = {one.word or "": one.n_rows for one in words if one.group == group}
            as_what = "" if set(written) <= {group} else f", written {_counted(written)}"
            yield f"    {on_one_line(group)}: {count(n_rows, 'row')}{as_what}"
        unknown = {one.word or "": one.n_rows for one in words if one.problem is not None}
        if unknown:
            yield f"    not declared: {_counted(unknown)}"
        if none := sum(one.n_rows for one in words if one.group is None and one.problem is None):
            yield f"    no group: {count(none, 'row')}"
        for group in (group for group, n_rows in groups.items() if not n_rows):
            yield f"Warning: the group '{on_one_line(group)}' of {attribute} is declared, and no row names it."


def _answer_lines(preview: Preview) -> Iterator[str]:
    if not preview.n_read:
        return
    of = (
        count(preview.n_read, "answer")
        if preview.n_read == preview.n_responses
        else f"the first {preview.n_read:,} of {preview.n_responses:,} answers"
    )
    yield f"  {of}: {', '.join(f'{n:,} {status}' for status, n in preview.statuses.most_common())}"
    if len(preview.languages) > 1 or set(preview.languages) - {"en"}:
        yield f"  languages: {'; '.join(_languages(preview))}"
    if preview.n_duplicates:
        yield (
            f"Warning: {count(preview.n_duplicates, 'answer')} with the same text as another one to the same prompt. If rows "
            f"were exported twice, `import.duplicates: drop` leaves them out."
        )
    yield "  How they are read:"
    for rule in preview.rules:
        yield from _rule_lines(rule)
    if n_unread := preview.statuses["unread"]:
        groups = ", ".join(
            f"{attribute} {on_one_line(group)} {n:,}"
            for (attribute, group), n in preview.unread_groups.most_common()
        )
        yield (
            f"Warning: {count(n_unread, 'answer')} of {preview.n_read:,} cannot be read"
            f"{f' ({groups})' if groups else ''}."
        )
        for sentence in preview.unread.sentences():
            yield f"  {sentence}"
    yield f"The first {len(preview.answers)} answers as they will be read:"
    for number, answer in enumerate(preview.answers, start=1):
        yield f"  {number}. {_answer_line(answer)}"


def _language_warning(audit: Audit, preview: Preview) -> str | None:
    """Return what to state where most answers are in a language that words are known of, and the audit states none."""
    from collector.answers.texts.languages import load_languages

    assert audit.imported is not None
    (code, n), *_ = preview.languages.most_common(1) or [("en", 0)]
    if (
        audit.imported.language
        or audit.imported.conditions
        or code == "en"
        or 2 * n <= preview.languages.total()
    ):
        return None
    known = load_languages()
    return (
        f"Warning: Most answers are in {known[code].name if code in known else code}. If the questions are, too, write "
        f"import.language: {code}, so that this language's forms of address and hedges are known."
    )


def _languages(preview: Preview) -> Iterator[str]:
    """Yield the name of each language and how many answers are in it, and how many are too short to tell."""
    from collector.answers.texts.languages import load_languages

    known = load_languages()
    for code, n in preview.languages.most_common(_WORDS_SHOWN):
        yield f"{known[code].name if code in known else code} {n:,}"
    if preview.n_without_language:
        yield f"too short to tell {preview.n_without_language:,}"


def _rule_lines(rule: RuleUse) -> Iterator[str]:
    """Yield how many answers a rule read, and some examples: what it read, and what it made of it."""
    yield f"    {f'{rule.rule}, ' if rule.rule else ''}{rule.status}: {rule.n:,}"
    # Examples of unread answers are listed with the reasons.
    for read, made in rule.examples if rule.status != "unread" else ():
        same = read.casefold() == made.casefold() or rule.status != "ok"
        yield f"      {cut(read)}{'' if same else f' → {cut(made)}'}"


def _answer_line(answer: PreviewedAnswer) -> str:
    about = [
        answer.template,
        *([answer.subject] if answer.subject is not None else []),
        *(f"{attribute} {group}" for attribute, group in answer.groups),
    ]
    text = cut(answer.answer or "")
    return on_one_line(f"{', '.join(about)}: {answer.status}{f': {text}' if text else ''}")


def _joined_names(names: Iterable[str]) -> str:
    return ", ".join(on_one_line(name) for name in names)


def _counted(counts: Mapping[str, int]) -> str:
    """Return "'m' (100), 'male' (20)", the most frequent first, with a count of what is left out."""
    ordered = sorted(counts.items(), key=lambda one: -one[1])
    shown = [f"'{on_one_line(word)}' ({n:,})" for word, n in ordered[:_WORDS_SHOWN]]
    return ", ".join(
        [*shown, *([f"{len(ordered) - _WORDS_SHOWN} more"] if len(ordered) > _WORDS_SHOWN else [])]
    )


@click.command()
@click.argument("audit_file", type=PATH, metavar="AUDIT.yml")
@click.argument("file", type=PATH)
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="[GROUP=]COLUMN",
    help="The column of the answers; where each group has its own, GROUP=COLUMN for each, the reference first.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="COLUMN[=REFERENCE]",
    help="A column that names groups, and the one that the others are compared with, if not the most frequent; may be repeated.",
)
@click.option("--prompt", metavar="COLUMN", help="The column of the questions.")
@click.option("--template", metavar="COLUMN", help="The column of the wording that was asked.")
@click.option(
    "--subject", metavar="COLUMN", help="The column of what the question is about, such as a resume's number."
)
@click.option("--model", metavar="COLUMN", help="The column of the model that answered; each gets a run.")
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="The column of what rows share, such as a conversation or customer; chosen by names and values if not given.",
)
@click.option(
    "--block",
    metavar="COLUMN",
    help="The column inside whose values groups are compared, such as a judge or a day; likewise.",
)
@click.option(
    "--kind",
    type=click.Choice(["text", "json_object", "list", "label", "score"]),
    help="The kind of the answers; detected from the answers if not given.",
)
@click.option(
    "--labels",
    multiple=True,
    metavar="A,B",
    help="The labels that the answers decide between, separated by commas; taken from the answers if not given.",
)
@click.option(
    "--favourable",
    multiple=True,
    metavar="LABEL",
    help="A label that selects somebody, without which labels are not judged; may be repeated.",
)
@table_option
@encoding_option
@click.pass_context
def new(
    ctx: click.Context,
    /,
    audit_file: Path,
    file: Path,
    answers: tuple[str, ...],
    groups: tuple[str, ...],
    kind: str | None,
    labels: tuple[str, ...],
    favourable: tuple[str, ...],
    table: str | None,
    encoding: str | None,
    **roles: str | None,
) -> None:
    """Write an audit for a file of answers.

    Writes AUDIT.yml from the columns of FILE, which has a row for each answer, or a row with an answer for each group, and shows
    how it will be read. On a terminal it asks for missing options. Existing files are never overwritten.

    \b
      biasledger new audits/support.yml answers.csv --answer reply --group gender --group race=White
      biasledger new audits/hiring.yml decisions.csv --answer decision --group sex --subject applicant --favourable accept
      biasledger new audits/bot.yml chats.csv --answer reply --group sex --subject case --labels approve,deny
      biasledger new audits/tips.yml tips.csv --answer male=male_response --answer female=female_response
    """
    from biasledger.planning.scopes import scope_warnings
    from collector.importers.draft import Drafted, draft_spec
    from collector.importers.named_columns import columns_of_groups, shared_columns, suggested_answers
    from collector.spec.loading import check_audit
    from collector.tables.source import Form, sheet_notes, source_columns

    form = Form(table=table, encoding=encoding)
    if labels and kind not in (None, "label"):
        raise click.UsageError(f"--labels names labels, and --kind says {kind}: leave one of them out.")
    columns = source_columns(file, lambda _: True, form)
    sheets = "" if table else " ".join(sheet_notes(file))
    answers = answers or (_asked_answer(file, columns, form, sheets, is_alone=bool(groups)),)
    texts = _columns_of_groups(answers, columns)
    answer = "" if texts else answers[0]
    named = groups or (
        () if texts else (_prompt_for_column("--group", "Which column names the groups?", columns, sheets),)
    )
    attributes = dict(_column_and_reference(one, columns) for one in named)
    stated = {role: column for role, column in roles.items() if column is not None}
    taken = {answer, *attributes, *stated.values(), *texts.values()}
    shared = shared_columns(file, [one for one in columns if one not in taken], [*attributes], form)
    chosen = {role: one for role, one in shared.items() if role not in stated}
    drafted = Drafted(
        answer,
        attributes,
        {**stated, **{role: one.column for role, one in chosen.items()}},
        kind,
        [label.strip() for one in labels for label in one.split(",") if label.strip()],
        lambda labels: favourable or _asked_favourable(labels),
        form,
        texts,
    )
    draft = draft_spec(audit_file.stem, file, drafted)
    write_audit(audit_file, draft.text, source=file, command="new")
    say(f"Wrote {audit_file}.")
    for one in chosen.values():
        say(one.chosen)
    for line in _unused_lines([column for column in columns if column not in drafted.columns], roles):
        say(line)
    if answer in columns_of_groups(columns).values():
        say(suggested_answers(file, columns, form))
    for note in draft.notes:
        say(f"Warning: {note}")
    checked = check_audit(audit_file)
    n = print_problems(audit_file, checked, checked.problems)
    if checked.audit is not None:
        for line in _reference_lines(checked.audit, attributes):
            say(line)
        for warning in [*checked.audit.warnings(), *scope_warnings(checked.audit)]:
            say(f"Warning: {warning}")
        n, _ = _print_file(audit_file, file, checked, checked.audit)
    if n:
        say(
            f"{count(n, 'problem')} in {audit_file} with {file}: change it, and check it with `biasledger validate`."
        )
        ctx.exit(EXIT_BROKEN)
    next_step(f"biasledger import {shlex.quote(str(audit_file))} {shlex.quote(str(file))}")


def _columns_of_groups(answers: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Return group -> the column of its answers; nothing where one column holds all answers."""
    if len(answers) == 1 and (answers[0] in columns or "=" not in answers[0]):
        return {}
    if len(answers) == 1:
        raise click.UsageError(f"--answer {answers[0]} names one group: give one for each group.")
    texts: dict[str, str] = {}
    for one in answers:
        group, _, column = one.partition("=")
        if not (group.strip() and column) or group.strip() in texts:
            raise click.UsageError(
                f"--answer is {one!r} and should be like male=male_response, each group once, where several are given."
            )
        texts[group.strip()] = column
    return texts


def _asked_answer(file: Path, columns: Sequence[str], form: Form, sheets: str, *, is_alone: bool) -> str:
    """Return the column of the answers that the person at the terminal names; `is_alone`: groups are named already."""
    from collector.importers.named_columns import suggested_answers

    hint = " ".join(filter(None, [suggested_answers(file, columns, form), sheets]))
    if is_alone or _is_answered():
        return _prompt_for_column("--answer", "Which column holds the answers?", columns, hint)
    raise click.UsageError(
        f"Which column holds the answers, and which names the groups? Give --answer COLUMN and --group COLUMN; the columns are "
        f"{_joined_names(columns)}.{f' {hint}' if hint else ''}"
    )


def _prompt_for_column(option: str, question: str, columns: Sequence[str], hint: str = "") -> str:
    """Ask the person at the terminal for a column; without a terminal, name the option to give."""
    if not _is_answered():
        message = f" {hint}" if hint else ""
        raise click.UsageError(
            f"{question} Give {option} COLUMN; the columns are {_joined_names(columns)}.{message}"
        )
    if hint:
        say(hint, err=True)
    say(f"{question} ({_joined_names(columns)})", err=True)
    return sys.stdin.readline().strip()


def _asked_favourable(labels: Sequence[str]) -> Sequence[str]:
    """Ask the person at the terminal for a label; return none without a terminal or without labels."""
    if not labels or not _is_answered():
        return ()
    say(f"Which label selects somebody? ({_joined_names(labels)}; empty: decide later)", err=True)
    return tuple(filter(None, [sys.stdin.readline().strip()]))


def _is_answered() -> bool:
    return sys.stdin.isatty() and is_watched()


def _reference_lines(audit: Audit, references: Mapping[str, str | None]) -> Iterator[str]:
    """Yield which group the others are compared with, where the file decided it."""
    assert audit.imported is not None
    for name, column in audit.imported.columns.attributes.items():
        if references.get(column) is None:
            yield (
                f"Compares with {shown(audit.attributes[name].reference or '')} of {name}, the most frequent group; "
                f"--group {shlex.quote(f'{column}=GROUP')} names another."
            )


def _unused_lines(unused: Sequence[str], roles: Mapping[str, str | None]) -> Iterator[str]:
    """Yield which columns are not used, and how to name those that are often forgotten."""
    if unused:
        yield f"Not used: {_joined_names(unused)}{_hint_on_question(unused, roles)}."
        yield from _hints_on_unused(unused)


def _hint_on_question(unused: Sequence[str], roles: Mapping[str, str | None]) -> str:
    """Return how to name the column of the question if it is missing, with a column that is called like one."""
    if roles.get("prompt") is not None:
        return ""
    column = next((one for one in unused if one.casefold() in _ASKED), "COLUMN")
    return f"; if one of them holds the questions, name it with --prompt {shlex.quote(column)}"


def _hints_on_unused(unused: Sequence[str]) -> Iterator[str]:
    """Yield how to name a column that is called like one which says why there is no answer, or which attempt it was."""
    for column in unused:
        plain = re.sub(r"[\W_]+", "", column).casefold()
        for role, (names, says, otherwise) in _OFTEN_FORGOTTEN.items():
            if plain in names:
                yield f"If {shown(column)} {says}, write {role}: {column} under import.columns, or {otherwise}."


def _column_and_reference(written: str, columns: Sequence[str]) -> tuple[str, str | None]:
    if written in columns:
        return written, None
    column, _, reference = written.rpartition("=")
    return (column, reference) if column else (written, None)


@click.command()
@click.argument("page", required=False)
def docs(page: str | None) -> None:
    """Show a page of the documentation, or list the pages.

    The pages are part of the installation: no network is needed.

    \b
      biasledger docs methods | less
    """
    from biasledger.project import docs_source
    from collector.hints import did_you_mean

    pages = {path.stem: path for path in sorted(docs_source().glob("*.md"))}
    if page is None:
        width = max(map(len, pages))
        for name, path in pages.items():
            with path.open(encoding="utf-8") as file:
                say(f"{name:<{width}}  {file.readline().removeprefix('# ').rstrip()}")
        return
    name = page.removeprefix("docs/").removesuffix(".md")
    if name not in pages:
        raise InputError(f"There is no page {page!r}{did_you_mean(name, pages)}")
    print_data(pages[name].read_text(encoding="utf-8"))


TITLE = "Start"
COMMANDS = (init, new, counterfactual, validate, docs)
