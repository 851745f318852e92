"""Measures of a run as a whole: whether one model answered all of it."""

from __future__ import annotations

from biasledger.measures.declared import Measure, Threshold

MEASURES = (
    Measure(
        name="model_change",
        description=(
            "Whether more than one model answered, by the name that the service gave with each answer: groups may then "
            "differ because models do"
        ),
        scale="share of answers by other models than the commonest",
        bounds=(0, 1),
        side="upper",
        unit="answers",
        no_difference=None,
        label="the share of answers by another model",
        display=(100, " %"),
        threshold=Threshold(
            value=0,
            reason=(
                "One answer by another model is a change. Services change a model behind its name, so it warns; set error"
                " where one pinned model is what you audit"
            ),
            source="Ours",
            min_units=1,
            severity="warn",
        ),
    ),
)
