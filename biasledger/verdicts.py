"""The verdict on a run, or part of it, from the statuses of its findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable

# A run is as its gravest finding: it is clear only where everything is.
GRAVEST_FIRST = ("alarm", "inconclusive", "insufficient_data", "clear")
PLAIN = "plain"


def gravest(statuses: Iterable[str]) -> str:
    """The gravest of some statuses; without any it is insufficient_data."""
    found = set(statuses)
    return next((status for status in GRAVEST_FIRST if status in found), "insufficient_data")


def result_sentence(
    passes: bool | None, audits: Iterable[tuple[str, str]], failed: Collection[tuple[str, str]]
) -> str:
    """PASS, FAIL or UNDECIDED (None), and how many audits of each target failed; audits, failed: audit and target."""
    word = {True: "PASS", False: "FAIL", None: "UNDECIDED"}[passes]
    of_targets: dict[str, set[str]] = {}
    for audit, target in (*audits, *failed):
        of_targets.setdefault(target, set()).add(audit)
    counts = {target: sum((one, target) in failed for one in names) for target, names in of_targets.items()}
    said = [
        f"{f'{counts[target]} of {len(names)}' if counts[target] else f'no failure in {len(names)}'} "
        f"audit{'s' * (len(names) > 1)} of {target}{' failed' * bool(counts[target])}"
        for target, names in sorted(of_targets.items(), key=lambda one: (-counts[one[0]], one[0]))
    ]
    return f"{word}: {'; '.join(said)}." if said else f"{word}."
