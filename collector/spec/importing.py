"""The `import` part of an audit spec: which column of a file of existing answers holds what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator

from collector.validation import Names, NonBlank, Section, spec_key

ImportFormat = Literal["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "inspect", "promptfoo", "lm_eval"]


Column = NonBlank | None


class Columns(Section):
    """The columns of an imported file; the value of each key is a column's name.

    In wide form each attribute has a column (`attributes`); in long form a row names one condition (`attribute`, `value`).
    Rankings have a row for each candidate, items one for each item, or for `count` of them; neither has `text`.
    """

    text: Column = spec_key(
        "The answer. In any column, `response.score` is a key inside JSON, `turns[0].text` an element of a list.",
        "answer",
        default=None,
    )
    prompt: Column = spec_key("The question.", "prompt", default=None)
    system_prompt: Column = spec_key("Its system prompt.", "system", default=None)
    finish_reason: Column = spec_key("Why the model stopped. With `text`.", "finish_reason", default=None)
    reasoning: Column = spec_key(
        "The model's reasoning, stored but not judged. With `text`.", "reasoning_content", default=None
    )
    error: Column = spec_key(
        "Why the call failed, or empty. A content filter's message is a refusal, any other a failed call. "
        "With `text`.",
        "error",
        default=None,
    )
    template: Column = spec_key(
        "The wording of the question; if absent, all rows have one template.", "template_id", default=None
    )
    subject: Column = spec_key(
        "The subject, which shows the rows about the same resume or person. Needed for labels, scores and "
        "rankings.",
        "resume_id",
        default=None,
    )
    domain: Column = spec_key("The kind of subject; each is judged on its own.", "job", default=None)
    cluster: Column = spec_key(
        "Rows that belong together, such as those of a conversation or customer. Their answers are resampled "
        "and permuted together.",
        "conversation_id",
        default=None,
    )
    block: Column = spec_key(
        "Rows that were made alike, such as those of a judge, an annotator or a day. Groups are compared inside "
        "each block.",
        "judge",
        default=None,
    )
    trial: Column = spec_key(
        "The number of the repetition, a whole number; if absent, a prompt's rows are numbered in order.",
        "trial",
        default=None,
    )
    attempt: Column = spec_key(
        "The number of the attempt at a trial, from 1. The first shows whom the model refuses, the last is "
        "analysed. With `text`.",
        "attempt",
        default=None,
    )
    expected: Column = spec_key("The right label or score.", "true_level", default=None)
    order: Column = spec_key(
        "A number that orders the rows; if absent, the file's order counts.", "row_id", default=None
    )
    weight: Column = spec_key("The number of answers in a row, above 0.", "n", default=None)
    model: Column = spec_key("The model that answered.", "model", default=None)
    attribute: Column = spec_key(
        "Long form: the attribute of a row. A row without one is neutral.", "attribute", default=None
    )
    value: Column = spec_key("Long form: the group, or its descriptor.", "value", default=None)
    descriptor: Column = spec_key(
        "The name that states all attributes of a row, such as a first name.", "first_name", default=None
    )
    response: Column = spec_key(
        "Rankings and items: which rows are one answer. If absent, all items of a prompt are.",
        "run",
        default=None,
    )
    slot: Column = spec_key(
        "Rankings: the place at which a candidate was shown, from 1.", "position", default=None
    )
    rank: Column = spec_key("Rankings: the place given to a candidate; 1 is best.", "rank", default=None)
    missing: Column = spec_key(
        "Rankings: 1 if the answer does not name the candidate, else 0.", "missing", default=None
    )
    item: Column = spec_key("Items: the name.", "restaurant", default=None)
    price: Column = spec_key(
        "Items: the price level as a number or $ signs, or an amount of money (`answer.prices`).",
        "price",
        default=None,
    )
    category: Column = spec_key(
        "Items: categories, separated by comma or slash. Without `item` and `price`, a row is one category.",
        "cuisine",
        default=None,
    )
    count: Column = spec_key("Items: the number of items in a row.", "n", default=None)
    attributes: Mapping[str, NonBlank] = spec_key(
        "Wide form: attribute → column of its groups. Attributes that share a column need `values`.",
        {"race": "race", "gender": "sex"},
        default_factory=dict,
    )
    descriptors: Mapping[str, NonBlank] = spec_key(
        "Attribute → column of the descriptor that states it, such as a first name.",
        {"gender": "first_name"},
        default_factory=dict,
    )
    texts: Mapping[str, NonBlank] = spec_key(
        "In place of `text`: group of the attribute that `attributes` leaves out → column of its answers, "
        '`""` for the answer about no group.',
        {"male": "male_response", "female": "female_response"},
        default_factory=dict,
    )
    scores: Mapping[NonBlank, NonBlank] = spec_key(
        "Labels that answers already have: scorer → column.", {"human": "regard"}, default_factory=dict
    )

    def attribute_of_texts(self, attributes: Iterable[str]) -> str | None:
        """Return the attribute whose groups `texts` names; None without `texts`, or where there is not one alone left."""
        left = [name for name in attributes if name not in self.attributes] if self.texts else []
        return left[0] if len(left) == 1 else None

    @property
    def has_replies(self) -> bool:
        """Return whether a row holds an answer as text; else an answer is put together from several rows."""
        return self.text is not None or bool(self.texts)

    @property
    def counts_categories(self) -> bool:
        """Return whether a row is a category of an answer, so that the file does not distinguish items."""
        return self.category is not None and self.item is None and self.price is None


class ConditionValue(Section):
    """The meaning of a value in a file of long form."""

    group: NonBlank = spec_key("Its group.", "African")
    perturbation: NonBlank | None = spec_key("How it is misspelt or reworded.", "typo_drop", default=None)
    language: NonBlank | None = spec_key("Its language.", "fr", default=None)


class Condition(Section):
    """The meaning of a condition in a file of long form; what is left out is as the file says."""

    neutral: bool = spec_key("Such rows name no group.", True, default=False)
    attribute: NonBlank | None = spec_key("The audit's attribute.", "continent", default=None)
    perturbation: NonBlank | None = spec_key(
        "How its values are misspelt or reworded.", "typo_swap", default=None
    )
    language: NonBlank | None = spec_key("The language of its questions; `en` if absent.", "fr", default=None)
    values: Mapping[
        str,
        Annotated[
            ConditionValue,
            BeforeValidator(
                lambda value: {"group": value} if isinstance(value, str) else value,
                json_schema_input_type=NonBlank | ConditionValue,
            ),
        ],
    ] = spec_key(
        "Value → group, or → group with a perturbation and language of its own.",
        {"un Africain": "African", "an Afrian": {"group": "African", "perturbation": "typo_drop"}},
        default_factory=dict,
    )


class Import(Section):
    """How existing answers are read: `biasledger import AUDIT.yml FILE`."""

    format: ImportFormat | None = spec_key(
        "The file's format; if absent, detected from ending and content.", "jsonl", default=None
    )
    table: NonBlank | None = spec_key(
        "The sheet of a workbook (default: the first), or the split of a dataset's folder. `--sheet` and "
        "`--split` override it.",
        "answers",
        default=None,
    )
    encoding: NonBlank | None = spec_key(
        "The encoding of CSV, TSV or JSON that is not UTF-8. `--encoding` overrides it.",
        "cp1252",
        default=None,
    )
    language: NonBlank | None = spec_key(
        "The language of the questions, where no condition states another; `en` if absent. Forms of address, "
        "hedges and reading ease follow it.",
        "zh",
        default=None,
    )
    duplicates: Literal["drop"] | None = spec_key(
        "Leave out rows that repeat an earlier one in every column read. Otherwise they are further answers.",
        "drop",
        default=None,
    )
    split: Literal["model"] | None = spec_key(
        "Make a run for each model in the column `model`.", "model", default=None
    )
    columns: Columns = spec_key(
        "The columns of the file.",
        {"text": "answer", "prompt": "prompt", "attributes": {"gender": "sex"}},
    )
    keep: Names = spec_key(
        "Columns of the file that become columns of `dim_source_rows`, under their own names, as numbers, "
        "dates or times where all of their cells are such.",
        ["date", "row_id", "version"],
        default=(),
    )
    values: Mapping[str, Mapping[str, NonBlank | None]] = spec_key(
        "The file's words for groups: attribute → word → group. Groups' names and descriptors need no entry. "
        'null: the row names no group; `""`: an empty cell, or one with #N/A, nan and the like.',
        {"gender": {"f": "female", "m": "male", "": None}},
        default_factory=dict,
    )
    score_labels: Mapping[str, NonBlank] = spec_key(
        "The labels in the columns of `scores`: word in the file → label.",
        {"-1": "negative", "0": "neutral", "1": "positive"},
        default_factory=dict,
    )
    conditions: Mapping[str, Condition] = spec_key(
        "Long form: the meaning of words in the column `attribute` that are no attribute's name.",
        {
            "baseline": {"neutral": True},
            "french": {"attribute": "continent", "language": "fr", "values": {"un Africain": "African"}},
        },
        default_factory=dict,
    )
