"""The `import` part of an audit spec: which column of a file of existing answers holds what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from collector.validation import Names, NonBlank, Section

ImportFormat = Literal["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "inspect", "promptfoo", "lm_eval"]


Column = NonBlank | None


def _column(description: str, example: str) -> Any:
    return Field(default=None, description=description, examples=[example])


class Columns(Section):
    """The columns of an imported file; the value of each key is a column's name.

    In wide form each attribute has a column (`attributes`); in long form a row names one condition (`attribute`, `value`).
    Rankings have a row for each candidate, items one for each item, or for `count` of them; neither has `text`.
    """

    text: Column = _column(
        "The answer. In any column, `response.score` is a key inside JSON, `turns[0].text` an element of a list.",
        "answer",
    )
    prompt: Column = _column("The question.", "prompt")
    system_prompt: Column = _column("Its system prompt.", "system")
    finish_reason: Column = _column("Why the model stopped. With `text`.", "finish_reason")
    reasoning: Column = _column(
        "The model's reasoning, stored but not judged. With `text`.", "reasoning_content"
    )
    error: Column = _column(
        "Why the call failed, or empty. A content filter's message is a refusal, any other a failed call. "
        "With `text`.",
        "error",
    )
    template: Column = _column(
        "The wording of the question; if absent, all rows have one template.", "template_id"
    )
    subject: Column = _column(
        "The subject, which shows the rows about the same resume or person. Needed for labels, scores and "
        "rankings.",
        "resume_id",
    )
    domain: Column = _column("The kind of subject; each is judged on its own.", "job")
    cluster: Column = _column(
        "Rows that belong together, such as those of a conversation or customer. Their answers are resampled "
        "and permuted together.",
        "conversation_id",
    )
    block: Column = _column(
        "Rows that were made alike, such as those of a judge, an annotator or a day. Groups are compared inside "
        "each block.",
        "judge",
    )
    trial: Column = _column(
        "The number of the repetition, a whole number; if absent, a prompt's rows are numbered in order.",
        "trial",
    )
    attempt: Column = _column(
        "The number of the attempt at a trial, from 1. The first shows whom the model refuses, the last is "
        "analysed. With `text`.",
        "attempt",
    )
    expected: Column = _column("The right label or score.", "true_level")
    order: Column = _column("A number that orders the rows; if absent, the file's order counts.", "row_id")
    weight: Column = _column("The number of answers in a row, above 0.", "n")
    model: Column = _column("The model that answered.", "model")
    attribute: Column = _column(
        "Long form: the attribute of a row. A row without one is neutral.", "attribute"
    )
    value: Column = _column("Long form: the group, or its descriptor.", "value")
    descriptor: Column = _column(
        "The name that states all attributes of a row, such as a first name.", "first_name"
    )
    response: Column = _column(
        "Rankings and items: which rows are one answer. If absent, all items of a prompt are.", "run"
    )
    slot: Column = _column("Rankings: the place at which a candidate was shown, from 1.", "position")
    rank: Column = _column("Rankings: the place given to a candidate; 1 is best.", "rank")
    missing: Column = _column("Rankings: 1 if the answer does not name the candidate, else 0.", "missing")
    item: Column = _column("Items: the name.", "restaurant")
    price: Column = _column(
        "Items: the price level as a number or $ signs, or an amount of money (`answer.prices`).", "price"
    )
    category: Column = _column(
        "Items: categories, separated by comma or slash. Without `item` and `price`, a row is one category.",
        "cuisine",
    )
    count: Column = _column("Items: the number of items in a row.", "n")
    attributes: Mapping[str, NonBlank] = Field(
        default_factory=dict,
        description="Wide form: attribute → column of its groups. Attributes that share a column need `values`.",
        examples=[{"race": "race", "gender": "sex"}],
    )
    descriptors: Mapping[str, NonBlank] = Field(
        default_factory=dict,
        description="Attribute → column of the descriptor that states it, such as a first name.",
        examples=[{"gender": "first_name"}],
    )
    texts: Mapping[str, NonBlank] = Field(
        default_factory=dict,
        description="In place of `text`: group of the attribute that `attributes` leaves out → column of its answers, "
        '`""` for the answer about no group.',
        examples=[{"male": "male_response", "female": "female_response"}],
    )
    scores: Mapping[NonBlank, NonBlank] = Field(
        default_factory=dict,
        description="Labels that answers already have: scorer → column.",
        examples=[{"human": "regard"}],
    )

    def attribute_of_texts(self, attributes: Iterable[str]) -> str | None:
        """Return the attribute whose groups `texts` names; None without `texts`, or where there is not one alone left."""
        left = [name for name in attributes if name not in self.attributes] if self.texts else []
        return left[0] if len(left) == 1 else None

    @property
    def counts_categories(self) -> bool:
        """Return whether a row is a category of an answer, so that the file does not distinguish items."""
        return self.category is not None and self.item is None and self.price is None


class ConditionValue(Section):
    """The meaning of a value in a file of long form."""

    group: NonBlank = Field(description="Its group.", examples=["African"])
    perturbation: NonBlank | None = Field(
        default=None, description="How it is misspelt or reworded.", examples=["typo_drop"]
    )
    language: NonBlank | None = Field(default=None, description="Its language.", examples=["fr"])


class Condition(Section):
    """The meaning of a condition in a file of long form; what is left out is as the file says."""

    neutral: bool = Field(default=False, description="Such rows name no group.", examples=[True])
    attribute: NonBlank | None = Field(
        default=None, description="The audit's attribute.", examples=["continent"]
    )
    perturbation: NonBlank | None = Field(
        default=None, description="How its values are misspelt or reworded.", examples=["typo_swap"]
    )
    language: NonBlank | None = Field(
        default=None, description="The language of its questions; `en` if absent.", examples=["fr"]
    )
    values: Mapping[
        str,
        Annotated[
            ConditionValue,
            BeforeValidator(
                lambda value: {"group": value} if isinstance(value, str) else value,
                json_schema_input_type=NonBlank | ConditionValue,
            ),
        ],
    ] = Field(
        default_factory=dict,
        description="Value → group, or → group with a perturbation and language of its own.",
        examples=[{"un Africain": "African", "an Afrian": {"group": "African", "perturbation": "typo_drop"}}],
    )


class Import(Section):
    """How existing answers are read: `biasledger import AUDIT.yml FILE`."""

    format: ImportFormat | None = Field(
        default=None,
        description="The file's format; if absent, detected from ending and content.",
        examples=["jsonl"],
    )
    table: NonBlank | None = Field(
        default=None,
        description="The sheet of a workbook (default: the first), or the split of a dataset's folder. `--sheet` and "
        "`--split` override it.",
        examples=["answers"],
    )
    encoding: NonBlank | None = Field(
        default=None,
        description="The encoding of CSV, TSV or JSON that is not UTF-8. `--encoding` overrides it.",
        examples=["cp1252"],
    )
    language: NonBlank | None = Field(
        default=None,
        description="The language of the questions, where no condition states another; `en` if absent. Forms of address, "
        "hedges and reading ease follow it.",
        examples=["zh"],
    )
    duplicates: Literal["drop"] | None = Field(
        default=None,
        description="Leave out rows that repeat an earlier one in every column read. Otherwise they are further answers.",
        examples=["drop"],
    )
    split: Literal["model"] | None = Field(
        default=None,
        description="Make a run for each model in the column `model`.",
        examples=["model"],
    )
    columns: Columns = Field(
        description="The columns of the file.",
        examples=[{"text": "answer", "prompt": "prompt", "attributes": {"gender": "sex"}}],
    )
    keep: Names = Field(
        default=(),
        description="Columns of the file that become columns of `dim_source_rows`, under their own names, as numbers, "
        "dates or times where all of their cells are such.",
        examples=[["date", "row_id", "version"]],
    )
    values: Mapping[str, Mapping[str, NonBlank | None]] = Field(
        default_factory=dict,
        description="The file's words for groups: attribute → word → group. Groups' names and descriptors need no entry. "
        'null: the row names no group; `""`: an empty cell, or one with #N/A, nan and the like.',
        examples=[{"gender": {"f": "female", "m": "male", "": None}}],
    )
    score_labels: Mapping[str, NonBlank] = Field(
        default_factory=dict,
        description="The labels in the columns of `scores`: word in the file → label.",
        examples=[{"-1": "negative", "0": "neutral", "1": "positive"}],
    )
    conditions: Mapping[str, Condition] = Field(
        default_factory=dict,
        description="Long form: the meaning of words in the column `attribute` that are no attribute's name.",
        examples=[
            {
                "baseline": {"neutral": True},
                "french": {"attribute": "continent", "language": "fr", "values": {"un Africain": "African"}},
            }
        ],
    )
