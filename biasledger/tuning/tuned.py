"""The results of labels for the measures of single outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasledger.measures.tuning import ThresholdErrors


@dataclass(frozen=True)
class Tuning:
    """The results of labels for one measure of single outputs, in one scheme (empty if the measure has none).

    is_judged: whether the scheme is the judged one of a run; a measure without schemes is. best: the smallest threshold that is
    quiet enough; current: the threshold in use. curve: every threshold that makes a difference, ascending. n_without_value:
    labelled outputs without a value, and how many of them are problematic: no threshold finds those.
    """

    measure: str
    scheme: str
    is_judged: bool
    best: ThresholdErrors
    current: ThresholdErrors
    curve: list[ThresholdErrors]
    n_without_value: int
    n_problematic_without_value: int


@dataclass(frozen=True)
class TuningResult:
    """Tunings of all measures that labels suffice for; skipped: a sentence for each of the others."""

    n_outputs: int
    n_unlabelled_rows: int
    tunings: list[Tuning]
    skipped: list[str]
