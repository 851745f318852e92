"""Test that every public table that compares groups has the id of the contrast, which dim_contrasts explains."""

from __future__ import annotations

from tests.python.project import Project

WHO = ("run_id", "mitigation", "attribute", "group_name", "reference_group")


def test_every_contrast_is_described_and_described_alike(shipped: Project, odd: Project) -> None:
    for project in (shipped, odd):
        columns = dict(
            project.rows(
                "select table_name, list(column_name) from duckdb_columns() where schema_name = 'marts' group by table_name"
            )
        )
        carrying = [
            (table, column)
            for table, names in columns.items()
            for column in names
            if column.endswith("contrast_id")
        ]
        assert len(carrying) > 10
        for table, column in carrying:
            unknown = f"{column} not in (select contrast_id from marts.dim_contrasts)"
            assert not project.rows(f"select {column} from marts.{table} where {unknown}"), table
        for table in (table for table, names in columns.items() if {"contrast_id", *WHO} <= set(names)):
            differing = {name: f"described.{name} <> known.{name}" for name in WHO}
            # Without a reference each group is compared with all, which is one contrast.
            differing["group_name"] += " and '(all)' not in (described.reference_group, known.group_name)"
            differs = " or ".join(differing.values())
            assert not project.rows(
                f"select * from marts.{table} as described inner join marts.dim_contrasts as known using (contrast_id)"
                f" where {differs}"
            ), table
