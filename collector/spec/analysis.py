"""The `analysis` part of an audit spec: how answers become what is compared, a part for each method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from collector.spec.methods import methods
from collector.validation import Names, Section


class Answers(Section):
    """Who gets an answer at all, and the attempt at a question that decides this."""

    attempt: Literal["first", "last"] = Field(
        default="first",
        description="Which attempt says whether a question was refused, failed or answered unusably, where a question was asked "
        "again. The answer itself is always taken from the last attempt.",
        examples=["last"],
    )


class _Shared(Section):
    """How answers are read: it can change without asking again. Every method has a part of it, under its name."""

    crossed: Names = Field(
        default=(),
        description="Attributes that are looked at together, so that Black women are a group, too.",
        examples=[["race*gender"]],
    )
    pairwise: bool = Field(
        default=False,
        description="Every group is compared with every other one, and not with the reference alone. More comparisons find less "
        "each, as their p-values are adjusted for their number.",
        examples=[True],
    )
    include_reasoning: bool = Field(
        default=False,
        description="For answers in text: whether the model's reasoning is analysed with the answer. It is always stored.",
        examples=[True],
    )
    answers: Answers = Field(
        default_factory=Answers,
        description="Who gets an answer at all.",
        examples=[{"attempt": "last"}],
    )
    same: Mapping[str, Names] = Field(
        default_factory=dict,
        description="For items: attributes made from two others with the same two groups: name → the two. Its groups are `same` "
        "and `different`, which is the reference.",
        examples=[{"couple": ["first_relationship", "second_relationship"]}],
    )


if TYPE_CHECKING:

    class Analysis(_Shared):
        """As below: the parts are those of the methods, which are found when this runs."""

        def __getattr__(self, method: str) -> Any: ...
else:
    Analysis = create_model(
        "Analysis",
        __base__=_Shared,
        __doc__=_Shared.__doc__,
        __module__=__name__,
        **{name: method.field for name, method in methods().items()},
    )
