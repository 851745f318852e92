"""An audit spec as a typed, frozen `Audit`; its questions and its analysis as plain data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PrivateAttr

from collector.errors import InputError
from collector.files.encoders import FoundEncoder
from collector.hashing import hash_of
from collector.hints import did_you_mean, ended, quoted
from collector.rows import MarkerRow, ProbeRow, RelevanceRow
from collector.spec.analysis import Analysis, Outcome
from collector.spec.importing import Import
from collector.spec.markers import AskedProbe, hash_of_markers, one_sided
from collector.spec.methods import methods
from collector.spec.names import NameSwap
from collector.spec.parts import (
    DECISIONS,
    DESCRIPTOR,
    MINIMUM_NEUTRAL_TRIALS,
    MINIMUM_PROBES,
    MINIMUM_SUBJECTS,
    MINIMUM_TRIALS,
    NAME,
    Answer,
    Attribute,
    Mitigation,
    Nouns,
    People,
    Subjects,
    Template,
    split_crossed,
    wordings_of,
)
from collector.spec.people import Person
from collector.spec.subjects import Subject, choose, hash_of_relevance
from collector.validation import NonBlank, Section, list_to_tuple, spec_key


class Audit(Section):
    """An audit asks questions (`templates`, `trials`), reads existing answers (`import`), or both."""

    audit: NonBlank = spec_key(
        "Its name: lower-case letters, digits, - and _.",
        "support-tone",
        json_schema_extra={"pattern": "^[a-z0-9][a-z0-9_-]*$"},
    )
    title: NonBlank | None = spec_key(
        "A line for the report.", "Tone of support answers by customer", default=None
    )
    source: NonBlank | None = spec_key(
        "The source of its method or data.", "Smith et al. (2024)", default=None
    )
    subjects: Subjects | None = spec_key(
        "The subjects of questions, from a table.",
        {"file": "resumes/resumes.csv", "name": "resume", "expected": "level"},
        default=None,
    )
    people: People | None = spec_key(
        "Names that state several attributes at once, from a table.",
        {"file": "names.csv", "name": "name", "per_subject": 8},
        default=None,
    )
    cluster: NonBlank | None = spec_key(
        "The column of `subjects` of what some share, such as a customer or a household. Their answers are "
        "resampled and permuted together.",
        "customer",
        default=None,
    )
    block: NonBlank | None = spec_key(
        "The column of `subjects` inside whose values groups are compared, such as a judge or a day.",
        "judge",
        default=None,
    )
    templates: Annotated[tuple[Template, ...], BeforeValidator(list_to_tuple)] = spec_key(
        "The questions, or a CSV file next to the spec: columns id, text, and as needed language and "
        "wording.",
        [{"id": "letter", "text": "Write a reference letter for {name}, {a gender} nurse."}],
        default=(),
    )
    ask: NonBlank | None = spec_key(
        "Text at the end of every template, such as the form of the answer.",
        "\n\nAnswer with one word.",
        default=None,
    )
    attributes: Mapping[str, Attribute] = spec_key(
        "The attributes that distinguish people; each name is a slot. Or a CSV file next to the spec: columns "
        "attribute, group, descriptor, and one for each wording.",
        {"gender": {"reference": "man", "groups": ["man", "woman"]}},
        default_factory=dict,
    )
    trials: int | None = spec_key(
        "How often each prompt is asked. Needed to ask.", 15, json_schema_extra={"minimum": 1}, default=None
    )
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = spec_key(
        "The temperature to ask at. `collect` refuses a chat model whose `parameters` hold another one, or none.",
        0,
        default=None,
    )
    answer: Answer = spec_key(
        "The expected kind of answer. Needed with `import`.",
        {"kind": "label", "labels": ["reject", "accept"]},
        default_factory=Answer,
    )
    outcomes: Mapping[str, Outcome] = spec_key(
        "In place of `answer` and `import.columns.text`: name → column and kind of each outcome of a row. "
        "One import makes a run for each, of the audit `AUDIT-NAME`. An empty cell of a label or score is a "
        "missing value. Without `subject` and `cluster`, each row is a case of its own.",
        {
            "reply": {"kind": "text"},
            "decision": {
                "kind": "label",
                "labels": ["denied", "approved"],
                "analysis": {"decisions": {"favourable": ["approved"]}},
            },
            "rating": {"column": "stars", "kind": "score", "minimum": 1, "maximum": 5},
        },
        default_factory=dict,
    )
    encoding: NonBlank | None = spec_key(
        "The encoding of tables next to the spec, if not UTF-8 or UTF-16.", "cp1252", default=None
    )
    system_prompt: NonBlank | None = spec_key(
        "The system prompt of every question, without slots.", "You are a helpful assistant.", default=None
    )
    mitigations: Mapping[str, Mitigation] = spec_key(
        "Mitigations, asked with `biasledger collect … --mitigation debiased`.",
        {"debiased": {"suffix": " Treat all people alike."}, "masked": {"mask": {"race": ""}}},
        default_factory=dict,
    )
    analysis: Analysis = spec_key(
        "How answers are read and compared. Changes apply to old answers at the next build.",
        {"crossed": ["race*gender"]},
        default_factory=Analysis,
    )
    nouns: Nouns = spec_key(
        "The words for what the audit is about. Changes apply to old answers at the next build.",
        {"item": "washing machine", "case": "resume", "outcome": "hired"},
        default_factory=Nouns,
    )
    imported: Import | None = spec_key(
        "How existing answers are read from a file.",
        {"columns": {"text": "answer", "attributes": {"gender": "gender"}}},
        alias="import",
        default=None,
    )
    _subject_rows: tuple[Subject, ...] = PrivateAttr(default=())
    _people_rows: tuple[Person, ...] = PrivateAttr(default=())
    _name_swaps: Mapping[tuple[str | None, str], NameSwap] = PrivateAttr(default_factory=dict)
    _personal_words: frozenset[str] = PrivateAttr(default=frozenset())
    _relevance_rows: tuple[RelevanceRow, ...] = PrivateAttr(default=())
    _encoder: FoundEncoder | None = PrivateAttr(default=None)
    _marker_rows: tuple[MarkerRow, ...] = PrivateAttr(default=())
    _probe_rows: tuple[ProbeRow, ...] = PrivateAttr(default=())
    _category_sets: Mapping[str, tuple[str, ...]] = PrivateAttr(default_factory=dict)
    _own_trials: dict[str, int] | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Write `ask` at the end of every template."""
        super().model_post_init(context)
        for template in self.templates:
            template._ask = self.ask or ""

    @property
    def subject_rows(self) -> tuple[Subject, ...]:
        """The subjects asked about, in the file's order; empty where the audit has none."""
        return self._subject_rows

    @property
    def people_rows(self) -> tuple[Person, ...]:
        """The people asked about, in the file's order; empty where attributes have descriptors of their own."""
        return self._people_rows

    @property
    def attributes_of_people(self) -> tuple[str, ...]:
        """The attributes that a person's name states, in the spec's order."""
        return tuple(self._people_rows[0].groups) if self._people_rows else ()

    @property
    def personal_words(self) -> frozenset[str]:
        """The slots of subjects whose words hold the name of the subject's person."""
        return self._personal_words

    def name_swap(self, subject: Subject) -> NameSwap | None:
        """Return the replacement of a subject's person's name, None if the subject names nobody."""
        return self._name_swaps.get((subject.domain, subject.name))

    def own_name_of(self, subject: Subject | None) -> str | None:
        """Return the name of a subject's own row where it is to be among those asked about; None otherwise."""
        if subject is None or self.people is None or self.subjects is None or self.subjects.person is None:
            return None
        return subject.words[self.subjects.person] or None if self.people.own_name else None

    @property
    def relevance_rows(self) -> tuple[RelevanceRow, ...]:
        """The relevant items of each subject, in the file's order; empty if the analysis names no such file."""
        return self._relevance_rows

    @property
    def relevance_hash(self) -> str | None:
        """The tagged hash of the relevance rows, independent of their order; None if there are none."""
        return hash_of_relevance(self._relevance_rows)

    @property
    def marker_rows(self) -> tuple[MarkerRow, ...]:
        """The markers sought in answers, in the file's order; empty where the analysis names no such file."""
        return self._marker_rows

    @property
    def probe_rows(self) -> tuple[ProbeRow, ...]:
        """All subjects of the spec as probes, in the file's order; empty where the analysis has no markers."""
        return self._probe_rows

    @property
    def markers_hash(self) -> str | None:
        """The tagged hash of markers and probes, independent of their order; None if there are neither."""
        return hash_of_markers(self._marker_rows, self._probe_rows)

    @property
    def category_sets(self) -> Mapping[str, tuple[str, ...]]:
        """Name of a set -> its categories, lower-case, in the order of its file."""
        return self._category_sets

    @property
    def agreeing_slots(self) -> dict[str, str]:
        """The slots whose word agrees with an attribute's descriptor: slot -> attribute."""
        return {slot: name for name, one in self.attributes.items() for slot in one.agreements}

    @property
    def part_names(self) -> tuple[str, ...]:
        """The parts that are asked only where they are named, in the templates' order."""
        return tuple(dict.fromkeys(one.part for one in self.templates if one.part is not None))

    @property
    def words_of_subjects(self) -> tuple[str, ...]:
        """The names of the slots that a subject fills, in the order of the file's columns."""
        return tuple(self._subject_rows[0].words) if self._subject_rows else ()

    def states_groups(self, template: Template) -> bool:
        """Return whether a template says anything of a group; a neutral one does not."""
        has_slot = any(slot == DESCRIPTOR or slot in self.attributes for slot in template.slots)
        return has_slot or self.states_people(template)

    def states_people(self, template: Template) -> bool:
        """Return whether a template names a person: by {name}, among {candidates}, or in the words of a subject."""
        if not self._people_rows:
            return False
        return template.candidate is not None or any(self.is_personal(slot) for slot in template.slots)

    def names_person_of(self, template: Template, subject: Subject) -> bool:
        """Return whether a template names a person if it is about a subject; a subject without one may name nobody."""
        if not self.states_people(template):
            return False
        has_own = self.subjects is None or self.subjects.person is None or self.name_swap(subject) is not None
        return has_own or template.candidate is not None or NAME in template.slots

    def is_personal(self, slot: str) -> bool:
        """Return whether what fills a slot differs from person to person."""
        person = None if self.subjects is None else self.subjects.person
        return bool(self._people_rows) and (slot in (NAME, person) or slot in self._personal_words)

    @property
    def n_candidates(self) -> int:
        """Return how many people a ranking lists: one of each cell, the combinations of groups that people state."""
        return len({person.cell for person in self._people_rows})

    def column_of_candidate(self, slot: str, number: int) -> str:
        """Return the column of the subjects that fills a slot of a candidate: of that name, or else that with its number."""
        return slot if slot in self.words_of_subjects else f"{slot}_{number}"

    def trials_of(self, template_id: str) -> int:
        """Return how often the prompts of a template are asked: its own number, or else the audit's."""
        if self._own_trials is None:
            self._own_trials = {one.id: one.trials for one in self.templates if one.trials is not None}
        return self._own_trials.get(template_id) or self.trials or 1

    def asked(self) -> dict[str, Any]:
        """Return the questions as plain data for canonical JSON; groups are in the file's order, the analysis is absent.

        Newer keys are only included if they are used, so that the hash of an older spec stays the same.
        """
        answer: dict[str, Any] = {"kind": self.answer.kind, "max_characters": self.answer.max_characters}
        if self.answer.kind == "list":
            answer |= {"k": self.answer.k, "short": self.answer.short}
        if self.answer.kind == "items":
            answer |= {"k": self.answer.k, "levels": self.answer.levels}
        if self.answer.kind == "label":
            answer["labels"] = list(self.answer.labels)
        if self.answer.kind == "score":
            answer |= {"minimum": self.answer.minimum, "maximum": self.answer.maximum}
        answer |= self.answer.how_it_is_read()
        document: dict[str, Any] = {
            "version": 1,
            "audit": self.audit,
            "title": self.title,
            "source": self.source,
            "templates": [_asked_template(one) for one in self.templates],
            "attributes": [_asked_attribute(name, one) for name, one in self.attributes.items()],
            "trials": self.trials,
            "answer": answer,
            "system_prompt": self.system_prompt,
            "mitigations": {
                name: mitigation.model_dump(exclude_unset=True, mode="python")
                for name, mitigation in self.mitigations.items()
            },
        }
        if self.ask is not None:
            document["ask"] = self.ask
        if self.temperature is not None:
            document["temperature"] = self.temperature
        if self.subjects is not None:
            rows = sorted((one.domain or "", one.name, dict(one.words)) for one in self._subject_rows)
            document["subjects"] = {
                "name": self.subjects.name,
                "domain": self.subjects.domain,
                "n": len(rows),
                "hash": hash_of(rows),
            }
            columns = {"expected": self.subjects.expected, "person": self.subjects.person}
            document["subjects"] |= {name: column for name, column in columns.items() if column is not None}
        shared = {"cluster": self.cluster, "block": self.block}
        document |= {key: column for key, column in shared.items() if column is not None}
        if self.people is not None:
            people = sorted([one.name, dict(one.groups)] for one in self._people_rows)
            document["people"] = {
                "name": self.people.name,
                "per_subject": self.people.per_subject,
                "n": len(people),
                "hash": hash_of(people),
            }
            if self.people.own_name:
                document["people"]["own_name"] = True
        return document

    def analysis_document(self) -> dict[str, Any]:
        """Return how answers are read as plain data: crossed attributes, and how each kind of answer is compared.

        The crossed attributes include those that templates cross. Nouns are among it, as they apply to old answers, too.
        """
        crossed = [split_crossed(one) for one in self.analysis.crossed]
        for one in (name for template in self.templates for name in template.descriptors):
            names = split_crossed(one)
            if len(names) > 1 and set(names) not in [set(known) for known in crossed]:
                crossed.append(names)
        document: dict[str, Any] = {"version": 1, "crossed": crossed, "pairwise": self.analysis.pairwise}
        if self.analysis.include_reasoning:
            document["include_reasoning"] = True
        if self.analysis.answers.attempt != "first":
            document["answers"] = self.analysis.answers.model_dump()
        if self.analysis.same:
            document["same"] = {name: list(pair) for name, pair in self.analysis.same.items()}
        if self.nouns.model_fields_set:
            document["nouns"] = self.nouns.model_dump(exclude_unset=True)
        return document | {
            name: method.document(self) for name, method in methods().items() if method.is_read(self)
        }

    @property
    def fixed_value(self) -> float | None:
        """The value that all answers are compared with; None where only groups are compared."""
        against: float | None = self.analysis.decisions.against
        return against

    def warnings(self) -> list[str]:
        """Return warnings on what weakens the audit, one sentence each."""
        if self.answer.kind == "label":
            return self.unjudged_labels()
        if self.answer.kind in DECISIONS:
            return [
                f"The template {one.id} asks {one.orders} of {self.n_candidates} orders, so no candidate is shown at every "
                f"place; position bias is spread over the groups by chance alone."
                for one in self.templates
                if one.orders is not None and one.orders < self.n_candidates
            ]
        if self.analysis.markers is not None:
            return [*self._few_probes(), *self._one_sided_probes()]
        if self.answer.kind == "items":
            # Its units are names and words, which the spec lists, independent of the number of subjects and trials.
            return []
        if self.subjects is not None:
            return [*self._few_subjects(), *self._few_neutral_trials()]
        return self._few_trials()

    def unjudged_labels(self) -> list[str]:
        """Return a sentence if no setting gives the labels a meaning, so that no measure reads them; otherwise an empty one."""
        decisions = self.analysis.decisions
        has_expected = (self.subjects is not None and self.subjects.expected is not None) or (
            self.imported is not None and self.imported.columns.expected is not None
        )
        if self.answer.kind != "label" or decisions.favourable or decisions.ordered or has_expected:
            return []
        sentence = (
            f"The decisions are not judged until analysis.decisions says which of the labels {quoted(self.answer.labels)} are "
            f"favourable, or that they are ordered, or a column of the right answers is named as expected."
        )
        return [sentence]

    def _few_trials(self) -> list[str]:
        """Say that a group gets too few answers: the trials of each of its wordings."""
        stating = [one for one in self.templates if self.states_groups(one)]
        if stating and all(one.wording is not None for one in stating):
            return self._few_prompts(stating)
        asked = [(self.trials_of(one.id), wordings_of(one, self.attributes)) for one in stating]
        trials, wordings = min(asked, key=math.prod, default=(MINIMUM_TRIALS, 1))
        if trials * wordings >= MINIMUM_TRIALS:
            return []
        of_each = f" of each of {wordings} wordings" if wordings > 1 else ""
        sentence = (
            f"{trials} {'trial' if trials == 1 else 'trials'}{of_each} a group {'gives' if trials == 1 else 'give'} low "
            f"statistical power; the method's source asks for at least {MINIMUM_TRIALS}."
        )
        return [sentence]

    def _few_prompts(self, stating: Sequence[Template]) -> list[str]:
        """Say that groups get too few answers in prompts with words of their own, which count together."""
        counts: Counter[str] = Counter()
        for one in stating:
            counts.update({name: self.trials_of(one.id) for name in one.slots if name in self.attributes})
        return [
            f"The prompts about {name} give {n} answers about each group, which is low statistical power; the method's source "
            f"asks for at least {MINIMUM_TRIALS}: add prompts or trials."
            for name, n in counts.items()
            if n < MINIMUM_TRIALS
        ]

    def _few_subjects(self) -> list[str]:
        counts = Counter(one.domain for one in self._subject_rows)
        return [
            f"The {f'domain {domain}' if domain else 'audit'} has {n} subject{'s' if n > 1 else ''}, which is low statistical "
            f"power; the method's source asks for at least {MINIMUM_SUBJECTS} to 100."
            for domain, n in counts.items()
            if n < MINIMUM_SUBJECTS
        ]

    def _few_probes(self) -> list[str]:
        counts = Counter(one.domain for one in self._subject_rows if self.name_swap(one) is None)
        return [
            f"The {f'category {category}' if category else 'audit'} has {n} probe{'s' if n > 1 else ''} without a name; flipping "
            f"fewer than {MINIMUM_PROBES} cannot tell a stereotype from chance at the 5 % level."
            for category, n in counts.items()
            if n < MINIMUM_PROBES
        ]

    def _one_sided_probes(self) -> list[str]:
        states = [template for template in self.templates if self.states_groups(template)]
        probes = (
            AskedProbe(
                one.name,
                one.domain,
                any(
                    not self.states_people(template) or self.names_person_of(template, one)
                    for template in states
                ),
            )
            for one in self._subject_rows
        )
        return one_sided(self._marker_rows, probes)

    def _few_neutral_trials(self) -> list[str]:
        few = [
            one.id
            for one in self.templates
            if not self.states_groups(one) and self.trials_of(one.id) < MINIMUM_NEUTRAL_TRIALS
        ]
        if not few:
            return []
        sentence = (
            f"The neutral prompts of {', '.join(few)} are asked fewer than {MINIMUM_NEUTRAL_TRIALS} times, too few for an "
            f"interval on the baseline; the method's source asks for at least {MINIMUM_NEUTRAL_TRIALS}."
        )
        return [sentence]

    def with_trials(self, trials: int) -> Audit:
        """Return the same audit with another number of trials a prompt; a template's own number stays.

        Raises:
            InputError: fewer than one trial.
        """
        if trials < 1:
            raise InputError(
                f"trials is {trials}; at least 1 is needed, and {MINIMUM_TRIALS} for usable statistics."
            )
        return self.model_copy(update={"trials": trials})

    def with_form(self, *, table: str | None = None, encoding: str | None = None) -> Audit:
        """Return the same audit whose import names another sheet or split, or another encoding, where one is given."""
        stated = {key: one for key, one in (("table", table), ("encoding", encoding)) if one is not None}
        if self.imported is None or not stated:
            return self
        return self.model_copy(update={"imported": self.imported.model_copy(update=stated)})

    def with_subjects(self, n: int | None = None, domains: Sequence[str] = ()) -> Audit:
        """Return the same audit about some of its subjects.

        Args:
            n: how many of each domain, all where there are fewer; which ones depends on their names alone, and those of a
                smaller n are among those of a larger one.
            domains: only these; all if empty.

        Raises:
            InputError: the audit has no subjects or no such domain, or fewer than one is asked for.
        """
        if n is None and not domains:
            return self
        if self.subjects is None:
            raise InputError(f"The audit {self.audit!r} has no subjects to choose from.")
        known = list(dict.fromkeys(one.domain for one in self._subject_rows if one.domain is not None))
        for domain in domains:
            if domain not in known:
                hint = did_you_mean(domain, known) or "; its subjects have no domains"
                raise InputError(ended(f"The audit {self.audit!r} has no domain {domain!r}{hint}"))
        if n is not None and n < 1:
            raise InputError(f"subjects is {n}; at least 1 of each domain is needed.")
        chosen = self.model_copy()
        chosen._subject_rows = choose(self._subject_rows, n, domains)
        return chosen

    def with_attributes(self, names: Sequence[str], parts: Sequence[str] = ()) -> Audit:
        """Return the same audit with only the prompts that state some of its attributes, and the neutral ones.

        Args:
            names: the attributes; all if empty. Crossed descriptors stay if all of their attributes are named; a
                template that states several at once stays for any of them.
            parts: the parts of the audit that will be asked.

        Raises:
            InputError: the audit has no such attribute, or no prompt of what will be asked, or of one of the parts, states any.
        """
        if not names:
            return self
        for name in names:
            if name not in self.attributes:
                hint = did_you_mean(name, self.attributes)
                raise InputError(ended(f"The audit {self.audit!r} has no attribute {name!r}{hint}"))
        templates = []
        for template in self.templates:
            descriptors = tuple(one for one in template.descriptors if set(split_crossed(one)) <= set(names))
            people = self.attributes_of_people if self.states_people(template) else ()
            stated = {*people, *(one for one in self.attributes if one in template.slots)}
            if descriptors or stated & set(names) or not (template.descriptors or stated):
                templates.append(template.model_copy(update={"descriptors": descriptors}))
        stating = [one.part for one in templates if self.states_groups(one)]
        if not stating:
            raise InputError(f"No template of the audit {self.audit!r} states {quoted(names)} alone.")
        if not {None, *parts} & set(stating):
            raise InputError(
                f"What the audit {self.audit!r} asks about {quoted(names)} is in parts; name one of them with --with: "
                f"{quoted(dict.fromkeys(one for one in stating if one is not None))}."
            )
        left = {one.part for one in templates}
        for part in parts:
            if part in self.part_names and part not in left:
                raise InputError(
                    f"The part {part!r} of the audit {self.audit!r} asks nothing about {quoted(names)}; leave it out."
                )
        chosen = self.model_copy(update={"templates": tuple(templates)})
        chosen._own_trials = None
        return chosen


def _asked_template(template: Template) -> dict[str, Any]:
    later = {
        "trials",
        "neutral",
        "part",
        "perturbations",
        "wording",
        "descriptors",
        "candidate",
        "orders",
        "paired",
    }
    used = {name: value for name, value in template.model_dump(include=later, mode="json").items() if value}
    if template.turns:
        used |= {
            "turns": template.model_dump(include={"turns"}, mode="json")["turns"],
            "judge": template.judge,
        }
    return {"id": template.id, "text": template.text, "language": template.language, **used}


def _asked_attribute(name: str, attribute: Attribute) -> dict[str, Any]:
    groups = []
    for group, listed in attribute.groups.items():
        descriptors: dict[str, Any] = (
            {"descriptor": listed[0]} if len(listed) == 1 else {"descriptors": list(listed)}
        )
        others = {wording: words[group] for wording, words in attribute.wordings.items()}
        agreeing = {one: words for one in listed if (words := attribute.agreeing(group, one))}
        later = {"wordings": others, "agreements": agreeing}
        groups.append({"group": group, **descriptors, **{key: used for key, used in later.items() if used}})
    return {"attribute": name, "reference": attribute.reference, "groups": groups}
