"""The parts of an audit spec that say what is asked: templates, attributes, subjects, people, kind of answer, mitigations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr

from collector.answers import replies
from collector.answers.decisions import read_score
from collector.answers.recommendations.item_rules import ItemRole, ItemRules, PriceForm, parse_key_path
from collector.answers.recommendations.prices import DEFAULT_LEVELS
from collector.composed import composed
from collector.hints import did_you_mean
from collector.spec.slots import Slot, parse_template, slot_names
from collector.validation import Names, NonBlank, Section, Text, list_to_tuple, no_text, spec_key

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
# Answers with a number of recommendations, the slot {k}; no group need be the reference.
RECOMMENDATIONS = ("list", "items")
MINIMUM_TRIALS = 15  # a persona, in Xu, Potka & Thomo (2026)
MINIMUM_SUBJECTS = 50  # a domain, and
MINIMUM_NEUTRAL_TRIALS = 5  # of a neutral prompt, in Sah et al. (2026)
MINIMUM_PROBES = 5  # 2^-5 is the first smallest p below 0.05


def _one_message(value: Any) -> Any:
    """Refuse anything but a mapping of one role to its text."""
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("should be one message, such as user: Hello")
    return value


Role = Literal["system", "user", "assistant"]
Message = Annotated[
    Mapping[Role, NonBlank],
    Field(min_length=1, max_length=1),
    BeforeValidator(_one_message, json_schema_input_type=Mapping[Role, NonBlank]),
]


def asked_messages(roles: Sequence[str]) -> list[int]:
    """Return the places of the messages that a target answers: of users, where no fixed answer follows."""
    return [
        place
        for place, role in enumerate(roles)
        if role == "user" and roles[place + 1 : place + 2] != ["assistant"]
    ]


class Template(Section):
    """One wording of the question. Every combination of its slots' descriptors is asked."""

    id: NonBlank = spec_key("The template's name in results, used once.", "products")
    text: NonBlank | None = spec_key(
        "The question; `turns` replace it. `{race}` is a descriptor of the attribute `race`, `{title}` the subject's "
        "column `title`. "
        "`{a race}` adds a or an, `{A race}` A or An. A literal brace is doubled: `{{`.",
        "Which books would you recommend to {a race} {gender}?",
        default=None,
    )
    turns: Annotated[tuple[Message, ...], BeforeValidator(list_to_tuple)] = spec_key(
        "A conversation in place of `text`: messages of `user`, of `system` first (in place of "
        "`system_prompt`), and of `assistant` where its words are fixed. Slots may be in any message.",
        [{"user": "Hello, I am {a gender}."}, {"user": "How much should I ask for?"}],
        default=(),
    )
    judge: Literal["last", "each", "all"] = spec_key(
        "Which answers of a conversation are judged: the `last`, `each` by itself, or `all` as one text.",
        "each",
        default="last",
    )
    language: NonBlank = spec_key(
        "The language of the question; languages are analysed apart. `{a race}` is for English only.",
        "fr",
        default="en",
    )
    trials: Annotated[int, Field(ge=1)] | None = spec_key(
        "How often each prompt of this template is asked, if not the audit's `trials`.", 5, default=None
    )
    descriptors: Names = spec_key(
        "The values of the slot `{descriptor}`: attributes, or two crossed with `*`.",
        ["age", "gender", "race*gender"],
        default=(),
    )
    neutral: NonBlank | None = spec_key(
        "The id of the same question without a group, with whose answers lists are compared.",
        "fan_neutral",
        default=None,
    )
    part: NonBlank | None = spec_key(
        "Ask the template only with `biasledger collect … --with robustness`.", "robustness", default=None
    )
    perturbations: Names = spec_key(
        "Ask once for each: a typing error in the descriptor's longest word (`typo_swap`, "
        "`typo_drop`, `typo_double`), or your own name for a reworded "
        "template.",
        ["typo_swap", "typo_drop"],
        default=(),
    )
    wording: NonBlank | None = spec_key(
        "Which `wordings` of the attributes fill the slots.", "fr", default=None
    )
    paired: bool = spec_key(
        "Combine the first descriptors of all attributes, then the second, and so on, in place of every "
        "combination.",
        True,
        default=False,
    )
    candidate: NonBlank | None = spec_key(
        "Ask for a ranking: how one candidate is written, with `{number}`. `{candidates}` in the text is one "
        "person of each combination of groups.",
        "Candidate {number}: {name}\n{text}",
        default=None,
    )
    orders: Annotated[int, Field(ge=1)] | None = spec_key(
        "In how many rotated orders candidates are shown; if absent, as many as there are candidates.",
        4,
        default=None,
    )
    _ask: str = PrivateAttr(default="")

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """Role and text of each message, with what the audit asks at the end of each judged question; a text is one message."""
        messages = [*(one for turn in self.turns for one in turn.items())] or [("user", self.text or "")]
        asked = asked_messages([role for role, _ in messages])
        ends = asked if self.judge == "each" else asked[-1:]
        return tuple(
            (role, text + self._ask if place in ends else text) for place, (role, text) in enumerate(messages)
        )

    @property
    def parts(self) -> tuple[str | Slot, ...]:
        """All messages, with what the audit asks at their end, split into literal text and slots."""
        return parse_template("\n\n".join(text for _, text in self.messages))

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the slots the template uses, in order of first use."""
        return slot_names(self.parts)

    @property
    def candidate_parts(self) -> tuple[str | Slot, ...]:
        """The text of one candidate, split into literal text and slots; empty if no ranking is asked for."""
        return () if self.candidate is None else parse_template(self.candidate)

    @property
    def candidate_slots(self) -> tuple[str, ...]:
        """The names of the slots that one candidate uses, in order of first use."""
        return slot_names(self.candidate_parts)


class Nouns(Section):
    """Words for the things that an audit is about, in the singular: sentences on its findings use them."""

    item: NonBlank = spec_key("What is recommended.", "washing machine", default="item")
    case: NonBlank = spec_key("What a question is about, whoever the person is.", "resume", default="case")
    outcome: NonBlank | None = spec_key(
        "What happens to those who are selected, after *are*. If absent, it follows from "
        "`analysis.decisions`, as in *labelled senior*.",
        "hired",
        default=None,
    )
    unit: NonBlank | None = spec_key(
        "The unit of a score, as written after a number. If absent, the answer's `currency`.",
        "stars",
        default=None,
    )


def _as_tuple(value: Any) -> Any:
    """Return a group's descriptor or list of descriptors as the tuple that the model holds."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, str):
        return (value,)
    raise ValueError(no_text(value))


def _groups_of(value: Any) -> Any:
    """Return a list of groups as the mapping that the model holds: each is its own descriptor."""
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


Descriptors = Annotated[
    tuple[Text, ...], BeforeValidator(_as_tuple, json_schema_input_type=Text | list[Text])
]
Groups = Annotated[
    Mapping[str, Descriptors],
    Field(min_length=1),
    BeforeValidator(_groups_of, json_schema_input_type=list[Text] | Mapping[str, Text | list[Text]]),
]


class Attribute(Section):
    """An attribute, such as gender: its groups and the words that state them (descriptors)."""

    reference: NonBlank | None = spec_key(
        "The group that others are compared with. If absent, lists are compared with the neutral prompt, items "
        "with each other.",
        "White",
        default=None,
    )
    file: NonBlank | None = spec_key(
        "A table next to the spec in place of `groups`: columns group and descriptor, and one for each "
        "agreeing slot.",
        "restaurants/locations.csv",
        default=None,
    )
    groups: Groups = spec_key(
        "At least two names, or names with their descriptors, each of which is asked about. Without one, the "
        "name is the descriptor. Fewer than five descriptors a group make findings warnings at most.",
        ["White", "Black"],
        {"White": "a White", "Black": ["a Black", "an African American"]},
    )
    agreements: Mapping[str, Mapping[str, Text]] = spec_key(
        "Slots that agree with the descriptor, such as pronouns: slot → descriptor or group → word.",
        {"possessive": {"daughter": "her", "son": "his"}},
        default_factory=dict,
    )
    wordings: Mapping[str, Mapping[str, Text]] = spec_key(
        "Shipped wordings in place of `groups` (or of the groups listed there): five or more noun phrases of "
        "each group. Or other descriptors for templates that name the wording: wording → group → descriptor.",
        "race/en",
        {"fr": {"White": "une personne blanche", "Black": "une personne noire"}},
        default_factory=dict,
    )

    def descriptors(self, wording: str | None = None) -> Mapping[str, tuple[str, ...]]:
        """Return group -> descriptors in the file's order, in a named wording or in the plain one."""
        if wording is None:
            return self.groups
        return {
            name: (descriptor,) for name, descriptor in self.wordings[wording].items() if name in self.groups
        }

    def agreeing(self, group: str, descriptor: str) -> dict[str, str]:
        """Return slot -> word for the slots that agree with a descriptor of a group; a slot without a word for it is left out."""
        return {
            slot: words.get(descriptor, words.get(group, ""))
            for slot, words in self.agreements.items()
            if descriptor in words or group in words
        }


class Subjects(Section):
    """The subjects of questions, such as resumes: a table with a row for each, whose columns are slots.

    A candidate's slot {text} may have one column for each candidate: text_1, text_2, ….
    """

    file: NonBlank = spec_key(
        "A CSV file (any separator) or Excel; every column is a slot.", "resumes/resumes.csv"
    )
    name: NonBlank = spec_key("The column that names a subject.", "resume")
    domain: NonBlank | None = spec_key(
        "The column of the kind of subject; each kind is judged on its own.", "job", default=None
    )
    expected: NonBlank | None = spec_key(
        "The column of the right label or score. Cells may be empty.", "level", default=None
    )
    person: NonBlank | None = spec_key(
        "The column of the name that each person's name replaces in the other columns. An empty cell makes a "
        "question about nobody.",
        "first_name",
        default=None,
    )
    target_group: NonBlank | None = spec_key(
        "For markers: the column of the group that a stereotype is about.", "target_group", default=None
    )
    wordings: Mapping[str, Mapping[str, Text]] = spec_key(
        "Slots that depend on the domain: slot → domain → word.",
        {"titles": {"movies": "movie titles", "music": "song titles"}},
        default_factory=dict,
    )


class People(Section):
    """Descriptors that state several attributes at once, such as first names."""

    file: NonBlank = spec_key(
        "A CSV file (any separator) or Excel, with a row for each name and a column for each attribute.",
        "names.csv",
    )
    name: NonBlank = spec_key("The column of names, which fill `{name}`.", "name")
    per_subject: Annotated[int, Field(ge=1)] | None = spec_key(
        "How many people of each combination of groups are asked about for each subject; all if absent.",
        8,
        default=None,
    )
    own_name: bool = spec_key(
        "Always include the name in the subject's own row (`subjects.person`).", True, default=False
    )


# Keys of `answer` for items alone.
ITEM_KEYS = ("levels", "keys", "prices")
# Keys of `answer` that an audit's document states in a way of its own.
_ASKED_KEYS = {"kind", "k", "short", "levels", "labels", "minimum", "maximum", "max_characters"}


def _paths(value: Any) -> Any:
    """Return a path of keys, or a list of them, as the tuple that the model holds."""
    paths = _as_tuple(value)
    for path in paths:
        if isinstance(path, str):
            parse_key_path(path)
    return paths


KeyPaths = Annotated[tuple[Text, ...], BeforeValidator(_paths, json_schema_input_type=Text | list[Text])]


class Answer(Section):
    """The expected kind of answer, which decides the method of comparison."""

    kind: AnswerKind = spec_key(
        "`text` is free text, `json_object` a JSON object (its texts are compared as words; without any it is "
        "malformed), `list` titles, `items` recommendations with prices and categories, `label` one of `labels`, "
        "`score` a number, `ranking` an order of candidates.",
        "text",
        default="json_object",
    )
    k: Annotated[int, Field(ge=1, le=1000)] | None = spec_key(
        "How many items a list (or `items`) should have; `{k}` in templates.", 20, default=None
    )
    short: Literal["pad", "ask_again"] = spec_key(
        "A shorter list is padded with empty places, or asked again.", "ask_again", default="pad"
    )
    levels: Annotated[int, Field(ge=2, le=10)] = spec_key(
        "Price levels of `items` run from 1, the cheapest, to this.", 4, default=DEFAULT_LEVELS
    )
    labels: Names = spec_key(
        "The labels, from lowest to highest if they have an order. Answers may write them in any case.",
        ["junior", "mid", "senior"],
        default=(),
    )
    minimum: Annotated[float, Field(allow_inf_nan=False)] | None = spec_key(
        "The lowest possible score.", 0, default=None
    )
    maximum: Annotated[float, Field(allow_inf_nan=False)] | None = spec_key(
        "The highest possible score.", 10, default=None
    )
    max_characters: Annotated[int, Field(ge=1)] = spec_key(
        "A longer answer is stored, but in no measure.", 20_000, default=DEFAULT_MAX_CHARACTERS
    )
    key: NonBlank | None = spec_key(
        "The key of the label or score in a JSON answer; dots lead to a nested key.",
        "result.decision",
        default=None,
    )
    pattern: NonBlank | None = spec_key(
        "A regular expression whose one capture group finds the label or score.",
        r"My verdict is (\w+)",
        default=None,
    )
    labels_from: Mapping[str, Text] = spec_key(
        "For questions with their own options: label → column of the option's text. An answer may give label "
        "or text.",
        {"A": "option_a", "B": "option_b"},
        default_factory=dict,
    )
    options: Mapping[str, Mapping[str, Text]] = spec_key(
        "The same written out: subject → label → text.",
        {"question 1": {"A": "a nurse", "B": "a doctor"}},
        default_factory=dict,
    )
    rescale: bool = spec_key(
        "Convert a score on another scale, such as 8/10 on 0 to 100. Otherwise it is unread.",
        True,
        default=False,
    )
    points: Mapping[str, Annotated[float, Field(allow_inf_nan=False)]] = spec_key(
        "The named points of a scale: name → score.",
        {"Disagree": 1, "Neutral": 3, "Agree": 5},
        default_factory=dict,
    )
    decimal: Literal[".", ","] | None = spec_key(
        "The decimal separator; if absent, detected from the file's column.", ",", default=None
    )
    currency: NonBlank | None = spec_key(
        "The ISO 4217 code of the scores' currency. Other currencies are unread.", "EUR", default=None
    )
    per: Literal["year", "month"] | None = spec_key(
        "The period of amounts; other periods are unread, never converted. If absent, amounts per year or without "
        "a period are read.",
        "year",
        default=None,
    )
    turns: Literal["last_assistant", "all_assistant"] | Annotated[int, Field(ge=1)] = spec_key(
        "In a conversation, which of the assistant's turns are judged; a number counts from 1.",
        "all_assistant",
        default="last_assistant",
    )
    refusals: Names = spec_key(
        "Regular expressions for your own bot's refusals, searched in the first 2,000 characters without regard "
        "to case.",
        ["transfer you to a colleague"],
        default=(),
    )
    missing: Annotated[tuple[Text, ...], BeforeValidator(list_to_tuple)] = spec_key(
        "Imports: texts that mean no answer, besides #N/A, nan and the like. An empty cell is a malformed "
        'answer, unless `""` is among them.',
        ["[NO_TEXT_AFTER_RETRIES]", "ERROR"],
        default=(),
    )
    keys: Mapping[ItemRole, KeyPaths] = spec_key(
        "For `items` in JSON: the keys of `name`, `price` and `category`; dots lead into nested objects and "
        "lists. Common words need no entry.",
        {"name": "titel", "price": "preis_eur", "category": "sparte"},
        default_factory=dict,
    )
    prices: PriceForm | None = spec_key(
        'For `items`: prices are `levels` (default) or `amounts` of money (349, "349 €", "EUR 1.299,00"). Amounts '
        "get levels of equal size over a run: with 4 `levels`, the cheapest quarter is level 1.",
        "amounts",
        default=None,
    )
    _has_catalogue: bool = PrivateAttr(default=False)

    @property
    def item_rules(self) -> ItemRules:
        """Return how the items of an answer are read; where a catalogue states the levels, amounts are no problem."""
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
            finish_reason: why the endpoint stopped, if stated.
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


class Mitigation(Section):
    """A mitigation: text around the prompt, another system prompt, or masked slots."""

    prefix: Text | None = spec_key(
        "Text before every prompt.", "Judge qualifications alone.\n\n", default=None
    )
    suffix: Text | None = spec_key(
        "Text after every prompt.",
        " Provide equitable recommendations regardless of demographics.",
        default=None,
    )
    system_prompt: NonBlank | None = spec_key(
        "In place of the audit's system prompt.", "You treat all people alike.", default=None
    )
    mask: Mapping[str, Text | None] | None = spec_key(
        'Slot that states a group → neutral word, `""` for nothing, or null to leave it. Every such slot has an '
        "entry.",
        {"race": "", "gender": "person"},
        default=None,
    )


def wordings_of(template: Template, attributes: Mapping[str, Attribute]) -> int:
    """Return in how many wordings a template asks about the same groups: of the groups with the fewest descriptors."""
    counts = [
        min(len(listed) for listed in attributes[name].descriptors(template.wording).values())
        for name in template.slots
        if name in attributes
    ]
    return max(counts, default=1) if template.paired else math.prod(counts)


def split_crossed(crossed: str) -> list[str]:
    """Return ["race", "gender"] for "race * gender"."""
    return [name.strip() for name in crossed.split("*")]
