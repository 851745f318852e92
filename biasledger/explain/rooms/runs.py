"""Runs: whether more than one model answered, and what the other one said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasledger.explain.evidence import Evidence, Side
from biasledger.explain.published import behind
from biasledger.explain.rows import Row

if TYPE_CHECKING:
    import duckdb


def evidence(connection: duckdb.DuckDBPyConnection, finding: Row, n: int) -> Evidence:  # noqa: ARG001  # the ledger says which to show
    """The run, and the answers of either model; which model gave an answer is in the ledger alone."""
    run = behind(
        connection,
        "dim_runs",
        "the run",
        finding,
        where="run_id = $run_id",
        columns="model_asked, models_answered, n_prompts, n_responses, n_ok, started_at",
    )
    models = (finding["group_name"], finding["reference_group"])
    return Evidence([run], [Side(model, None, model=model, order="that came first") for model in models])
