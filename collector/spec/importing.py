"""The `import` part of an audit spec: which column of a file of existing answers holds what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from collector.validation import NonBlank, Section

ImportFormat = Literal["csv", "tsv", "jsonl", "parquet", "inspect", "promptfoo", "lm_eval"]


class Columns(Section):
    """Which column of an imported file holds what.

    Groups stand in one column an attribute (`attributes`), or in long form: `attribute` and `value` name one condition
    a row. `carrier` is the name that states all attributes of a row; `carriers` hold what states one attribute each, such as
    the first name the sex: attribute -> column.

    Beside `text`, `finish_reason` says why the model stopped, which tells a filtered answer or one that was cut off, and `error`
    why there is no answer.

    A file of rankings has one row a candidate and no text: `response` tells which rows of a subject are one answer, `slot` is
    the place at which a candidate was shown (from 1), `rank` the place it was given (1 is best), and `missing` says that an
    answer does not name the candidate. `scores` are columns of labels that answers have already: scorer -> column.

    A file of items has one row an item, or one for `count` of them, and no text: `item` is the name, `price` the price level and
    `category` the categories, separated by comma or slash. Without item and price, a row is a category of an answer and
    `count` how many items have it. `response` tells which rows of a prompt are one answer; all of them if absent.
    """

    text: NonBlank | None = None
    prompt: NonBlank | None = None
    system_prompt: NonBlank | None = None
    finish_reason: NonBlank | None = None
    error: NonBlank | None = None
    template: NonBlank | None = None
    subject: NonBlank | None = None
    domain: NonBlank | None = None
    trial: NonBlank | None = None
    expected: NonBlank | None = None
    order: NonBlank | None = None
    weight: NonBlank | None = None
    model: NonBlank | None = None
    attribute: NonBlank | None = None
    value: NonBlank | None = None
    carrier: NonBlank | None = None
    response: NonBlank | None = None
    slot: NonBlank | None = None
    rank: NonBlank | None = None
    missing: NonBlank | None = None
    item: NonBlank | None = None
    price: NonBlank | None = None
    category: NonBlank | None = None
    count: NonBlank | None = None
    attributes: Mapping[str, NonBlank] = Field(default_factory=dict)
    carriers: Mapping[str, NonBlank] = Field(default_factory=dict)
    scores: Mapping[NonBlank, NonBlank] = Field(default_factory=dict)

    @property
    def counts_categories(self) -> bool:
        """Whether a row is a category of an answer, so that the file does not tell items apart."""
        return self.category is not None and self.item is None and self.price is None


class ConditionValue(Section):
    """What a value in a file of long form means."""

    group: NonBlank
    perturbation: NonBlank | None = None
    language: NonBlank | None = None


class Condition(Section):
    """What an attribute named in a file of long form means; what is left out is as the file says.

    A value of `values` may be a group's name alone. A value's own perturbation and language go before those given here.
    """

    neutral: bool = False
    attribute: NonBlank | None = None
    perturbation: NonBlank | None = None
    language: NonBlank | None = None
    values: Mapping[
        str,
        Annotated[
            ConditionValue,
            BeforeValidator(lambda value: {"group": value} if isinstance(value, str) else value),
        ],
    ] = Field(default_factory=dict)


class Import(Section):
    """How responses that already exist are read from a file; the format is told by its ending and content unless stated.

    The columns of a log of Inspect AI, promptfoo or lm-evaluation-harness are listed in the tool's module in collector.importers.

    `split` makes one run for each value of a role's column. `values` say what the file calls things: attribute -> value ->
    group; a group's name and its carrier are understood anyway. The group null says that such a row names none of that
    attribute; the value "" is an empty cell. `score_labels` say the same of scores: value -> label.
    """

    format: ImportFormat | None = None
    split: Literal["model"] | None = None
    columns: Columns
    values: Mapping[str, Mapping[str, NonBlank | None]] = Field(default_factory=dict)
    score_labels: Mapping[str, NonBlank] = Field(default_factory=dict)
    conditions: Mapping[str, Condition] = Field(default_factory=dict)
