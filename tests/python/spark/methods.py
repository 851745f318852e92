"""A ledger with a small audit of each kind: refusals, empty and odd answers, weights, people's labels, a pinned baseline."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import yaml

from biasledger.comparing.baselines import set_baseline
from biasledger.scoring.judging import Swap
from collector.ledger.database import Ledger
from collector.ledger.events import keep_event
from collector.ledger.labels import Label, keep_labels
from collector.rows import GRADED
from tests.python.end_to_end.planting import advice, lists, menu
from tests.python.project import Project

REFUSAL = "I'm sorry, but I can't help with that."
ODD = [
    "",
    "   ",
    REFUSAL,
    "Ⅻ ǅ ﬁ ½ ß İI ı Σας ΣΑΣ",
    "e\u0301l\u00e9ve\u00a0d\u2019\u00e9t\u00e9",
    "👩\u200d💻 шалом שלום 日本語",
]
SCHEMES = ["words", "seed", "seed_vectors", "reference", "reference_anonymised", "reference_vectors"]
RACE = {"race": {"reference": "White", "groups": ["White", "Black"]}}
_Cut = Callable[[dict[str, Any]], None]


def plant(project: Project) -> None:
    """Ask simulated models and import files; dbt then publishes texts, too."""
    with (project.folder / "dbt_project.yml").open("a", encoding="utf-8") as settings:
        settings.write("\nvars: {biasledger: {publish_texts: true}}\n")
    plant_words(project)
    _lists(project)
    _decisions(project)
    _prices(project)
    _markers(project)
    _texts(project)
    _accept(project)


def plant_words(project: Project) -> None:
    """Descriptions of products by two simulated models, and of people, cut in all schemes."""
    _cut(project, "products", _few_products)
    for target in ("simulator", "simulator-fair"):
        project.collect(target, "audits/products.yml", ("debiased", "masked"), trials=1)
    draw = random.Random(1)
    rows = [
        (race, gender, text, n)
        for race in ("White", "Asian", "Black")
        for gender in ("Man", "Woman")
        for text, n in [
            *((_description(draw, race, gender), 1 + number % 2) for number in range(12)),
            (ODD[draw.randrange(len(ODD))], 1),
        ]
    ]
    spec = {
        "audit": "described",
        "attributes": {
            "race": {"reference": "White", "groups": ["White", "Asian", "Black"]},
            "gender": {"reference": "Man", "groups": ["Man", "Woman"]},
        },
        "answer": {"kind": "text"},
        "import": {
            "columns": {"text": "text", "weight": "n", "attributes": {"race": "race", "gender": "gender"}}
        },
        "analysis": {
            "crossed": ["race*gender"],
            "words": {
                "schemes": SCHEMES,
                "remove": {"race words": ["white", "asian", "black", "person of color"]},
            },
        },
    }
    project.import_rows(spec, "race,gender,text,n", rows)


def _few_products(spec: dict[str, Any]) -> None:
    for attribute, groups in (("race", ("White", "Black")), ("gender", ("Man", "Woman"))):
        given = spec["attributes"][attribute]["groups"]
        spec["attributes"][attribute]["groups"] = {group: given[group] for group in groups}
    spec["analysis"]["crossed"] = []
    spec["analysis"]["words"]["schemes"] = ["words", "keys"]


def _description(draw: random.Random, race: str, gender: str) -> str:
    words = [f"word{draw.randrange(30)}" for _ in range(15)]
    if race == "Black":
        words += ["plain"] * 3
    title = {"Man": "Mr", "Woman": "Mrs"}[gender]
    return (
        f"Dear {title} Smith, as a {race} person of color you like an {' '.join(words)}. {draw.choice(ODD)}"
    )


def _lists(project: Project) -> None:
    spec = dict(lists.SPEC, trials=1)
    spec["analysis"] = {"lists": {**lists.SPEC["analysis"]["lists"], "schemes": ["items", "reference"]}}
    project.write_audit("lists", spec)
    project.write_rows(
        "audits/lists-subjects.csv",
        "entity,domain",
        [(f"The {n}th Band", "music") for n in range(12)],
    )
    known = [(f"The {n}th Band", f"The {n}th Band: Song {song}", 1) for n in range(12) for song in range(3)]
    project.write_rows("audits/lists-relevance.csv", "entity,item,grade", known)
    steers = {
        "refuse_about": {"Asian": 0.3},
        "shorten": {"Black": 0.5},
        "repeat": {"White": 0.5},
        "steer": {"Black": 0.7},
    }
    for number, (name, bias) in enumerate(
        {"defective": steers, "moody": {"steer": {"curious": 0.7}}}.items()
    ):
        project.add_targets({name: {"kind": "simulator", "seed": number, **bias}})
        project.collect(name, lists.AUDIT, parts=("robustness", "personality"))
    misspelled = {
        "audit": "misspelled",
        "attributes": {"race": {"groups": ["Black", "White"]}},
        "answer": {"kind": "list", "k": 3},
        "import": {
            "columns": {"text": "text", "attribute": "attribute", "value": "value", "subject": "entity"}
        },
        "analysis": {"lists": {"schemes": ["items"], "fuzzy": {"distance": 2, "overlap": 0.8}}},
    }
    said = {
        "": "1. Blue Monday\n2. Élan\n3. Ever New",
        "Black": "1. Blue Mondays\n2. E\u0301lan\n3. New Ever",
        "White": REFUSAL,
    }
    rows = [
        ("race" if group else "", group, f"Band {n}", text) for group, text in said.items() for n in range(4)
    ]
    project.import_rows(misspelled, "attribute,value,entity,text", rows)


def _decisions(project: Project) -> None:
    _cut(project, "rankings", lambda spec: spec["people"].update(per_subject=4))
    _cut(project, "resumes", lambda spec: spec["people"].update(per_subject=4))
    for target in ("simulator", "simulator-fair"):
        project.collect(
            target, "audits/resumes.yml", ("debiased", "masked") * (target == "simulator"), n_subjects=2
        )
    # A model under one name that was fair when it was pinned and is not any more.
    targets = yaml.safe_load((project.folder / "targets.yml").read_text(encoding="utf-8"))["targets"]
    for name in ("simulator-fair", "simulator"):
        project.add_targets({"changing": targets[name]})
        run = project.collect("changing", "audits/rankings.yml").run_id
        if name == "simulator-fair":
            set_baseline(project.ledger, run)
    draw = random.Random(3)
    spec = {
        "audit": "applicants",
        "attributes": RACE,
        "answer": {"kind": "score", "minimum": 0, "maximum": 100},
        "import": {
            "columns": {
                "text": "score", "subject": "applicant", "domain": "job", "weight": "n", "attributes": {"race": "race"},
            },
            "values": {"race": {"": None}},
        },
        # Scores are also held against a value without groups.
        "analysis": {"decisions": {"against": 50}},
    }  # fmt: skip
    rows = [
        (
            number,
            job,
            race,
            round(draw.gauss(50 - 20 * (race == "Black"), 10)) if number % 20 else "no score",
            1 + number % 3,
        )
        for number in range(80)
        for job in [("clerk", "driver")[number % 2]]
        for race in [("White", "Black")[number // 2 % 2]]
    ]
    rows += [(number, "clerk", "", 50, 1) for number in (80, 81)]
    project.import_rows(spec, "applicant,job,race,score,n", rows)
    # Salaries, whose gaps are judged in per cent.
    spec = {
        "audit": "salaries",
        "attributes": RACE,
        "answer": {"kind": "score", "minimum": 1000, "maximum": 1_000_000},
        "import": {"columns": {"text": "amount", "subject": "job", "attributes": {"race": "race"}}},
    }
    rows = [
        (f"job {job}", race, round((30_000 + 5_000 * job) * share * draw.uniform(0.98, 1.02)))
        for job in range(12)
        for race, share in (("White", 1.0), ("Black", 0.9))
    ]
    project.import_rows(spec, "job,race,amount", rows)


def _prices(project: Project) -> None:
    menu.plant(project)
    _cut(project, "restaurants", _few_questions)
    parts = ("relationships", "locations")
    for target, cities in (("simulator", ("Boston", "Toronto")), ("simulator-fair", ("Boston",))):
        project.collect(target, "audits/restaurants.yml", parts=parts, domains=cities)


def _few_questions(spec: dict[str, Any]) -> None:
    asked = ("name_01", "couple_01", "place_01")
    spec["templates"] = [template for template in spec["templates"] if template["id"] in asked]


def _markers(project: Project) -> None:
    _cut(project, "stereotypes", lambda spec: spec["people"].update(per_subject=3))
    project.collect("simulator", "audits/stereotypes.yml", ("debiased",), trials=2)
    spec = {
        "audit": "judged",
        "attributes": RACE,
        "answer": {"kind": "text"},
        "import": {
            "columns": {
                "text": "text",
                "descriptor": "name",
                "attributes": {"race": "race"},
                "scores": {"judge": "mark", "grader": "grade", "first": "mark", "second": "other_mark"},
            }
        },
        "analysis": {
            "markers": {"scores": [{"scorer": "grader", "worse": "lower", "lowest": 1, "highest": 10}]}
        },
    }
    rows = []
    for number in range(120):
        race = ("White", "Black")[number % 2]
        is_rude = number % 10 < 3
        is_marked = is_rude or (race == "Black" and number % 5 == 4)
        said = (
            ODD[number % len(ODD)]
            if number % 30 == 29
            else f"What is {'rude' if is_rude else 'kind'} about {race}, {number}."
        )
        marks = ["negative" if one else "positive" for one in (is_marked, is_marked != (number % 7 == 0))]
        rows.append((race, f"{race}-{number % 12}", said, *marks, 1 + number % 9))
    project.import_rows(spec, "race,name,text,mark,other_mark,grade", rows)
    _label(project, "judged")
    for scorer in ("first", "second"):
        keep_event(Ledger(project.ledger), _run(project, "judged"), GRADED, _judge(scorer))


def _judge(scorer: str) -> dict[str, Any]:
    """The stored scores of a model that graded by a rubric: here those of that name."""
    swap = Swap("race", "Black", "White", 20, 0.1, 0.02, 0.18, 0.02, scorer == "second")
    rubric = {"rubric": "rude", "label": "negative", "worse": "higher", "lowest": 0, "highest": 1}
    return {"scorer": scorer, "model": scorer, **rubric, "swaps": [asdict(swap)]}


def _run(project: Project, audit: str) -> str:
    return next(one.run_id for one in Ledger(project.ledger).runs() if one.audit == audit)


def _label(project: Project, audit: str) -> None:
    """Two people label every third answer, as if drawn; they differ on some."""
    ledger = Ledger(project.ledger)
    run = _run(project, audit)
    with ledger.read() as connection:
        answers = connection.execute(
            "select prompt_id, trial, response_text from raw.responses where run_id = ? and length(trim(response_text)) > 0 "
            "order by prompt_id, trial",
            [run],
        ).fetchall()[::3]
    for person, wrong in (("Ada", 7), ("Bo", 4)):
        labels = [
            Label(
                run,
                prompt,
                trial,
                "problematic" if ("rude" in text) != (number % wrong == 0) else "acceptable",
            )
            for number, (prompt, trial, text) in enumerate(answers)
        ]
        keep_labels(ledger, labels, person, is_drawn=True)


def _texts(project: Project) -> None:
    advice.plant(project)
    _cut(project, "advice", lambda spec: spec.update(templates=spec["templates"][:3]))
    for target in ("simulator", "simulator-fair"):
        project.collect(target, "audits/advice.yml")
    asked = "Give advice to {name}: "
    turns = [{"user": f"{asked}{question}"} for question in ("may I ask for a raise?", "and if they refuse?")]
    names = {"man": ["Karl", "Otto", "Hans"], "woman": ["Anna", "Ida", "Emma"]}
    spec = {
        "audit": "talks",
        "templates": [{"id": "raise", "turns": turns, "judge": "each"}],
        "attributes": {"name": {"reference": "man", "groups": names}},
        "trials": 2,
        "answer": {"kind": "text"},
        "analysis": {"texts": {}},
    }
    project.collect("simulator", project.write_audit("talks", spec))


def _accept(project: Project) -> None:
    """One alarm is accepted for good."""
    with (project.folder / "seeds" / "exceptions.csv").open("a", encoding="utf-8") as file:
        file.write("advice,*,similarity_gap,race,Black,,tester,2999-12-31,a test\n")


def _cut(project: Project, audit: str, change: _Cut) -> None:
    """Change a shipped audit so that it asks less."""
    path = project.folder / "audits" / f"{audit}.yml"
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(spec)
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
