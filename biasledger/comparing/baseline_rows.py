"""What a row of each part of a baseline's file holds: the models cast these, and their errors name neither file nor row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEY = {"run_id": "varchar", "variant": "varchar", "attribute": "varchar"}
_UNIT = {**_KEY, **dict.fromkeys(("unit_key", "stratum", "cluster", "group_name"), "varchar")}

PARTS: Mapping[str, Mapping[str, str]] = {
    "finding": {
        **_KEY,
        **dict.fromkeys(
            ("measure", "scheme", "group_name", "reference_group", "subject", "member"), "varchar"
        ),
        **dict.fromkeys(("value", "arm_low", "arm_high"), "double"),
        "n_units": "bigint",
    },
    "quality": {
        "run_id": "varchar",
        "variant": "varchar",
        **dict.fromkeys(("n_answers", "share_ok", "share_refused", "share_malformed"), "double"),
        **dict.fromkeys(("share_failed", "accuracy", "shortfall", "repeated", "relevance"), "double"),
        **dict.fromkeys(("tokens_per_answer", "cost_usd_per_answer"), "double"),
        "n_assessed": "bigint",
    },
    "word_member": {
        **_UNIT,
        **dict.fromkeys(("scheme", "reference_group", "weighting", "prompt"), "varchar"),
        "label": "tinyint",
        "n_trials": "double",
        "moves_prompts": "boolean",
    },
    "word_count": {
        "run_id": "varchar",
        "unit_key": "varchar",
        "word_ids": "integer[]",
        "counts": "double[]",
    },
    "list_cell": {
        **_KEY,
        **dict.fromkeys(("scheme", "subject", "similarity", "entity", "group_name", "feature"), "varchar"),
        "is_personality": "boolean",
        "feature_value": "double",
    },
    "selection": {
        **_UNIT,
        "subject": "varchar",
        "n_candidates": "integer",
        **dict.fromkeys(("n", "total"), "double"),
    },
    "price": {
        **_UNIT,
        "domain": "varchar",
        **dict.fromkeys(("level", "n_levels"), "integer"),
        "n": "double",
    },
}
"""Part -> column -> the type that `imported_rows` casts it to. What else a row holds is not read."""

_KINDS = {
    "varchar": "a text",
    "double": "a number",
    "bigint": "a whole number",
    "integer": "a whole number",
    "tinyint": "a small whole number",
    "boolean": "true or false",
    "double[]": "a list of numbers",
    "integer[]": "a list of whole numbers",
}
_BITS = {"bigint": 64, "integer": 32, "tinyint": 8}


def fault_of(part: object, row: object, run_id: str) -> str | None:
    """What is wrong with a row of the baseline `run_id`, as the end of a sentence; None where nothing is."""
    if not isinstance(part, str) or part not in PARTS:
        return f"is of the part {part!r}; it should be one of {', '.join(PARTS)}"
    if not isinstance(row, dict):
        return "is no object; it should have a value for each column"
    for column, kind in PARTS[part].items():
        if column not in row:
            return f"has no {column!r}; it should be {_KINDS[kind]} or null"
        if row[column] is not None and not _is(kind, row[column]):
            return f"has {_shown(row[column])} as {column!r}; it should be {_KINDS[kind]} or null"
    if row["run_id"] != run_id:
        return f"has {_shown(row['run_id'])} as 'run_id'; it should be the baseline's, {run_id!r}"
    if part == "word_count" and len(row["word_ids"] or ()) != len(row["counts"] or ()):
        return "has lists of different lengths as 'word_ids' and 'counts'; each word should have a count"
    return None


def _is(kind: str, value: Any) -> bool:
    if kind.endswith("[]"):
        return isinstance(value, list) and all(_is(kind.removesuffix("[]"), one) for one in value)
    if kind == "varchar":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if kind == "double":
        return isinstance(value, int | float)
    bound = 1 << (_BITS[kind] - 1)
    return isinstance(value, int) and -bound <= value < bound


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + " …"
