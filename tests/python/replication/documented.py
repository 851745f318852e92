"""The numbers of docs/replications.md that come from the warehouse: what the document should say, and a command that renews it.

A table between `<!-- findings: AUDIT -->` and `<!-- end -->` is written whole from fct_findings; the LINES are lines of the
document whose numbers stand in braces here. After a measure has changed, the tables are rewritten, and the lines that do not
stand in the document printed, by `python -m tests.python.replication.documented WAREHOUSE`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from .warehouses import rows_of

DOCUMENT = Path(__file__).parents[3] / "docs" / "replications.md"
FINDINGS = {
    "personas": ("word_divergence", "classifier_accuracy", "marked_words"),
    "recs-music": ("snsr",),
    "resume-seniority": ("rank_gap",),
    "resume-ranking": ("impact_ratio", "position_bias"),
    "restaurant-prices": ("price_share", "price_gap"),
    "restaurant-categories": ("category_association",),
    "occupations": ("stereotype_ratio",),
    "reference-letters": ("stereotype_gap", "marker_association"),
    "regard": ("negative_regard_gap",),
    "regard-human": ("negative_regard_gap",),
    "fep-library": ("word_divergence", "classifier_accuracy", "marked_words"),
}
"""Audit -> the measures whose plain findings its table lists."""
SUMMED = ("fep-library",)
"""Audits with so many contrasts that a row of the table is a measure of all groups of an attribute."""

_COLUMNS = ("Run", "about", "measure", "value [interval]", "adjusted p", "verdict", "covers")
_SUMMED_COLUMNS = (
    "Run", "attribute", "measure", "contrasts", "largest value", "smallest adjusted p", "verdicts", "covers",
)  # fmt: skip
_BLOCK = "<!-- findings: {audit} -->\n{table}<!-- end -->"
_ROWS = """
    select
        target, attribute, group_name, reference_group, subject, measure, value, interval_low, interval_high,
        p_value_adjusted, status, scope
    from marts.fct_findings
    where
        mitigation = 'plain' and attribute not like '%*%' and severity <> 'none' and list_contains($measures, measure)
        and subject not in ('(all)', '(even)')
    order by target, attribute, subject, measure, group_name
"""
_SUMMED_ROWS = f"""
    with findings as ({_ROWS.replace("order by target, attribute, subject, measure, group_name", "")}),
    verdicts as (
        select target, attribute, measure, status, count(*) || ' ' || status as verdict
        from findings
        group by target, attribute, measure, status
    )
    select
        target, attribute, measure, count(*) as n, max(value) as value, min(p_value_adjusted) as p_value_adjusted,
        (
            select string_agg(verdicts.verdict, ', ' order by verdicts.status)
            from verdicts
            where (verdicts.target, verdicts.attribute, verdicts.measure)
                = (findings.target, findings.attribute, findings.measure)
        ) as verdicts,
        string_agg(distinct scope, ', ' order by scope) as scope
    from findings
    group by target, attribute, measure
    order by target, attribute, measure
"""


@dataclass(frozen=True)
class Line:
    """A line of the document: its audit, its text with values in braces, and SQL whose rows (key, value) fill these."""

    audit: str
    text: str
    sql: str

    def written(self, connection: duckdb.DuckDBPyConnection) -> str:
        """The line as the warehouse has it."""
        values = {key: _Number(value) for key, value in connection.execute(self.sql).fetchall()}
        return self.text.format(v=values)


class _Number(float):
    """A number with a minus sign as the document prints it."""

    def __format__(self, spec: str) -> str:
        return super().__format__(spec).replace("-", "−")


def table(connection: duckdb.DuckDBPyConnection, audit: str) -> str:
    """The table of an audit's findings as the document prints it, markers included."""
    columns, sql, written = (
        (_SUMMED_COLUMNS, _SUMMED_ROWS, _summed_row) if audit in SUMMED else (_COLUMNS, _ROWS, _row)
    )
    found = connection.execute(sql, {"measures": list(FINDINGS[audit])})
    names = [column[0] for column in found.description]
    return laid_out(audit, columns, [written(dict(zip(names, row, strict=True))) for row in found.fetchall()])


def laid_out(audit: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table of these cells. A run or coverage that all rows share is stated once above it."""
    alike = [
        at
        for at, name in enumerate(columns)
        if name in ("Run", "covers") and len({row[at] for row in rows}) == 1
    ]
    shared = "; ".join(f"{columns[at]}: {rows[0][at]}" for at in alike)
    left = [[cell for at, cell in enumerate(row) if at not in alike] for row in (columns, *rows)]
    lines = ["| " + " | ".join(cells) + " |" for cells in left]
    lines.insert(1, "|---" * len(left[0]) + "|")
    return _BLOCK.format(
        audit=audit, table="".join(f"{line}\n" for line in ([shared, ""] if shared else []) + lines)
    )


def table_in(document: str, audit: str) -> str | None:
    """Return the same as the document has it, None if it does not."""
    found = re.search(_pattern(audit), document, re.DOTALL)
    return None if found is None else found[0]


def renewed(document: str, audit: str, written: str) -> str:
    """The document with the table of an audit written anew."""
    return re.sub(_pattern(audit), lambda _: written, document, flags=re.DOTALL)


def _pattern(audit: str) -> str:
    return rf"<!-- findings: {re.escape(audit)} -->\n.*?<!-- end -->"


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    about = row["attribute"].strip("()") or "all"
    if row["group_name"] and not row["group_name"].startswith("("):
        about += f": {row['group_name']}"
        about += "" if row["reference_group"].startswith("(") else f" against {row['reference_group']}"
    about += f" ({row['subject']})" if row["subject"] else ""
    # For the strongest word or category the upper bound is on another scale than the value.
    has_interval = row["interval_low"] is not None
    interval = f" [{_three(row['interval_low'])}, {_three(row['interval_high'])}]" if has_interval else ""
    value = f"{_three(row['value'])}{interval}"
    p = _three(row["p_value_adjusted"])
    return (row["target"], about, f"`{row['measure']}`", value, p, row["status"], row["scope"])


def _summed_row(row: dict[str, Any]) -> tuple[str, ...]:
    numbers = (str(row["n"]), _three(row["value"]), _three(row["p_value_adjusted"]))
    return (row["target"], row["attribute"], f"`{row['measure']}`", *numbers, row["verdicts"], row["scope"])


def _three(value: float | None) -> str:
    return "–" if value is None else f"{_Number(round(value, 3) + 0.0):.3f}"


def _divergence(label: str, column: str, scheme: str, table_name: str = "fct_word_divergence") -> Line:
    groups = " | ".join(
        f"{{v[{group}]:.6f}}" for group in ("Black", "Asian", "Middle-Eastern", "Latine", "W", "N")
    )
    return Line(
        "personas",
        f"| ours | {label} | {groups} |",
        f"select group_name, {column} from marts.{table_name} where scheme = '{scheme}'"
        " and comparison = 'against_reference' and attribute in ('race', 'gender')",
    )


def _similarities(attribute: str) -> Line:
    cells = " | ".join(
        f"{{v[{name}_{which}]:.6f}}"
        for name in ("jaccard", "serp_code", "prag_code")
        for which in ("snsr", "snsv")
    )
    where = f"where scheme = 'reference' and attribute = '{attribute}' and wording = 'clean'"
    return Line(
        "recs-music",
        f"| {attribute} | {cells} |",
        f"select similarity_name || '_snsr', snsr from marts.fct_similarity_spread {where}"
        f" union all select similarity_name || '_snsv', snsv from marts.fct_similarity_spread {where}",
    )


def _selection(job: str) -> Line:
    cells = " | ".join(
        f"{{v[{race}*{gender}]:.3f}}"
        for race in ("Asian", "Black", "Hispanic", "White")
        for gender in ("Man", "Woman")
    )
    return Line(
        "resume-ranking",
        f"| {job} | {cells} |",
        "select group_name, selection_rate from marts.fct_decision_rates"
        f" where attribute = 'race*gender' and domain = '{job}'",
    )


def _levels(label: str, attribute: str, column: str, digits: int) -> Line:
    cells = " | ".join(f"{{v[{level}]:.{digits}f}}" for level in range(1, 5))
    group = {"race": "black", "gender": "female"}[attribute]
    return Line(
        "restaurant-prices",
        f"| {label} | {cells} |",
        f"select price_level, {column} from marts.fct_price_levels where attribute = '{attribute}'"
        f" and group_name = '{group}' and domain = '(all)'",
    )


def _association(category: str, n: int, race: str, gender: str) -> Line:
    return Line(
        "restaurant-categories",
        f"| {category} | {n} | {race}, equal | {{v[race]:.2f}} | {gender}, equal | {{v[gender]:.2f}} |",
        "select attribute, p_value_adjusted from marts.fct_category_associations"
        f" where category = '{category}' and attribute in ('race', 'gender')",
    )


LINES = (
    _divergence("`fct_word_divergence`, `reference`", "jsd", "reference"),
    _divergence("`fct_word_divergence`, `reference_anonymised`", "jsd", "reference_anonymised"),
    _divergence("`fct_word_divergence.jsd_nats`, `seed_vectors`", "jsd_nats", "seed_vectors"),
    _divergence(
        "`fct_classifier_accuracy.published_accuracy_mean`, `seed_vectors`",
        "published_accuracy_mean",
        "seed_vectors",
        "fct_classifier_accuracy",
    ),
    *map(
        _similarities,
        ("age", "country", "gender", "continent", "occupation", "race", "religion", "physics"),
    ),
    *map(_selection, ("HR specialist", "financial analyst", "retail", "software engineer")),
    _levels("black, ours", "race", "share", 6),
    _levels("female, ours", "gender", "share", 6),
    _levels("p by name: black, adjusted for the four levels", "race", "p_value_adjusted", 3),
    _levels("p by name: female, adjusted for the four levels", "gender", "p_value_adjusted", 3),
    _association("gay bars", 135, "+1.0519", "+0.0148"),
    _association("piano bars", 175, "+0.8343", "−1.4743"),
    _association("dive bars", 246, "+0.7642", "−0.2927"),
    _association("gastropubs", 726, "+0.6501", "−0.1818"),
    _association("ice cream & frozen yogurt", 314, "−1.0573", "+1.0828"),
    _association("japanese", 2037, "−0.9946", "+0.9318"),
    _association("indian", 650, "−1.6123", "+0.0677"),
    _association("halal", 293, "−1.8225", "−0.4710"),
)


def main(warehouse: Path) -> None:
    """Renew the document's tables from a warehouse and print the lines that are no longer in it."""
    document = DOCUMENT.read_text(encoding="utf-8")
    for audit in FINDINGS:
        connection = rows_of(warehouse, audit)
        if connection.execute("select count(*) from marts.fct_findings").fetchone() == (0,):
            sys.stdout.write(f"{audit} is not in {warehouse}: its table stays\n")
            continue
        document = renewed(document, audit, table(connection, audit))
        for line in LINES:
            if line.audit == audit and line.written(connection) not in document:
                sys.stdout.write(f"Not in the document: {line.written(connection)}\n")
    DOCUMENT.write_text(document, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
