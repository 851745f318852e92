"""The `import` part of an audit spec: which column of a file of existing answers holds what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from collector.validation import NonBlank, Section

ImportFormat = Literal["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "inspect", "promptfoo", "lm_eval"]


class Columns(Section):
    """Which column of an imported file holds what; the value of each key is the column's name.

    Groups stand in one column an attribute (`attributes`, the wide form), or `attribute` and `value` name one condition a row
    (the long form). A file of rankings has a row for each candidate and no `text`; a file of items has a row for each item, or
    for `count` of them, and no `text` either.
    """

    text: NonBlank | None = Field(
        default=None,
        description="The answer as it was written. Of this and every other column, `response.score` is a key inside JSON, and "
        "`turns[0].text` goes into a list.",
        examples=["answer"],
    )
    prompt: NonBlank | None = Field(default=None, description="What was asked.", examples=["prompt"])
    system_prompt: NonBlank | None = Field(
        default=None, description="The system prompt that it was asked with.", examples=["system"]
    )
    finish_reason: NonBlank | None = Field(
        default=None,
        description="Why the model stopped, which tells a filtered answer or one that was cut off. Beside `text`.",
        examples=["finish_reason"],
    )
    reasoning: NonBlank | None = Field(
        default=None,
        description="The model's reasoning, which is kept and not judged. Beside `text`.",
        examples=["reasoning_content"],
    )
    error: NonBlank | None = Field(
        default=None,
        description="Why the call failed, empty where it did not. A message of a content filter is a refusal, any other one a "
        "failed call, even where `text` holds something. Beside `text`.",
        examples=["error"],
    )
    template: NonBlank | None = Field(
        default=None,
        description="Which wording of the question a row answers; all rows are of one template if absent.",
        examples=["template_id"],
    )
    subject: NonBlank | None = Field(
        default=None,
        description="What the question is about. Labels, scores and rankings need it: it tells which rows are about the same "
        "resume, or person.",
        examples=["resume_id"],
    )
    domain: NonBlank | None = Field(
        default=None, description="The kind of subject, each of which is judged on its own.", examples=["job"]
    )
    trial: NonBlank | None = Field(
        default=None,
        description="The number of the repetition, a whole number; rows of a prompt are numbered in order if absent.",
        examples=["trial"],
    )
    attempt: NonBlank | None = Field(
        default=None,
        description="The number of the attempt at a trial, a whole number from 1. The first one tells whom the model refuses; "
        "the text of the last one is analysed. Without `trial`, each attempt has to follow the one before it. Beside `text`.",
        examples=["attempt"],
    )
    expected: NonBlank | None = Field(
        default=None, description="The right answer, for labels and scores.", examples=["true_level"]
    )
    order: NonBlank | None = Field(
        default=None,
        description="A number by which the rows are ordered; they stand in the file's order if absent.",
        examples=["row_id"],
    )
    weight: NonBlank | None = Field(
        default=None, description="How many answers a row stands for, a number above 0.", examples=["n"]
    )
    model: NonBlank | None = Field(default=None, description="The model that answered.", examples=["model"])
    attribute: NonBlank | None = Field(
        default=None,
        description="In long form, the attribute that a row names a group of. A row without one is neutral.",
        examples=["attribute"],
    )
    value: NonBlank | None = Field(
        default=None,
        description="In long form, the group of that attribute, or its carrier.",
        examples=["value"],
    )
    carrier: NonBlank | None = Field(
        default=None,
        description="The name that states all attributes of a row, such as a first name.",
        examples=["first_name"],
    )
    response: NonBlank | None = Field(
        default=None,
        description="Of rankings and items: which rows are one answer. Of items, all rows of a prompt are one if absent.",
        examples=["run"],
    )
    slot: NonBlank | None = Field(
        default=None,
        description="Of rankings: the place at which a candidate was shown, from 1.",
        examples=["position"],
    )
    rank: NonBlank | None = Field(
        default=None,
        description="Of rankings: the place that a candidate was given; 1 is best.",
        examples=["rank"],
    )
    missing: NonBlank | None = Field(
        default=None,
        description="Of rankings: 1 where the answer does not name the candidate, else 0.",
        examples=["missing"],
    )
    item: NonBlank | None = Field(
        default=None, description="Of items: the item's name.", examples=["restaurant"]
    )
    price: NonBlank | None = Field(
        default=None,
        description="Of items: the price level, a number or as many $ signs; or the amount of money (`answer.prices`).",
        examples=["price"],
    )
    category: NonBlank | None = Field(
        default=None,
        description="Of items: the categories, separated by comma or slash. Without `item` and `price`, a row is one category of "
        "an answer.",
        examples=["cuisine"],
    )
    count: NonBlank | None = Field(
        default=None, description="Of items: how many of them a row stands for.", examples=["n"]
    )
    attributes: Mapping[str, NonBlank] = Field(
        default_factory=dict,
        description="In wide form, the column that holds each attribute's group: attribute → column. Two attributes may share a "
        "column; `values` then says what each of its words means.",
        examples=[{"race": "race", "gender": "sex"}],
    )
    carriers: Mapping[str, NonBlank] = Field(
        default_factory=dict,
        description="The column of what states one attribute each, such as the first name the gender: attribute → column.",
        examples=[{"gender": "first_name"}],
    )
    texts: Mapping[str, NonBlank] = Field(
        default_factory=dict,
        description="In place of `text`, a column of answers for each group of the attribute that `attributes` leaves out: group "
        '→ column, `""` for the answer that names no group. A row is then one answer for each of them, about the same subject.',
        examples=[{"male": "male_response", "female": "female_response"}],
    )
    scores: Mapping[NonBlank, NonBlank] = Field(
        default_factory=dict,
        description="Columns of labels that answers have already, from people or classifiers: scorer → column.",
        examples=[{"human": "regard"}],
    )

    def attribute_of_texts(self, attributes: Iterable[str]) -> str | None:
        """Return the attribute whose groups `texts` names; None without `texts`, or where there is not one alone left."""
        left = [name for name in attributes if name not in self.attributes] if self.texts else []
        return left[0] if len(left) == 1 else None

    @property
    def counts_categories(self) -> bool:
        """Whether a row is a category of an answer, so that the file does not tell items apart."""
        return self.category is not None and self.item is None and self.price is None


class ConditionValue(Section):
    """What a value in a file of long form means."""

    group: NonBlank = Field(description="The group that the value names.", examples=["African"])
    perturbation: NonBlank | None = Field(
        default=None, description="How it is misspelt or worded otherwise.", examples=["typo_drop"]
    )
    language: NonBlank | None = Field(default=None, description="The language it is in.", examples=["fr"])


class Condition(Section):
    """What an attribute named in a file of long form means; what is left out is as the file says."""

    neutral: bool = Field(
        default=False, description="Such rows name no group: they are neutral.", examples=[True]
    )
    attribute: NonBlank | None = Field(
        default=None, description="The audit's attribute that is meant.", examples=["continent"]
    )
    perturbation: NonBlank | None = Field(
        default=None, description="How its values are misspelt or worded otherwise.", examples=["typo_swap"]
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
        description="What its values mean: value → group, or → group with a perturbation and a language of its own.",
        examples=[{"un Africain": "African", "an Afrian": {"group": "African", "perturbation": "typo_drop"}}],
    )


class Import(Section):
    """How answers that already exist are read from a file: `biasledger import AUDIT.yml FILE`."""

    format: ImportFormat | None = Field(
        default=None,
        description="The file's format; told by its ending and content if absent.",
        examples=["jsonl"],
    )
    table: NonBlank | None = Field(
        default=None,
        description="Which sheet of a workbook, or which split of a dataset's folder; the first sheet, or the one split, if "
        "absent. `--sheet` and `--split` go before it.",
        examples=["answers"],
    )
    encoding: NonBlank | None = Field(
        default=None,
        description="The encoding of CSV, TSV or JSON that is not UTF-8. `--encoding` goes before it.",
        examples=["cp1252"],
    )
    duplicates: Literal["drop"] | None = Field(
        default=None,
        description="`drop` leaves out rows that repeat an earlier one in every column that is read. Without it they are further "
        "answers.",
        examples=["drop"],
    )
    split: Literal["model"] | None = Field(
        default=None,
        description="`model` makes a run for each model that the column `model` names.",
        examples=["model"],
    )
    columns: Columns = Field(
        description="Which column holds what.",
        examples=[{"text": "answer", "prompt": "prompt", "attributes": {"gender": "sex"}}],
    )
    values: Mapping[str, Mapping[str, NonBlank | None]] = Field(
        default_factory=dict,
        description="What the file calls the groups: attribute → word in the file → group. A group's name and its carriers are "
        'understood anyway. null says that such a row names no group of the attribute; `""` is a cell that is empty, or holds '
        "what programs write in place of a value, such as #N/A or nan.",
        examples=[{"gender": {"f": "female", "m": "male", "": None}}],
    )
    score_labels: Mapping[str, NonBlank] = Field(
        default_factory=dict,
        description="What the labels in the columns of `scores` mean: word in the file → label.",
        examples=[{"-1": "negative", "0": "neutral", "1": "positive"}],
    )
    conditions: Mapping[str, Condition] = Field(
        default_factory=dict,
        description="In long form, what the words in the column `attribute` mean where they are no attribute's name.",
        examples=[
            {
                "baseline": {"neutral": True},
                "french": {"attribute": "continent", "language": "fr", "values": {"un Africain": "African"}},
            }
        ],
    )
