"""Sample logs of lm-evaluation-harness, samples_TASK_DATE.jsonl: a row for each document and repetition.

Columns: `text` what was generated, or of a multiple choice the likeliest one; `prompt` the context, `trial` the repetition,
`task`, `model` from the results file of the same date next to the log; and under the harness's own names `doc_id`, `doc.…`,
`target`, `filter`, `filtered` (what the filter made of the answer), and each metric of the sample, such as `acc`. A log has each
document once for each of its task's filters; the rows are those of the first one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from collector.errors import InputError
from collector.tables.log_rows import LogRow, as_text, dotted, read_lines, read_object

_IS_SAMPLE = {"doc_id", "doc", "arguments", "resps"}
# Keys of a sample that are no metric.
_KNOWN = _IS_SAMPLE | {
    "target",
    "filter",
    "filtered_resps",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
}
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")


def is_sample(document: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a sample of lm-evaluation-harness."""
    return document.keys() >= _IS_SAMPLE


def line_rows(path: Path) -> Iterator[LogRow]:
    """Yield the rows of a sample log.

    Raises:
        InputError: a line is no sample, or holds likelihoods that are no choice between answers.
    """
    of_file = _of_file(path)
    first_filter: object = None
    for number, sample in read_lines(path):
        where = f"{path}: line {number}"
        if not is_sample(sample):
            raise InputError(
                f"{where} is no sample of lm-evaluation-harness, which has {', '.join(sorted(_IS_SAMPLE))}."
            )
        if first_filter is None:
            first_filter = sample.get("filter", "")
        if sample.get("filter", "") != first_filter:
            continue
        arguments = _arguments(sample["arguments"])
        if not arguments:
            raise InputError(f"{where} has no arguments, so there is no prompt.")
        row: LogRow = {**of_file, "prompt": arguments[0][0]}
        for key in ("doc_id", "doc", "target", "filter"):
            row |= dotted(key, sample.get(key))
        for key in sample.keys() - _KNOWN:
            row |= dotted(key, sample[key])
        texts = _texts(arguments, sample["resps"], where)
        filtered = _filtered(sample.get("filtered_resps"), len(texts))
        for trial, (text, one) in enumerate(zip(texts, filtered, strict=True), start=1):
            yield {**row, "text": text, "filtered": one, "trial": str(trial)}


def _filtered(found: object, n_trials: int) -> list[str | None]:
    """Return what the filter made of each trial's answer: one for all of them, or one for each."""
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if isinstance(found, list) and len(found) == n_trials:
        return [as_text(one) for one in found]
    return [as_text(found)] * n_trials


def _of_file(path: Path) -> LogRow:
    """Return what the file's name and the results next to it say: the task, and the model if it is known."""
    found = _NAME.fullmatch(path.name)
    if found is None:
        return {}
    of_file: LogRow = {"task": found["task"]}
    results = path.with_name(f"results_{found['date']}.json")
    if results.is_file():
        document = read_object(results)
        of_file["model"] = as_text(document.get("model_name") or (document.get("config") or {}).get("model"))
    return of_file


def _arguments(arguments: object) -> list[tuple[str, object]]:
    """Return each request's context and what came with it; older versions write lists in place of names."""
    requests = list(arguments.values()) if isinstance(arguments, dict) else arguments
    if not isinstance(requests, list):
        return []
    pairs = [list(one.values()) if isinstance(one, dict) else one for one in requests]
    return [(str(one[0]), one[1] if len(one) > 1 else None) for one in pairs if isinstance(one, list) and one]


def _texts(arguments: Sequence[tuple[str, object]], resps: object, where: str) -> list[str | None]:
    """Return the answers of a document: generated ones, or the likeliest choice."""
    if not isinstance(resps, list) or len(resps) != len(arguments):
        raise InputError(f"{where} has not one list in resps for each of its arguments.")
    context, given = arguments[0]
    if isinstance(given, dict):
        return [as_text(one) for one in resps[0]]
    # Some tasks also ask for the likelihood of each choice without the context; these requests do not count.
    choices = [
        (_likelihood(found, where), choice.strip())
        for (asked, choice), found in zip(arguments, resps, strict=True)
        if asked == context and isinstance(choice, str)
    ]
    if len(choices) < 2:
        raise InputError(
            f"{where} holds the likelihood of a given text and no answer; tasks that generate or choose can be imported."
        )
    return [max(choices, key=lambda one: one[0])[1]]


def _likelihood(found: Any, where: str) -> float:
    """Return the log likelihood of [[value, is greedy]], where the value may be written as text."""
    try:
        return float(found[0][0])
    except (TypeError, ValueError, LookupError):
        raise InputError(f"{where} has {found!r} in resps, which is no likelihood.") from None
