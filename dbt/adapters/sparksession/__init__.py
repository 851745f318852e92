"""Where dbt looks for an adapter of this name; the adapter is `biasledger.spark.adapter`."""

from biasledger.spark.adapter import PLUGIN as Plugin  # noqa: N811 (dbt looks for this name)

__all__ = ["Plugin"]
