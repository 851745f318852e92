"""The `analysis` part of an audit spec: how answers become what is compared, a part for each method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import create_model

from collector.spec.methods import methods
from collector.spec.parts import Answer
from collector.validation import Names, NonBlank, Section, spec_key


class Answers(Section):
    """Which attempt at a question decides who gets an answer."""

    attempt: Literal["first", "last"] = spec_key(
        "The attempt that decides. The answer itself is always the last attempt's.", "last", default="first"
    )


class _Shared(Section):
    """How answers are read. It can change without asking again."""

    crossed: Names = spec_key(
        "Attributes that are also combined, so that Black women are a group.", ["race*gender"], default=()
    )
    pairwise: bool = spec_key(
        "For words, also compare every other pair of groups; such rows (`comparison` is `pairwise`) are not judged.",
        True,
        default=False,
    )
    include_reasoning: bool = spec_key(
        "Analyse the model's reasoning with an answer in text. It is always stored.", True, default=False
    )
    answers: Answers = spec_key("Who gets an answer.", {"attempt": "last"}, default_factory=Answers)
    same: Mapping[str, Names] = spec_key(
        "For items: attributes made from two others with the same two groups: name → the two. Groups: `same`, and "
        "`different` as the reference.",
        {"couple": ["first_relationship", "second_relationship"]},
        default_factory=dict,
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

    column: NonBlank | None = spec_key("Its column; the outcome's name if absent.", "decision", default=None)
    analysis: Analysis = spec_key(
        "How it is compared, in addition to the audit's `analysis`.",
        {"decisions": {"favourable": ["approved"]}},
        default_factory=Analysis,
    )
