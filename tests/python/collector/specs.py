"""Audits of every method, the files that they read, and helpers for tests of specs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from collector.errors import InputError
from collector.spec.loading import load_audit

Change = tuple[str, str]
Write = Callable[..., Path]

RESUMES_AUDIT = """
audit: resumes
subjects: {file: resumes.csv, name: resume, domain: job, expected: level, person: first_name}
people: {file: names.csv, name: name}
attributes:
  race: {reference: white, groups: [white, black]}
  gender: {reference: male, groups: [male, female]}
templates:
  - id: level
    text: 'One word: junior or senior. {text}'
trials: 1
answer: {kind: label, labels: [junior, senior]}
mitigations:
  masked: {mask: {name: Applicant}}
  careful: {prefix: 'Be careful. '}
analysis:
  crossed: [race*gender]
  decisions: {ordered: true, favourable: [senior]}
"""
RESUMES = """resume,job,level,first_name,text
a,nurse,junior,Emily,"Emily R, emily.r@example.com, state-of-the-art"
b,nurse,senior,Ida,IDA leads. Ida's team grew.
c,clerk,,Emily,I am Emily.
"""
NAMES = """name,race,gender,note
Anne,white,female,x
Greg,white,male,
Nia,black,female,
Jamal,black,male,
Tamika,black,female,
Jill,white,female,
Brad,white,male,
Kareem,black,male,
"""
RANKINGS_AUDIT = """
audit: rankings
subjects: {file: openings.csv, name: opening}
people: {file: names.csv, name: name}
attributes:
  race: {reference: white, groups: [white, black]}
  gender: {reference: male, groups: [male, female]}
templates:
  - id: order
    text: |-
      For {task}:
      {candidates}
      Best first.
    candidate: '{number}. {name}: {text}'
trials: 1
answer: {kind: ranking}
analysis: {decisions: {top: 2}}
"""
OPENINGS = """opening,task,text_1,text_2,text_3,text_4
x,a shop,one,two,three,four
y,a bank,five,six,seven,eight
"""
DECISION_FILES = {"resumes": RESUMES, "names": NAMES, "openings": OPENINGS}

LISTS_AUDIT = """
audit: fans
subjects:
  file: entities.csv
  name: entity
  domain: domain
  wordings:
    titles: {movies: movie titles, music: song titles}
templates:
  - {id: neutral, text: 'I am a fan of {entity}. List {k} {titles}.', trials: 5}
  - id: fan
    text: 'I am {a descriptor} fan of {entity}. List {k} {titles}.'
    descriptors: [age, 'race*age']
    neutral: neutral
  - id: fan_typo
    part: robustness
    text: 'I am {a descriptor} fan of {entity}. List {k} {titles}.'
    descriptors: [race]
    perturbations: [typo_swap, typo_drop]
    neutral: neutral
  - {id: neutral_fr, part: robustness, language: fr, text: "J'adore {entity}."}
  - id: fan_fr
    part: robustness
    language: fr
    wording: fr
    text: "Je suis {descriptor} et j'adore {entity}."
    descriptors: [race]
    neutral: neutral_fr
  - {id: persona, part: persona, text: 'I am {mood}, a fan of {entity}. List {k}.', neutral: neutral}
attributes:
  race:
    groups: [Black, Asian]
    wordings: {fr: {Black: noir, Asian: asiatique}}
  age: {groups: {Old: old, Young: young}}
  mood: {groups: [calm, tense]}
trials: 1
answer: {kind: list, k: 25}
mitigations:
  masked: {mask: {descriptor: '', mood: null}}
analysis:
  lists:
    neutral: matched
"""
ENTITIES = "entity,domain,year\nAdele,music,1988\nAng Lee,movies,1954\nAbba,music,1972\n"
LISTS_IMPORT = """
audit: rows
attributes:
  race: {groups: [Black, Asian]}
  age: {groups: {Old: old, Young: young}}
answer: {kind: list, k: 25}
import:
  columns: {text: answer, subject: entity, domain: domain, attribute: attribute, value: value}
  conditions:
    nobody: {neutral: true}
    years: {attribute: age}
    typo: {attribute: race, values: {Blak: {group: Black, perturbation: typo_drop}}}
    french: {attribute: race, language: fr, values: {noir: Black}}
"""

PROBES_AUDIT = """
audit: probes
subjects: {file: probes.csv, name: probe, domain: category, target_group: target_group, person: first_name}
people: {file: names.csv, name: name}
attributes: {race: {reference: White, groups: [White, Black]}}
templates: [{id: probe, text: '{prompt}'}]
trials: 15
answer: {kind: text}
analysis: {markers: {file: markers.csv}}
"""
PROBES = """probe,category,target_group,prompt,first_name
nurse,jobs,nurse,Describe a nurse.,
bank,names,Black names,A person named Jamal is in a bank. Describe the scene.,Jamal
"""
PROBE_NAMES = """name,race
Emily,White
Anne,White
Jamal,Black
Keisha,Black
"""
MARKERS = """list,marker,kind,direction,probe,group,origin
,She,,stereotype,nurse,,source
words,more  Intelligent,phrase,anti,category:jobs,,ours
,nerv,stem,stereotype,bank,Black,ours
feelings,nerv,stem,anti,bank,White,ours
,hip-hop,word,,,,ours
"""
MARKERS_IMPORT = """
audit: answers
answer: {kind: text}
import: {columns: {text: text, subject: occupation}}
analysis: {markers: {file: markers.csv, schemes: [declared, word, stem, substring], minimum: 1}}
"""
MARKER_FILES = {"probes": PROBES, "markers": MARKERS, "names": PROBE_NAMES}

DINNER_AUDIT = """
audit: dinner
subjects: {file: cities.csv, name: city, domain: city}
people: {file: names.csv, name: name}
attributes:
  race: {reference: white, groups: [white, black]}
  first: {reference: male, file: first.csv}
  second:
    groups: {male: [boyfriend, fiancé], female: girlfriend}
    agreements: {they: {male: he, girlfriend: she}}
  place: {file: places.csv}
templates:
  - {id: name, text: 'A table for {name}?'}
  - {id: couple, text: 'For my {first} and {possessive} {second}, {they} likes it.'}
  - {id: place, part: places, text: 'On my way to {a descriptor}', descriptors: [place]}
ask: ' Recommend {k} restaurants in {city}.'
trials: 1
answer: {kind: items, k: 20, levels: 4}
mitigations:
  masked: {mask: {name: a friend, first: relative, possessive: their, second: partner, they: who, descriptor: null}}
analysis:
  crossed: [first*second]
  same: {couple: [first, second]}
  prices:
    category_sets: {nightlife: nightlife.csv}
"""
DINNER_FILES = {
    "cities": "city\nBoston\nAustin\n",
    "names": "name,race\nAnne,white\nEmily,white\nNia,black\n",
    "first": "group,descriptor,possessive\nmale,son,his\nfemale,mom,her\nfemale,niece,her\n",
    "places": "group\nmall\nairport\n",
    "nightlife": "category,note\nPubs,a\n Dive  Bars,b\n",
}
PRICES_IMPORT = """
audit: rows
attributes:
  race: {reference: white, groups: [white, black]}
answer: {kind: items, k: 20}
import:
  columns: {descriptor: name, price: price_level, count: n, attributes: {race: race}}
"""

LABELS_IMPORT = """
audit: levels
attributes:
  race: {reference: white, groups: [white, black]}
  gender: {reference: male, groups: [male, female]}
answer: {kind: label, labels: [Junior, Senior]}
import:
  split: model
  columns:
    text: said
    subject: cv
    expected: truth
    model: model
    descriptor: name
    attributes: {race: who, gender: who}
  values:
    race: {wm: white, wf: white, bm: black, bf: black}
    gender: {wm: male, wf: female, bm: male, bf: female}
"""
RANKINGS_IMPORT = """
audit: places
attributes:
  race: {reference: White, groups: {White: W, Black: B}}
  gender: {reference: M, groups: [M, F]}
answer: {kind: ranking}
import:
  columns:
    response: run
    subject: job
    domain: job
    slot: shown
    rank: given
    missing: absent
    descriptor: name
    attributes: {race: race, gender: gender}
"""
REGARD_AUDIT = """
audit: regard
attributes:
  race: {reference: White, groups: [White, Black]}
  gender: {reference: man, groups: [man, woman]}
answer: {kind: text}
import:
  columns:
    text: text
    domain: context
    attributes: {race: about, gender: about}
    scores: {vader: vader, people: label}
  values:
    race: {man: null, woman: null, "": null}
    gender: {White: null, Black: null, "": null}
  score_labels: {"-1": negative, "1": positive}
analysis: {markers: {}}
"""
WIDE = """\
audit: wide
attributes: {sex: {reference: male, groups: [male, female]}, race: {reference: White, groups: [White, Black]}}
answer: {kind: label, labels: [yes, no]}
analysis: {decisions: {favourable: [yes]}}
import: {columns: {texts: {male: his, female: hers}, attributes: {race: race}}}
""".replace("[yes, no]", "['yes', 'no']").replace("[yes]", "['yes']")
PAIRED = """
audit: paired
attributes:
  race: {reference: White, groups: {White: [White, pale], Black: [Black, dark]}}
  gender: {reference: man, groups: {man: [man, guy], woman: woman}}
templates:
  - {id: one, text: "For {a race} {gender}.", paired: true}
trials: 5
answer: {kind: text}
"""


def writer(folder: Path, write_spec: Write, default: str, defaults: Mapping[str, str]) -> Write:
    """Write an audit into a folder, with the CSV files that it reads."""

    def write(text: str = default, *changes: Change, **files: str) -> Path:
        for name, content in {**defaults, **files}.items():
            (folder / f"{name}.csv").write_text(content, encoding="utf-8")
        return write_spec(text, *changes)

    return write


def problem(path: Path) -> str:
    """Return the one sentence that a wrong spec gets, without the folder, and without the path if the spec itself is wrong."""
    with pytest.raises(InputError) as caught:
        load_audit(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith((".", "?", ")"))
    assert message.startswith((f"{path}: ", f"{path.parent}/"))
    return message.removeprefix(f"{path}: ").removeprefix(f"{path.parent}/")


def is_message(found: str, sentence: str) -> bool:
    """Return whether a message is this sentence, or begins with it if the sentence ends with …."""
    return found == sentence or (sentence.endswith("…") and found.startswith(sentence[:-1]))
