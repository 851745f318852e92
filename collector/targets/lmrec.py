"""A recommender that `biasledger lmrec train` made: it answers with venues, their price levels and their categories."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from collector.errors import InputError, TargetError
from collector.hashing import hash_of_file
from collector.targets.base import Reply, Request
from collector.targets.fields import Concurrency, ConfiguredTarget, Simulated, one_or_more
from collector.validation import Names, NonBlank, Section

if TYPE_CHECKING:
    from lmrec.answering import Answerer

KIND = "lmrec"


class Settings(Section):
    """One trained recommender, or several with different cities."""

    kind: Literal["lmrec"] = Field(description="The kind of target.", examples=["lmrec"])
    models: Annotated[
        Names, BeforeValidator(one_or_more, json_schema_input_type=NonBlank | list[NonBlank])
    ] = Field(
        min_length=1,
        description="Folders made by `biasledger lmrec train`, relative to the targets file; each has its own cities.",
        examples=["models/boston"],
    )
    top: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=20, description="How many venues an answer recommends.", examples=[10]
    )
    city: NonBlank | None = Field(
        default=None,
        description="The city of every question; if absent, the city it names.",
        examples=["Boston"],
    )
    fair_ranking: bool | Names = Field(
        default=False,
        description="A mitigation: each group gets each price level, or venues of the named categories, as often as the "
        "city's venues have it.",
        examples=[True, ["nightlife", "bars"]],
    )
    model: NonBlank | None = Field(
        default=None,
        description="The model's name in findings; the folders if absent.",
        examples=["lmrec-boston"],
    )
    simulated: Simulated = False
    concurrency: Concurrency = Field(
        default=1, description="How many threads may call it at once.", examples=[4]
    )


def build(name: str, settings: Settings, folder: Path) -> TrainedRecommender:
    """Load the models, whose folders are named as seen from the folder of the targets file.

    Raises:
        InputError: there is no such model, it is damaged, or two know one city.
    """
    from lmrec.answering import Answerer
    from lmrec.model import CARD, load

    folders = [folder / one for one in settings.models]
    answerer = Answerer(
        [load(one) for one in folders],
        top=settings.top,
        city=settings.city,
        needs_city=True,
        fair=settings.fair_ranking,
    )
    # A card names the hashes of the other files, so that its own hash covers all of them.
    return TrainedRecommender(name, settings, answerer, [hash_of_file(one / CARD) for one in folders])


class TrainedRecommender(ConfiguredTarget):
    """Recommenders in this process, which say the same of the same question.

    Args:
        name: the target's name.
        settings: its entry in targets.yml.
        answerer: the models.
        card_hashes: the hashes of their cards.
    """

    kind = KIND

    def __init__(self, name: str, settings: Settings, answerer: Answerer, card_hashes: Sequence[str]) -> None:
        super().__init__(
            name, settings.model or ", ".join(settings.models), settings, is_simulated=settings.simulated
        )
        self._answerer = answerer
        self._parameters = {
            "models": list(settings.models),
            "card_hashes": list(card_hashes),
            "top": settings.top,
            **({"city": settings.city} if settings.city else {}),
            **({"fair_ranking": settings.fair_ranking} if settings.fair_ranking else {}),
        }

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The models with the hashes of their cards, how many venues an answer has, and what else is set."""
        return self._parameters

    def ask(self, request: Request) -> Reply:
        """Rank the venues for a question.

        Raises:
            TargetError: there is a system prompt, which a recommender cannot read, or it is unclear which city is meant.
        """
        if request.system_prompt is not None:
            raise TargetError(
                f"{self.name} reads a question and no system prompt, which would be lost; ask an audit without one.",
                stops_run=True,
            )
        started = time.perf_counter()
        try:
            text = self._answerer.answer(request.prompt_text)
        except InputError as error:
            raise TargetError(f"{self.name}: {error}") from None
        return Reply(text=text, finish_reason="stop", latency_ms=(time.perf_counter() - started) * 1000)
