"""Databricks' dialect of sqlglot for the SQL that this project rewrites: read and printed as Spark's."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.generators.spark import SparkGenerator

from biasledger.spark.nodes import Spark4

_AS_SPARK = (exp.JSONExtract, exp.JSONPathRoot, exp.RegexpLike, exp.Select, exp.TryCast)


class Databricks4(Databricks):
    """Databricks of Spark 4; alone, its dialect makes `try_cast` of casts, and no path of JSON that Spark can read."""

    SAFE_DIVISION = True

    class Generator(Spark4.Generator, Databricks.Generator):
        """Prints trees."""

        QUOTE_JSON_PATH = Spark4.Generator.QUOTE_JSON_PATH
        jsonpath_sql = SparkGenerator.jsonpath_sql
        TRANSFORMS: ClassVar = {
            **Databricks.Generator.TRANSFORMS,
            **{kind: Spark4.Generator.TRANSFORMS[kind] for kind in _AS_SPARK},
        }
