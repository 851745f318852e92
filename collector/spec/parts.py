"""The parts of an audit spec that say what is asked: templates, attributes, subjects, people, kind of answer, variants."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr

from collector.answers import replies
from collector.answers.decisions import read_score
from collector.answers.recommendations.item_rules import ItemRole, ItemRules, PriceForm, parse_key_path
from collector.answers.recommendations.price_levels import DEFAULT_LEVELS
from collector.composed import composed
from collector.hints import did_you_mean
from collector.spec.slots import Slot, parse_template, slot_names
from collector.validation import Names, NonBlank, Section, Text, no_text

PLAIN = "plain"
# Slots with a meaning of their own.
DESCRIPTOR = "descriptor"
LENGTH = "k"
NAME = "name"
CANDIDATES = "candidates"
NUMBER = "number"
DEFAULT_MAX_CHARACTERS = 200_000
AnswerKind = Literal["json_object", "text", "list", "items", "label", "score", "ranking"]
# Answers that decide something about a person; they are read as decisions and not as words.
DECISIONS = ("label", "score", "ranking")
# Answers with a number of recommendations, which {k} stands for; no group need be the reference.
RECOMMENDATIONS = ("list", "items")
MINIMUM_TRIALS = 15  # a persona, in Xu, Potka & Thomo (2026)
MINIMUM_SUBJECTS = 50  # a domain, and
MINIMUM_NEUTRAL_TRIALS = 5  # of a neutral prompt, in Sah et al. (2026)
MINIMUM_PROBES = 5  # 2^-5 is the first smallest p below 0.05


class Template(Section):
    """One wording of the question, with slots for the groups' carriers and the subjects' words.

    Groups with several carriers are asked about by each of them. Of several such attributes all combinations are asked, unless
    the template is `paired`. A template with a `candidate` asks for a ranking.
    """

    id: NonBlank = Field(
        description="What the template is called in results. Each template has its own.",
        examples=["products"],
    )
    text: NonBlank = Field(
        description="The question. `{race}` is filled with a carrier of the attribute `race`, `{title}` with a subject's "
        "column `title`. `{a race}` puts a or an before the carrier, `{A race}` with a capital letter. A literal brace is "
        "doubled: `{{`.",
        examples=["Which books would you recommend to {a race} {gender}?"],
    )
    language: NonBlank = Field(
        default="en",
        description="The language of the question. Results of another language stand apart. `{a race}` is for English alone.",
        examples=["fr"],
    )
    trials: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="How often each prompt of this template is asked, where that differs from the audit's `trials`.",
        examples=[5],
    )
    descriptors: Names = Field(
        default=(),
        description="What the slot `{descriptor}` stands for, one prompt each: attributes, or two crossed with `*`.",
        examples=[["age", "gender", "race*gender"]],
    )
    neutral: NonBlank | None = Field(
        default=None,
        description="The id of the template that asks the same without any group. Lists are compared with its answers.",
        examples=["fan_neutral"],
    )
    part: NonBlank | None = Field(
        default=None,
        description="The template is asked only where this part is named: `biasledger collect … --with robustness`.",
        examples=["robustness"],
    )
    perturbations: Names = Field(
        default=(),
        description="The prompt is asked once for each: with a typing error in the longest word of the carrier (`typo_swap`, "
        "`typo_drop`, `typo_double`), or under a name of your own for a template that is itself worded otherwise.",
        examples=[["typo_swap", "typo_drop"]],
    )
    wording: NonBlank | None = Field(
        default=None,
        description="Which of the attributes' `wordings` fill the slots, in place of the groups' own carriers.",
        examples=["fr"],
    )
    paired: bool = Field(
        default=False,
        description="Carriers of several attributes go in step: the first ones stand together, the second ones, and so on. "
        "Otherwise every combination of them is asked.",
        examples=[True],
    )
    candidate: NonBlank | None = Field(
        default=None,
        description="Makes the template ask for a ranking: how one candidate is written, with `{number}`. `{candidates}` in the "
        "text is one person of each combination of groups, each written so.",
        examples=["Candidate {number}: {name}\n{text}"],
    )
    orders: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="In how many rotated orders the same candidates are shown; as many as there are candidates if absent.",
        examples=[4],
    )
    _ask: str = PrivateAttr(default="")

    @property
    def parts(self) -> tuple[str | Slot, ...]:
        """The template, with what the audit asks at the end of every template, split into literal text and slots."""
        return parse_template(self.text + self._ask)

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the slots the template uses, in order of first use."""
        return slot_names(self.parts)

    @property
    def candidate_parts(self) -> tuple[str | Slot, ...]:
        """What is written of one candidate, split into literal text and slots; empty where no ranking is asked for."""
        return () if self.candidate is None else parse_template(self.candidate)

    @property
    def candidate_slots(self) -> tuple[str, ...]:
        """The names of the slots that one candidate uses, in order of first use."""
        return slot_names(self.candidate_parts)


def _listed(value: Any) -> Any:
    """Return a group's carrier or list of carriers as the tuple that the model holds."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, str):
        return (value,)
    raise ValueError(no_text(value))


def _groups_of(value: Any) -> Any:
    """Return a list of groups as the mapping that the model holds: each is its own carrier."""
    if not isinstance(value, list):
        return value
    groups: dict[str, str] = {}
    for index, name in enumerate(value):
        if not isinstance(name, str):
            was = str(name).lower() if isinstance(name, bool) else repr(name)
            raise ValueError(
                f"holds {was} at position {index + 1}, which YAML does not read as text; put it in quotes"
            )
        if name in groups:
            raise ValueError(f"holds {name!r} twice; every group needs its own name")
        groups[name] = name
    return groups


Carriers = Annotated[tuple[Text, ...], BeforeValidator(_listed, json_schema_input_type=Text | list[Text])]
Groups = Annotated[
    Mapping[str, Carriers],
    Field(min_length=1),
    BeforeValidator(_groups_of, json_schema_input_type=list[Text] | Mapping[str, Text | list[Text]]),
]


class Attribute(Section):
    """An attribute, such as gender: its groups, the words that state them (their carriers), and the reference group."""

    reference: NonBlank | None = Field(
        default=None,
        description="The group that the others are compared with. Lists and items may do without: lists are then compared with "
        "the neutral prompt, items with each other.",
        examples=["White"],
    )
    file: NonBlank | None = Field(
        default=None,
        description="A table beside the spec (CSV with any separator, or Excel) that holds the groups in place of `groups`: the "
        "columns group and carrier (the "
        "group's name if absent), a row for each carrier, and a further column for each agreeing slot.",
        examples=["restaurants/locations.csv"],
    )
    groups: Groups = Field(
        description="The groups: a list of names, or names with what states each of them in a prompt (its carrier, or a list of "
        "carriers, each of which is asked about). A name is its own carrier if none is given. At least two groups.",
        examples=[["White", "Black"], {"White": "a White", "Black": ["a Black", "an African American"]}],
    )
    agreements: Mapping[str, Mapping[str, Text]] = Field(
        default_factory=dict,
        description="Slots whose word goes with the carrier, such as a pronoun: slot → carrier or group → word.",
        examples=[{"possessive": {"daughter": "her", "son": "his"}}],
    )
    wordings: Mapping[str, Mapping[str, Text]] = Field(
        default_factory=dict,
        description="Other carriers of the same groups, for templates that name the wording: wording → group → carrier.",
        examples=[{"fr": {"White": "une personne blanche", "Black": "une personne noire"}}],
    )

    def carriers(self, wording: str | None = None) -> Mapping[str, tuple[str, ...]]:
        """Return group -> carriers in the file's order, in a named wording or in the plain one."""
        if wording is None:
            return self.groups
        return {name: (carrier,) for name, carrier in self.wordings[wording].items() if name in self.groups}

    def agreeing(self, group: str, carrier: str) -> dict[str, str]:
        """Return slot -> word for the slots that agree with a carrier of a group; a slot without a word for it is left out."""
        return {
            slot: words.get(carrier, words.get(group, ""))
            for slot, words in self.agreements.items()
            if carrier in words or group in words
        }


class Subjects(Section):
    """What the questions are about, such as resumes or artists: a CSV file with a row for each, whose columns are slots.

    A candidate's slot {text} may also have as many columns as there are candidates, text_1, text_2, …, which they take in turn.
    """

    file: NonBlank = Field(
        description="The table, as seen from the spec: CSV with any separator, or Excel. Every column is a slot.",
        examples=["resumes/resumes.csv"],
    )
    name: NonBlank = Field(description="The column that names a subject.", examples=["resume"])
    domain: NonBlank | None = Field(
        default=None,
        description="The column of a subject's domain: a kind of subjects that is judged on its own.",
        examples=["job"],
    )
    expected: NonBlank | None = Field(
        default=None,
        description="The column of the right answer, for labels and scores. Its cells may be empty.",
        examples=["level"],
    )
    person: NonBlank | None = Field(
        default=None,
        description="The column of the name that stands in the other columns and makes way for each person's name. Where the "
        "cell is empty, the question is about nobody and is asked once.",
        examples=["first_name"],
    )
    target_group: NonBlank | None = Field(
        default=None,
        description="The column of whom a stereotype is about, for audits with markers.",
        examples=["target_group"],
    )
    wordings: Mapping[str, Mapping[str, Text]] = Field(
        default_factory=dict,
        description="Slots whose word depends on the subject's domain: slot → domain → word.",
        examples=[{"titles": {"movies": "movie titles", "music": "song titles"}}],
    )


class People(Section):
    """Carriers that state several attributes at once, such as first names: a CSV file with a row for each."""

    file: NonBlank = Field(
        description="The table, as seen from the spec, CSV with any separator or Excel: a column of names, and one for each "
        "attribute that a name states, called like the attribute.",
        examples=["names.csv"],
    )
    name: NonBlank = Field(description="The column of the names, which fill `{name}`.", examples=["name"])
    per_subject: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="How many people of each combination of groups are asked about with each subject; all if absent.",
        examples=[8],
    )
    own_name: bool = Field(
        default=False,
        description="Whether the name in the subject's own row (`subjects.person`) is always among them.",
        examples=[True],
    )


# Keys of `answer` for items alone.
ITEM_KEYS = ("levels", "keys", "prices")
# Keys of `answer` that an audit's document states in a way of its own.
_ASKED_KEYS = {"kind", "k", "short", "levels", "labels", "minimum", "maximum", "max_characters"}


def _paths(value: Any) -> Any:
    """Return a path of keys, or a list of them, as the tuple that the model holds."""
    paths = _listed(value)
    for path in paths:
        if isinstance(path, str):
            parse_key_path(path)
    return paths


KeyPaths = Annotated[tuple[Text, ...], BeforeValidator(_paths, json_schema_input_type=Text | list[Text])]


class Answer(Section):
    """What kind of answer is expected. It decides by which method answers are compared."""

    kind: AnswerKind = Field(
        default="json_object",
        description="`text` is free text, `json_object` a JSON object (its texts are compared as words; without any it is "
        "malformed), `list` a list of titles, `items` recommendations with prices and categories, `label` one of `labels`, "
        "`score` a number, `ranking` an order of candidates.",
        examples=["text"],
    )
    k: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None,
        description="How many items a list (or `items`) should have. Templates may say so with `{k}`.",
        examples=[20],
    )
    short: Literal["pad", "ask_again"] = Field(
        default="pad",
        description="What is done with a list of fewer than `k`: padded with empty places, or asked again.",
        examples=["ask_again"],
    )
    levels: Annotated[int, Field(ge=2, le=10)] = Field(
        default=DEFAULT_LEVELS,
        description="Price levels of `items` run from 1, the cheapest, to this.",
        examples=[4],
    )
    labels: Names = Field(
        default=(),
        description="The labels of a decision. Case does not matter in answers. Where they have an order, from the lowest to the "
        "highest.",
        examples=[["junior", "mid", "senior"]],
    )
    minimum: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        default=None, description="The lowest possible score.", examples=[0]
    )
    maximum: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        default=None, description="The highest possible score.", examples=[10]
    )
    max_characters: Annotated[int, Field(ge=1)] = Field(
        default=DEFAULT_MAX_CHARACTERS,
        description="A longer answer is kept, and left out of every measure.",
        examples=[20_000],
    )
    key: NonBlank | None = Field(
        default=None,
        description="The key of a JSON answer that holds the label or the score; a dotted path names a nested key.",
        examples=["result.decision"],
    )
    pattern: NonBlank | None = Field(
        default=None,
        description="A regular expression with one capture group, which finds the label or the score in the reply.",
        examples=[r"My verdict is (\w+)"],
    )
    labels_from: Mapping[str, Text] = Field(
        default_factory=dict,
        description="For questions with their own options: label → the subject's column, or the file's, that holds the text of "
        "this option. An answer may name the label or state the text.",
        examples=[{"A": "option_a", "B": "option_b"}],
    )
    options: Mapping[str, Mapping[str, Text]] = Field(
        default_factory=dict,
        description="The same for collected answers, written out: subject → label → text. `labels_from` fills it from the "
        "subjects' file.",
        examples=[{"question 1": {"A": "a nurse", "B": "a doctor"}}],
    )
    rescale: bool = Field(
        default=False,
        description="Whether a score on another scale, such as 8/10 where 0 to 100 is asked for, is converted. It is unread "
        "otherwise.",
        examples=[True],
    )
    points: Mapping[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="The named points of a scale: name → score.",
        examples=[{"Disagree": 1, "Neutral": 3, "Agree": 5}],
    )
    decimal: Literal[".", ","] | None = Field(
        default=None,
        description="The decimal separator of the scores. Of a file, the whole column tells it if this is absent.",
        examples=[","],
    )
    currency: NonBlank | None = Field(
        default=None,
        description="The ISO 4217 code of the currency of the scores. Amounts in another currency are unread.",
        examples=["EUR"],
    )
    per: Literal["year", "month"] | None = Field(
        default=None,
        description="The period that amounts are given for. An amount for another period is unread and never converted; without "
        "this key, an amount per year is read and one for any other period is unread.",
        examples=["year"],
    )
    turns: Literal["last_assistant", "all_assistant"] | Annotated[int, Field(ge=1)] = Field(
        default="last_assistant",
        description="Which turns are judged where an answer is a whole conversation: the last one of the assistant, all of them, "
        "or the number of one from 1.",
        examples=["all_assistant"],
    )
    refusals: Names = Field(
        default=(),
        description="Regular expressions for the refusals of your own bot. Each is searched in the first 2,000 characters of a "
        "reply, without regard to case.",
        examples=[["transfer you to a colleague"]],
    )
    missing: Names = Field(
        default=(),
        description="Of imported answers: what stands in the file where no answer came, besides empty cells and words such as "
        "#N/A or nan. Such a row is kept as an error.",
        examples=[["[NO_TEXT_AFTER_RETRIES]", "ERROR"]],
    )
    keys: Mapping[ItemRole, KeyPaths] = Field(
        default_factory=dict,
        description="Of `items` in JSON: which key of an item holds its `name`, its `price` and its `category`; a dotted path "
        "leads into nested objects and lists. Common words of many languages are known without it.",
        examples=[{"name": "titel", "price": "preis_eur", "category": "sparte"}],
    )
    prices: PriceForm | None = Field(
        default=None,
        description='Of `items`: whether prices are `levels` or `amounts` of money (349, "349 €", "EUR 1.299,00"). Amounts get '
        "levels of equal size over all answers of a run: with 4 `levels`, the cheapest quarter is level 1. Levels if absent.",
        examples=["amounts"],
    )
    _has_catalogue: bool = PrivateAttr(default=False)

    @property
    def item_rules(self) -> ItemRules:
        """How the items of an answer are read; where a catalogue states the levels, amounts are no problem."""
        prices = self.prices or ("levels" if self._has_catalogue else None)
        keys = {role: tuple(map(parse_key_path, paths)) for role, paths in self.keys.items()}
        return ItemRules(self.levels, prices, keys)

    def classify(
        self,
        text: str | None,
        finish_reason: str | None = None,
        candidates: Sequence[str] = (),
        *,
        reasoning: str | None = None,
        subject: str | None = None,
        options: Mapping[str, str] | None = None,
        decimal: Literal[".", ","] | None = None,
        currency: str | None = None,
    ) -> replies.Answer:
        """Read a reply.

        Args:
            text: the reply, or None where nothing came back.
            finish_reason: why the endpoint stopped, where it says so.
            candidates: the names in a prompt that asks for a ranking, in the order shown.
            reasoning: the model's reasoning where the service sent it apart from the answer.
            subject: what the question is about, by which its own options are found.
            options: the question's own options, where they are known from the file of answers.
            decimal, currency: the decimal separator and the currency of the file's whole column.
        """
        if text is not None and self.kind in DECISIONS:
            # Labels and names are composed as a spec is read, and compared as characters.
            text = composed(text)
        return replies.classify(
            text,
            self.kind,
            self.max_characters,
            finish_reason,
            k=self.k,
            labels=self.labels,
            minimum=self.minimum or 0.0,
            maximum=self.maximum or 0.0,
            candidates=candidates,
            items=self.item_rules if self.kind == "items" else None,
            refusals=self.refusals,
            turns=self.turns,
            reasoning=reasoning,
            key=self.key,
            pattern=self.pattern,
            options=options or self.options.get(subject or ""),
            rescale=self.rescale,
            points=self.points,
            decimal=self.decimal or decimal,
            currency=self.currency or currency,
            per=self.per,
        )

    def how_it_is_read(self) -> dict[str, Any]:
        """Return the keys that say how an answer is read, as plain data; keys with their default are left out."""
        return self.model_dump(mode="json", exclude_defaults=True, exclude=_ASKED_KEYS)

    def expected(self, written: str) -> str:
        """Return the right answer to a question in the form in which answers are kept.

        Raises:
            ValueError: it could never be answered; the message says why.
        """
        if self.kind == "label":
            listed = {label.casefold(): label for label in self.labels}
            if written.casefold() not in listed:
                raise ValueError(f"which is none of the labels{did_you_mean(written, self.labels)}")
            return listed[written.casefold()]
        if self.kind == "score":
            number = read_score(written, self.minimum or 0.0, self.maximum or 0.0, points=self.points)
            if number.value is None:
                raise ValueError(f"which is no number from {self.minimum:g} to {self.maximum:g}")
            return number.value
        return written


class Variant(Section):
    """A mitigation asked beside the plain audit: text around the prompt, another system prompt, or masked slots."""

    prefix: Text | None = Field(
        default=None, description="Text before every prompt.", examples=["Judge qualifications alone.\n\n"]
    )
    suffix: Text | None = Field(
        default=None,
        description="Text after every prompt.",
        examples=[" Provide equitable recommendations regardless of demographics."],
    )
    system_prompt: NonBlank | None = Field(
        default=None,
        description="The system prompt in place of the audit's.",
        examples=["You treat all people alike."],
    )
    mask: Mapping[str, Text | None] | None = Field(
        default=None,
        description='What stands in place of each slot that tells a group: a neutral word, `""` for nothing, or null to leave '
        "the slot as it is. Every such slot of the templates is named.",
        examples=[{"race": "", "gender": "person"}],
    )


def wordings_of(template: Template, attributes: Mapping[str, Attribute]) -> int:
    """Return in how many wordings a template asks about the same groups: of the groups with the fewest carriers."""
    counts = [
        min(len(listed) for listed in attributes[name].carriers(template.wording).values())
        for name in template.slots
        if name in attributes
    ]
    return max(counts, default=1) if template.paired else math.prod(counts)


def split_crossed(crossed: str) -> list[str]:
    """Return ["race", "gender"] for "race * gender"."""
    return [name.strip() for name in crossed.split("*")]
