"""The `analysis` part of an audit spec: how answers become what is compared, a part for each method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from collector.spec.methods import methods
from collector.spec.parts import Answer
from collector.validation import Names, NonBlank, Section


class Answers(Section):
    """Which attempt at a question decides who gets an answer."""

    attempt: Literal["first", "last"] = Field(
        default="first",
        description="The attempt that decides. The answer itself is always the last attempt's.",
        examples=["last"],
    )


class _Shared(Section):
    """How answers are read. It can change without asking again."""

    crossed: Names = Field(
        default=(),
        description="Attributes that are also combined, so that Black women are a group.",
        examples=[["race*gender"]],
    )
    pairwise: bool = Field(
        default=False,
        description="For words, also compare every other pair of groups; such rows (`comparison` is `pairwise`) are not judged.",
        examples=[True],
    )
    include_reasoning: bool = Field(
        default=False,
        description="Analyse the model's reasoning with an answer in text. It is always stored.",
        examples=[True],
    )
    answers: Answers = Field(
        default_factory=Answers,
        description="Who gets an answer.",
        examples=[{"attempt": "last"}],
    )
    same: Mapping[str, Names] = Field(
        default_factory=dict,
        description="For items: attributes made from two others with the same two groups: name → the two. Groups: `same`, and "
        "`different` as the reference.",
        examples=[{"couple": ["first_relationship", "second_relationship"]}],
    )


if TYPE_CHECKING:

    class Analysis(_Shared):
        """The typed class below; its parts are those of the methods, which are found at run time."""

        def __getattr__(self, method: str) -> Any: ...
else:
    Analysis = create_model(
        "Analysis",
        __base__=_Shared,
        __doc__=_Shared.__doc__,
        __module__=__name__,
        **{name: method.field for name, method in methods().items()},
    )


class Outcome(Answer):
    """One of several things that each row of an imported file says."""

    column: NonBlank | None = Field(
        default=None, description="Its column; the outcome's name if absent.", examples=["decision"]
    )
    analysis: Analysis = Field(
        default_factory=Analysis,
        description="How it is compared, in addition to the audit's `analysis`.",
        examples=[{"decisions": {"favourable": ["approved"]}}],
    )
