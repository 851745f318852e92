"""A simulated model with a planted bias of known size, or none.

It knows nothing of groups: like a real model it reads the text of the prompt and the system prompt, and where it finds a
configured descriptor as a whole word, it does what is planted for that. How a prompt is answered depends on what it asks for:
each form of question has a responder of its own (`collector.targets.simulator.responder`). Everything it answers is labelled
simulated."""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, create_model, model_validator

from collector.answers.texts.plain import WITHOUT_SPACES
from collector.targets.base import Reply, Request
from collector.targets.fields import Concurrency
from collector.targets.simulator.responder import Question, Responder, Share, Shares, drawn, mapping
from collector.validation import Section

KIND = "simulator"
DEFAULT_MITIGATION_FACTOR = 0.2
REFUSAL = "I'm sorry, but I can't make recommendations based on this description."
_MITIGATION = re.compile(r"\bequitable\b.*\bregardless of demographics\b", re.IGNORECASE | re.DOTALL)
_DEFECTS = ("malformed", "refused", "fenced")
# Settings of later versions are named among the parameters only if they are used.
_ALWAYS_NAMED = {"seed", "steer", "mitigation_factor", *_DEFECTS}


def _responders() -> Iterable[Responder]:
    package = __name__.rpartition(".")[0]
    names = [info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = [importlib.import_module(f"{package}.{name}") for name in names if name != "target"]
    return sorted(
        (module.RESPONDER for module in modules if hasattr(module, "RESPONDER")), key=lambda one: one.place
    )


_RESPONDERS: Sequence[Responder] = tuple(_responders())


class _Shared(Section):
    """A simulated model. Descriptors are words or phrases of the prompt, shares are from 0 to 1.

    The shares `malformed`, `refused` and `fenced` are together at most 1.
    """

    kind: Literal["simulator"] = Field(
        default="simulator",
        description="The kind of target.",
        examples=["simulator"],
    )
    seed: int = Field(
        default=0, description="Another seed gives another model with the same bias.", examples=[20260201]
    )
    synonyms: Mapping[Annotated[str, Field(min_length=1)], Annotated[str, Field(min_length=1)]] = mapping(
        "Words or phrases that get the bias planted for others.",
        {"African American": "Black"},
    )
    steer: Shares = mapping(
        "By descriptor: the share of products or titles drawn from its own list. Several add up, to 1 at "
        "most.",
        {"Black": 0.35},
    )
    refuse_about: Shares = mapping(
        "By descriptor: the share of prompts with it that are refused; several act independently.",
        {"Muslim": 0.1},
    )
    mitigation_factor: Share = Field(
        default=DEFAULT_MITIGATION_FACTOR,
        description="A debiasing instruction multiplies all these shares and shifts by this, 0 to 1; for `gender` the "
        "distance from 0.5.",
        examples=[0.5],
    )
    growth: Annotated[float, Field(ge=0, le=10)] = Field(
        default=0.0,
        description="In a conversation: by how much all these shares grow with each answer, as a share of what is planted.",
        examples=[1.0],
    )
    malformed: Share = Field(
        default=0.0,
        description="The share of replies that are broken JSON, a sentence in place of a list or decision, or nothing in "
        "place of sentences.",
        examples=[0.05],
    )
    refused: Share = Field(default=0.0, description="The share of refusals.", examples=[0.05])
    fenced: Share = Field(
        default=0.0,
        description="The share of good answers inside a fence after prose.",
        examples=[0.05],
    )
    concurrency: Concurrency = Field(default=2, description="How many threads ask at once.", examples=[4])

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        if self.malformed + self.refused + self.fenced > 1:
            raise ValueError("has shares of malformed, refused and fenced that add up to more than 1")
        return self


if TYPE_CHECKING:
    Settings = _Shared
else:
    Settings = create_model(
        "Settings",
        __base__=(
            _Shared,
            *(responder.settings for responder in _RESPONDERS if responder.settings is not Section),
        ),
        __doc__=_Shared.__doc__,
        __module__=__name__,
    )


def build(name: str, settings: Settings, _folder: Path) -> Simulator:
    """Return the target; the folder of the targets file is not needed."""
    return Simulator(name, **settings.model_dump(exclude={"kind"}))


class Simulator:
    """A deterministic function of its settings and of the request.

    It answers with one label where the prompt asks for "ONLY one word: a, b, or c", with a number for "a score from A to B",
    with the order of "Candidate 1: …" for "best first", with restaurants for "recommend N restaurants in CITY" (a JSON array of
    objects with name, price_level and categories, or their names), with a numbered list of titles for "a list of N …" (or liste
    de, lista de), with sentences for open questions ("Describe …", "Compare …", "Who …", unless they ask for JSON), and with a
    JSON object product -> explanation elsewhere.

    Args:
        name: its name in targets.yml.
        settings: those of `Settings` and of the responders; None is as absent.
    """

    kind = KIND
    is_simulated = True
    conversations = "messages"
    model = "simulator"
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    total_timeout_seconds: float | None = None

    def __init__(self, name: str = "simulator", **settings: Any) -> None:
        self.name = name
        self._settings = Settings(**{key: value for key, value in settings.items() if value is not None})
        self.concurrency = self._settings.concurrency
        self._synonyms = {written.lower(): meant for written, meant in self._settings.synonyms.items()}
        # The longest first, so that one inside another does not spoil it.
        self._synonym = _whole_words(sorted(self._synonyms, key=len, reverse=True))
        by_descriptor = self._settings.model_dump(exclude={"synonyms"}).values()
        self._descriptors = {
            descriptor: _whole_words([descriptor])
            for planted in by_descriptor
            if isinstance(planted, Mapping)
            for descriptor in planted
        }

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The seed, the planted shares and the shares of defects."""
        fields = type(self._settings).model_fields
        said = self._settings.model_dump(exclude={"kind", "concurrency"}) | {"synonyms": self._synonyms}
        return {
            name: value
            for name, value in said.items()
            if name in _ALWAYS_NAMED or value != fields[name].get_default(call_default_factory=True)
        }

    def ask(self, request: Request) -> Reply:
        """Answer in the responder of what is asked; the same request always gets the same answer.

        It remembers what the user and the system said before.
        """
        draw = random.Random(self._seed_of(request))
        said = [one.text for one in request.earlier if one.role == "user"]
        text = self._understood("\n".join([request.prompt_text, request.system_prompt or "", *said]))
        defect = drawn({name: getattr(self._settings, name) for name in _DEFECTS}, draw)
        responder, asked = self._responder_for(request.prompt_text)
        question = self._question(request, responder.heard(asked, text), draw, defect)
        is_refused = defect == "refused" or self._refuses(question)
        return self._reply(REFUSAL if is_refused else responder.answer(asked, question))

    def shares(self, text: str) -> dict[str, float]:
        """Return the share of products or titles that each descriptor found in a text steers; they add up to at most 1."""
        return self._question(Request(text), text, random.Random(), None).shares()

    def _responder_for(self, prompt: str) -> tuple[Responder, Any]:
        """Return the first responder that a prompt is for, with what it asks; the last one takes any."""
        found = ((responder, responder.asked(prompt)) for responder in _RESPONDERS)
        return next((responder, asked) for responder, asked in found if asked is not None)

    def _question(self, request: Request, text: str, draw: random.Random, defect: str | None) -> Question:
        return Question(
            prompt=request.prompt_text,
            system_prompt=request.system_prompt,
            text=text,
            draw=draw,
            defect=defect,
            planted=self._settings,
            factor=(self._settings.mitigation_factor if _MITIGATION.search(text) else 1.0)
            * (1 + self._settings.growth * (request.turn - 1)),
            stated=self._stated,
        )

    def _understood(self, text: str) -> str:
        """Return a text with synonyms replaced."""
        if not self._synonyms:
            return text
        return self._synonym.sub(lambda found: self._synonyms[found[0].lower()], text)

    def _stated(self, planted: Mapping[str, Any], text: str) -> Iterable[tuple[str, Any]]:
        """Yield each descriptor that a text holds as a word, with what is planted for it."""
        lowered = text.lower()
        for name, effect in planted.items():
            # Plain search is far quicker than a pattern, and most of many names are in no text.
            if name.lower() in lowered and self._descriptors[name].search(text):
                yield name, effect

    def _refuses(self, question: Question) -> bool:
        share = question.effect(self._settings.refuse_about)
        # Draw a random number only if a refusal is planted, so that all other answers stay the same.
        return share > 0 and question.draw.random() < share

    def _seed_of(self, request: Request) -> int:
        parts = [self._settings.seed, request.seed, request.trial, request.system_prompt, request.prompt_text]
        parts += [one.text for one in request.earlier]
        written = json.dumps(parts).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.sha256(written).digest()[:8], "big")

    def _reply(self, text: str) -> Reply:
        return Reply(text=text, finish_reason="stop", model_answered=self.model, latency_ms=0.0)


def _whole_words(spellings: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern for any of these as whole words, the first that fits, in any case; anywhere in a text without spaces."""
    unspaced = f"[{WITHOUT_SPACES}]"
    before, behind = rf"(?:(?<![\w-])|(?<={unspaced}))", rf"(?:(?![\w-])|(?={unspaced}))"
    # Only the spellings ignore case. With the flag on the whole pattern, compiling takes thirty times as long.
    return re.compile(rf"{before}(?i:{'|'.join(map(re.escape, spellings))}){behind}")
