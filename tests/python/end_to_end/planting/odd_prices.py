"""Items that are refused, missing, unpriced, confounded or counted."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from collector.importers.catalogue import import_items
from tests.python.project import Project

RACES = {"white": "w", "black": "b"}
SPEC = """
audit: {audit}
attributes:
{attributes}
answer: {{kind: items, k: {k}}}
analysis:
  crossed: [{crossed}]
{prices}
import:
  columns: {{{columns}}}
"""
RACE = "  race: {reference: white, groups: [white, black]}"
RACE_AND_GENDER = RACE + "\n  gender: {reference: male, groups: [male, female]}"
THREE = "  race: {reference: white, groups: [white, black, asian]}"
REPLIES = "text: reply, template: template, descriptor: name, attributes: {race: race}"
Row = dict[str, Any]


def _reply(draw: random.Random, weights: Sequence[float] = (2, 4, 3, 1), n: int = 10) -> str:
    levels = draw.choices([1, 2, 3, 4], weights, k=n)
    return json.dumps([{"name": f"Place {draw.randrange(60)}", "price_level": level} for level in levels])


def names(groups: Sequence[str], n: int = 20) -> Iterator[tuple[str, str]]:
    for group in groups:
        for number in range(n):
            yield group, f"{group} {number}"


def add(project: Project, audit: str, rows: Sequence[Row], **parts: Any) -> None:
    """Write an audit's spec and its file of answers, and import them."""
    spec = {"attributes": RACE, "k": 10, "crossed": "", "prices": "", "columns": REPLIES} | parts
    (project.folder / "audits" / f"{audit}.yml").write_text(
        SPEC.format(audit=audit, **spec), encoding="utf-8"
    )
    file = project.write_rows(f"{audit}.csv", ",".join(rows[0]), (list(row.values()) for row in rows))
    project.import_file(f"audits/{audit}.yml", file)


def plant(project: Project) -> None:
    draw = random.Random(5)
    refusal = "I'm sorry, but I can't help with that."

    def rows(groups: Sequence[str], reply: Callable[[str, str, int], str], n: int = 20) -> list[Row]:
        return [
            {"name": name, "race": group, "template": template, "reply": reply(group, name, template)}
            for group, name in names(groups, n)
            for template in range(8)
        ]

    # A quarter of the answers about black names is refused; prices are alike.
    add(
        project,
        "refusing",
        rows(RACES, lambda group, *_: refusal if group == "black" and draw.random() < 0.25 else _reply(draw)),
    )
    # All of them are.
    add(project, "silent", rows(RACES, lambda group, *_: refusal if group == "black" else _reply(draw)))
    add(
        project,
        "unreferenced",
        rows(["white", "black", "asian"], lambda group, *_: refusal if group == "white" else _reply(draw)),
        attributes=THREE,
    )
    # Everybody gets the same.
    same = json.dumps(
        [
            {"name": "A", "price_level": 1, "categories": ["bars"]},
            {"name": "B", "price_level": 3, "categories": ["cafes"]},
        ]
    )
    add(project, "constant", rows(RACES, lambda *_: same, n=130))
    # One group of three gets cheaper items.
    cheap, usual = (6, 3, 1, 0.2), (2, 4, 3, 1)
    add(
        project,
        "one_of_three",
        rows(
            ["white", "black", "asian"], lambda group, *_: _reply(draw, cheap if group == "asian" else usual)
        ),
        attributes=THREE,
    )
    # Black names are mostly female, and female names get dearer items: within gender, black names get cheaper ones.
    confounded = []
    for race, name in names(list(RACES), 40):
        number = int(name.split()[1])
        is_female = number < (32 if race == "black" else 8)
        weights = [5 - is_female * 3.0, 4, 2 + is_female * 2.0, 1 + is_female * 2.0]
        if race == "black":
            weights[0] += 1.5
        for template in range(8):
            row = {
                "name": name,
                "race": race,
                "gender": "female" if is_female else "male",
                "template": template,
            }
            confounded.append(row | {"reply": _reply(draw, weights)})
    add(
        project,
        "confounded",
        confounded,
        attributes=RACE_AND_GENDER,
        crossed="race*gender",
        columns="text: reply, template: template, descriptor: name, attributes: {race: race, gender: gender}",
    )
    # White names were asked in Boston alone, and Toronto is dearer.
    add(
        project,
        "cities",
        [
            {"name": name, "race": race, "template": template, "city": city, "reply": _reply(draw, weights)}
            for race, name in names(list(RACES))
            for city, weights in (("Boston", (4, 4, 1, 0.5)), ("Toronto", (1, 3, 4, 2)))
            if race == "black" or city == "Boston"
            for template in range(4)
        ],
        columns="text: reply, template: template, domain: city, descriptor: name, attributes: {race: race}",
    )
    # The same words on both sides of a couple; they are shared by two attributes.
    first = {"male": ["brother", "uncle", "mate"], "female": ["sister", "aunt", "girlfriend"]}
    second = {"male": ["husband", "mate"], "female": ["wife", "girlfriend"]}
    add(
        project,
        "couples",
        [
            {"first": one, "second": other, "template": template, "reply": _reply(draw)}
            for listed in first.values()
            for one in listed
            for others in second.values()
            for other in others
            for template in range(3)
        ],
        attributes=f"  first: {{reference: male, groups: {json.dumps(first)}}}\n"
        f"  second: {{reference: male, groups: {json.dumps(second)}}}",
        crossed="first*second",
        prices="  same: {couple: [first, second]}",
        columns="text: reply, template: template, attributes: {first: first, second: second}",
    )
    # Counted items, more rows a name than k.
    add(
        project,
        "counted",
        [
            {
                "name": name,
                "race": race,
                "item": f"Place {place}",
                "price": 1 + place % 4,
                "n": 1 + (place + len(name)) % 3,
            }
            for race, name in names(list(RACES))
            for place in range(12)
        ],
        k=5,
        columns="item: item, price: price, count: n, descriptor: name, attributes: {race: race}",
    )
    # One word a group next to another attribute: the template is what counts.
    add(
        project,
        "words",
        [
            {"race": race, "age": age, "template": template, "reply": _reply(draw)}
            for race in RACES
            for age in ("young", "old", "middle-aged")
            for template in range(4)
        ],
        attributes=RACE + "\n  age: {reference: young, groups: [young, old, middle-aged]}",
        columns="text: reply, template: template, attributes: {race: race, age: age}",
    )
    # Names from a catalogue that writes its city otherwise.
    (project.folder / "places.csv").write_text(
        "name,price,categories,city\nPlace 1,$,,BOSTON\nPlace 2,$$$,,BOSTON\n", encoding="utf-8"
    )
    import_items(project.folder / "places.csv", project.ledger, name="places")
    add(
        project,
        "catalogued",
        [
            {
                "name": name,
                "race": race,
                "city": "Boston",
                "reply": json.dumps([f"PLACE {1 + (len(name) + place) % 2}" for place in range(4)]),
            }
            for race, name in names(list(RACES))
        ],
        prices="  prices: {catalogue: places}",
        columns="text: reply, domain: city, descriptor: name, attributes: {race: race}",
    )
