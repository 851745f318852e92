"""The columns of each part of a baseline's file: the models cast these values, and their errors name neither file nor row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biasledger.methods import KEY, Part, baseline_parts

_SHARED: Mapping[str, Part] = {
    "finding": Part(
        table="int_findings_comparable",
        columns={
            **KEY,
            **dict.fromkeys(
                ("measure", "scheme", "group_name", "reference_group", "subject", "member"), "varchar"
            ),
            **dict.fromkeys(("value", "arm_low", "arm_high"), "double"),
            "n_units": "bigint",
        },
    ),
    "paired_unit": Part(
        table="int_paired_units",
        columns={
            **KEY,
            **dict.fromkeys(
                ("measure", "scheme", "group_name", "reference_group", "subject", "unit_key", "asked"),
                "varchar",
            ),
            **dict.fromkeys(("stratum", "cluster", "name", "name_stratum"), "varchar"),
            **dict.fromkeys(("is_marked", "is_named"), "boolean"),
            **dict.fromkeys(("n_candidates", "n", "total", "outcome_range"), "double"),
        },
    ),
    "quality": Part(
        table="fct_run_quality",
        columns={
            "run_id": "varchar",
            "mitigation": "varchar",
            **dict.fromkeys(("n_answers", "share_ok", "share_refused", "share_unread"), "double"),
            **dict.fromkeys(("share_malformed", "share_failed", "accuracy", "shortfall"), "double"),
            **dict.fromkeys(("repeated", "relevance", "tokens_per_answer", "cost_usd_per_answer"), "double"),
            "n_assessed": "bigint",
        },
    ),
}

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


def parts() -> Mapping[str, Part]:
    """Return the parts of a baseline's file by name: those that all methods share, then those of each method."""
    return {**_SHARED, **baseline_parts()}


def fault_of(known: Mapping[str, Part], part: object, row: object, run_id: str) -> str | None:
    """Return the problem of a row of the baseline `run_id`, as the end of a sentence, or None. `known` are `parts`."""
    if not isinstance(part, str) or part not in known:
        return f"is of the part {part!r}; it should be one of {', '.join(known)}"
    if not isinstance(row, dict):
        return "is no object; it should have a value for each column"
    for column, kind in known[part].columns.items():
        if column not in row:
            return f"has no {column!r}; it should be {_KINDS[kind]} or null"
        if row[column] is not None and not _is(kind, row[column]):
            return f"has {_shown(row[column])} as {column!r}; it should be {_KINDS[kind]} or null"
    if row["run_id"] != run_id:
        return f"has {_shown(row['run_id'])} as 'run_id'; it should be the baseline's, {run_id!r}"
    return known[part].fault(row)


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
