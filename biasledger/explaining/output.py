"""An explanation as text for a terminal or a file, or as JSON."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from biasledger.explaining.marks import Role, Span
from biasledger.numbers import bounds, interval, number, probability
from biasledger.querying.formats import json_value
from biasledger.querying.table import left_out_sentence, show_table
from collector.terminal import console, print_data, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from biasledger.explaining import Explanation
    from biasledger.explaining.evidence import Evidence, RowsBehind
    from biasledger.explaining.responses import Answer, Person, ShownSide
    from biasledger.explaining.rows import Row

_PROMPT_CHARACTERS = 600
# A longer word is none; a model that repeats a letter forever would fill the screen.
_ENDLESS = re.compile(r"\S{300,}")
_BEGINNING = 60
# Precedes the sentence; a finding that is not judged says so itself.
_VERDICTS = {
    "alarm": "Alarm",
    "clear": "Clear",
    "inconclusive": "Inconclusive, which is no pass",
}
# Where no letters can be bold or underlined.
_SIGNS: Mapping[Role, tuple[str, str]] = {"first": ("«", "»"), "second": ("‹", "›")}
# Wide tables scroll; colours are the page's own.
_HTML = '<pre style="white-space: pre; overflow-x: auto; line-height: normal">{code}</pre>'
_STYLES: Mapping[Role, str] = {"first": "bold underline", "second": "italic underline"}


def write_text(explanation: Explanation, *, wide: bool = False) -> None:
    """Print an explanation; marks are bold and underlined on a terminal, and in «» or ‹› elsewhere. `wide`: all columns."""
    _show(console(highlight=False), explanation, wide=wide)


def as_html(explanation: Explanation) -> str:
    """The same text as an HTML element, with its styles, for a notebook."""
    out = console(io.StringIO(), highlight=False, records=True)
    _show(out, explanation, wide=True)
    return out.export_html(inline_styles=True, code_format=_HTML)


def _show(out: Console, explanation: Explanation, *, wide: bool) -> None:
    _show_verdict(out, explanation)
    _pairs(out, "How it was judged", judgement_lines(explanation))
    for table in explanation.evidence.tables:
        _show_rows(out, table, wide=wide)
    _show_answers(out, explanation)
    for sentence in explanation.missing:
        _line(out, sentence, style="yellow")


def write_json(explanation: Explanation) -> None:
    """Print an explanation as one JSON object; marks are places in the answers' texts, counted in characters from 0."""
    print_data(json.dumps(as_json(explanation), ensure_ascii=False, indent=2) + "\n")


def as_json(explanation: Explanation) -> dict[str, Any]:
    """The explanation as JSON has it."""
    judgement, evidence = explanation.judgement, explanation.evidence
    return {
        "verdict": _verdict(judgement.finding),
        "finding": json_value(judgement.finding),
        "run": json_value(judgement.run),
        "measure": json_value(judgement.measure),
        "threshold_row": json_value(judgement.threshold_row),
        "exceptions": json_value(judgement.exceptions),
        "rows": [
            {
                "table": f"marts.{one.table}",
                "about": one.about,
                "n_rows": one.n_rows,
                "rows": json_value(list(one.rows)),
            }
            for one in evidence.tables
        ],
        "marks": {"first": evidence.first, "second": evidence.second},
        "answers": [_side_as_json(side) for side in explanation.sides],
        "missing": list(explanation.missing),
    }


def _side_as_json(side: ShownSide) -> dict[str, Any]:
    return {
        "of": side.name,
        "n_answers": side.n_answers,
        "chosen": side.order,
        "shown": [_answer_as_json(answer) for answer in side.answers],
    }


def _answer_as_json(answer: Answer) -> dict[str, Any]:
    shown = asdict(answer)
    del shown["spans"]
    text = answer.text or ""
    marks = [
        {"start": span.start, "end": span.end, "text": text[span.start : span.end], "role": span.role}
        for span in answer.spans
    ]
    return {**shown, "marks": marks}


def _verdict(finding: Row) -> str:
    accepted = ", accepted" if finding["is_excepted"] else ""
    if finding["status"] not in _VERDICTS:
        return str(finding["explanation"])
    is_warning = finding["status"] == "alarm" and finding["severity"] != "error"
    return f"{'Warning' if is_warning else _VERDICTS[finding['status']]}{accepted}: {finding['explanation']}"


def _show_verdict(out: Console, explanation: Explanation) -> None:
    finding, run = explanation.judgement.finding, explanation.judgement.run
    simulated = " (simulated)" if finding["is_simulated"] else ""
    aside = "" if finding["is_current"] else "; not the current run, so it raises no alarms"
    _line(out, f"Finding {finding['finding_id']}", style="bold")
    _line(
        out,
        f"{finding['audit']}, target {finding['target']}{simulated} on {run['started_at']:%Y-%m-%d}, run {finding['run_id']}, "
        f"mitigation {finding['mitigation']}{aside}",
    )
    _line(out, _verdict(finding), style="bold")


def judgement_lines(explanation: Explanation) -> dict[str, str]:
    """How a finding was judged, each part of it by its name."""
    judgement = explanation.judgement
    finding, measure, row = judgement.finding, judgement.measure, judgement.threshold_row
    group = finding["group_in_words"] or finding["group_name"]
    reference = finding["reference_in_words"] or finding["reference_group"]
    compared = f"{group} against {reference}, by {finding['attribute']}"
    lines = {
        "compared": compared + (f", {finding['subject']}" if finding["subject"] else ""),
        "measure": f"{finding['measure']}: {measure['description']} (biasledger docs methods, {measure['method']}; read as "
        f"{finding['scheme']})",
        "value": _value(finding, measure),
        "threshold": _threshold(finding, measure),
        "interval": _interval(finding),
        "clear": _clear(finding, measure),
        "by chance": _null(finding, explanation.evidence.observed),
        "p": _p(finding),
        "rests on": _units(finding),
        "published": _published(finding),
    }
    if finding["advice"]:
        lines["advice"] = finding["advice"]
    if row is not None:
        lines |= {
            "settings": f"thresholds.csv: measure {row['measure']}, audit {row['audit']}, attribute {row['attribute']}, severity "
            + (
                row["severity"]
                if row["severity"] == finding["severity"]
                else f"{row['severity']}, here {finding['severity']}"
            ),
            "because": row["reason"],
            "source": row["source"],
        }
    lines["exception"] = _exceptions(finding, judgement.exceptions)
    return lines


def _value(finding: Row, measure: Row) -> str:
    # A value between two members belongs to neither.
    is_member_s = finding["member"] and not finding["reference_member"]
    of_member = f" of {finding['member']!r}" if is_member_s else ""
    return f"{number(finding['value'])}{of_member}, {measure['scale']}{bounds(measure['lowest'], measure['highest'])}"


def _threshold(finding: Row, measure: Row) -> str:
    how = {"upper": "or more", "lower": "or less", "two-sided": "or more, in either direction"}[
        measure["side"]
    ]
    return (
        f"{number(finding['threshold'])} {how}, and adjusted p below {number(finding['alpha'])}, is an alarm"
    )


def _interval(finding: Row) -> str:
    low, high = finding["value_low"], finding["value_high"]
    return "none" if low is None or high is None else f"{interval(low, high)} (95 %)"


def _clear(finding: Row, measure: Row) -> str:
    """The threshold for clear, and the interval that decides it, where that is not the value's own."""
    low, high = finding["interval_low"], finding["interval_high"]
    threshold = number(finding["clear_threshold"])
    where = {"upper": f"below {threshold}", "lower": f"above {threshold}"}.get(
        measure["side"], f"within ±{threshold}"
    )
    if measure["clear_scale"]:
        read = (
            ""
            if high is None
            else f"; it is {f'up to {number(high)}' if low is None else interval(low, high)}"
        )
        return f"if the 95 % interval of the {measure['clear_scale']} lies {where}{read}"
    if high is None:
        return f"not without an interval; it would have to lie {where}"
    return f"if its 95 % interval lies {where}"


def _null(finding: Row, observed: float | None) -> str:
    if not finding["n_permutations"]:
        return (
            f"mean {number(finding['null_mean'])}"
            if finding["null_mean"] is not None
            else "no labels are permuted for it"
        )
    held = "" if observed is None else f"; {number(observed)} was observed"
    moments = f"mean {number(finding['null_mean'])}, standard deviation {number(finding['null_sd'])}{held}; "
    return (
        f"{'' if finding['null_mean'] is None else moments}"
        f"{finding['n_permutations']:,} permutations of labels, seed {finding['seed']}"
    )


def _p(finding: Row) -> str:
    if finding["p_value"] is None:
        return "none"
    adjusted = finding["p_value_adjusted"]
    held = (
        f"{probability(adjusted)} adjusted (Holm)"
        if adjusted is not None
        else "not adjusted, as it is not judged"
    )
    return (
        f"{probability(finding['p_value'])}; {held} over the run's findings of severity {finding['severity']}"
    )


def _units(finding: Row) -> str:
    least = (
        f", at least {finding['min_units']} are needed" if finding["status"] == "insufficient_data" else ""
    )
    return f"{number(finding['n_units'])} {finding['settled_by']}{least}"


def _published(finding: Row) -> str:
    if finding["published_threshold"] is None:
        return "its source sets no threshold"
    if finding["published_value"] is None:
        return "its source's rule gives no value here"
    says = "would call this bias" if finding["is_published_alarm"] else "would not call this bias"
    value, threshold = number(finding["published_value"]), number(finding["published_threshold"])
    return f"{value}, threshold {threshold}: the published rule, which has no null, {says}"


def _exceptions(finding: Row, exceptions: Sequence[Row]) -> str:
    if not exceptions:
        return "none in exceptions.csv"
    said = [
        f"accepted by {row['accepted_by_role']} until {row['accepted_until']}: {row['reason']}"
        for row in exceptions
    ]
    state = "holds" if finding["is_excepted"] else "does not hold for it"
    return f"{'; '.join(said)} ({state})"


def _show_rows(out: Console, table: RowsBehind, *, wide: bool) -> None:
    if not table.rows:
        _line(out, f"\nmarts.{table.table}, {table.about}: no rows", style="bold")
        return
    of = f", {len(table.rows)} of {table.n_rows:,} rows" if table.n_rows > len(table.rows) else ""
    _line(out, f"\nmarts.{table.table}, {table.about}{of}", style="bold")
    rows = [list(row.values()) for row in table.rows]
    if left_out := show_table(out, list(table.rows[0]), rows, wide=wide):
        _line(out, f"{left_out_sentence(left_out)} --wide shows all.")


def _show_answers(out: Console, explanation: Explanation) -> None:
    if not explanation.sides:
        return
    can_style = out.is_terminal
    _line(out, "\nThe answers behind it", style="bold")
    for role, meaning in _meanings(explanation.evidence):
        out.print(_marked("marked", [Span(0, 6, role)], can_style) + _plain(f": {visible(meaning)}"))
    for side in explanation.sides:
        _show_side(out, side, can_style)
    run = explanation.judgement.finding["run_id"]
    _line(
        out,
        f"\n`biasledger verify {run}` checks that these answers are as they were stored; ids are prompt.trial.attempt.",
    )


def _meanings(evidence: Evidence) -> Iterator[tuple[Role, str]]:
    if evidence.first:
        yield "first", evidence.first
    if evidence.second:
        yield "second", evidence.second


def _show_side(out: Console, side: ShownSide, can_style: bool) -> None:
    of = f" of {side.n_answers:,}" if side.n_answers is not None else ""
    noun = "answer" if (side.n_answers or len(side.answers)) == 1 else "answers"
    _line(out, f"\n{side.name}: {len(side.answers)}{of} {noun}, those {side.order}", style="bold")
    for answer in side.answers:
        _line(out, f"\n  {answer.response_id}  {answer.note}".rstrip())
        details = {
            "person": "; ".join(_person(person) for person in answer.persons) or "nobody is named",
            "hash": answer.response_hash,
            "prompt": _cut(answer.prompt) if answer.prompt is not None else "the ledger holds no text of it",
        }
        _pairs(out, None, details, indent=4)
        state = "" if answer.status == "ok" else f" ({answer.status})"
        if answer.text is None:
            _line(out, f"    answer{state}: {answer.missing}")
            continue
        out.print(_plain(f"    answer{state}:"))
        from rich.padding import Padding

        out.print(Padding(_marked(answer.text, answer.spans, can_style), (0, 0, 0, 6)))


def _person(person: Person) -> str:
    groups = ", ".join(f"{attribute} {group}" for attribute, group in person.groups.items())
    return f"{person.descriptor} ({groups})"


def _cut(text: str) -> str:
    if len(text) <= _PROMPT_CHARACTERS:
        return text
    return f"{text[:_PROMPT_CHARACTERS].rstrip()} … ({len(text) - _PROMPT_CHARACTERS:,} characters more)"


def _shown(text: str) -> str:
    """Text as a terminal may show it, endless words cut; JSON has them whole."""
    return visible(_ENDLESS.sub(_cut_word, text))


def _cut_word(word: re.Match[str]) -> str:
    return f"{word[0][:_BEGINNING]}… ({len(word[0]) - _BEGINNING:,} characters more)"


def _marked(text: str, spans: Iterable[Span], can_style: bool) -> Text:
    """The text with its marks. Characters that would steer a terminal are written out piece by piece: places still fit."""
    from rich.text import Text

    shown, end = Text(), 0
    for span in spans:
        shown.append(_shown(text[end : span.start]))
        before, after = ("", "") if can_style else _SIGNS[span.role]
        shown.append(
            f"{before}{_shown(text[span.start : span.end])}{after}",
            style=_STYLES[span.role] if can_style else None,
        )
        end = span.end
    return shown.append(_shown(text[end:]))


def _pairs(out: Console, title: str | None, lines: Mapping[str, str], indent: int = 2) -> None:
    from rich.table import Table

    if title is not None:
        _line(out, f"\n{title}", style="bold")
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=indent)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in lines.items():
        grid.add_row("", name, _plain(_shown(str(value))))
    out.print(grid)


def _line(out: Console, text: str, style: str | None = None) -> None:
    from rich.text import Text

    out.print(Text(_shown(text), style=style or ""), soft_wrap=not out.is_terminal)


def _plain(text: str) -> Text:
    from rich.text import Text

    return Text(text)
