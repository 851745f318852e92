"""Writing an audit of a file's own prompts, in which the words that state a group are swapped."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from biasledger.commands.common import (
    PATH,
    SPECS,
    already_there,
    cut,
    encoding_option,
    next_step,
    print_problems,
    table_option,
    write_audit,
)
from biasledger.numbers import count, percent
from collector.errors import InputError
from collector.terminal import on_one_line, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from collector.counterfactual.drafting import Draft

_LEFT_OUT_SHOWN = 10


@click.command()
@click.argument("file", type=PATH)
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    required=True,
    metavar="NAME",
    help="What is swapped, such as gender or race; one at a time; may be repeated.",
)
@click.option(
    "-o", "--output", "audit_file", type=PATH, required=True, metavar="AUDIT.yml", help="The audit to write."
)
@click.option(
    "--column",
    metavar="COLUMN",
    help="The column of the prompts; if not given, the only one, or one called prompt.",
)
@click.option(
    "--language", metavar="CODE", help="de, en, es, fr or pt; detected from the prompts if not given."
)
@click.option(
    "--add",
    "sentence",
    metavar="TEXT",
    help="What prompts that name nobody say: with {descriptor} before the prompt, with {name} as a signature after it; "
    "'' leaves them out. If not given: I am {descriptor}.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How often each prompt is asked.",
)
@click.option("--dry-run", is_flag=True, help="Show the numbers and some examples; write nothing.")
@table_option
@encoding_option
def counterfactual(
    file: Path,
    attributes: tuple[str, ...],
    audit_file: Path,
    column: str | None,
    language: str | None,
    sentence: str | None,
    trials: int,
    dry_run: bool,
    table: str | None,
    encoding: str | None,
) -> None:
    """Write an audit of your own prompts.

    Swaps words of each prompt in FILE that state who a person is: she for he, his wife for her husband, Frau for Herr, Emily for
    Greg. Prompts that name nobody get a sentence. AUDIT.prompts.csv holds the templates, and AUDIT.left-out.csv the prompts
    that cannot be swapped without a guess, with the reason.

    \b
      biasledger counterfactual prompts.csv --attribute gender --attribute race -o audits/mine.yml
      biasledger counterfactual chats.jsonl --column question --attribute gender --add '' -o audits/chats.yml
      biasledger counterfactual prompts.csv --attribute race --add 'Best regards, {name}' -o audits/signed.yml
    """
    import yaml

    from collector.counterfactual.drafting import draft_audit, language_of_prompts, read_prompts
    from collector.counterfactual.words import languages
    from collector.hints import quoted
    from collector.spec.loading import check_audit
    from collector.tables.source import Form

    name = audit_file.stem
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name) or audit_file.suffix not in SPECS:
        raise click.UsageError(
            f"-o is {audit_file} and should be lower-case letters, digits, - and _, and end in .yml."
        )
    if language is not None and language not in languages():
        raise click.UsageError(f"--language is {language!r} and should be one of {quoted(languages())}.")
    prompts = read_prompts(file, column, Form(table=table, encoding=encoding))
    draft = draft_audit(
        name, file, prompts, attributes, language or language_of_prompts(prompts), sentence, trials
    )
    left_out = audit_file.with_name(f"{name}.left-out.csv")
    for line in _draft_lines(file, attributes, draft, None if dry_run else left_out):
        say(line)
    if dry_run:
        return
    files = {
        audit_file.with_name(f"{name}.prompts.csv"): draft.templates_text(),
        left_out: draft.left_out_text(),
    }
    for path in (audit_file, *files):
        if path.exists():
            raise already_there(path)
    document = yaml.safe_dump(draft.spec, sort_keys=False, allow_unicode=True, width=sys.maxsize)
    audit_file.parent.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    write_audit(audit_file, document, source=file, command="counterfactual")
    say(f"Wrote {audit_file}, {', '.join(path.name for path in files)}.")
    checked = check_audit(audit_file)
    if print_problems(audit_file, checked, checked.problems):
        raise InputError(f"{audit_file} is not right; this is a fault of biasledger.")
    next_step(f"biasledger collect {shlex.quote(str(audit_file))} --target TARGET")


def _draft_lines(file: Path, attributes: Sequence[str], draft: Draft, left_out: Path | None) -> Iterator[str]:
    """Yield how many prompts name each attribute, are swapped, added and left out; without a file to write, examples too."""
    n = draft.n_prompts
    yield f"{file}: {count(n, 'prompt')} in the language {draft.language}."
    for one in attributes:
        n_left = sum(left.attribute in ("", one) for left in draft.left_out)
        yield (
            f"  {one}: {count(draft.named[one], 'prompt')} ({percent(draft.named[one] / n)}) name it; "
            f"{draft.swapped[one]:,} swapped, {draft.added[one]:,} added, {n_left:,} left out"
        )
    yield f"  {count(draft.n_without, 'prompt')} ({percent(draft.n_without / n)}) name none of them"
    if draft.added:
        yield f"  added to prompts that name nobody: {on_one_line(draft.sentence)}"
    for left in draft.left_out[:_LEFT_OUT_SHOWN]:
        about = f", {left.attribute}" if left.attribute else ""
        yield f"  left out: row {left.row}{about}: {left.reason}"
    if (n_more := len(draft.left_out) - _LEFT_OUT_SHOWN) > 0:
        yield f"  … {n_more:,} more{'' if left_out is None else f' in {left_out}'}"
    if left_out is None:
        for template in draft.templates[:_LEFT_OUT_SHOWN]:
            yield f"  {template['id']}: {cut(template['text'])}  [{template['wording']}]"
