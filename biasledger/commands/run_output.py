"""What is printed of a run that was collected or imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collector.terminal import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from collector.ledger.summary import RunSummary


def print_run(summary: RunSummary) -> None:
    """Print whom a run asked, how much came back, and its seal."""
    simulated = " (simulated)" if summary.is_simulated else ""
    counts = ", ".join(f"{count:,} {status}" for status, count in summary.counts.items())
    say(f"Run {summary.run_id}, {summary.audit} asked of {summary.target}{simulated}:")
    say(
        f"  {summary.n_prompts:,} prompts, {summary.n_responses:,} responses in {summary.seconds:.1f} s: {counts}"
    )
    if summary.cost_usd:
        from collector.asking.costs import usd

        say(f"  {usd(summary.cost_usd)} USD at list prices")
    if summary.seal is not None:
        say(f"  seal {summary.seal}")


def print_warnings(warnings: Iterable[str]) -> None:
    """Print what weakens a run to stderr."""
    for warning in warnings:
        say(f"Warning: {warning}", err=True)
