"""Runs: whether more than one model answered, and what the other one said."""

from __future__ import annotations

from biasledger.explaining.case import Case
from biasledger.explaining.evidence import Evidence, Side


def evidence(case: Case) -> Evidence:
    """The run, and the answers of either model; which model gave an answer is in the ledger alone."""
    run = case.behind(
        "dim_runs",
        "the run",
        where="run_id = $run_id",
        columns="model_asked, n_models_answered, n_prompts, n_responses, n_ok, started_at",
    )
    return Evidence([run], [Side(model, None, model=model, order="that came first") for model in case.groups])
