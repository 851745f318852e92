"""Count the questions that were asked again, by the group they were about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from collector.answers.failures import RATE_LIMIT

if TYPE_CHECKING:
    from collector.spec.prompts import Prompt


@dataclass(slots=True)
class AskedAgain:
    """The trials of which more than one attempt counts: all but those that the service turned away for the rate.

    `first` holds the trials that have one such attempt and may get another.
    """

    trials: set[tuple[str, int]] = field(default_factory=set)
    first: set[tuple[str, int]] = field(default_factory=set)

    def note(self, prompt_id: str, trial: int, *, status: str, read_by: str | None, is_last: bool) -> None:
        """Take in an attempt; those of a trial come in order."""
        key = prompt_id, trial
        if key in self.first:
            self.trials.add(key)
        elif status == "error" and read_by == RATE_LIMIT:
            return
        # A trial that ended without an answer is asked again where a person wants that.
        if not is_last or status == "error":
            self.first.add(key)
        else:
            self.first.discard(key)

    def sentence(self, prompts: Iterable[Prompt]) -> str | None:
        """Return "40 asked again: 34 polnisch, 3 deutsch, 3 türkisch", by the groups of each attribute; None for none.

        Args:
            prompts: the run's.
        """
        if not self.trials:
            return None
        n_trials = Counter(prompt_id for prompt_id, _ in self.trials)
        groups: dict[str, Counter[str]] = {}
        for prompt in prompts:
            if n := n_trials[prompt.prompt_id]:
                for attribute, group in dict.fromkeys(
                    (one.attribute, one.group_name) for one in prompt.attributes
                ):
                    groups.setdefault(attribute, Counter())[group] += n
        listed = "; ".join(
            _counts_by_group(counts, attribute, groups) for attribute, counts in groups.items()
        )
        return f"{len(self.trials):,} asked again{f': {listed}' if listed else ''}"


def _counts_by_group(counts: Mapping[str, int], attribute: str, groups: Mapping[str, object]) -> str:
    """Return the groups of an attribute with their counts, the largest first."""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    listed = ", ".join(f"{n:,} {group}" for group, n in ordered)
    return f"{listed} ({attribute})" if len(groups) > 1 else listed
