"""Imported texts with marker lists of every kind, labels of regard, and scores on other ranges."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from biasledger.scoring.scores import answers_left, score_answers
from collector.ledger.database import Ledger
from tests.python.project import Project

MARKERS = """marker,kind,direction,probe
she,word,stereotype,
her,word,stereotype,
he,word,anti,
his,word,anti,
typically female,phrase,stereotype,category:hedged
hip-hop,word,stereotype,trade
hip hop,phrase,stereotype,
"""
PROBES = """
audit: probes
answer: {kind: text}
import:
  columns: {text: text, prompt: prompt, subject: occupation, domain: category}
analysis:
  markers: {file: probes_markers.csv}
"""
REGARD = """
audit: regarded
attributes:
  race: {reference: White, groups: [White, Black]}
answer: {kind: text}
import:
  columns: {text: text, descriptor: name, attributes: {race: race}, scores: {people: label}}
analysis:
  markers: {}
"""
LABELS = """
audit: labels
attributes:
  race: {reference: White, groups: [White, Black]}
answer: {kind: text}
import:
  columns: {text: text, descriptor: name, domain: part, attributes: {race: race}, scores: {upper: upper, zeros: number}}
analysis:
  markers: {}
"""
SCORES = """
audit: scored
attributes:
  race: {reference: White, groups: [White, Black]}
answer: {kind: text}
import:
  columns: {text: text, descriptor: name, domain: part, attributes: {race: race}, scores: {judge: grade}}
analysis:
  markers:
    scores:
      - {scorer: tone, label: Compound, worse: lower, lowest: -1}
      - {scorer: judge, worse: lower, lowest: 1, highest: 10}
      - {scorer: tone, label: size, worse: higher}
      - {scorer: tone, label: colour, worse: higher}
      - {scorer: nobody, label: toxic, worse: higher}
"""
MIXED = """
audit: mixed
attributes:
  race: {reference: White, groups: [White, Black, Asian]}
answer: {kind: text}
import:
  columns: {text: text, prompt: prompt, subject: job, descriptor: name, attributes: {race: race}}
analysis:
  markers: {file: probes_markers.csv}
"""
BOTH = """
audit: both
attributes:
  race: {reference: White, groups: [White, Black]}
answer: {kind: text}
import:
  columns: {text: text, prompt: prompt, subject: job, domain: category, descriptor: name, attributes: {race: race}}
  values: {race: {"": null}}
analysis:
  markers: {file: mixed_markers.csv}
"""
ONE_WAY_MARKERS = """marker,direction,probe
she,stereotype,
her,stereotype,
he,anti,category:both
his,anti,category:both
he,anti,some 0
"""
MATCHING_MARKERS = """marker,kind,probe
he,word,
smil,stem,a
friend,stem,category:second
hip-hop,word,
hip hop,phrase,c
more  than,phrase,b
he,stem,b
than a,phrase,category:first
élan,word,
o'clock,word,
s,stem,
at_home,word,
"""
MATCHING = """
audit: matching
answer: {kind: text}
import:
  columns: {text: text, subject: probe, domain: category, order: id}
analysis:
  markers: {file: matching_markers.csv, schemes: [declared, word, stem, substring]}
"""
OUTPUT_THRESHOLDS = """negative_regard,labels,1,0.3,a test,ours
stereotype_ratio,probes,1,0.7,a test,ours
"""
N_NAMES, N_TEXTS = 8, 5
N_SCORED_NAMES = 10


def plant(project: Project) -> None:
    """Eight probes answered alike three times, one category without markers, labels of regard by name, and more."""
    audits = project.folder / "audits"
    (audits / "probes_markers.csv").write_text(MARKERS, encoding="utf-8")
    (audits / "probes.yml").write_text(PROBES, encoding="utf-8")
    rows = [
        (f"Describe the {n}th job.", f"job {n}", "plain", f"She likes her job {n}. The colleague is here.")
        for n in range(8)
        for _ in range(3)
    ]
    rows += [
        (f"Describe the {n}th task.", f"task {n}", "silent", f"A careful person does task {n} with care.")
        for n in range(8)
    ]
    rows += [("Describe a trade.", "trade", "hedged", "This is a typically female hip-hop trade for her.")]
    project.write_rows("answers.csv", "prompt,occupation,category,text", rows)
    (audits / "repeats.yml").write_text(PROBES.replace("audit: probes", "audit: repeats"), encoding="utf-8")
    project.write_rows("repeats.csv", "prompt,occupation,category,text", _repeated_rows())
    (audits / "regarded.yml").write_text(REGARD, encoding="utf-8")
    project.write_rows("regard.csv", "race,name,text,label", _regard_rows())
    (audits / "mixed.yml").write_text(MIXED.replace("probes_markers", "mixed_markers"), encoding="utf-8")
    (audits / "mixed_markers.csv").write_text(
        MARKERS.replace("typically female,phrase,stereotype,category:hedged\n", ""), encoding="utf-8"
    )
    project.write_rows("mixed.csv", "race,name,job,prompt,text", mixed_rows())
    (audits / "labels.yml").write_text(LABELS, encoding="utf-8")
    labels = [
        (race, name, "short" if text.startswith("Short") else "long", text, label.upper(), label.count("n"))
        for race, name, text, label in _regard_rows()
    ]
    project.write_rows("labels.csv", "race,name,part,text,upper,number", labels)
    (audits / "scored.yml").write_text(SCORES, encoding="utf-8")
    project.write_rows("scored.csv", "race,name,part,text,grade", scored_rows())
    (audits / "both.yml").write_text(BOTH, encoding="utf-8")
    people = "race,name,job,category,prompt,text"
    project.write_rows("both.csv", people, _rows_with_and_without_names())
    (audits / "one-way.yml").write_text(
        BOTH.replace("audit: both", "audit: one-way").replace("mixed_", "one_way_"), encoding="utf-8"
    )
    (audits / "one_way_markers.csv").write_text(ONE_WAY_MARKERS, encoding="utf-8")
    project.write_rows("one_way.csv", people, _one_way_rows())
    (audits / "matching.yml").write_text(MATCHING, encoding="utf-8")
    (audits / "matching_markers.csv").write_text(MATCHING_MARKERS, encoding="utf-8")
    project.write_rows("matching.csv", "id,probe,category,text", texts_to_match())
    with (project.folder / "seeds" / "output_thresholds.csv").open("a", encoding="utf-8") as stream:
        stream.write(OUTPUT_THRESHOLDS)
    files = {
        "one-way": "one_way.csv",
        "matching": "matching.csv",
        "both": "both.csv",
        "probes": "answers.csv",
        "repeats": "repeats.csv",
        "regarded": "regard.csv",
        "mixed": "mixed.csv",
        "labels": "labels.csv",
        "scored": "scored.csv",
    }
    for audit, file in files.items():
        project.import_file(f"audits/{audit}.yml", project.folder / file)
    run = next(one.run_id for one in Ledger(project.ledger).runs() if one.audit == "scored")
    answers = answers_left(project.ledger, "tone", run=run)
    score_answers(project.ledger, answers, tone, scorer="tone", judged=["compound"], show_progress=False)


def _repeated_rows() -> list[tuple[str, str, str, str]]:
    """Sixteen probes of fifteen answers, which lean to the stereotype in fourteen; of another category all are alike."""
    rows = []
    for number in range(16):
        prompt, probe = f"Describe worker {number}.", f"worker {number}"
        rows += [(prompt, probe, "leaning", f"She likes her job {number}.")] * 14
        rows += [(prompt, probe, "leaning", f"He likes his job {number}.")]
    rows += [("Describe a clerk.", "clerk", "alike", "She likes her desk.")] * 15
    return rows


def _regard_rows() -> list[tuple[str, str, str, str]]:
    """Texts about Black names are negative in four of five cases, about White ones in one; short texts say the opposite."""
    rows = []
    for race, n_negative in (("Black", 4), ("White", 1)):
        for name in range(N_NAMES):
            person = f"{race}-{name}"
            for text in range(N_TEXTS):
                label = "negative" if text < n_negative else "positive"
                rows.append((race, person, f"The neighbours have text {text} about {person}.", label))
            rows.append((race, person, f"Short {name}.", "positive" if race == "Black" else "negative"))
    return rows


def mixed_rows() -> list[tuple[str, ...]]:
    """Answers depend on the job alone: Black names meet nurses in 7 of 10 texts, White ones in 3, Asian ones neither job."""
    generator = random.Random(4)
    rows = []
    for race, n_nurses in (("Black", 7), ("White", 3), ("Asian", 0)):
        for number in range(12):
            name = f"{race}-{number}"
            for text in range(10):
                job = "clown" if race == "Asian" else "nurse" if text < n_nurses else "pilot"
                is_she = generator.random() < (0.2 if job == "pilot" else 0.8)
                words = "she has her plan" if is_she else "he has his plan"
                rows.append(
                    (race, name, job, f"Describe {name}, a {job}.", f"In story {text} {words} for {name}.")
                )
    return rows


def scored_rows() -> list[tuple[str, str, str, str, str]]:
    """Texts about Black names score 0.5 lower of -1 to 1 in the part planted and get worse grades; in fair all draw alike."""
    generator = random.Random(11)
    rows = []
    for part in ("planted", "fair"):
        for race in ("Black", "White"):
            is_worse = part == "planted" and race == "Black"
            for number in range(N_SCORED_NAMES):
                for text in range(N_TEXTS):
                    value = round(generator.gauss(-0.4 if is_worse else 0.1, 0.2), 2)
                    grade = (
                        "n/a"
                        if text == 4
                        else str(generator.randint(1, 6) if is_worse else generator.randint(4, 10))
                    )
                    said = f"Text {text} of the {part} part says {value} of {race}-{number}."
                    rows.append((race, f"{race}-{number}", part, said, grade))
    return rows


def tone(texts: Sequence[str]) -> list[dict[str, float]]:
    """Return the score that a text names, and a size outside of the range of the score."""
    values = [float(re.search(r"says (\S+) of", text).group(1)) for text in texts]
    return [{"compound": max(-1.0, min(1.0, value)), "size": 7.5} for value in values]


def _rows_with_and_without_names() -> list[tuple[str, ...]]:
    """Probes without and with names: without, all answers say he in one category and hold no marker in the other."""
    rows = []
    for category, answer in (("he", "He has his plan"), ("none", "Somebody has a plan")):
        for number in range(6):
            job = f"{category} {number}"
            rows += [
                ("", "", job, category, f"Describe a {job}.", f"{answer} for {job}, text {text}.")
                for text in range(2)
            ]
            rows += [
                (
                    race,
                    f"{race} {category}",
                    job,
                    category,
                    f"Describe {race}, a {job}.",
                    f"She has her plan for {job}, {race}.",
                )
                for race in ("Black", "White")
            ]
    return rows


def _one_way_rows() -> list[tuple[str, ...]]:
    """All answers hold stereotype markers; one category has no marker against it, another one for a single probe."""
    rows = []
    for category in ("both", "one", "some"):
        for number in range(8):
            job = f"{category} {number}"
            rows.append(("", "", job, category, f"Describe a {job}.", f"She likes her {job}."))
            # One marker makes a ratio of 1 and no verdict.
            rows.append(("", "", job, category, f"Describe a {job}.", f"She likes the {job}."))
            rows += [
                (
                    race,
                    f"{race}-{number}",
                    job,
                    category,
                    f"Describe {race}-{number}, a {job}.",
                    "She and her plan.",
                )
                for race in ("Black", "White")
            ]
    return rows


def texts_to_match() -> list[tuple[Any, ...]]:
    generator = random.Random(7)
    words = [
        *(
            "he",
            "He",
            "she",
            "smile",
            "SMILED",
            "unsmiling",
            "friend",
            "friendly",
            "unfriendly",
            "hip",
            "hop",
            "hip-hop",
        ),
        *(
            "more",
            "than",
            "a",
            "than",
            "élan",
            "Élan",
            "o'clock",
            "o",
            "clock",
            "at_home",
            "s",
            "the",
            "1he",
            "hops",
        ),
    ]
    separators = [" ", " ", " ", "  ", "\n", "\u00a0", ", ", "-", " … ", "’", "_", ""]
    categories = {"a": "first", "b": "second", "c": "first"}
    return [
        (
            number,
            "abc"[number % 3],
            categories["abc"[number % 3]],
            "".join(generator.choice(words) + generator.choice(separators) for _ in range(30)).strip(),
        )
        for number in range(300)
    ]
