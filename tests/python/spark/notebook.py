"""A notebook or a job that has a session of Spark: python -m tests.python.spark.notebook, in a project.

Prints as JSON the session's state before and after dbt built some tables.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from tests.python.spark.cluster import SMALL

SELECTED = ["+dim_runs", "+fct_text_similarity"]
# A name that a build uses, for a table of another user.
THEIRS = "marts__dim_runs"


def state(spark: SparkSession) -> dict[str, Any]:
    """Return the parts of the session that its user sees."""
    functions = [row[0] for row in spark.sql("show user functions").collect()]
    return {
        "settings": {row["key"]: row["value"] for row in spark.sql("set").collect()},
        "tables": sorted(row["tableName"] for row in spark.sql("show tables").collect()),
        "schemas": sorted(row[0] for row in spark.sql("show databases").collect()),
        "functions": [name for name in functions if "." not in name],
        "rows of theirs": spark.table(THEIRS).count(),
        "is active": SparkSession.active() is spark,
    }


def main() -> int:
    """0 where dbt built what was selected."""
    builder = SparkSession.builder.master("local[1]")
    for name, value in {**SMALL, "spark.ui.enabled": "false"}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    is_ansi = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.range(3).createOrReplaceTempView(THEIRS)
    before = state(spark)
    command = ["build", "--target", "spark", "--profiles-dir", ".", "--quiet", "--threads", "1"]
    # Tests read tables besides.
    tests = ["--exclude", "resource_type:unit_test", "resource_type:test"]
    done = dbtRunner().invoke([*command, "--select", *SELECTED, *tests])
    said = {"is ansi unasked": is_ansi, "before": before, "after": state(spark)}
    sys.stdout.write(f"\n{json.dumps(said)}\n")
    return int(not done.success)


if __name__ == "__main__":
    sys.exit(main())
